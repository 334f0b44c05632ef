"""MITI-ST v1: the rubric's facts, the row contract of the published file, and its invariants.

MITI-ST is a single-turn adaptation of the MITI 4.2.1 coding manual. Each answer is scored alone on five
dimensions; `total` is their sum (documented range 0-13; 2-13 can occur).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ..core import spdx
from ..core.encoding import has_lone_surrogate
from ..core.jsonl import canonical_json
from ..core.shipped import shipped_text
from ..errors import Fault, describe

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

VERSION = "1.0.0"
"""Version of the row schema and its derived views; a change of any Features below bumps it."""

RUBRIC = "MITI-ST v1"
SOURCE_DATASET = "nbertagnolli/counsel-chat"
SAMPLE_DATASET = "hf-kokoro/sample"
"""The fictional sample that comes with this package."""
LICENSE = "MIT"
NOT_STATED = "not stated"
"""Value of `source_dataset` and `license` where nobody has said where the texts come from. Not for the Hub."""
HUB_ID = "AgenticCommons/counsel-chat-miti-st-dpo"
DATA_PATH = "data/pilot.jsonl"

DIMENSIONS: dict[str, tuple[int, int]] = {
    "empathy": (1, 5),
    "partnership": (1, 5),
    "reflection_present": (0, 1),
    "no_persuade": (0, 1),
    "no_confront": (0, 1),
}
"""Dimension to its inclusive range, in row order."""

ANSWER_KEYS = ("therapist", "text", *DIMENSIONS, "total")
ROW_KEYS = (
    "question_id",
    "topic",
    "prompt",
    "chosen",
    "rejected",
    "chosen_score",
    "rejected_score",
    "chosen_therapist",
    "rejected_therapist",
    "all_answers",
    "rubric",
    "judge_model",
    "source_dataset",
    "license",
)
"""Keys of a row in the order in which they are written."""


@cache
def row_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of one row, as shipped in `miti_st_row.schema.json`."""
    schema: dict[str, Any] = json.loads(shipped_text(__package__, "miti_st_row.schema.json"))
    return schema


@cache
def _validator() -> Draft202012Validator:
    # late: the contract is imported by whoever only needs its names
    from jsonschema import Draft202012Validator

    return Draft202012Validator(row_schema())


def answer_rank(answer: Mapping[str, Any]) -> tuple[int, int]:
    """Order of answers: highest total first, ties broken by empathy."""
    return (answer["total"], answer["empathy"])


def scores_fault(scores: Mapping[str, Any]) -> str:
    """What keeps these from being the five dimensions, each a whole number in its range; empty if nothing does."""
    for name in scores.keys() - DIMENSIONS.keys():
        return f"{describe(name, show=True)}: not a dimension; allowed: {', '.join(DIMENSIONS)}"
    for name, (low, high) in DIMENSIONS.items():
        value = scores.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            return f"{name}: {describe(value)}; allowed: a whole number from {low} to {high}"
    return ""


def row_faults(row: Any, where: str) -> list[Fault]:
    """Every fault of one row: JSON Schema first, then (if the shape is right) licence and cross-field invariants."""
    faults = list(_schema_faults(row, where))
    return faults or [*_licence_faults(row["license"], where), *_invariant_faults(row, where)]


def row_id(row: Mapping[str, Any]) -> str:
    """sha256 of the canonical JSON, in hex: two rows are the same row exactly if this is equal."""
    # surrogatepass: a lone surrogate is refused elsewhere, with a better message than UnicodeEncodeError
    return hashlib.sha256(canonical_json(row).encode("utf-8", "surrogatepass")).hexdigest()


def row_line(row: Mapping[str, Any]) -> str:
    """The row as it stands in the file: keys in ROW_KEYS order, UTF-8 as it is, one `\\n` at the end."""
    ordered = {key: row[key] for key in ROW_KEYS}
    ordered["all_answers"] = [{key: answer[key] for key in ANSWER_KEYS} for answer in row["all_answers"]]
    return json_line(ordered)


def json_line(value: Mapping[str, Any]) -> str:
    """An object as a line of a file: keys in its own order, UTF-8 as it is, one `\\n` at the end."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n"


def _schema_faults(row: Any, where: str) -> Iterator[Fault]:
    for error in sorted(
        _validator().iter_errors(row), key=lambda e: (list(map(str, e.absolute_path)), str(e.validator))
    ):
        path = ".".join(str(part) for part in error.absolute_path)
        if error.validator == "required":
            missing = [key for key in error.validator_value if key not in error.instance]
            # jsonschema reports one error per missing key; its message is the only place that says which
            name = next(key for key in missing if f"'{key}'" in error.message)
            yield Fault(where, _join(path, name), "nothing", "a value (the key is required)")
        elif error.validator == "additionalProperties":
            known = error.schema["properties"]
            for key in sorted(key for key in error.instance if key not in known):
                yield Fault(where, _join(path, describe(key, show=True)), "an unknown key", ", ".join(known))
        else:
            show = error.validator in ("enum", "const", "type")
            yield Fault(where, path, describe(error.instance, show=show), _allowed(error))
    yield from _text_faults(row, where)


def _licence_faults(licence: str, where: str) -> Iterator[Fault]:
    if licence == NOT_STATED or _is_licence(licence):
        return
    hint = f"; did you mean {near}?" if (near := spdx.meant(licence)) else ""
    yield Fault(where, "license", describe(licence, show=True), f"an SPDX licence id or {NOT_STATED!r}{hint}")


@cache
def _is_licence(name: str) -> bool:
    return spdx.licence_id(name) is not None


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _allowed(error: Any) -> str:
    value = error.validator_value
    phrases = {
        "minLength": f"at least {value} characters",
        "minItems": f"at least {value} answers",
        "minimum": f"at least {value}",
        "maximum": f"at most {value}",
        "pattern": "text that is not blank",
        "type": f"{value}",
        "const": f"{value!r}",
        "enum": f"one of {value}",
    }
    return phrases.get(error.validator, f"{error.validator}: {value}")


def _text_faults(row: Any, where: str) -> Iterator[Fault]:
    """Strings that UTF-8 can't hold, and numbers such as 3.0 that JSON Schema counts as integers."""

    def walk(value: Any, path: str) -> Iterator[Fault]:
        if isinstance(value, str):
            if has_lone_surrogate(value):
                yield Fault(where, path, "text with a lone surrogate", "text that UTF-8 can hold")
        elif isinstance(value, float):
            kind = "an integer" if math.isfinite(value) else "a finite integer"
            yield Fault(where, path, describe(value), kind)
        elif isinstance(value, dict):
            for key, item in value.items():
                yield from walk(item, _join(path, key if isinstance(key, str) else "?"))
        elif isinstance(value, list):
            for index, item in enumerate(value):
                yield from walk(item, _join(path, str(index)))

    yield from walk(row, "")


def _invariant_faults(row: Mapping[str, Any], where: str) -> Iterator[Fault]:
    answers: Sequence[Mapping[str, Any]] = row["all_answers"]
    for index, answer in enumerate(answers):
        total = sum(answer[name] for name in DIMENSIONS)
        if answer["total"] != total:
            yield Fault(
                where,
                f"all_answers.{index}.total",
                str(answer["total"]),
                f"{total}, the sum of the five scores",
            )
    for side, best, name in (("chosen", max, "highest"), ("rejected", min, "lowest")):
        matching = [a for a in answers if a["text"] == row[side] and a["therapist"] == row[f"{side}_therapist"]]
        if not matching:
            yield Fault(where, side, "a text and therapist that no answer has together", "one of all_answers")
            continue
        score = row[f"{side}_score"]
        if all(a["total"] != score for a in matching):
            yield Fault(where, f"{side}_score", str(score), f"{matching[0]['total']}, the total of that answer")
        wanted = best(answer_rank(a) for a in answers)
        if side == "rejected":
            # Only the total decides the rejected side; the empathy tie-break is a preference among equals.
            wanted_ok = any(a["total"] == wanted[0] for a in matching)
        else:
            wanted_ok = any(answer_rank(a) == wanted for a in matching)
        if not wanted_ok:
            yield Fault(where, side, "another answer", f"the {name} total (ties: empathy), {wanted[0]} here")
    if row["chosen"] == row["rejected"]:
        yield Fault(where, "rejected", "the same text as chosen", "a different text")
    if row["chosen_score"] <= row["rejected_score"]:
        got = f"{row['chosen_score']} against {row['rejected_score']}"
        yield Fault(where, "chosen_score", got, "a higher score than rejected_score")
