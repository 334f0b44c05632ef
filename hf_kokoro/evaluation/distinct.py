"""Distinct-n: different n-grams over all n-grams of everything a system said (Li et al. 2016).

Over the whole corpus, never a mean of samples. Li et al. divide by tokens; like most later work we divide by
n-grams, which differs by the number of samples for n = 2.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.uint64]

DISTINCT_ORDERS = (1, 2)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_MERGE_AT = 32


@lru_cache(maxsize=1 << 17)
def _token_key(token: str) -> int:
    return int.from_bytes(hashlib.blake2b(token.encode("utf-8"), digest_size=8).digest(), "little")


def ngram_keys(samples: Iterable[list[str]], order: int) -> Keys:
    """Sorted 64-bit keys of the different n-grams of tokenised samples; n-grams never cross samples.

    Keys are the same on every machine. Two of a million n-grams share one with a chance of 3 in 10^8.
    """
    found = []
    for tokens in samples:
        if len(tokens) < order:
            continue
        single = np.array([_token_key(token) for token in tokens], dtype=np.uint64)
        keys = single[: len(tokens) - order + 1].copy()
        for shift in range(1, order):
            # a polynomial in the tokens' keys: the order of the tokens matters, overflow is part of it
            keys = keys * _MULTIPLIER + single[shift : len(tokens) - order + 1 + shift]
        found.append(keys)
    return np.unique(np.concatenate(found)) if found else np.zeros(0, dtype=np.uint64)


class DistinctCounter:
    """Collects keys chunk by chunk; memory grows with the different n-grams only."""

    def __init__(self) -> None:
        self._waiting: dict[int, list[Keys]] = {order: [] for order in DISTINCT_ORDERS}

    def add(self, order: int, keys: Keys) -> None:
        """Add one chunk's `ngram_keys`."""
        waiting = self._waiting[order]
        waiting.append(keys)
        if len(waiting) >= _MERGE_AT:
            self._waiting[order] = [np.unique(np.concatenate(waiting))]

    def different(self, order: int) -> int:
        """How many different n-grams were added."""
        waiting = self._waiting[order]
        return len(np.unique(np.concatenate(waiting))) if waiting else 0
