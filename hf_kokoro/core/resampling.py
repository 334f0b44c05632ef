"""Bootstrap intervals and paired tests from summed counts, the same on every run and machine.

Chance comes from PCG64's raw bits, whose stream NumPy guarantees; sums are of integers below 2^53 and so exact
in whatever order a machine adds them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Sums = npt.NDArray[np.float64]
Metrics = Callable[[Any], Mapping[str, float]]

DRAWS = 1000
SEED = 42


def bootstrap_sums(groups: npt.NDArray[Any], draws: int = DRAWS, seed: int = SEED) -> Sums:
    """(draws, columns): column sums of as many groups as there are, drawn with replacement.

    `groups` is (groups, columns), one row of summed counts a group (Efron and Tibshirani 1993).
    """
    table = groups.astype(np.float64)
    size = len(table)
    chance = np.random.PCG64(seed)
    found = np.empty((draws, table.shape[1]))
    for row in found:
        # 32 random bits times the size, high half: an index without NumPy's own, unguaranteed, reduction
        drawn = ((chance.random_raw(size) >> np.uint64(32)) * np.uint64(size)) >> np.uint64(32)
        row[:] = np.bincount(drawn.astype(np.int64), minlength=size).astype(np.float64) @ table
    return found


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % percentile interval."""
    low, high = np.quantile(np.asarray(values), [0.025, 0.975])
    return float(low), float(high)


def paired_difference(
    first: npt.NDArray[Any], second: npt.NDArray[Any], metrics: Metrics, draws: int = DRAWS, seed: int = SEED
) -> dict[str, tuple[float, float, float, float]]:
    """Metric to (first - second, low, high, p) for two systems on the same groups.

    Interval: paired bootstrap (Koehn 2004). p: approximate randomisation, two-sided (Riezler and Maxwell 2005):
    the systems are swapped group by group at random; p is the share of swaps at least as far apart.
    """
    one, other = metrics(first.sum(axis=0)), metrics(second.sum(axis=0))
    observed = {name: one[name] - other[name] for name in one}
    both = bootstrap_sums(np.hstack([first, second]), draws, seed)
    columns = first.shape[1]
    drawn = [_minus(metrics(row[:columns]), metrics(row[columns:])) for row in both]
    swapped = [
        _minus(metrics(row[:columns]), metrics(row[columns:])) for row in _swapped_sums(first, second, draws, seed)
    ]
    found = {}
    for name, difference in observed.items():
        low, high = interval([draw[name] for draw in drawn])
        # the margin keeps rounding of the last bit from deciding a tie
        extreme = sum(abs(draw[name]) >= abs(difference) - 1e-12 for draw in swapped)
        found[name] = (difference, low, high, (extreme + 1) / (draws + 1))
    return found


def _swapped_sums(first: npt.NDArray[Any], second: npt.NDArray[Any], draws: int, seed: int) -> Sums:
    """(draws, 2 * columns): sums of both systems after swapping each group with chance one half."""
    apart = (first - second).astype(np.float64)
    sums = np.concatenate([first.sum(axis=0), second.sum(axis=0)]).astype(np.float64)
    chance = np.random.PCG64(seed + 1)
    found = np.empty((draws, len(sums)))
    for row in found:
        words = chance.random_raw(-(-len(apart) // 64)).astype("<u8")
        moved = np.unpackbits(words.view(np.uint8), bitorder="little")[: len(apart)].astype(np.float64) @ apart
        row[:] = sums + np.concatenate([-moved, moved])
    return found


def _minus(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    return {name: first[name] - second[name] for name in first}
