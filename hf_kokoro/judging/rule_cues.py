"""The rule judge's cue lists, compiled, and how its texts are folded and cut into sentences."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
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
# transcripts: [laughs], um, mm-hmm, and words begun twice ("you-you", "it- it")
_NOTE = re.compile(r"\[[^\]\n]*\]")
_FILLER = re.compile(r"\b(?:[Mm]m-hmm|[Uu]h-huh|[Uu]m|[Uu]h|[Ee]rm?)\b,? ?")
_STUTTER = re.compile(r"\b([\w']+)(?:-+ ?\1\b)+")
_WORD = re.compile(r"[a-z][a-z']+")
_LETTERS = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(r"[A-Za-zªºÀ-ɏḀ-ỿＡ-Ｚａ-ｚ]+")
_NAME = re.compile(r"<(\w+)>")


def fold(text: str) -> str:
    """The comparison copy: NFKC (no-break and full-width forms become plain), straight quotes, lower case."""
    return " ".join(_straighten(text).lower().split())


def latin_share(text: str) -> float | None:
    """The share of a text's letters that are Latin, full-width ones included; None where there is no letter."""
    letters = "".join(_LETTERS.findall(text))
    return sum(map(len, _LATIN.findall(letters))) / len(letters) if letters else None


def folded_sentences(text: str) -> list[str]:
    """An answer's sentences, folded; list items and clauses after a semicolon count as sentences."""
    parts = _SENTENCE_END.split(_written(_straighten(text)))
    return [" ".join(part.lower().split()) for part in parts if part.strip(" \t-*•.")]


def _written(text: str) -> str:
    """A transcript's text without notes, fillers and words begun twice."""
    text = _FILLER.sub("", _NOTE.sub(" ", text) if "[" in text else text)
    return _STUTTER.sub(r"\1", text) if "-" in text else text


def _straighten(text: str) -> str:
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", text.translate(_QUOTES)).translate(_QUOTES)


@cache
def stop_words() -> frozenset[str]:
    """Words that say nothing about a question's topic."""
    return frozenset(load_rules()["words"]["stop_words"].split())


def content_words(sentence: str) -> frozenset[str]:
    """Stems of a folded sentence's words of three letters or more, stop words left out."""
    words = (word.removesuffix("'s") for word in _WORD.findall(sentence))
    return frozenset(_stem(word) for word in words if len(word) > 2 and word not in stop_words())


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


class Cue:
    """A list of patterns as one: those that begin with "you" apart, since most sentences have none (twice as fast)."""

    def __init__(self, patterns: Iterable[str]) -> None:
        alternatives = [part for text in patterns for part in _alternatives(text)]
        to_you = [part[5:] for part in alternatives if part.startswith(r"\byou")]
        words = [part[2:] for part in alternatives if part.startswith(r"\b") and not part.startswith(r"\byou")]
        free = [part for part in alternatives if not part.startswith(r"\b")]
        # a literal first lets re skip to it, and one boundary before all skip alternatives by their first letter
        starts = ((r"you(?<!\wyou)", to_you), (r"\b", words), ("", free))
        self._parts = [re.compile(f"{start}(?:{'|'.join(rest)})") for start, rest in starts if rest]

    def search(self, sentence: str) -> bool:
        """Is any of them in the sentence?"""
        for part in self._parts:  # noqa: SIM110 - a generator for any() costs as much as the search
            if part.search(sentence):
                return True
        return False

    def finditer(self, sentence: str) -> Iterator[re.Match[str]]:
        """Where they are, in no order."""
        return chain.from_iterable(part.finditer(sentence) for part in self._parts)


def _alternatives(pattern: str) -> list[str]:
    """A pattern cut at the bars that stand in no brackets."""
    parts, depth, escaped = [""], 0, False
    for sign in pattern:
        if sign == "|" and not depth and not escaped:
            parts.append("")
            continue
        depth += 0 if escaped else (sign in "([") - (sign in ")]")
        escaped = sign == "\\" and not escaped
        parts[-1] += sign
    return parts


class Cues:
    """Questions that can be asked of one folded sentence."""

    def __init__(self, rules: Mapping[str, Any]) -> None:
        words: dict[str, str] = {}
        for name, text in rules["words"].items():
            words[name] = _fill(text, words)

        def pattern(text: str) -> re.Pattern[str]:
            return re.compile(_fill(text, words))

        def cues(patterns: Iterable[str]) -> Cue:
            return Cue(_fill(text, words) for text in patterns)

        advice, confrontation = rules["advice"], rules["confrontation"]
        self.kinds = {
            name: cues(patterns) for section in ("empathy", "partnership") for name, patterns in rules[section].items()
        }
        self.requested, self.permission = pattern(advice["requested"]), pattern(advice["permission"])
        self.overt, self.stated = cues(rules["reflection"]["overt"]), cues(rules["reflection"]["stated"])
        self.reflection = {name: pattern(text) for name, text in rules["reflection"].items() if isinstance(text, str)}
        self._lead_in, self._asks = self.reflection["lead_in"], self.reflection["asks"]
        self._hard, self._soft = cues(advice["hard"]), cues(advice["soft"])
        self._suggests = cues(advice["suggests"])
        self._courtesy, self._not_advice = pattern(advice["courtesy"]), pattern(advice["not_advice"])
        self._confronts, self._denied = cues(confrontation["cues"]), pattern(confrontation["denied"])
        self._labels = cues(confrontation["labels"])
        self._denied_inside = pattern(confrontation["denied_inside"])

    def without_lead_in(self, sentence: str) -> str:
        """The sentence without its first "okay, so well"."""
        return self._lead_in.sub("", sentence)

    def is_question(self, sentence: str) -> bool:
        """A question by its words: "you miss her?" is none."""
        return sentence.endswith("?") and bool(self._asks.search(self.without_lead_in(sentence)))

    def is_hard_advice(self, sentence: str) -> bool:
        """Advice that presses: should, must, imperatives, "I recommend"; a question is none."""
        return not self.is_question(sentence) and self._is_advice(self._hard, sentence)

    def is_soft_advice(self, sentence: str) -> bool:
        """A suggestion: "you might try", "it may help to"; as a question: "have you considered a ..."."""
        if sentence.endswith("?") and self._suggests.search(sentence):
            return True
        return not self.is_question(sentence) and self._is_advice(self._soft, sentence)

    def is_confrontation(self, sentence: str, asked: frozenset[str]) -> bool:
        """Blame, mockery, warning or disapproval that the sentence itself stands behind, or a label.

        A label that the person used first, one of their content words `asked`, is no label of the writer's.
        """
        labels = (m for m in self._labels.finditer(sentence) if not asked & content_words(m[0].rpartition(" ")[2]))
        return any(
            not self._denied.search(sentence[: match.start()])
            and not self._denied_inside.match(sentence, match.start())
            and not _is_quoted(sentence, match.start())
            for match in (*self._confronts.finditer(sentence), *labels)
        )

    def _is_advice(self, cue: Cue, sentence: str) -> bool:
        if not cue.search(sentence) or self._courtesy.search(self.without_lead_in(sentence)):
            return False
        exempt = [match.span() for match in self._not_advice.finditer(sentence)]
        return any(
            not any(start < match.end() and match.start() < end for start, end in exempt)
            and not _is_quoted(sentence, match.start())
            for match in cue.finditer(sentence)
        )


def _is_quoted(sentence: str, position: int) -> bool:
    """Inside quotation marks: said by or to somebody else."""
    return sentence.count('"', 0, position) % 2 == 1


def _fill(pattern: str, words: Mapping[str, str]) -> str:
    # names of [words] only: (?P<name>) groups are not used in the file
    return _NAME.sub(lambda match: words[match[1]], pattern)
