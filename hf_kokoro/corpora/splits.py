"""Splits that depend on (seed, keys) alone: not on file order, file count or the machine.

Every key (a dialogue id, a person, a question) is hashed to a number in [0, 1); a row's split follows from
its keys' numbers. So a translation lands where its original does, and a row that is added later moves no other.
The price: 10 % is 10 % in expectation, not to the row (±0.4 points for 6,589 dialogues).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

TRAIN, VALIDATION, TEST = "train", "validation", "test"


class Unit(NamedTuple):
    """One row for the purpose of splitting: its split (None = left out) and its groups' members."""

    split: str | None
    groups: Mapping[str, frozenset[Any]]


def unit_hash(seed: int, key: str) -> float:
    """Hash (seed, key) to a number in [0, 1), the same on every machine."""
    digest = hashlib.sha256(f"{seed}:{key}".encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56


@dataclass(frozen=True)
class Fractions:
    """Shares of the key space held out; the rest is train."""

    test: float
    validation: float = 0.0

    def split_of_key(self, seed: int, key: str) -> str:
        """The split that one key falls into."""
        position = unit_hash(seed, key)
        if position < self.test:
            return TEST
        return VALIDATION if position < self.test + self.validation else TRAIN

    def split_of(self, seed: int, keys: Iterable[str]) -> str | None:
        """The split that all keys agree on; None if they disagree: such a row would leak, so it is dropped."""
        splits = {self.split_of_key(seed, key) for key in keys}
        return splits.pop() if len(splits) == 1 else None

    def names(self) -> tuple[str, ...]:
        """Names of the splits that can hold rows."""
        return (TRAIN, *((VALIDATION,) if self.validation else ()), *((TEST,) if self.test else ()))


RANDOM = Fractions(test=0.1, validation=0.1)
GROUPS = Fractions(test=0.1, validation=0.1)
TWO_GROUPS = Fractions(test=0.2)
"""For rows with two people each: a row stays only if both fall on the same side, a third split costs too much."""


def connected_groups(members: Iterable[tuple[str, ...]]) -> Mapping[str, str]:
    """Join keys that appear together; return key to its group's name (the smallest key in it).

    A question published under two ids, or an id used for two questions, is one group.
    """
    parent: dict[str, str] = {}

    def root(key: str) -> str:
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    for keys in members:
        for key in keys:
            parent.setdefault(key, key)
        first = root(keys[0])
        for key in keys[1:]:
            other = root(key)
            low, high = min(first, other), max(first, other)
            parent[high] = low
            first = low
    return {key: root(key) for key in parent}


def systematic_split(strata: Mapping[str, str], seed: int, period: int = 10) -> dict[str, str]:
    """Split groups so that every stratum is spread evenly: of each `period` groups one is test, one validation.

    `strata` is group to stratum (situation to emotion). Groups are ordered by (stratum, hash); with ten
    situations a label, as EmplifAI has, each label gets exactly one in test and one in validation.
    """
    ordered = sorted(strata, key=lambda group: (strata[group], unit_hash(seed, group), group))
    names = {period - 2: VALIDATION, period - 1: TEST}
    return {group: names.get(position % period, TRAIN) for position, group in enumerate(ordered)}
