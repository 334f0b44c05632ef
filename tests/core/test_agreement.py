"""Agreement figures against krippendorff, scikit-learn, pingouin and worked examples, degenerate data included."""

from __future__ import annotations

import warnings

import krippendorff
import numpy as np
import pandas as pd
import pingouin
import pytest
from sklearn.metrics import cohen_kappa_score, confusion_matrix, precision_score, recall_score

from hf_kokoro.core import agreement as ours
from hf_kokoro.core.stats import Array, Estimate

_ = np.nan
CLOSE = 1e-9


def whole(groups: Array, figure: ours.Figure) -> float:
    return float(figure(groups.sum(axis=0)))


def two_raters(levels: int, seed: int, items: int = 240) -> tuple[Array, Array, list[str]]:
    chance = np.random.default_rng(seed)
    first = chance.integers(0, levels, items).astype(float)
    second = np.clip(first + chance.integers(-1, 2, items), 0, levels - 1)
    return first, second, [f"q{number // 4}" for number in range(items)]


def many_raters(levels: int, seed: int) -> Array:
    chance = np.random.default_rng(seed)
    ratings = np.clip(chance.integers(0, levels, (60, 1)) + chance.integers(-1, 2, (60, 4)), 0, levels - 1).astype(
        float
    )
    ratings[chance.random(ratings.shape) < 0.3] = np.nan
    return ratings


@pytest.mark.parametrize("levels", [2, 5, 13])
def test_kappa_shares_and_bias_of_two_raters_equal_scikit_learn_and_numpy(levels: int) -> None:
    first, second, groups = two_raters(levels, seed=levels)
    tables = ours.cross_tables(first, second, range(levels), groups)
    assert (tables.sum(axis=0).reshape(levels, levels) == confusion_matrix(first, second, labels=range(levels))).all()
    kappa = cohen_kappa_score(first, second, weights="quadratic", labels=range(levels))
    assert whole(tables, ours.cohen_kappa) == pytest.approx(kappa, abs=CLOSE)
    assert whole(tables, ours.exact) == pytest.approx(np.mean(first == second), abs=CLOSE)
    assert whole(tables, lambda t: ours.within(t, 1)) == pytest.approx(np.mean(np.abs(first - second) <= 1), abs=CLOSE)
    assert whole(tables, ours.mean_difference) == pytest.approx(np.mean(second - first), abs=CLOSE)


def test_precision_recall_and_base_rate_equal_scikit_learn() -> None:
    first, second, groups = two_raters(2, seed=11)
    tables = ours.cross_tables(first, second, (0, 1), groups)
    assert whole(tables, ours.precision) == pytest.approx(precision_score(first, second), abs=CLOSE)
    assert whole(tables, ours.recall) == pytest.approx(recall_score(first, second), abs=CLOSE)
    assert whole(tables, ours.base_rate) == pytest.approx(first.mean(), abs=CLOSE)


@pytest.mark.parametrize("levels", [2, 5, 13])
@pytest.mark.parametrize(("figure", "scale"), [(ours.ordinal_alpha, "ordinal"), (ours.nominal_alpha, "nominal")])
def test_alpha_with_missing_ratings_equals_krippendorff(levels: int, figure: ours.Figure, scale: str) -> None:
    ratings = many_raters(levels, seed=levels)
    expected = krippendorff.alpha(ratings.T, level_of_measurement=scale, value_domain=list(range(levels)))
    counted = ours.coincidences(ratings, range(levels), range(len(ratings)))
    assert whole(counted, figure) == pytest.approx(expected, abs=CLOSE)


# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", sections C and E: four observers, twelve units
RELIABILITY_DATA = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
        [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
    ]
).T


def test_alpha_gives_the_values_of_the_published_example() -> None:
    counted = ours.coincidences(RELIABILITY_DATA, (1, 2, 3, 4, 5), range(12))
    assert whole(counted, ours.nominal_alpha) == pytest.approx(0.743, abs=0.0005)
    assert whole(counted, ours.ordinal_alpha) == pytest.approx(0.815, abs=0.0005)


def test_alpha_of_two_raters_follows_its_definition_worked_by_hand() -> None:
    # units (1,1) (2,2) (1,3): each value n = 3, 2, 1 of 6. Distances: d12 = (3/2 + 2/2)^2 = 6.25,
    # d13 = (3/2 + 2 + 1/2)^2 = 16, d23 = (2/2 + 1/2)^2 = 2.25.
    # observed = 2 * 16 / 6; expected = 2 (3*2*6.25 + 3*1*16 + 2*1*2.25) / (6*5) = 180 / 30
    counted = ours.coincidences(np.array([[1, 1], [2, 2], [1, 3]], dtype=float), (1, 2, 3), range(3))
    assert whole(counted, ours.ordinal_alpha) == pytest.approx(1 - (32 / 6) / 6)


@pytest.mark.parametrize(("raters", "shape"), [(2, "ICC(A,1)"), (4, "ICC(A,1)"), (4, "ICC(A,k)")])
def test_icc_equals_pingouin(raters: int, shape: str) -> None:
    chance = np.random.default_rng(raters)
    table = chance.integers(1, 6, (40, 1)) + chance.integers(-1, 2, (40, raters)).astype(float)
    long = pd.DataFrame(
        [(item, rater, value) for item, row in enumerate(table) for rater, value in enumerate(row)],
        columns=["item", "rater", "value"],
    )
    found = pingouin.intraclass_corr(long, targets="item", raters="rater", ratings="value").set_index("Type")["ICC"]
    figure = ours.icc_2_1 if shape.endswith("1)") else ours.icc_2k
    assert whole(ours.icc_counts(table, range(40)), figure) == pytest.approx(found[shape], abs=CLOSE)


def test_ac1_of_two_raters_follows_gwets_worked_formula() -> None:
    # 118 items both code 1, 2 both code 0, 5 apart either way: pa = 120/125; the mean share of 1 is 240.5... counted:
    # ones of rater 1: 118 + 3 = 121, of rater 2: 118 + 2 = 120; pi = 241/250; pe = 2 pi (1 - pi)
    first = np.array([1.0] * 118 + [0.0] * 2 + [1.0] * 3 + [0.0] * 2)
    second = np.array([1.0] * 118 + [0.0] * 2 + [0.0] * 3 + [1.0] * 2)
    share, observed = 241 / 250, 120 / 125
    chance = 2 * share * (1 - share)
    counted = ours.ac1_counts(np.column_stack([first, second]), (0, 1), range(125))
    assert whole(counted, ours.gwet_ac1) == pytest.approx((observed - chance) / (1 - chance), abs=CLOSE)


def test_ac1_of_three_raters_with_a_gap_is_worked_by_hand() -> None:
    # units: (1,1,1) pa 1; (1,1,2) pa 1/3; (2,2,-) pa 1; (3,-,-) has one rating: in the shares, not in pa
    ratings = np.array([[1, 1, 1], [1, 1, 2], [2, 2, _], [3, _, _]])
    observed = (1 + 1 / 3 + 1) / 3
    shares = np.array([(1 + 2 / 3 + 0 + 0) / 4, (0 + 1 / 3 + 1 + 0) / 4, 1 / 4])
    chance = (shares * (1 - shares)).sum() / 2
    counted = ours.ac1_counts(ratings, (1, 2, 3), range(4))
    assert whole(counted, ours.gwet_ac1) == pytest.approx((observed - chance) / (1 - chance), abs=CLOSE)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_two_raters_constant_at_one_level_leave_kappa_alpha_and_icc_undefined_and_ac1_one(value: float) -> None:
    same = np.full(300, value)
    both = np.column_stack([same, same])
    assert np.isnan(whole(ours.cross_tables(same, same, (0, 1), range(300)), ours.cohen_kappa))
    assert np.isnan(whole(ours.coincidences(both, (0, 1), range(300)), ours.ordinal_alpha))
    assert np.isnan(whole(ours.icc_counts(both, range(300)), ours.icc_2_1))
    assert whole(ours.ac1_counts(both, (0, 1), range(300)), ours.gwet_ac1) == pytest.approx(1, abs=CLOSE)


def test_one_constant_rater_has_kappa_zero_as_scikit_learn_says() -> None:
    first, second = np.array([0.0, 1, 1, 0]), np.ones(4)
    tables = ours.cross_tables(first, second, (0, 1), range(4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert whole(tables, ours.cohen_kappa) == cohen_kappa_score(first, second) == 0


def test_one_item_one_rater_and_nobody_twice_are_undefined() -> None:
    assert np.isnan(whole(ours.icc_counts(np.array([[1.0, 2.0]]), [0]), ours.icc_2_1))
    assert np.isnan(whole(ours.icc_counts(np.array([[1.0], [2.0]]), [0, 1]), ours.icc_2_1))
    lonely = np.array([[1, _], [_, 0]])
    assert np.isnan(whole(ours.coincidences(lonely, (0, 1), [0, 1]), ours.nominal_alpha))
    assert np.isnan(whole(ours.ac1_counts(lonely, (0, 1), [0, 1]), ours.gwet_ac1))


def test_an_interval_is_of_groups_drawn_whole_and_covers_the_value() -> None:
    first, second, groups = two_raters(5, seed=3)
    tables = ours.cross_tables(first, second, range(5), groups)
    assert len(tables) == 60
    found = ours.estimate(tables, ours.exact)
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high
    # sixty groups of four alike: as wide as sixty items, wider than 240 independent ones
    shares = np.array([np.mean(first[i : i + 4] == second[i : i + 4]) for i in range(0, 240, 4)])
    assert (found.high - found.low) / 3.92 == pytest.approx(shares.std() / 60**0.5, rel=0.15)


def test_one_group_and_undefined_figures_have_no_interval() -> None:
    tables = ours.cross_tables(np.array([0.0, 1]), np.array([0.0, 1]), (0, 1), ["q", "q"])
    assert ours.estimate(tables, ours.exact) == Estimate(1.0)
    same = ours.cross_tables(np.ones(4), np.ones(4), (0, 1), range(4))
    assert ours.estimate(same, ours.cohen_kappa) == Estimate(None)
