#!/usr/bin/env python
"""Recall and precision of the check of private data on the probes in `privacy_probes.toml`, by kind and language.

A marked piece counts as found if a finding has its kind, its start and its end; every other finding is a false alarm.
Ends with 1 if the tuned probes stay under a bar; the held-out ones have none, they are measured.

    python scripts/check_privacy.py            # the table of the README
    python scripts/check_privacy.py --missed   # and what of the tuned probes was missed or found wrongly
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from hf_kokoro.policy.private_data import KINDS, scan_text

PROBES = Path(__file__).with_name("privacy_probes.toml")
PARTS = {"tuned": "tuned on", "held_out": "held out"}
LANGUAGES = ("en", "ja")
RECALL_BAR = PRECISION_BAR = 0.95
_MARK = re.compile(r"\{\{(\w+)\|(.*?)\}\}")


class Finding(NamedTuple):
    """A kind of private data and where it stands in the text."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True)
class Probe:
    """A text without its marks, and what has to be found in it."""

    part: str
    language: str
    text: str
    marked: frozenset[Finding]

    def found(self) -> frozenset[Finding]:
        """What the check finds; help lines are nothing."""
        return frozenset(Finding(*found) for found in scan_text(self.text) if found[0] in KINDS)


@dataclass
class Figures:
    """Counts of marked pieces, of those found, and of all findings; recall and precision where there are any."""

    marked: int = 0
    right: int = 0
    findings: int = 0

    @property
    def recall(self) -> float:
        return self.right / self.marked if self.marked else 1.0

    @property
    def precision(self) -> float:
        return self.right / self.findings if self.findings else 1.0

    def __str__(self) -> str:
        if not self.marked and not self.findings:
            return "-"
        return f"{self.right}/{self.marked} {self.recall:.2f}, {self.right}/{self.findings} {self.precision:.2f}"

    def __add__(self, other: Figures) -> Figures:
        return Figures(self.marked + other.marked, self.right + other.right, self.findings + other.findings)


@dataclass
class Measured:
    """Figures by part, kind and language, and the tuned probes that went wrong."""

    figures: dict[tuple[str, str, str], Figures] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def over(self, part: str, kinds: tuple[str, ...] = KINDS, languages: tuple[str, ...] = LANGUAGES) -> Figures:
        """The sum over kinds and languages."""
        nothing = Figures()
        return sum((self.figures.get((part, kind, at), nothing) for kind in kinds for at in languages), nothing)


def parse(part: str, language: str, marked: str) -> Probe:
    """A probe from its text with marks."""
    text, findings, end = "", set(), 0
    for match in _MARK.finditer(marked):
        text += marked[end : match.start()]
        findings.add(Finding(match[1], len(text), len(text) + len(match[2])))
        text += match[2]
        end = match.end()
    return Probe(part, language, text + marked[end:], frozenset(findings))


def probes(file: Path = PROBES) -> Iterator[Probe]:
    """Every probe of the file."""
    for part, languages in tomllib.loads(file.read_text("utf-8")).items():
        for language, lists in languages.items():
            for texts in lists.values():
                yield from (parse(part, language, text) for text in texts)


def measure() -> Measured:
    """Ask the check about every probe."""
    marked, right, findings = Counter[tuple[str, ...]](), Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
    measured = Measured()
    for probe in probes():
        found = probe.found()
        for counter, pieces in ((marked, probe.marked), (right, probe.marked & found), (findings, found)):
            counter.update((probe.part, piece.kind, probe.language) for piece in pieces)
        if probe.part == "tuned" and found != probe.marked:
            measured.wrong.append(f"{probe.text!r}: missed {_told(probe, probe.marked - found)}")
            measured.wrong[-1] += f", false {_told(probe, found - probe.marked)}"
    for part in PARTS:
        for kind in KINDS:
            for language in LANGUAGES:
                key = (part, kind, language)
                measured.figures[key] = Figures(marked[key], right[key], findings[key])
    return measured


def _told(probe: Probe, pieces: frozenset[Finding]) -> list[str]:
    return [f"{piece.kind} {probe.text[piece.start : piece.end]!r}" for piece in sorted(pieces)]


def table(measured: Measured) -> str:
    """A Markdown table: by kind and language how many of the marked were found, and how many findings were right."""
    lines = ["| kind | language | tuned on: recall, precision | held out: recall, precision |", "|---|---|---|---|"]
    rows = [(kind, (kind,), language, (language,)) for kind in KINDS for language in LANGUAGES]
    rows += [("all", KINDS, language, (language,)) for language in LANGUAGES] + [("all", KINDS, "both", LANGUAGES)]
    for name, kinds, told, languages in rows:
        cells = " | ".join(str(measured.over(part, kinds, languages)) for part in PARTS)
        lines.append(f"| {name} | {told} | {cells} |")
    return "\n".join(lines)


def main() -> int:
    """Print the table; 1 if the tuned probes stay under a bar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--missed", action="store_true", help="list the tuned probes that went wrong")
    options = parser.parse_args()
    measured = measure()
    print(table(measured))
    if options.missed:
        print("\n".join(measured.wrong))
    tuned = measured.over("tuned")
    return int(tuned.recall < RECALL_BAR or tuned.precision < PRECISION_BAR)


if __name__ == "__main__":
    sys.exit(main())
