"""Reliability and correlation against published examples and other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats

from hf_kokoro.errors import InputError
from hf_kokoro.evaluation.human_agreement import icc_2k, majority, metric_agreement, pairwise_majority, read_ratings

# Shrout and Fleiss 1979, table 2: six targets, four judges; their table 4 gives ICC(2,4) = .62
SHROUT_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


def people_of(table: list[list[float]], raters: str = "abcdefgh") -> dict[str, dict[str, float]]:
    return {str(i): dict(zip(raters, map(float, row), strict=False)) for i, row in enumerate(table)}


def test_icc_of_shrout_and_fleiss_is_the_published_one() -> None:
    found = icc_2k(people_of(SHROUT_FLEISS))
    assert found.value == pytest.approx(0.62, abs=0.005)
    assert (found.blocks, found.raters) == (1, 4.0)


def test_icc_is_one_for_raters_who_agree_and_falls_when_one_of_them_is_always_stricter() -> None:
    same = [[1, 1, 1], [3, 3, 3], [5, 5, 5]]
    shifted = [[row[0], row[1], row[2] - 1] for row in same]
    assert icc_2k(people_of(same)).value == 1.0
    # absolute agreement, not consistency: mean squares 12 (items), 1 (raters), 0 (rest): 12 / (12 + 1 / 3)
    assert icc_2k(people_of(shifted)).value == pytest.approx(36 / 37, abs=1e-6)


def test_groups_with_raters_of_their_own_are_blocks_and_their_icc_is_averaged_by_items() -> None:
    first = people_of(SHROUT_FLEISS)
    second = {f"x{i}": {"p": float(v), "q": float(v)} for i, v in enumerate((1, 3, 5))}
    found = icc_2k({**first, **second})
    assert found.blocks == 2
    assert found.value == pytest.approx((6 * (icc_2k(first).value or 0) + 3 * 1.0) / 9, abs=1e-6)


@pytest.mark.parametrize("people", [{"1": {"a": 3.0}}, {"1": {"a": 3.0, "b": 4.0}}, people_of([[3, 3], [3, 3]])])
def test_icc_is_undefined_for_one_rater_one_item_or_no_variation(people: Any) -> None:
    assert icc_2k(people).value is None


def test_alpha_is_krippendorffs_published_ordinal_value() -> None:
    # Krippendorff 2011, section C/E: observers A-D, 12 units, missing data; ordinal alpha 0.815
    nan = None
    table = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
        [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
    ]
    people = {
        str(unit): {str(r): float(row[unit]) for r, row in enumerate(table) if row[unit] is not None}
        for unit in range(12)
    }
    found = metric_agreement("m", people, {str(unit): float(unit) for unit in range(12)})
    assert found.alpha == pytest.approx(0.815, abs=5e-4)


def test_pearson_p_and_interval_agree_with_scipy_and_fishers_z() -> None:
    chance = np.random.default_rng(2)
    table = chance.integers(1, 6, size=(30, 3)).astype(float)
    judge = table.mean(axis=1) + chance.normal(size=30)
    found = metric_agreement("m", people_of(table.tolist()), {str(i): float(v) for i, v in enumerate(judge)})
    means = table.mean(axis=1)
    r = np.corrcoef(means, judge)[0, 1]
    z, half = np.arctanh(r), 1.959964 / np.sqrt(27)
    assert found.pearson == pytest.approx(r, abs=1e-6)
    assert (found.low, found.high) == pytest.approx((np.tanh(z - half), np.tanh(z + half)), abs=1e-5)
    t = r * np.sqrt(28 / (1 - r**2))
    assert found.p == pytest.approx(2 * scipy.stats.t.sf(abs(t), 28), rel=1e-4)
    assert found.constant is None
    assert found.human_mean == pytest.approx(means.mean(), abs=1e-6)


def test_a_constant_judge_gives_its_constant_and_the_mean_absolute_difference_instead_of_r() -> None:
    people = people_of([[4, 5, 3], [5, 5, 5], [3, 3, 3]])  # means 4, 5, 3
    found = metric_agreement("harmlessness", people, {"0": 5.0, "1": 5.0, "2": 5.0})
    assert found.pearson is None
    assert found.p is None
    assert found.constant == {"judge": 5.0}
    assert found.mean_absolute_difference == 1.0
    both = metric_agreement("m", people_of([[2, 2], [2, 2], [2, 2]]), {"0": 5.0, "1": 5.0, "2": 5.0})
    assert both.constant == {"people": 2.0, "judge": 5.0}


def test_only_items_that_both_sides_rated_are_compared() -> None:
    people = people_of([[1, 2], [3, 4]])
    assert metric_agreement("m", people, {"1": 3.0, "9": 5.0}).items == 1
    with pytest.raises(InputError, match="none that people and the judge both rated"):
        metric_agreement("m", people, {"9": 5.0})


def test_ratings_are_read_with_blanks_as_missing_and_every_bad_cell_is_named() -> None:
    rows = [
        ("r.csv line 2", {"item": "1", "rater": "a", "m": "4", "n": ""}),
        ("r.csv line 3", {"item": "1", "rater": "b", "m": "5", "n": "2"}),
    ]
    found = read_ratings(rows, ["m", "n"])
    assert found.values == {"m": {"1": {"a": 4.0, "b": 5.0}}, "n": {"1": {"b": 2.0}}}
    bad = [
        ("r.csv line 2", {"item": "1", "rater": "a", "m": "four"}),
        ("r.csv line 3", {"item": "", "rater": "a", "m": "4"}),
        ("r.csv line 4", {"item": "2", "rater": "a", "m": "nan"}),
        ("r.csv line 5", {"item": "3", "rater": "a", "m": "4"}),
        ("r.csv line 6", {"item": "3", "rater": "a", "m": "4"}),
    ]
    with pytest.raises(InputError) as error:
        read_ratings(bad, ["m"])
    assert error.value.count == 4
    assert "r.csv line 6 m: got a second rating" in str(error.value)
    assert "four" not in str(error.value)


@pytest.mark.parametrize(
    ("votes", "verdict"),
    [
        (["win"] * 3 + ["lose"] * 2, "win"),
        (["win"] * 2 + ["lose"] * 2 + ["tie"], "tie"),  # two of five are no majority
        (["lose"] * 3 + ["tie"] * 2, "lose"),
        (["win", "lose"], "tie"),  # exactly half is not more than half
        (["tie"] * 5, "tie"),
    ],
)
def test_a_verdict_needs_more_than_half_of_the_judges(votes: list[str], verdict: str) -> None:
    assert majority(votes) == verdict


def test_pairwise_verdicts_are_counted_by_item() -> None:
    votes = {"1": ["win", "win", "lose"], "2": ["lose", "lose", "tie"], "3": ["win", "lose", "tie"]}
    rows = [("f", {"item": i, "rater": str(n), "verdict": v}) for i, vs in votes.items() for n, v in enumerate(vs)]
    found = pairwise_majority(rows)
    assert (found.items, found.win, found.lose, found.tie, found.judges_per_item) == (3, 1, 1, 1, 3.0)
    with pytest.raises(InputError, match="win, lose, tie"):
        pairwise_majority([("f line 2", {"item": "1", "rater": "a", "verdict": "draw"})])
