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


def edition_of(members: Iterable[tuple[str, bytes]]) -> Edition:
    """Measure (name, bytes) members."""
    listing, total = [], 0
    for name, data in members:
        listing.append(f"{name.rpartition('/')[2]} {hashlib.sha256(data).hexdigest()}\n")
        total += len(data)
    return Edition(len(listing), total, hashlib.sha256("".join(sorted(listing)).encode()).hexdigest())
