"""The four utterances of an EmplifAI dialogue: from four cells, a list, or one text with speaker marks."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ...errors import describe
from .columns import SPEAKER_WORDS, UTTERANCES, speaker_name
from .schema import SPEAKERS, TURNS_PER_DIALOGUE

EXPECTED = SPEAKERS * (TURNS_PER_DIALOGUE // len(SPEAKERS))
ALLOWED = "four utterances: patient, supporter, patient, supporter"

_SPEAKER_KEYS = ("speaker", "role", "話者", "発話者")
_TEXT_KEYS = ("text", "utterance", "content", "発話", "発言")
_WORDS = "|".join(sorted((w for words in SPEAKER_WORDS.values() for w in words), key=len, reverse=True))
# a speaker, perhaps numbered, followed by a colon of either width; or the same in brackets
_MARK = re.compile(
    rf"(?:({_WORDS})\s*[0-9０-９]?\s*[:：]|[\[【＜<［]\s*({_WORDS})\s*[0-9０-９]?\s*[\]】＞>］]\s*[:：]?)",
    re.IGNORECASE,
)

Turn = dict[str, str]


class TurnsError(ValueError):
    """The utterances can't be told apart: `field`, `got` and `allowed` make the fault."""

    def __init__(self, field: str, got: str, allowed: str = ALLOWED) -> None:
        self.field, self.got, self.allowed = field, got, allowed
        super().__init__(f"{field}: {got}")


def turns_from_columns(cells: Mapping[str, Any], fields: Mapping[str, str]) -> list[Turn]:
    """Turns of four cells, text kept as it is. Raises TurnsError for a blank cell or one that is no text."""
    turns = []
    for field, speaker in zip(UTTERANCES, EXPECTED, strict=True):
        turns.append({"speaker": speaker, "text": _text(field, cells.get(fields[field], ""))})
    return turns


def turns_from_cell(cell: Any) -> list[Turn]:
    """Turns of one cell: a list of texts or {speaker, text} objects (also as JSON text), or marked text."""
    if isinstance(cell, str) and cell.lstrip().startswith("[") and not _MARK.match(cell.lstrip()):
        try:
            cell = json.loads(cell)
        except ValueError:
            raise TurnsError("turns", "text that starts like a JSON list and is none") from None
    turns = [_item(i, item) for i, item in enumerate(cell, 1)] if isinstance(cell, list) else _marked(cell)
    speakers = [speaker or expected for (speaker, _), expected in zip(turns, EXPECTED, strict=False)]
    if len(turns) != TURNS_PER_DIALOGUE or tuple(speakers) != EXPECTED:
        found = ", ".join(speaker or "unmarked" for speaker, _ in turns[:8])
        raise TurnsError("turns", f"{len(turns)} utterances ({found})")
    pairs = zip(EXPECTED, turns, strict=True)
    return [{"speaker": s, "text": _text(f"turns {i}", text)} for i, (s, (_, text)) in enumerate(pairs, 1)]


def _item(number: int, item: Any) -> tuple[str | None, Any]:
    """(speaker or None if the item does not say, text) of one list item."""
    field = f"turns {number}"
    if isinstance(item, str):
        mark = _MARK.match(item.lstrip())
        if mark is None:
            return None, item
        return speaker_name(mark[1] or mark[2]), item.lstrip()[mark.end() :].strip()
    if not isinstance(item, dict):
        raise TurnsError(field, describe(item), "text, or an object with speaker and text")
    text = next((item[key] for key in _TEXT_KEYS if key in item), None)
    word = next((item[key] for key in _SPEAKER_KEYS if key in item), None)
    if text is None:
        raise TurnsError(field, f"an object with the keys {_shown(item)}", "an object with speaker and text")
    if word is None:
        return None, text
    speaker = speaker_name(word) if isinstance(word, str) else None
    if speaker is None:
        raise TurnsError(f"{field} speaker", describe(word, show=True), "patient, supporter, 患者 or 支援者")
    return speaker, text


def _marked(cell: Any) -> list[tuple[str | None, Any]]:
    if not isinstance(cell, str):
        raise TurnsError("turns", describe(cell), "text with speaker marks, or a list of four utterances")
    if not cell.strip():
        raise TurnsError("turns", "a blank cell")
    marks = list(_MARK.finditer(cell))
    if not marks or cell[: marks[0].start()].strip():
        got = f"text of {len(cell)} characters that does not start with a speaker mark"
        raise TurnsError("turns", got, "患者：... 支援者：... 患者：... 支援者：...")
    ends = [mark.start() for mark in marks[1:]] + [len(cell)]
    return [(speaker_name(m[1] or m[2]), cell[m.end() : end].strip()) for m, end in zip(marks, ends, strict=True)]


def _text(field: str, cell: Any) -> str:
    if not isinstance(cell, str):
        raise TurnsError(field, describe(cell), "text")
    if not cell.strip():
        raise TurnsError(field, "a blank cell" if not field.startswith("turns") else "a blank utterance", "text")
    return cell


def _shown(item: Mapping[str, Any]) -> str:
    return ", ".join(describe(key, show=True) for key in list(item)[:6])
