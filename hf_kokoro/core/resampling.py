"""Bootstrap intervals and paired tests over whole groups (dialogues, questions), the same on every run.

Items of one group are not independent, so groups are drawn, never items. Draws come from PCG64's raw bits, whose stream
NumPy guarantees, so that they are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .stats import TAIL, Array, Estimate, spearman

Sums = npt.NDArray[np.float64]
Metrics = Callable[[Any], Mapping[str, float]]
Statistic = Callable[[Array, Array], float | None]

DRAWS = 1000
SEED = 42


def bootstrap_sums(groups: npt.NDArray[Any], draws: int = DRAWS, seed: int = SEED) -> Sums:
    """(draws, columns): column sums of as many groups as there are, drawn with replacement.

    `groups` is (groups, columns), one row of summed counts a group (Efron and Tibshirani 1993).
    """
    table = groups.astype(np.float64)
    sums = [counts @ table for counts in drawn_counts(len(table), draws, seed)]
    return np.array(sums).reshape(draws, table.shape[1])


def drawn_counts(size: int, draws: int = DRAWS, seed: int = SEED) -> Iterator[Array]:
    """(size,) for each draw: how often each of so many groups was drawn, with replacement."""
    chance = np.random.PCG64(seed)
    for _ in range(draws):
        # 32 random bits times the size, high half: an index without NumPy's own, unguaranteed, reduction
        drawn = ((chance.random_raw(size) >> np.uint64(32)) * np.uint64(size)) >> np.uint64(32)
        yield np.bincount(drawn.astype(np.int64), minlength=size).astype(np.float64)


def group_numbers(groups: Iterable[Hashable]) -> tuple[npt.NDArray[np.intp], int]:
    """A number from 0 for the group of each item, in order of name, and how many groups there are."""
    names, numbers = np.unique([str(group) for group in groups], return_inverse=True)
    return numbers, len(names)


def interval(values: Sequence[float] | Array) -> tuple[float, float]:
    """The 95 % percentile interval."""
    low, high = np.quantile(np.asarray(values), [TAIL, 1 - TAIL])
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


def bootstrap(statistic: Statistic, first: Array, second: Array, groups: Sequence[Any]) -> Estimate:
    """`pearson` or `spearman` with a 95 % percentile interval, resampling whole groups.

    None where it is undefined; no interval for one group, or where most draws leave it undefined.
    """
    value = statistic(first, second)
    if value is None:
        return Estimate(None)
    membership, count = group_numbers(groups)
    if count < 2:
        return Estimate(value)
    weights = np.stack([*drawn_counts(count)])[:, membership]
    found = weighted_correlations(first, second, weights, statistic is spearman)
    found = found[~np.isnan(found)]
    return Estimate(value) if len(found) < DRAWS / 2 else Estimate(value, *interval(found))


def weighted_correlations(first: Array, second: Array, weights: Array, ranked: bool) -> Array:
    """One correlation a row of `weights` (draws, items), each item counted as often as its weight says.

    NaN where a side is constant. All draws at once: a thousand take as long as ten one by one.
    """
    if ranked:
        first, second = _weighted_ranks(first, weights), _weighted_ranks(second, weights)
    else:
        first, second = np.broadcast_to(first, weights.shape), np.broadcast_to(second, weights.shape)
    total = weights.sum(axis=1, keepdims=True)
    left = first - (weights * first).sum(axis=1, keepdims=True) / total
    right = second - (weights * second).sum(axis=1, keepdims=True) / total
    spread = (weights * left**2).sum(axis=1) * (weights * right**2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Array = (weights * left * right).sum(axis=1) / np.sqrt(spread)
    found[spread <= 1e-12] = np.nan
    return found


def _weighted_ranks(values: Array, weights: Array) -> Array:
    """Mean ranks of `values` in each row's resample, as (draws, items)."""
    levels, position = np.unique(values, return_inverse=True)
    order = np.argsort(position, kind="stable")
    starts = np.searchsorted(position[order], np.arange(len(levels)))
    counts = np.add.reduceat(weights[:, order], starts, axis=1)
    ranks: Array = (np.cumsum(counts, axis=1) - (counts - 1) / 2)[:, position]
    return ranks
