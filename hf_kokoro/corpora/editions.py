"""Pinned upstream editions: bytes, not names."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Edition:
    """What identifies a set of files: how many, how many bytes, and the sha256 of their sorted listing.

    A listing line is `<base name> <sha256 of the content>\\n`; folders inside the source don't count.
    """

    files: int
    bytes: int
    sha256: str


KOKOROCHAT = Edition(6589, 125_856_078, "f25a6712f67bbf3efbc196473c6094de8d42dae223d50eb30c91f902559571c2")
"""The repository as of 2025-08-04, the state that the paper's figures were counted on."""


@dataclass(frozen=True)
class PinnedFile:
    """One upstream file: its base name, its size in bytes, and the sha256 of its content."""

    name: str
    size: int
    sha256: str

    def holds(self, data: bytes) -> bool:
        """Are these its bytes? The name decides nothing."""
        return len(data) == self.size and hashlib.sha256(data).hexdigest() == self.sha256


COUNSEL_CHAT = (
    PinnedFile(
        "20200325_counsel_chat.csv", 3_281_269, "c36fbce1c12271a17f3f355f6aaeb0b04987b217b53b600c5677985f15c9f1a8"
    ),
    PinnedFile("counselchat-data.csv", 3_019_672, "00d7b44d1bb3c300b6077d1442e32db7ac41b6cc337122d238e0ca78b75c7825"),
)
"""The two tables of the repository nbertagnolli/counsel-chat. Only of these bytes its authors' claims are repeated."""


def edition_of(members: Iterable[tuple[str, bytes]]) -> Edition:
    """Measure (name, bytes) members."""
    listing, total = [], 0
    for name, data in members:
        listing.append(f"{name.rpartition('/')[2]} {hashlib.sha256(data).hexdigest()}\n")
        total += len(data)
    return Edition(len(listing), total, hashlib.sha256("".join(sorted(listing)).encode()).hexdigest())
