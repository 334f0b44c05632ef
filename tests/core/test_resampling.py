"""Intervals and paired tests: against scipy and exact enumeration, and the same on every run."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.stats

from hf_kokoro.core.resampling import (
    bootstrap,
    bootstrap_sums,
    interval,
    paired_difference,
    weighted_correlations,
)
from hf_kokoro.core.stats import Estimate, pearson

CHANCE = np.random.default_rng(3)


def mean_of(sums: Any) -> dict[str, float]:
    return {"mean": float(sums[0]) / float(sums[1])}


def table_of(values: Any) -> Any:
    return np.stack([np.asarray(values), np.ones(len(values), dtype=int)], axis=1)


def test_the_interval_of_a_mean_agrees_with_scipys_percentile_bootstrap() -> None:
    values = np.random.default_rng(3).integers(0, 100, size=200)
    found = interval([mean_of(row)["mean"] for row in bootstrap_sums(table_of(values), 4000, 1)])
    other = scipy.stats.bootstrap((values,), np.mean, n_resamples=4000, method="percentile", rng=5)
    assert found == pytest.approx((other.confidence_interval.low, other.confidence_interval.high), abs=0.5)


def test_draws_take_every_group_equally_often() -> None:
    drawn = bootstrap_sums(np.eye(5, dtype=int), 4000, 7)
    assert drawn.sum(axis=1).tolist() == [5.0] * 4000
    assert drawn.mean(axis=0) == pytest.approx(np.ones(5), abs=0.06)


def test_p_of_approximate_randomisation_comes_near_the_exact_permutation_p() -> None:
    first, second = np.array([9, 7, 8, 6, 9, 7, 8, 5]), np.array([6, 7, 5, 6, 7, 5, 8, 4])
    apart = first - second
    sums = [abs((apart * signs).sum()) for signs in itertools.product((1, -1), repeat=len(apart))]
    exact = np.mean([value >= abs(apart.sum()) for value in sums])
    found = paired_difference(table_of(first), table_of(second), mean_of, 5000, 3)["mean"]
    assert found[0] == pytest.approx(apart.mean())
    assert found[3] == pytest.approx(exact, abs=0.01)
    assert found[1] < found[0] < found[2]


def test_a_system_against_itself_has_no_difference_and_p_one() -> None:
    table = table_of([1, 2, 3])
    assert paired_difference(table, table, mean_of, 50, 1)["mean"] == (0.0, 0.0, 0.0, 1.0)


def test_swapping_the_systems_turns_the_difference_round_and_keeps_p() -> None:
    first, second = table_of(list(range(70))), table_of([value // 2 for value in range(70)])
    one = paired_difference(first, second, mean_of, 200, 5)["mean"]
    other = paired_difference(second, first, mean_of, 200, 5)["mean"]
    assert one[0] == -other[0]
    assert one[3] == other[3]
    assert (one[1], one[2]) == pytest.approx((-other[2], -other[1]))


def test_draws_follow_pcg64_as_it_is_specified() -> None:
    # O'Neill 2014: a 128-bit linear congruential state, output XSL-RR; seeding is NumPy's own
    words, state = (1 << 128) - 1, np.random.PCG64(42).state["state"]
    value, increment = state["state"], state["inc"]
    groups = np.arange(10) ** 2
    expected = []
    for _ in range(3):
        total = 0
        for _ in groups:
            value = (value * 0x2360ED051FC65DA44385DF649FCCF645 + increment) & words
            folded, turn = (value >> 64 ^ value) & (2**64 - 1), value >> 122
            raw = (folded >> turn | folded << (64 - turn)) & (2**64 - 1)
            total += int(groups[(raw >> 32) * len(groups) >> 32])
        expected.append(float(total))
    assert bootstrap_sums(groups.reshape(10, 1), 3, 42).ravel().tolist() == expected


def test_the_bootstrap_is_seeded_brackets_the_value_and_draws_whole_groups() -> None:
    first = np.arange(60.0)
    second = first + CHANCE.normal(0, 15, 60)
    alone = bootstrap(pearson, first, second, list(range(60)))
    again = bootstrap(pearson, first, second, list(range(60)))
    assert alone == again
    assert alone.low is not None
    assert alone.high is not None
    assert alone.value is not None
    assert alone.low < alone.value < alone.high
    # sixty copies of each of three answers are three answers, not a hundred and eighty
    few = np.repeat([1.0, 2.0, 4.0], 60), np.repeat([1.0, 4.0, 2.0], 60)
    wide = bootstrap(pearson, *few, list(np.repeat(["a", "b", "c"], 60)))
    assert wide.low is not None
    assert wide.high is not None
    assert wide.high - wide.low > 1


def test_a_weighted_correlation_is_that_of_the_items_written_out_so_often() -> None:
    first, second = CHANCE.integers(1, 6, 40).astype(float), CHANCE.integers(1, 30, 40).astype(float)
    weights = CHANCE.integers(0, 4, (5, 40))
    plain = weighted_correlations(first, second, weights.astype(float), ranked=False)
    ranked = weighted_correlations(first, second, weights.astype(float), ranked=True)
    for row, weight in enumerate(weights):
        a, b = np.repeat(first, weight), np.repeat(second, weight)
        assert plain[row] == pytest.approx(scipy.stats.pearsonr(a, b)[0])
        assert ranked[row] == pytest.approx(scipy.stats.spearmanr(a, b)[0])


def test_a_single_group_has_a_value_and_no_interval() -> None:
    found = bootstrap(pearson, np.arange(5.0), np.arange(5.0), ["q"] * 5)
    assert (found.value, found.low) == (pytest.approx(1), None)
    assert str(Estimate(None)) == "-"
