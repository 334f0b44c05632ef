"""What may point to a person in texts about to leave: found by kind, reported by row, never quoted.

Public help lines are no private data. The check is a net with holes: it finds patterns, not people. It needs
`phonenumbers` and `python-stdnum`, which are no extra: a gate that sees less where something is not installed is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .finders.scan import HELP_LINE, KINDS, scan_text

__all__ = ["HELP_LINE", "KINDS", "LINES_SHOWN", "PrivacyReport", "redact", "scan_text"]

LINES_SHOWN = 20


@dataclass
class PrivacyReport:
    """Rows with a finding of each kind: kind to row ids, in order, each once."""

    rows: dict[str, list[str]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    help_lines: int = 0

    def add(self, row_id: str, row: Mapping[str, Any]) -> set[str]:
        """Look through every text of a row; gives the kinds found in it."""
        kinds: set[str] = set()
        for text, looked_for in sorted(set(_texts(row)), key=lambda found: found[0]):
            for kind, _, _ in scan_text(text):
                if kind not in looked_for and kind != HELP_LINE:
                    continue
                if kind == HELP_LINE:
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


def redact(value: Any, kinds: Iterable[str] = KINDS) -> Any:
    """The same value with every finding replaced by `[kind]`; equal texts stay equal, help lines stay.

    Looks where `PrivacyReport.add` looks: keys without prose (ids, topics, names of models) lose addresses of mail
    alone, and a therapist's name stays where it is the value.
    """
    wanted = frozenset(kinds)
    if isinstance(value, str):
        return _redacted(value, wanted)
    if isinstance(value, Mapping):
        return {key: redact(item, wanted & _looked_for(key)) for key, item in value.items()}
    if isinstance(value, list):
        return [redact(item, wanted) for item in value]
    return value


def _redacted(text: str, wanted: frozenset[str]) -> str:
    # what stood beside a finding may be one itself once that is gone, so until nothing is left
    while found := sorted((finding for finding in scan_text(text) if finding[0] in wanted), key=lambda place: place[1]):
        pieces, last = [], 0
        for kind, start, end in found:
            pieces += [text[last:start], f"[{kind}]"]
            last = end
        text = "".join([*pieces, text[last:]])
    return text


_ALL = frozenset(KINDS)
_ANYWHERE = frozenset({"email"})
"""Kinds that are looked for in names and ids too; numbers there are ids, and addresses of pages are sources."""
_LOOKED_FOR = {
    **dict.fromkeys(("question_id", "rubric", "judge_model", "source_dataset", "license", "topic"), _ANYWHERE),
    # the value is a name, with or without the letters of a degree that `name` is found by
    **dict.fromkeys(("therapist", "chosen_therapist", "rejected_therapist"), _ALL - {"name"}),
}


def _looked_for(key: str) -> frozenset[str]:
    """The kinds that are looked for under a key of a row."""
    return _LOOKED_FOR.get(key, _ALL)


def _texts(value: Any, key: str = "") -> Iterator[tuple[str, frozenset[str]]]:
    """(text, kinds that are looked for in it)."""
    if isinstance(value, str):
        yield value, _looked_for(key)
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _texts(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, key)
