"""What may point to a person in texts about to leave: found by kind, reported by row, never quoted.

Public help lines are no private data. The check is a net with holes: it finds patterns, not people.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .help_lines import is_help_line

KINDS = ("email", "phone", "url", "digits", "name")
LINES_SHOWN = 20

# full-width forms that people type in Japanese, one character each, so that positions stay
_FOLDED = {code + 0xFEE0: code for code in range(ord("!"), ord("~") + 1)} | dict.fromkeys(map(ord, "ー−‐‑‒–—"), "-")
_PATTERNS = {
    "email": re.compile(r"[A-Za-z0-9_.+-]+\s?@\s?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+"),
    "url": re.compile(r"(?:https?://|www\.)[^\s<>\"'）」]+", re.IGNORECASE),
    "phone": re.compile(
        r"(?<![A-Za-z0-9_-])(?:\+\d{1,3}[\s.-]?)?(?:\(\d{2,5}\)[\s.-]?|\d{1,5}[\s.-]){0,2}"
        r"(?:\d{2,4}[\s.-]\d{3,4}|\d{3}-[A-Z]{4})(?![A-Za-z0-9_-])",
        re.ASCII,
    ),
    "digits": re.compile(r"(?<![A-Za-z0-9_.])\d{7,}(?![A-Za-z0-9_.]*[A-Za-z0-9_])", re.ASCII),
    "name": re.compile(
        r"\b(?:[Mm]y name is|[Mm]y name's|I am called|[Pp]eople call me)\s+(?-i:[A-Z][\w'-]+)"
        r"|(?:私|僕|俺)の名前は[^\s、。はが]{1,8}|名前は[^\s、。はが]{1,8}と(?:申し|言い|いい)ます"
    ),
}
_YEARS_OR_ZIP = re.compile(r"(?:19|20)\d{2}\s?[-.]\s?(?:19|20)\d{2}\Z|\d{5}-\d{4}\Z")


@dataclass
class PrivacyReport:
    """Rows with a finding of each kind: kind to row ids, in order, each once."""

    rows: dict[str, list[str]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    help_lines: int = 0

    def add(self, row_id: str, row: Mapping[str, Any]) -> set[str]:
        """Look through every text of a row; gives the kinds found in it."""
        kinds: set[str] = set()
        for text, prose in set(_texts(row)):
            for kind, _, _ in scan_text(text):
                if not prose and kind not in _ANYWHERE:
                    continue
                if kind == "help line":
                    self.help_lines += 1
                else:
                    self.counts[kind] += 1
                    kinds.add(kind)
        for kind in kinds:
            places = self.rows.setdefault(kind, [])
            if places[-1:] != [row_id]:
                places.append(row_id)
        return kinds

    def without(self, allowed: Iterable[str]) -> PrivacyReport:
        """The report without the kinds that the caller allows."""
        kept = {kind: rows for kind, rows in self.rows.items() if kind not in set(allowed)}
        return PrivacyReport(kept, Counter({kind: self.counts[kind] for kind in kept}), self.help_lines)

    def __bool__(self) -> bool:
        return bool(self.rows)

    def lines(self, shown: int = LINES_SHOWN) -> Iterator[str]:
        """One line a kind: how many, and in which rows (the first `shown`)."""
        for kind, rows in sorted(self.rows.items(), key=lambda item: KINDS.index(item[0])):
            more = f" and {len(rows) - shown} more" if len(rows) > shown else ""
            named = f" ({', '.join(rows[:shown])}{more})" if shown else ""
            yield f"{kind}: {self.counts[kind]} in {len(rows)} row{'s' if len(rows) != 1 else ''}{named}"


def scan_text(text: str) -> Iterator[tuple[str, int, int]]:
    """(kind, start, end) of each finding, none overlapping; public help lines come as kind `help line`."""
    taken: list[tuple[int, int]] = []
    folded = text.translate(_FOLDED)
    for kind, pattern in _PATTERNS.items():
        for match in pattern.finditer(folded):
            start, end = match.span()
            if any(start < stop and begin < end for begin, stop in taken):
                continue
            if kind == "phone" and not _is_phone(match[0]):
                continue
            taken.append((start, end))
            found = "help line" if kind in ("phone", "digits") and is_help_line(match[0]) else kind
            yield found, start, end


def _is_phone(text: str) -> bool:
    """Seven digits or more, and more than two numbers that happen to stand side by side."""
    groups = re.findall(r"\w+", text)
    spaced_only = not re.search(r"[+().-]", text)
    too_short = sum(map(len, groups)) < 7 or (spaced_only and len(groups) < 3)
    return not too_short and not _YEARS_OR_ZIP.match(text)


def redact(value: Any, kinds: Iterable[str] = KINDS) -> Any:
    """The same value with every finding replaced by `[kind]`; equal texts stay equal, help lines stay.

    Looks where `PrivacyReport.add` looks: keys without prose (ids, topics, names of models) lose addresses alone.
    """
    wanted = set(kinds)
    if isinstance(value, str):
        for kind, start, end in sorted(scan_text(value), key=lambda found: found[1], reverse=True):
            if kind in wanted:
                value = f"{value[:start]}[{kind}]{value[end:]}"
        return value
    if isinstance(value, Mapping):
        return {key: redact(item, wanted & _ANYWHERE if key in _NOT_PROSE else wanted) for key, item in value.items()}
    if isinstance(value, list):
        return [redact(item, wanted) for item in value]
    return value


_NOT_PROSE = ("question_id", "rubric", "judge_model", "source_dataset", "license", "topic")
_ANYWHERE = frozenset({"email"})
"""Kinds that are looked for in names and ids too; numbers there are ids, and addresses of pages are sources."""


def _texts(value: Any, key: str = "") -> Iterator[tuple[str, bool]]:
    """(text, is it prose)."""
    if isinstance(value, str):
        yield value, key not in _NOT_PROSE
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _texts(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, key)
