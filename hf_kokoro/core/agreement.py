"""Agreement of raters as functions of sums over items, so that whole groups can be resampled a thousand times at once.

Everything is counted by group first, (groups, columns); a figure takes sums of such columns with any number of leading
axes (all groups, or one set of sums a resample) and gives one number each, NaN where it is undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

import numpy as np

from .resampling import DRAWS, bootstrap_sums, group_numbers, interval
from .stats import Array, Estimate

Figure = Callable[[Array], Array]


def estimate(groups: Array, figure: Figure) -> Estimate:
    """`figure` of all groups together, with the 95 % percentile interval over resampled groups.

    `groups` is (groups, columns). None where it is undefined; no interval for one group, or where most resamples
    leave it undefined.
    """
    value = float(figure(groups.sum(axis=0)))
    if np.isnan(value):
        return Estimate(None)
    if len(groups) < 2:
        return Estimate(value)
    drawn = figure(bootstrap_sums(groups))
    drawn = drawn[~np.isnan(drawn)]
    return Estimate(value) if len(drawn) < DRAWS / 2 else Estimate(value, *interval(drawn))


def summed(items: Array, groups: Iterable[Hashable]) -> Array:
    """(items, columns) to (groups, columns)."""
    numbers, count = group_numbers(groups)
    found = np.zeros((count, items.shape[1]))
    np.add.at(found, numbers, items)
    return found


def cross_tables(first: Array, second: Array, levels: Sequence[float], groups: Iterable[Hashable]) -> Array:
    """(groups, K * K): how often the first rater's level (rows) met the second's (columns), of K ascending `levels`."""
    numbers, count = group_numbers(groups)
    found = np.zeros((count, len(levels), len(levels)))
    np.add.at(found, (numbers, np.searchsorted(levels, first), np.searchsorted(levels, second)), 1)
    return found.reshape(count, -1)


def coincidences(ratings: Array, levels: Sequence[float], groups: Iterable[Hashable]) -> Array:
    """(groups, K * K): Krippendorff's coincidences of (units, raters) with NaN for missing.

    Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", section C; a unit of one rating gives none.
    """
    counts = np.stack([(ratings == level).sum(axis=1) for level in levels], axis=1).astype(float)
    paired = counts[:, :, None] * counts[:, None, :]
    paired[:, range(len(levels)), range(len(levels))] -= counts
    raters = counts.sum(axis=1)
    paired /= np.where(raters > 1, raters - 1, np.inf)[:, None, None]
    return summed(paired.reshape(len(ratings), -1), groups)


def mean(sums: Array) -> Array:
    """The first column by the second: sums by counts."""
    return _ratio(sums[..., 0], sums[..., 1])


def exact(tables: Array) -> Array:
    """Share of items on which two raters are equal, from `cross_tables`."""
    return within(tables, 0)


def within(tables: Array, levels: int) -> Array:
    """Share of items on which two raters are at most so many levels apart."""
    square = _square(tables)
    near = np.abs(_steps(square)) <= levels
    return _ratio((square * near).sum(axis=(-2, -1)), square.sum(axis=(-2, -1)))


def mean_difference(tables: Array) -> Array:
    """Mean of second minus first, in levels: a bias of the second rater."""
    square = _square(tables)
    return _ratio((square * -_steps(square)).sum(axis=(-2, -1)), square.sum(axis=(-2, -1)))


def cohen_kappa(tables: Array) -> Array:
    """Cohen's kappa with quadratic weights (Cohen 1968); for two levels it is Cohen's (1960) unweighted one.

    Undefined if both raters are constant at one level.
    """
    square = _square(tables)
    weights, total = _steps(square).astype(float) ** 2, square.sum(axis=(-2, -1))
    rows, columns = square.sum(axis=-1), square.sum(axis=-2)
    chance = _ratio(np.einsum("...i,...j,ij->...", rows, columns, weights), total)
    return 1 - _ratio((square * weights).sum(axis=(-2, -1)), chance)


def ordinal_alpha(tables: Array) -> Array:
    """Krippendorff's alpha for ordinal data, from `coincidences` (section E). Undefined without variation."""

    def distance(totals: Array) -> Array:
        # of two levels: the ratings that lie between them, the ends counted half
        middle = np.cumsum(totals, axis=-1) - totals / 2
        return (middle[..., :, None] - middle[..., None, :]) ** 2

    return _alpha(_square(tables), distance)


def nominal_alpha(tables: Array) -> Array:
    """Krippendorff's alpha for nominal data, from `coincidences` (section C)."""
    return _alpha(_square(tables), lambda totals: 1.0 - np.eye(totals.shape[-1]))


def ac1_counts(ratings: Array, levels: Sequence[float], groups: Iterable[Hashable]) -> Array:
    """(groups, K + 3): what `gwet_ac1` is computed from, for (units, raters) with NaN for missing."""
    counts = np.stack([(ratings == level).sum(axis=1) for level in levels], axis=1).astype(float)
    raters = counts.sum(axis=1)
    several = raters > 1
    agreeing = (counts * (counts - 1)).sum(axis=1)[several] / (raters * (raters - 1))[several]
    found = np.zeros((len(ratings), len(levels) + 3))
    found[several, 0], found[:, 1], found[:, 2] = agreeing, several, raters > 0
    found[:, 3:] = counts / np.where(raters > 0, raters, 1)[:, None]
    return summed(found, groups)


def gwet_ac1(sums: Array) -> Array:
    """Gwet's AC1, from `ac1_counts`; unlike kappa it stays high where nearly all items are of one level.

    Gwet 2008, "Computing inter-rater reliability and its variance in the presence of high agreement", equations 3, 8.
    """
    observed = _ratio(sums[..., 0], sums[..., 1])
    share = _ratio(sums[..., 3:], sums[..., 2, None])
    chance = (share * (1 - share)).sum(axis=-1) / (share.shape[-1] - 1)
    return _ratio(observed - chance, 1 - chance)


def icc_counts(table: Array, groups: Iterable[Hashable]) -> Array:
    """(groups, 3 + raters): what the intraclass correlations are computed from, for (items, raters) without gaps."""
    rows = table.sum(axis=1)
    return summed(np.column_stack([np.ones(len(table)), rows**2, (table**2).sum(axis=1), table]), groups)


def icc_2_1(sums: Array) -> Array:
    """Reliability of one rater, from `icc_counts`: two-way random effects, absolute agreement.

    Shrout and Fleiss 1979, ICC(2,1). Undefined for one item or one rater, and without variation.
    """
    items, raters, rows, columns, error = _mean_squares(sums)
    return _ratio(rows - error, rows + (raters - 1) * error + raters * (columns - error) / np.maximum(items, 1))


def icc_2k(sums: Array) -> Array:
    """Reliability of the raters' mean, from `icc_counts`. Shrout and Fleiss 1979, ICC(2,k)."""
    items, _, rows, columns, error = _mean_squares(sums)
    return _ratio(rows - error, rows + (columns - error) / np.maximum(items, 1))


def precision(tables: Array) -> Array:
    """Of what the second rater codes 1, the share that the first codes 1; `cross_tables` of the levels 0 and 1."""
    square = _square(tables)
    return _ratio(square[..., 1, 1], square[..., :, 1].sum(axis=-1))


def recall(tables: Array) -> Array:
    """Of what the first rater codes 1, the share that the second codes 1."""
    square = _square(tables)
    return _ratio(square[..., 1, 1], square[..., 1, :].sum(axis=-1))


def base_rate(tables: Array) -> Array:
    """Share of items that the first rater codes 1."""
    square = _square(tables)
    return _ratio(square[..., 1, :].sum(axis=-1), square.sum(axis=(-2, -1)))


def _mean_squares(sums: Array) -> tuple[Array, int, Array, Array, Array]:
    """Items, raters, and the mean squares between rows, between columns and of the rest; NaN for too few."""
    items, squared_rows, squares, columns = sums[..., 0], sums[..., 1], sums[..., 2], sums[..., 3:]
    raters = columns.shape[-1]
    whole = _ratio(columns.sum(axis=-1) ** 2, items * raters)
    between_rows = _rest(squared_rows / raters - whole, squares)
    between_columns = _rest(_ratio((columns**2).sum(axis=-1), items) - whole, squares)
    rest = _rest(squares - whole - between_rows - between_columns, squares)
    free = np.maximum(items - 1, 0)
    if raters < 2:
        between_columns = np.full_like(whole, np.nan)
    wide = max(raters - 1, 1)
    return items, raters, _ratio(between_rows, free), between_columns / wide, _ratio(rest, free * wide)


def _alpha(square: Array, distance: Callable[[Array], Array]) -> Array:
    totals = square.sum(axis=-1)
    total = totals.sum(axis=-1)
    apart = distance(totals)
    expected = np.einsum("...i,...j,...ij->...", totals, totals, np.broadcast_to(apart, square.shape))
    observed = (total - 1) * (square * apart).sum(axis=(-2, -1))
    return np.where(total < 2, np.nan, 1 - _ratio(observed, expected))


def _square(tables: Array) -> Array:
    levels = round(tables.shape[-1] ** 0.5)
    return tables.reshape(*tables.shape[:-1], levels, levels)


def _steps(square: Array) -> Array:
    """Row minus column, in levels."""
    levels = np.arange(square.shape[-1], dtype=float)
    return levels[:, None] - levels[None, :]


def _rest(difference: Array, of: Array) -> Array:
    """What is left of a sum; what only rounding leaves is nothing."""
    return np.where(np.abs(difference) <= 1e-13 * of, 0.0, difference)


def _ratio(above: Array, below: Array) -> Array:
    """NaN where there is nothing (or less) to divide by."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 1e-12, np.true_divide(above, below), np.nan)
