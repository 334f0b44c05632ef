"""The rule judge's cue lists, compiled, and how its texts are folded and cut into sentences."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from ..core.shipped import shipped_text, shipped_toml

_QUOTES = str.maketrans(
    {"‘": "'", "’": "'", "‛": "'", "ʼ": "'", "`": "'", "´": "'", "“": '"', "”": '"', "—": "-", "–": "-"}
)
# A full stop between a small letter and a capital ends a sentence too: exports lost the line breaks there.
_SENTENCE_END = re.compile(
    r"(?<=[.!?…])[\"')\]]*\s+"
    r"|(?<=[a-z)\]\"'][.!?:])(?=[A-Z\"])"
    r"|(?<=[a-z]\.)(?=\d{1,2}[.)]\s)"
    r"|\n+|;\s+|:\s+(?=[-*•\d])"
)
_WORD = re.compile(r"[a-z][a-z']+")
_NAME = re.compile(r"<(\w+)>")


def fold(text: str) -> str:
    """The comparison copy: NFKC (no-break and full-width forms become plain), straight quotes, lower case."""
    return " ".join(_straighten(text).lower().split())


def folded_sentences(text: str) -> list[str]:
    """An answer's sentences, folded; list items and clauses after a semicolon count as sentences."""
    parts = _SENTENCE_END.split(_straighten(text))
    return [" ".join(part.lower().split()) for part in parts if part.strip(" \t-*•.")]


def _straighten(text: str) -> str:
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", text.translate(_QUOTES)).translate(_QUOTES)


@cache
def stop_words() -> frozenset[str]:
    """Words that say nothing about a question's topic."""
    return frozenset(load_rules()["words"]["stop_words"].split())


def content_words(sentence: str) -> frozenset[str]:
    """Stems of a folded sentence's words of four letters or more, stop words left out."""
    words = (word.removesuffix("'s") for word in _WORD.findall(sentence))
    return frozenset(_stem(word) for word in words if len(word) > 3 and word not in stop_words())


def _stem(word: str) -> str:
    if word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word.removesuffix(ending)
    return word


@cache
def cue_file() -> str:
    """The text of `rule_cues.toml`."""
    return shipped_text(__package__, "rule_cues.toml")


@cache
def load_rules() -> Mapping[str, Any]:
    """The parsed cue file."""
    return shipped_toml(__package__, "rule_cues.toml")


@cache
def load_cues() -> Cues:
    """The compiled cue lists (once per process: compiling takes a tenth of a second)."""
    return Cues(load_rules())


class Cues:
    """Questions that can be asked of one folded sentence."""

    def __init__(self, rules: Mapping[str, Any]) -> None:
        words: dict[str, str] = {}
        for name, pattern in rules["words"].items():
            words[name] = _fill(pattern, words)

        def compiled(patterns: str | Iterable[str]) -> re.Pattern[str]:
            filled = [_fill(p, words) for p in ([patterns] if isinstance(patterns, str) else patterns)]
            # One word boundary before all: re then skips alternatives by their first letter (twice as fast).
            inner = [f"(?:{p[2:]})" for p in filled if p.startswith(r"\b")]
            outer = [f"(?:{p})" for p in filled if not p.startswith(r"\b")]
            return re.compile("|".join([*([rf"\b(?:{'|'.join(inner)})"] if inner else []), *outer]))

        reflection, advice, confrontation = rules["reflection"], rules["advice"], rules["confrontation"]
        self.kinds = {
            name: compiled(patterns)
            for section in ("empathy", "partnership")
            for name, patterns in rules[section].items()
        }
        self.requested, self.permission = compiled(advice["requested"]), compiled(advice["permission"])
        self._overt, self._stated = compiled(reflection["overt"]), compiled(reflection["stated"])
        self._not_stated = compiled(reflection["not_stated"])
        self._clause_start = compiled(reflection["clause_start"])
        self._hypothetical = compiled(reflection["hypothetical"])
        self._hard, self._soft = compiled(advice["hard"]), compiled(advice["soft"])
        self._courtesy, self._not_advice = compiled(advice["courtesy"]), compiled(advice["not_advice"])
        self._confronts, self._denied = compiled(confrontation["cues"]), compiled(confrontation["denied"])
        self._denied_inside = compiled(confrontation["denied_inside"])

    def is_reflection(self, sentence: str) -> bool:
        """An overt reflection, or a statement about the person that is no question, condition or advice."""
        if "you" not in sentence and "sounds" not in sentence:
            return False
        found = list(self._overt.finditer(sentence))
        if not sentence.endswith("?"):
            stated = self._stated.finditer(sentence)
            found += (match for match in stated if self._clause_start.search(sentence[: match.start()]))
        return any(
            not self._hypothetical.search(sentence[: match.start()])
            and not self._not_stated.search(sentence, match.start())
            for match in found
        )

    def is_hard_advice(self, sentence: str) -> bool:
        """Advice that presses: should, must, imperatives, "I recommend"."""
        return self._is_advice(self._hard, sentence)

    def is_soft_advice(self, sentence: str) -> bool:
        """A suggestion: "you might try", "it may help to", "have you considered"."""
        return self._is_advice(self._soft, sentence)

    def is_confrontation(self, sentence: str) -> bool:
        """Blame, mockery or disapproval that the sentence itself stands behind."""
        return any(
            not self._denied.search(sentence[: match.start()])
            and not self._denied_inside.match(sentence, match.start())
            and not _is_quoted(sentence, match.start())
            for match in self._confronts.finditer(sentence)
        )

    def _is_advice(self, pattern: re.Pattern[str], sentence: str) -> bool:
        if not pattern.search(sentence) or self._courtesy.search(sentence):
            return False
        exempt = [match.span() for match in self._not_advice.finditer(sentence)]
        return any(
            not any(start < match.end() and match.start() < end for start, end in exempt)
            and not _is_quoted(sentence, match.start())
            for match in pattern.finditer(sentence)
        )


def _is_quoted(sentence: str, position: int) -> bool:
    """Inside quotation marks: said by or to somebody else."""
    return sentence.count('"', 0, position) % 2 == 1


def _fill(pattern: str, words: Mapping[str, str]) -> str:
    # names of [words] only: (?P<name>) groups are not used in the file
    return _NAME.sub(lambda match: words[match[1]], pattern)
