"""Which column holds which EmplifAI field: an alias table (English and Japanese) or an explicit mapping."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product

from ...core.suggest import allowed, with_nearest
from ...errors import Fault, Faults, UsageError, describe
from .emotions import comparison_key
from .schema import SPEAKERS

UTTERANCES = ("patient_1", "supporter_1", "patient_2", "supporter_2")
FIELDS = ("dialogue_id", "situation_id", "emotion", "situation", "turns", *UTTERANCES)

SPEAKER_WORDS = {
    "patient": ("patient", "user", "患者", "患者さん", "患者様", "当事者"),
    "supporter": ("supporter", "assistant", "支援者", "支援者さん", "サポーター"),
}
_UTTERANCE_WORDS = (
    "",
    "utterance",
    "turn",
    "text",
    "発話",
    "発言",
    "の発話",
    "の発言",
    "ターン",
    "の返答",
    "返答",
)
_NUMBERED_WORDS = ("utterance", "turn", "発話", "発言", "ターン")
_ALIASES: dict[str, tuple[str, ...]] = {
    "dialogue_id": (
        "dialogue id",
        "dialog id",
        "conversation id",
        "id",
        "対話id",
        "対話番号",
        "会話id",
        "会話番号",
    ),
    "situation_id": (
        "situation id",
        "scenario id",
        "状況id",
        "状況番号",
        "シチュエーションid",
        "場面id",
        "場面番号",
    ),
    "emotion": (
        "emotion",
        "emotion label",
        "label",
        "感情",
        "感情ラベル",
        "感情名",
        "感情カテゴリ",
        "ラベル",
    ),
    "situation": (
        "situation",
        "situation text",
        "scenario",
        "状況",
        "状況文",
        "状況説明",
        "場面",
        "シチュエーション",
    ),
    "turns": (
        *("turns", "dialogue", "dialog", "conversation", "utterances", "messages"),
        *("対話", "対話文", "会話", "会話文", "発話", "やり取り", "やりとり", "本文"),
    ),
}
# a byte order mark that was written twice, or into a cell, is no part of a name
_IGNORED_IN_KEYS = re.compile(r"[\s_\-・.:#()\[\]【】「」\ufeff\u200b]+")

Columns = Mapping[str, str | None]
"""Field to header name, or to None: leave a column of that name alone and derive the field."""


def column_key(header: str) -> str:
    """Comparison key of a header: width and case folded, then spaces, underscores and brackets dropped."""
    return _IGNORED_IN_KEYS.sub("", comparison_key(header))


def speaker_name(word: str) -> str | None:
    """`patient` or `supporter` for the English or Japanese word; None for any other."""
    return _SPEAKERS.get(column_key(word))


def check_columns(columns: Columns) -> None:
    """Raise UsageError for a field that does not exist, naming the nearest that does."""
    for name in columns:
        if name not in FIELDS:
            raise UsageError(f"columns: unknown field {describe(name, show=True)}; {allowed(name, FIELDS)}")


def is_foreign(header: tuple[str, ...], columns: Columns) -> bool:
    """Does not one header name a field? Then the table is about something else."""
    return not any(column_key(name) in _BY_KEY or name in columns.values() for name in header)


def match_columns(where: str, header: tuple[str, ...], columns: Columns, faults: Faults) -> dict[str, str] | None:
    """Map fields to header names; None after adding every fault of this header (missing, twice).

    Four utterance columns are preferred to one column of turns where a table has both.
    """
    before = faults.count
    found: dict[str, str] = {}
    for name in header:
        field = _BY_KEY.get(column_key(name))
        if field is None or field in columns:
            continue
        if field in found:
            got = f"two columns for it: {describe(found[field], show=True)}, {describe(name, show=True)}"
            faults.add(Fault(where, field, got, "one column", f"say which: columns={{'{field}': '...'}}"))
        found[field] = name
    for field, chosen in columns.items():
        if chosen is None:
            continue
        if chosen not in header:
            got = f"no column {describe(chosen, show=True)}"
            faults.add(Fault(where, field, got, f"one of the {len(header)} columns of this table"))
        found[field] = chosen
    if all(name in found for name in UTTERANCES) and not columns.get("turns"):
        found.pop("turns", None)
    faults.extend(_missing(where, header, found))
    return found if faults.count == before else None


def unread_columns(header: tuple[str, ...], found: Mapping[str, str]) -> str:
    """The columns that no field is read from, each with the field that its name is nearest to; empty if there are none.

    Of two that would do (turns beside four utterances) the other is known, and not named.
    """
    unknown = [name for name in header if name not in found.values() and column_key(name) not in _BY_KEY]
    return with_nearest(unknown, (name for name in FIELDS if name not in found))


def _missing(where: str, header: tuple[str, ...], found: Mapping[str, str]) -> Iterator[Fault]:
    seen = "columns " + ", ".join(describe(name, show=True) for name in header[:12])
    for field in ("emotion", "situation"):
        if field not in found:
            allowed = "a header such as " + ", ".join(_ALIASES[field][:5])
            yield Fault(where, field, seen, allowed, f"rename it, or pass columns={{'{field}': '...'}}")
    if "turns" in found:
        return
    if missing := [name for name in UTTERANCES if name not in found]:
        allowed = "patient_1, supporter_1, patient_2, supporter_2 (患者1, 支援者1, ...), or one column: turns, 対話"
        yield Fault(where, "utterances", f"{seen}; no {', '.join(missing)}", allowed, "rename them, or pass columns=")


def _utterance_aliases() -> Iterator[tuple[str, str]]:
    for position, field in enumerate(UTTERANCES):
        speaker, number = field.split("_")
        for speaker_word, word in product(SPEAKER_WORDS[speaker], _UTTERANCE_WORDS):
            yield f"{speaker_word}{word}{number}", field
            yield f"{speaker_word}{number}{word}", field
        for word, speaker_word in product(_NUMBERED_WORDS, SPEAKER_WORDS[speaker]):
            yield f"{word}{number}{speaker_word}", field
        for word in _NUMBERED_WORDS:
            yield f"{word}{position + 1}", field


_SPEAKERS = {column_key(word): name for name in SPEAKERS for word in SPEAKER_WORDS[name]}
_BY_KEY = {
    **{column_key(spelling): field for field, spellings in _ALIASES.items() for spelling in spellings},
    **{column_key(spelling): field for spelling, field in _utterance_aliases()},
}
