"""The alternative annotator test on cases worked by hand; the distributions are scipy's."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import pytest
from scipy import stats

from hf_kokoro.errors import UsageError
from hf_kokoro.judging.alternative import EPSILON, AlternativeTest, alternative_test


def codes(items: int, wrong: Sequence[int] = ()) -> dict[Hashable, float]:
    """Code 1 everywhere, but 0 where somebody errs."""
    return {item: float(item not in wrong) for item in range(items)}


def test_a_judge_that_says_what_all_say_beats_everybody_and_one_that_never_does_beats_nobody() -> None:
    people = {name: codes(40) for name in "abc"}
    same = alternative_test(codes(40), people, nominal=True)
    assert (same.winning_rate, same.advantage, same.passes) == (1, 1, True)
    never = alternative_test(codes(40, range(40)), people, nominal=True)
    assert (never.winning_rate, never.advantage, never.passes) == (0, 0, False)


def test_one_persons_p_is_students_worked_by_hand() -> None:
    # a errs on 4 items, the judge on 2 others, b and c never. Left out, a is behind on 4 and ahead on 2 of 40:
    # mean difference -2/40, squares sum to 6, variance (6 - 40 * 0.05 ** 2) / 39
    people = {"a": codes(40, range(4)), "b": codes(40), "c": codes(40)}
    found = alternative_test(codes(40, (10, 11)), people, nominal=True, epsilon=0.2)
    t = (-0.05 - 0.2) / ((6 - 40 * 0.0025) / 39 / 40) ** 0.5
    [a, *_] = found.people
    assert (a.items, a.test, a.beaten) == (40, "t", True)
    assert (a.judge_wins, a.person_wins) == (38 / 40, 36 / 40)
    assert a.p == pytest.approx(stats.t.cdf(t, 39), abs=1e-12)


def test_scores_are_compared_by_root_mean_squared_error_with_the_others() -> None:
    # item 0: others of a are 2 and 4. The judge at 3: sqrt(1) = 1; a at 5: sqrt((9 + 1) / 2): the judge is closer.
    # item 1: others 3 and 3; both at 4: a tie, which is both's
    people: Mapping[str, Mapping[Hashable, float]] = {"a": {0: 5, 1: 4}, "b": {0: 2, 1: 3}, "c": {0: 4, 1: 3}}
    [a, *_] = alternative_test({0: 3, 1: 4}, people, nominal=False).people
    assert (a.judge_wins, a.person_wins) == (1, 0.5)


def test_fewer_than_thirty_items_are_tested_by_signed_ranks() -> None:
    people = {"a": codes(20, range(5)), "b": codes(20), "c": codes(20)}
    found = alternative_test(codes(20, (7,)), people, nominal=True, epsilon=0.1)
    [a, *_] = found.people
    behind = [-1.0] * 5 + [0.0, 0.0, 1.0] + [0.0] * 12
    assert a.test == "wilcoxon"
    assert a.p == pytest.approx(stats.wilcoxon([d - 0.1 for d in behind], alternative="less").pvalue, abs=1e-12)


def near_the_line() -> AlternativeTest:
    people = {name: codes(60, range(index * 3, index * 3 + 3)) for index, name in enumerate("abc")}
    return alternative_test(codes(60, range(20, 33)), people, nominal=True, epsilon=0.285)


def test_three_people_at_p_below_five_percent_are_held_to_the_false_discovery_rate() -> None:
    found = near_the_line()
    for person in found.people:
        assert person.p is not None
        # Benjamini and Yekutieli for three equal p: times 1 + 1/2 + 1/3
        assert 0.05 / (11 / 6) < person.p < 0.05
        assert not person.beaten
    assert found.winning_rate == 0


def test_items_of_one_person_alone_are_left_out_and_nobody_is_beaten_on_nothing() -> None:
    people = {"a": {1: 1.0, 2: 1.0}, "b": {2: 1.0}, "c": {9: 1.0}}
    found = alternative_test({1: 1.0, 2: 1.0, 9: 1.0}, people, nominal=True)
    assert [person.items for person in found.people] == [1, 1, 0]
    assert found.people[2].p is None
    assert not found.people[2].beaten
    assert not found.people[0].beaten, "one item shows nothing"


@pytest.mark.parametrize("epsilon", [-0.1, 1.0, float("nan")])
def test_two_people_and_an_epsilon_that_is_none_are_refused(epsilon: float) -> None:
    people = {name: codes(40) for name in "abc"}
    with pytest.raises(UsageError, match="epsilon"):
        alternative_test(codes(40), people, nominal=True, epsilon=epsilon)
    with pytest.raises(UsageError, match="2 people"):
        alternative_test(codes(40), {"a": codes(40), "b": codes(40)}, nominal=True)
    assert EPSILON == {"expert": 0.2, "skilled": 0.15, "crowd": 0.1}
