"""Texts that stand where an answer was and say nothing: blank ones, and placeholders such as `[removed]`.

One rule for every place that judges, counts or pairs answers. Only a whole text is ever a placeholder: "No.",
"OK" and "はい" are answers, and so is any sentence that a placeholder stands in. The texts are in `no_answers.toml`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from html import unescape
from itertools import islice
from typing import Any, Literal

from ..core.shipped import shipped_toml
from ..errors import Fault

NoAnswer = Literal["blank", "placeholder"]

NO_ANSWERS: tuple[NoAnswer, ...] = ("blank", "placeholder")
"""blank: nothing to be seen. placeholder: no letter and no digit (punctuation, symbols, emoji), or a listed text."""

_BRACKETS = "[](){}<>「」『』【】〔〕〈〉《》"
_QUOTES = "\"'`*_~“”‘’"
_LONGEST = 200
"""So many letters and digits, those of HTML tags among them, are an answer."""


@cache
def _lists() -> Mapping[str, Any]:
    # on first use: whoever only needs the contract's names reads no file
    return shipped_toml(__package__, "no_answers.toml")


@cache
def _listed(name: str) -> frozenset[str]:
    return frozenset(_lists()[name])


def no_answer(text: str) -> NoAnswer | None:
    """Why this text is no answer, or None if it is one."""
    if is_blank(text):
        return "blank"
    return "placeholder" if is_placeholder(text) else None


def is_blank(text: str) -> bool:
    """True if nothing in it can be seen: spaces of any width, line ends, controls, zero-width marks."""
    return all(char.isspace() or unicodedata.category(char) in ("Cc", "Cf", "Zs") for char in text)


def is_placeholder(text: str) -> bool:
    """True if the whole text is one that stands for an answer that is not there. A blank text is none of these."""
    if is_blank(text):
        return False
    letters = sum(1 for _ in islice(filter(_says_something, unicodedata.normalize("NFKC", text)), _LONGEST))
    if not 0 < letters < _LONGEST:
        return not letters
    folded = _folded(text)
    if _stands_for_nothing(folded):
        return True
    return ("<" in folded or "&" in folded) and _stands_for_nothing(_without_tags(folded))


def answer_faults(row: Mapping[str, Any], where: str) -> Iterator[Fault]:
    """A fault for every answer of a valid row that is none; for rows on their way in, not for those that are there."""
    for index, answer in enumerate(row["all_answers"]):
        if found := no_answer(answer["text"]):
            got = "a blank text" if found == "blank" else "a placeholder"
            yield Fault(where, f"all_answers.{index}.text", got, "what somebody answered", "make the row without it")


def _stands_for_nothing(folded: str) -> bool:
    bare = re.sub(r" ?/ ?", "/", folded.strip(_BRACKETS + _QUOTES + " "))
    if not _has_something_to_say(bare) or {folded, bare, bare.rstrip("。 ")} & _listed("markers"):
        return True
    notice = bare.rstrip(".。!！ ")
    if notice in _listed("notices") or any(pattern.fullmatch(notice) for pattern in _notices()):
        return True
    return bare in _listed("bracketed") and folded.strip(_QUOTES)[:1] in _BRACKETS


def _without_tags(folded: str) -> str:
    tags = "|".join(_lists()["tags"])
    return " ".join(re.sub(rf"</?(?:{tags})(?: [^<>]*)?/?>", " ", unescape(folded)).split())


@cache
def _notices() -> tuple[re.Pattern[str], ...]:
    """What says that something was taken away, in English and in Japanese, made of the lists."""
    english, japanese = _alternatives("english"), _alternatives("japanese")
    thing = rf"(?:(?:this|that|the|your) )?{english['things']} (?:(?:has been|have been|was|were|is) )?"
    by = rf" by (?:an? |the |its )?{english['actors']}"
    act = rf"(?:{english['acts']}|{english['loose']})"
    of_thing = rf"(?:この|その)?{japanese['things']}(?:は|が|も)?、? ?"
    by_actor = rf"{japanese['actors']}(?:によって|により|が)、?"
    done = rf"(?:{japanese['acts']}|{japanese['loose']})"
    return (
        re.compile(rf"{english['acts']}|{thing}{act}(?:{by})?|{act}{by}"),
        re.compile(rf"{japanese['acts']}|{of_thing}(?:{by_actor})?{done}|{by_actor}{done}"),
        re.compile(rf"削除(?:済み?の|された){japanese['things']}"),
    )


def _alternatives(name: str) -> dict[str, str]:
    return {key: f"(?:{'|'.join(map(re.escape, words))})" for key, words in _lists()[name].items()}


def _has_something_to_say(text: str) -> bool:
    return any(map(_says_something, text))


def _says_something(char: str) -> bool:
    category = unicodedata.category(char)
    # the long-vowel mark counts as a letter, but alone it is a dash; half a surrogate pair is a broken text
    return (category[0] in "LN" and char != "ー") or category == "Cs"


def _folded(text: str) -> str:
    """NFKC and case-folded, marks of no width left out, runs of white space one space, none at the ends."""
    seen = "".join(char for char in unicodedata.normalize("NFKC", text) if unicodedata.category(char) != "Cf")
    return " ".join(seen.casefold().split())


def usual_spellings() -> Iterator[str]:
    """Placeholder texts as they are mostly found, for where only digests of texts are at hand."""
    for text in sorted(_listed("markers") | _listed("notices") | _listed("bracketed") | {*_usual_notices()}):
        cases = dict.fromkeys((text, text.upper(), text.capitalize(), text.title(), "NaN" if text == "nan" else text))
        for case in cases:
            bracketed = [f"{left}{case}{right}" for left, right in ("[]", "()", "<>", "{}", "（）", "【】", "［］")]
            yield from (spelling for spelling in (case, f"{case}.", *bracketed) if is_placeholder(spelling))
    for mark in ".-–—_?!*/…。ー・":
        yield from (mark * times for times in range(1, 11))


def _usual_notices() -> Iterator[str]:
    english, japanese = _lists()["english"], _lists()["japanese"]
    for act in english["acts"]:
        yield act
        yield from (f"{act} by {article}{actor}" for actor in english["actors"] for article in ("", "a ", "the "))
        for thing in english["things"]:
            yield from (f"{thing} {act}", f"this {thing} has been {act}", f"this {thing} was {act}")
    for act in japanese["acts"]:
        yield act
        yield from (f"{this}{thing}は{act}" for thing in japanese["things"] for this in ("", "この"))
        yield from (f"{actor}に{by}{act}" for actor in japanese["actors"] for by in ("より", "よって"))
    yield from (f"削除{which}{thing}" for thing in japanese["things"] for which in ("された", "済みの"))
