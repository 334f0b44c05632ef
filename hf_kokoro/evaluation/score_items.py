"""Reading 20 (item, score) pairs out of a model's text, strictly: what can't be read is not guessed.

Accepted are a JSON object (item to score, nested under one key or not, also inside prose or a code fence), a
JSON list of pairs or of `{"item", "score"}` objects, a JSON list of exactly 20 numbers in item order, and one
item a line ("felt_respected: 4", "2. 尊重されたと感じた　５点", "D3 = 2"). Items are named in English (upstream's
misspelling too), in Japanese, or as D1 to D20. Widths and case are folded in copies for comparison only.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..corpora.kokorochat.schema import ITEM_MAX, ITEM_NAMES, ITEMS

_NOT_WORD = re.compile(r"[\W_]+")
_BRACKETS = re.compile(r"\([^()]*\)\s*\Z")
_NUMBER = re.compile(r"(-?[0-9]{1,9})(?:\.0+)?\s*(?:点|points?|/\s*5)?\Z", re.IGNORECASE)
_LINE = re.compile(
    r"^[\s\-*•・|>#]*(?:\(?D?[0-9]{1,2}\s*[|.):、\]】]\s*)?"  # list marks and the item's number
    r"(?P<name>.+?)\s*(?:[:=→|]|\s|[-–—]{1,2}>?(?=\s))[\s*]*"  # a hyphen before a digit is a minus, no separator
    r"(?P<score>-?[0-9]+(?:\.[0-9]+)?)\s*(?:点|points?|/\s*5)?"
    r"[\s*]*(?:[|,;。、(\-–—][^0-9]*)?$",  # a remark may follow if it holds no other number
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ReadScores:
    """`scores` holds the items that were read, each 0 to 5; every other item is in `faults` with the reason."""

    scores: dict[str, int]
    faults: dict[str, str]


def item_name(text: str) -> str | None:
    """The item that a text names in English, Japanese or as D1 to D20; None if it names none.

    A remark in brackets behind a name is passed over.
    """
    folded = unicodedata.normalize("NFKC", text)
    return _names().get(_key(folded)) or _names().get(_key(_BRACKETS.sub("", folded)))


def read_scores(text: str) -> ReadScores:
    """Read a model's answer. An item that is missing, named twice with different scores, no whole number or
    outside 0-5 is a fault: unreadable, never a number."""
    found: dict[str, list[Any]] = {}
    for name, value in _pairs(text):
        found.setdefault(name, []).append(value)
    scores, faults = {}, {}
    for item in ITEM_NAMES:
        values = found.get(item, [])
        fault = _fault(values)
        if fault is None:
            scores[item] = _whole(values[0]) or 0
        else:
            faults[item] = fault
    return ReadScores(scores, faults)


def _fault(values: list[Any]) -> str | None:
    if not values:
        return "missing"
    wholes = [_whole(value) for value in values]
    if None in wholes:
        return "not a whole number"
    if len({*wholes}) > 1:
        return "given twice with different scores"
    return None if 0 <= (wholes[0] or 0) <= ITEM_MAX else "out of range"


def _whole(value: Any) -> int | None:
    """A whole number from a JSON number or a string of digits of any width ("４", "4点", "4/5"); else None."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        match = _NUMBER.match(unicodedata.normalize("NFKC", value).strip().replace("−", "-"))
        return int(match[1]) if match else None
    return None


def _pairs(text: str) -> Iterator[tuple[str, Any]]:
    """(item, value as found) from the JSON in the text, or from its lines if there is none."""
    folded = unicodedata.normalize("NFKC", text)
    documents = list(_json_documents(folded))
    pairs = [pair for document in documents for pair in _from_json(document)]
    if pairs:
        yield from pairs
        return
    for line in folded.splitlines():
        match = _LINE.match(line.replace("−", "-"))
        if match and (name := item_name(match["name"])):
            yield name, match["score"]


def _json_documents(text: str) -> Iterator[Any]:
    """Every outermost JSON object or list in the text."""
    decoder, place = json.JSONDecoder(object_pairs_hook=_Pairs), 0
    while place < len(text):
        start = min((at for at in (text.find("{", place), text.find("[", place)) if at >= 0), default=-1)
        if start < 0:
            return
        try:
            document, place = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            # a number of thousands of digits is a ValueError, but no JSONDecodeError
            place = start + 1
            continue
        yield document


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as its pairs: a name that stands there twice is not lost."""


def _from_json(document: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(document, _Pairs):
        labelled = {_key(name): value for name, value in document}
        if "item" in labelled and "score" in labelled and isinstance(labelled["item"], str):
            if name := item_name(labelled["item"]):
                yield name, labelled["score"]
            return
        for given, value in document:
            if isinstance(value, list):
                yield from _from_json(value)
            elif name := item_name(given):
                yield name, value
    elif isinstance(document, list):
        if len(document) == len(ITEM_NAMES) and all(_whole(value) is not None for value in document):
            yield from zip(ITEM_NAMES, document, strict=True)
            return
        for entry in document:
            if isinstance(entry, list) and not isinstance(entry, _Pairs) and len(entry) == 2:
                if isinstance(entry[0], str) and (name := item_name(entry[0])):
                    yield name, entry[1]
            else:
                yield from _from_json(entry)


def _key(text: str) -> str:
    """Width, case and everything that is no letter or digit folded away."""
    return _NOT_WORD.sub("", unicodedata.normalize("NFKC", text).casefold())


@cache
def _names() -> dict[str, str]:
    table: dict[str, str] = {}
    for number, item in enumerate(ITEMS, start=1):
        for spelling in (item.name, item.source_en, item.source_ja, f"D{number}"):
            table[_key(spelling)] = item.name
    return table
