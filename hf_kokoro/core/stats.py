"""Association of scores: correlations, Wilson's interval, concentration. Agreement is in `agreement`.

Undefined values (a constant side, too few items) are None, never 0 and never NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

PRECISION = 6
"""Decimals of a figure in a report: far above what two machines' logarithms could disagree on."""
LEVEL = 0.95
"""Of every interval in this package."""
TAIL = 0.025
"""What such an interval leaves out on each side."""
Z = 1.959963984540054
"""The normal quantile with TAIL above it."""


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


@overload
def rounded(value: float) -> float: ...
@overload
def rounded(value: float | None) -> float | None: ...
def rounded(value: float | None) -> float | None:
    """A figure as reports keep it: PRECISION decimals, a plain float; None stays None."""
    return None if value is None else round(float(value), PRECISION)


def pearson(first: Array, second: Array) -> float | None:
    """Pearson's r; None if a side is constant or there are fewer than three items."""
    if len(first) < 3 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    return float(np.corrcoef(first, second)[0, 1])


def spearman(first: Array, second: Array) -> float | None:
    """Spearman's rho with mean ranks for ties; None as for `pearson`."""
    return pearson(mean_ranks(first), mean_ranks(second))


def spearman_matrix(table: Array) -> Array:
    """Spearman's rho of every two columns of (items, columns); NaN where `spearman` is None."""
    found: Array = np.full((table.shape[1],) * 2, np.nan)
    if len(table) >= 3:
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.corrcoef(np.apply_along_axis(mean_ranks, 0, table), rowvar=False)
    return found


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


def wilson(successes: float, trials: float) -> Estimate:
    """A share with Wilson's 95 % interval (Wilson 1927); fractions come from weighted counts."""
    return Estimate(successes / trials, *wilson_interval(successes, trials)) if trials else Estimate(None)


def wilson_interval(successes: float, trials: float) -> tuple[float, float]:
    """The bounds of `wilson`; `trials` is above 0."""
    share = successes / trials
    middle = share + Z**2 / (2 * trials)
    spread = Z * math.sqrt(share * (1 - share) / trials + Z**2 / (4 * trials**2))
    scale = 1 + Z**2 / trials
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


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
