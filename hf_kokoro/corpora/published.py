"""Published facts: figures to compare with ours, and upstream's files, pinned by their bytes and not by names."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One figure: the published value (None if there is none), ours, and the digits it is printed with."""

    name: str
    paper: float | None
    ours: float
    digits: int = 0

    @property
    def differs(self) -> bool:
        """True if the two differ in the digits that are printed."""
        # float(): figures come from numpy, whose booleans are not Python's
        return self.paper is not None and round(float(self.ours), self.digits) != round(self.paper, self.digits)

    def row(self) -> tuple[str, str, str, str]:
        """Name, paper, ours, difference as text."""
        paper = "-" if self.paper is None else f"{self.paper:,.{self.digits}f}"
        gap = f"{self.ours - (self.paper or 0):+,.{self.digits}f}" if self.differs else ""
        return self.name, paper, f"{self.ours:,.{self.digits}f}", gap


@dataclass(frozen=True)
class Edition:
    """What identifies a set of files: how many, how many bytes, and the sha256 of their sorted listing.

    A listing line is `<base name> <sha256 of the content>\\n`; folders inside the source don't count.
    """

    files: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class PinnedFile:
    """One upstream file: its base name, its size in bytes, and the sha256 of its content."""

    name: str
    size: int
    sha256: str

    def holds(self, data: bytes) -> bool:
        """Are these its bytes? The name decides nothing."""
        return len(data) == self.size and hashlib.sha256(data).hexdigest() == self.sha256


def edition_of(members: Iterable[tuple[str, bytes]]) -> Edition:
    """Measure (name, bytes) members."""
    listing, total = [], 0
    for name, data in members:
        listing.append(f"{name.rpartition('/')[2]} {hashlib.sha256(data).hexdigest()}\n")
        total += len(data)
    return Edition(len(listing), total, hashlib.sha256("".join(sorted(listing)).encode()).hexdigest())
