"""How files spell the row contract, through one table: reading, appending, auditing and adopting all ask here.

The exact keys of the copy on the Hub could not be seen, so several are read; rows made by this package have the names
of `contract` alone. A row's identity is that of its canonical form, whatever its file calls things.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .contract import ANSWER_KEYS, DIMENSIONS, ROW_KEYS

ANSWER_ALIASES: dict[str, tuple[str, ...]] = {
    "text": ("answer", "answer_text", "answerText", "response"),
    "therapist": ("therapist_id", "therapistInfo"),
    "total": ("score", "total_score"),
}
"""Our key to the other spellings that are read. Any key of an answer may also lie in an object `scores` inside it, the
three 0/1 dimensions may be booleans, `total` may be left out, and `question_id` may be a whole number."""
NESTED = "scores"
_SPELLINGS = {alias: name for name, aliases in ANSWER_ALIASES.items() for alias in aliases}
_BINARY = frozenset(name for name, limits in DIMENSIONS.items() if limits == (0, 1))


@dataclass(frozen=True, order=True)
class Spelling:
    """How a row is spelled. `renamed`: (our key, the row's key, "" if it is left out) where they differ; `nested`: our
    keys that lie under `scores`; `booleans`: those of the 0/1 dimensions that are booleans; `number_id`: question_id
    is a number."""

    renamed: tuple[tuple[str, str], ...] = ()
    nested: tuple[str, ...] = ()
    booleans: tuple[str, ...] = ()
    number_id: bool = False

    @cached_property
    def code(self) -> str:
        """The same as text, to keep it (`spelling_of_code`)."""
        return json.dumps([self.renamed, self.nested, self.booleans, self.number_id])

    def __str__(self) -> str:
        parts = [f"{theirs} for {ours}" if theirs else f"no {ours}" for ours, theirs in self.renamed]
        parts += [f"{', '.join(self.nested)} under {NESTED}"] if self.nested else []
        parts += [f"booleans for {', '.join(self.booleans)}"] if self.booleans else []
        parts += ["numbers for question_id"] if self.number_id else []
        return "; ".join(parts) or "the schema's own names"


OURS = Spelling()


def spelling_of_code(code: str) -> Spelling:
    """The Spelling of a `code`."""
    renamed, nested, booleans, number_id = json.loads(code)
    return Spelling(tuple((ours, theirs) for ours, theirs in renamed), tuple(nested), tuple(booleans), number_id)


class NotSpellable(ValueError):
    """A row that a spelling has no way to write. The message quotes no text."""


@dataclass(frozen=True)
class Spelled:
    """What was read: `row` in the canonical spelling (what can't be spelled stays, for the schema to name), and the
    `spellings` of it and its answers, empty if it lacks a key and so is no row in any spelling."""

    row: Any
    spellings: frozenset[Spelling]
    exact: bool = False
    """True if the row has our keys in our order and no others."""

    @property
    def known(self) -> dict[str, Any]:
        """The row without keys that have no place in the schema; only where there are `spellings`."""
        if self.exact:
            return self.row  # type: ignore[no-any-return]
        row = {key: self.row[key] for key in ROW_KEYS}
        row["all_answers"] = [{key: answer[key] for key in ANSWER_KEYS} for answer in row["all_answers"]]
        return row


_OURS = frozenset({OURS})


def read_spelled(document: Any) -> Spelled:
    """A JSON value that may be a row in any spelling. Our own key wins where an answer has an alias of it as well."""
    if not isinstance(document, dict):
        return Spelled(document, frozenset())
    if _is_canonical(document):
        return Spelled(document, _OURS, exact=True)
    row = {key: document[key] for key in ROW_KEYS if key in document}
    number_id = type(row.get("question_id")) is int
    if number_id:
        row["question_id"] = str(row["question_id"])
    whole, spellings = len(row) == len(ROW_KEYS), set()
    if isinstance(row.get("all_answers"), list):
        read = [_answer(answer, number_id) for answer in row["all_answers"]]
        row["all_answers"] = [answer for answer, _ in read]
        spellings = {spelling for _, spelling in read if spelling is not None}
        whole = whole and all(spelling is not None for _, spelling in read)
    row |= {key: value for key, value in document.items() if key not in row}
    return Spelled(row, frozenset(spellings) if whole else frozenset())


def canonical_row(document: Any) -> Any:
    """`read_spelled(document).row`."""
    return read_spelled(document).row


def respelled(row: Mapping[str, Any], spelling: Spelling) -> dict[str, Any]:
    """A canonical row as a file of that spelling has it. Raises NotSpellable."""
    if spelling == OURS:
        return dict(row)
    names = dict(spelling.renamed)
    other = {key: row[key] for key in ROW_KEYS}
    if spelling.number_id:
        # only a text that the number gives back is the same id
        if not (other["question_id"].isascii() and other["question_id"].removeprefix("-").isdigit()):
            raise NotSpellable("a question_id that is no whole number, as those of the file are")
        if str(int(other["question_id"])) != other["question_id"]:
            raise NotSpellable("a question_id that a number would not give back (leading zeros)")
        other["question_id"] = int(other["question_id"])
    other["all_answers"] = [_respelled_answer(answer, spelling, names) for answer in row["all_answers"]]
    return other


def _respelled_answer(answer: Mapping[str, Any], spelling: Spelling, names: Mapping[str, str]) -> dict[str, Any]:
    other: dict[str, Any] = {}
    for key in ANSWER_KEYS:
        name = names.get(key, key)
        if name:
            place = other.setdefault(NESTED, {}) if key in spelling.nested else other
            place[name] = bool(answer[key]) if key in spelling.booleans else answer[key]
    return other


def _is_canonical(document: dict[str, Any]) -> bool:
    """Whether nothing is to be done: our keys in our order, and nothing else. Almost every row is so."""
    answers = document.get("all_answers")
    if tuple(document) != ROW_KEYS or type(document["question_id"]) is int or not isinstance(answers, list):
        return False
    return bool(answers) and all(
        isinstance(answer, dict)
        and tuple(answer) == ANSWER_KEYS
        and not any(isinstance(answer[key], bool) for key in _BINARY)
        for answer in answers
    )


def _answer(answer: Any, number_id: bool) -> tuple[Any, Spelling | None]:
    """The answer in our spelling, and its own; None if a key is missing."""
    if not isinstance(answer, dict):
        return answer, None
    flat, nested = _flat(answer)
    theirs: dict[str, str] = {}
    for key in flat:
        name = _SPELLINGS.get(key, key)
        if name not in theirs or key == name:
            theirs[name] = key
    values = {name: flat[key] for name, key in theirs.items()}
    # a second key for the same thing stays, for the schema to name, unless it says the same
    twice = {
        key: value for key, value in flat.items() if key not in theirs.values() and value != values[_SPELLINGS[key]]
    }
    booleans = tuple(name for name in ANSWER_KEYS if name in _BINARY and isinstance(values.get(name), bool))
    values |= {name: int(values[name]) for name in booleans}
    scores = [values.get(name) for name in DIMENSIONS]
    if "total" not in values and all(type(score) is int for score in scores):
        values["total"], theirs["total"] = sum(score for score in scores if score is not None), ""
    result = {key: values[key] for key in ANSWER_KEYS if key in values}
    whole = len(result) == len(ANSWER_KEYS)
    spelling = Spelling(
        tuple((name, theirs[name]) for name in ANSWER_KEYS if theirs.get(name, name) != name),
        tuple(name for name in ANSWER_KEYS if theirs.get(name) in nested),
        booleans,
        number_id,
    )
    more = {key: value for key, value in {**values, **twice}.items() if key not in result}
    return {**result, **more}, spelling if whole else None


def _flat(answer: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The answer without nesting, and what was nested; where the two contradict each other nothing is unpacked."""
    nested = answer.get(NESTED)
    if not isinstance(nested, dict) or any(key in answer and answer[key] != nested[key] for key in nested):
        return answer, {}
    return {**{key: value for key, value in answer.items() if key != NESTED}, **nested}, nested
