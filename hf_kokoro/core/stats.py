"""Agreement and association of scores: kappa, alpha, rank correlation, bootstrap, concentration.

Undefined values (a constant side, too few items) are None, never 0 and never NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Statistic = Callable[[Array, Array], float | None]

BOOTSTRAPS = 1000
SEED = 42


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval; all None where it is undefined."""

    value: float | None
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        if self.value is None:
            return "-"
        interval = "" if self.low is None or self.high is None else f" [{self.low:.2f}, {self.high:.2f}]"
        return f"{self.value:.2f}{interval}"


def quadratic_kappa(first: Array, second: Array) -> float | None:
    """Cohen's kappa with quadratic weights (Cohen 1968); None if both raters are constant at one level."""
    expected = np.mean((first[:, None] - second[None, :]) ** 2)
    return None if expected == 0 else float(1 - np.mean((first - second) ** 2) / expected)


def ordinal_alpha(ratings: Array) -> float | None:
    """Krippendorff's alpha for ordinal data, (units, raters) with NaN for missing.

    Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", section E. None without variation.
    """
    levels = np.unique(ratings[~np.isnan(ratings)])
    position = {level: index for index, level in enumerate(levels)}
    coincidences = np.zeros((len(levels), len(levels)))
    for unit in ratings:
        values = [position[value] for value in unit[~np.isnan(unit)]]
        counts = np.bincount(values, minlength=len(levels)).astype(float)
        if len(values) > 1:
            coincidences += (np.outer(counts, counts) - np.diag(counts)) / (len(values) - 1)
    totals = coincidences.sum(axis=1)
    total = totals.sum()
    # distance of two levels: the ratings that lie between them, the ends counted half
    cumulative = np.cumsum(totals) - totals / 2
    distance = (cumulative[:, None] - cumulative[None, :]) ** 2
    expected = (np.outer(totals, totals) * distance).sum()
    if total < 2 or expected == 0:
        return None
    return float(1 - (total - 1) * (coincidences * distance).sum() / expected)


def pearson(first: Array, second: Array) -> float | None:
    """Pearson's r; None if a side is constant or there are fewer than three items."""
    if len(first) < 3 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    return float(np.corrcoef(first, second)[0, 1])


def spearman(first: Array, second: Array) -> float | None:
    """Spearman's rho with mean ranks for ties; None as for `pearson`."""
    return pearson(mean_ranks(first), mean_ranks(second))


def partial_spearman(first: Array, second: Array, control: Array) -> float | None:
    """Rank correlation of two variables with the ranks of a third held fixed."""
    pairs = [spearman(first, second), spearman(first, control), spearman(second, control)]
    if pairs[0] is None or pairs[1] is None or pairs[2] is None:
        return None
    xy, xz, yz = pairs[0], pairs[1], pairs[2]
    rest = (1 - xz**2) * (1 - yz**2)
    return None if rest <= 1e-12 else float((xy - xz * yz) / math.sqrt(rest))


def mean_ranks(values: Array) -> Array:
    """Ranks from 1; equal values share the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Array = (np.cumsum(counts) - (counts - 1) / 2)[inverse].astype(np.float64)
    return ranks


def bootstrap(statistic: Statistic, first: Array, second: Array, groups: Sequence[Any]) -> Estimate:
    """`pearson` or `spearman` with a 95 % percentile interval, resampling whole groups.

    Answers to one question are not independent, so questions are drawn, not answers. Seeded.
    """
    value = statistic(first, second)
    if value is None:
        return Estimate(None)
    _, membership = np.unique(np.asarray([str(group) for group in groups]), return_inverse=True)
    count = int(membership.max()) + 1
    if count < 2:
        return Estimate(value)
    drawn = np.random.default_rng(SEED).multinomial(count, np.full(count, 1 / count), size=BOOTSTRAPS)
    found = weighted_correlations(first, second, drawn[:, membership].astype(float), statistic is spearman)
    found = found[~np.isnan(found)]
    if len(found) < BOOTSTRAPS / 2:
        return Estimate(value)
    low, high = np.quantile(found, [0.025, 0.975])
    return Estimate(value, float(low), float(high))


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


def wilson(successes: float, trials: float) -> Estimate:
    """A share with Wilson's 95 % interval (Wilson 1927); fractions come from weighted counts."""
    if not trials:
        return Estimate(None)
    z, share = 1.959963984540054, successes / trials
    middle = share + z**2 / (2 * trials)
    spread = z * math.sqrt(share * (1 - share) / trials + z**2 / (4 * trials**2))
    scale = 1 + z**2 / trials
    return Estimate(share, max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale))


def gini(amounts: Sequence[float]) -> float | None:
    """0 if everybody has the same, towards 1 if one has all. None for nothing."""
    values = np.sort(np.asarray(amounts, dtype=float))
    if not len(values) or values.sum() == 0:
        return None
    ranks = np.arange(1, len(values) + 1)
    return float((2 * (ranks * values).sum()) / (len(values) * values.sum()) - (len(values) + 1) / len(values))


def effective_number(amounts: Sequence[float]) -> float | None:
    """How many equal contributors would be as concentrated: 1 / sum of squared shares (inverse Simpson)."""
    values = np.asarray(amounts, dtype=float)
    total = values.sum()
    return None if total == 0 else float(total**2 / (values**2).sum())
