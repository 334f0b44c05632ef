"""Agreement figures against published worked examples, scikit-learn and scipy; edge cases give None."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from hf_kokoro.core import stats as ours

CHANCE = np.random.default_rng(3)
_ = np.nan


def test_correlations_equal_scipy_also_with_ties() -> None:
    first = CHANCE.integers(1, 6, 150).astype(float)
    second = first + CHANCE.integers(-2, 3, 150)
    assert ours.pearson(first, second) == pytest.approx(stats.pearsonr(first, second)[0])
    assert ours.spearman(first, second) == pytest.approx(stats.spearmanr(first, second)[0])
    assert ours.mean_ranks(first) == pytest.approx(stats.rankdata(first))


def test_a_constant_side_or_two_items_have_no_correlation() -> None:
    assert ours.pearson(np.ones(9), np.arange(9.0)) is None
    assert ours.spearman(np.arange(2.0), np.arange(2.0)) is None
    assert ours.partial_spearman(np.arange(9.0), np.ones(9), np.arange(9.0)) is None
    assert ours.partial_spearman(np.arange(9.0), CHANCE.random(9), np.arange(9.0)) is None


def test_a_matrix_of_rank_correlations_has_scipys_values_and_nan_where_there_is_none() -> None:
    table = CHANCE.integers(0, 6, (80, 4)).astype(float)
    table[:, 2] = 3
    found = ours.spearman_matrix(table)
    varied = [0, 1, 3]
    assert found[np.ix_(varied, varied)] == pytest.approx(stats.spearmanr(table[:, varied])[0])
    assert np.isnan(found[2]).all()
    assert np.isnan(found[:, 2]).all()
    assert np.isnan(ours.spearman_matrix(table[:2])).all()


def test_partial_correlation_is_that_of_the_residuals_of_the_ranks() -> None:
    control = CHANCE.random(120)
    first, second = control + CHANCE.random(120), control + CHANCE.random(120)
    a, b, c = (stats.rankdata(x) for x in (first, second, control))
    left = a - np.polyval(np.polyfit(c, a, 1), c)
    right = b - np.polyval(np.polyfit(c, b, 1), c)
    assert ours.partial_spearman(first, second, control) == pytest.approx(stats.pearsonr(left, right)[0])


def test_wilson_equals_the_published_interval() -> None:
    # Newcombe (1998), Statistics in Medicine 17, table I, method 3: 81 of 263 gives 0.2553 to 0.3662
    found = ours.wilson(81, 263)
    assert (found.low, found.high) == (pytest.approx(0.2553, abs=5e-5), pytest.approx(0.3662, abs=5e-5))
    # and 0 of 20 gives 0 to 0.1611
    none = ours.wilson(0, 20)
    assert (none.low, none.high) == (pytest.approx(0, abs=1e-12), pytest.approx(0.1611, abs=5e-5))
    assert ours.wilson(0, 0).value is None


def test_every_interval_is_of_the_same_level() -> None:
    assert (ours.LEVEL + 2 * ours.TAIL, stats.norm.ppf(1 - ours.TAIL)) == (1, pytest.approx(ours.Z, abs=1e-12))


def test_concentration_by_hand() -> None:
    assert ours.gini([1, 1, 1, 1]) == pytest.approx(0)
    # mean absolute difference over twice the mean: pairs of (1, 3) differ by 2; (0+2+2+0)/4 / (2*2)
    assert ours.gini([1, 3]) == pytest.approx(0.25)
    assert ours.gini([0, 0, 0, 8]) == pytest.approx(0.75)
    assert ours.gini([]) is None
    assert ours.effective_number([2, 2, 2]) == pytest.approx(3)
    assert ours.effective_number([3, 1]) == pytest.approx(1.6)
    assert ours.effective_number([]) is None
