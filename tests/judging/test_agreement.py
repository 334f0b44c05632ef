"""Comparing judges on hand-made verdicts: dimensions, pairs, passes of a retest, and what can't be compared."""

from __future__ import annotations

import json
import random

import pytest

from hf_kokoro.errors import UsageError
from hf_kokoro.judging import Item, Opinion, Verdict
from hf_kokoro.judging.agreement import compare, compare_all, joint_alpha, pair_agreement, ratings_of
from hf_kokoro.judging.verdicts import make_verdict


def verdict(question: int, answer: int, empathy: int, judge: str, repeat: int = 0) -> Verdict:
    scores = {
        "empathy": empathy,
        "partnership": 2,
        "reflection_present": 0,
        "no_persuade": 1,
        "no_confront": 1,
    }
    item = Item(str(question), f"question {question}", "t", f"answer {question}/{answer}")
    return make_verdict(item, Opinion("scored", scores), judge, "rubric", repeat)


def matrix(judge: str, *questions: list[int], repeat: int = 0) -> list[Verdict]:
    """One list of empathy scores a question."""
    return [
        verdict(number, index, score, judge, repeat)
        for number, scores in enumerate(questions)
        for index, score in enumerate(scores)
    ]


def test_shares_of_equal_and_near_scores_are_counted_over_common_answers() -> None:
    first, second = ratings_of([*matrix("a", [1, 2, 3, 5]), *matrix("b", [1, 3, 5, 5])])
    found = {d.dimension: d for d in compare(first, second).dimensions}
    for dimension in ("empathy", "total"):
        assert (found[dimension].exact.value, found[dimension].within_1.value) == (0.5, 0.75)
    assert found["empathy"].difference.value == pytest.approx(0.75)
    assert found["empathy"].confusion == ((1, 0, 0, 0, 0), (0, 0, 1, 0, 0), (0, 0, 0, 0, 1), (0,) * 5, (0, 0, 0, 0, 1))
    assert found["partnership"].exact.value == 1
    assert found["partnership"].kappa.value is None, "both are constant: there is nothing to agree on"
    assert found["partnership"].ac1.value == 1
    assert found["partnership"].pearson.value is None


def test_every_figure_comes_with_an_interval_over_questions() -> None:
    first = matrix("a", *([5, 4, 1] for _ in range(20)))
    second = matrix("b", *([5, 4 - question % 2, 1] for question in range(20)))
    empathy = compare(*ratings_of([*first, *second])).dimensions[0]
    for figure in (empathy.exact, empathy.difference, empathy.kappa, empathy.ac1, empathy.alpha, empathy.spearman):
        assert figure.value is not None
        assert figure.low is not None
        assert figure.high is not None
        assert figure.low <= figure.value <= figure.high
    assert empathy.exact.low != empathy.exact.high


def test_pairs_keep_flip_or_get_lost() -> None:
    # question 0: same pair. 1: same direction, another best. 2: flipped. 3: tied with the second judge.
    first = matrix("a", [5, 3, 1], [5, 3, 1], [5, 3, 1], [5, 3, 1])
    second = matrix("b", [4, 3, 2], [3, 5, 1], [1, 3, 5], [2, 5, 2])
    found = pair_agreement(*ratings_of([*first, *second]))
    assert (found.pairs, found.keep, found.same, found.flip, found.lose) == (4, 2, 1, 1, 1)


def test_an_answer_that_the_second_judge_left_unscored_loses_its_pair() -> None:
    first = matrix("a", [5, 3, 1])
    item = Item("0", "question 0", "t", "answer 0/0")
    second = [*matrix("b", [4, 3, 2])[1:], make_verdict(item, Opinion("refused"), "b", "rubric")]
    one, two = ratings_of([*first, *second])
    assert two.unscored == 1
    assert compare(one, two).answers == 2
    assert pair_agreement(one, two).lose == 1


def test_three_judges_are_compared_two_by_two_and_together() -> None:
    judges = ratings_of([*matrix("a", [1, 3, 5]), *matrix("b", [1, 3, 5]), *matrix("c", [5, 3, 1])])
    assert [(a.first, a.second) for a in compare_all(judges)] == [("a", "b"), ("a", "c"), ("b", "c")]
    alpha = joint_alpha(judges)["empathy"]
    assert alpha is not None
    assert alpha < 1


def test_passes_of_a_retest_are_compared_like_judges() -> None:
    verdicts = [v for n in range(3) for v in matrix("claude", [1 + n % 2, 3, 5], repeat=n)]
    judges = ratings_of(verdicts)
    assert [judge.name for judge in judges] == ["claude pass 1", "claude pass 2", "claude pass 3"]
    exact = [agreement.dimensions[0].exact.value for agreement in compare_all(judges)]
    assert exact == [pytest.approx(2 / 3), 1, pytest.approx(2 / 3)]


def test_beside_another_judge_only_the_first_pass_counts() -> None:
    verdicts = [*matrix("claude", [1, 3, 5]), *matrix("claude", [5, 3, 1], repeat=1), *matrix("b", [1, 3, 5])]
    judges = ratings_of(verdicts)
    assert [judge.name for judge in judges] == ["claude", "b"]
    assert compare_all(judges)[0].dimensions[0].exact.value == 1


def test_the_order_of_a_journals_lines_changes_no_figure() -> None:
    # every question has two answers of the highest rank and two of the lowest
    scores = [[5, 5, 3, 1, 1], [4, 1, 4, 1, 2], [2, 2, 3, 5, 5], [1, 5, 1, 5, 3]] * 5
    first = matrix("a", *scores)
    second = matrix("b", *([max(1, score - index % 2) for index, score in enumerate(row)] for row in scores))
    expected = [agreement.as_dict() for agreement in compare_all(ratings_of([*first, *second]))]
    assert expected[0]["pairs"]["pairs"] == 20
    alpha = joint_alpha(ratings_of([*first, *second]))
    for seed in range(10):
        chance = random.Random(seed)
        mixed = [*chance.sample(first, len(first)), *chance.sample(second, len(second))]
        judges = ratings_of(mixed)
        assert [agreement.as_dict() for agreement in compare_all(judges)] == expected
        assert joint_alpha(judges) == alpha


def test_passes_come_in_their_order_however_the_lines_stand() -> None:
    verdicts = [v for n in (2, 0, 1) for v in matrix("claude", [1 + n % 2, 3, 5], repeat=n)]
    assert [judge.name for judge in ratings_of(verdicts)] == ["claude pass 1", "claude pass 2", "claude pass 3"]


def test_the_report_is_plain_json() -> None:
    judges = ratings_of([*matrix("a", [1, 3, 5], [2, 2, 4]), *matrix("b", [1, 4, 5], [1, 2, 4])])
    json.dumps([agreement.as_dict() for agreement in compare_all(judges)], allow_nan=False)


def test_nothing_to_compare_is_bad_usage() -> None:
    one = ratings_of(matrix("a", [1, 3, 5]))
    with pytest.raises(UsageError, match="one judge only"):
        compare_all(one)
    with pytest.raises(UsageError, match="the same judge twice"):
        compare_all([*one, *one])
    elsewhere = ratings_of([verdict(9, 9, 3, "b")])
    with pytest.raises(UsageError, match="no answer in common"):
        compare_all([*one, *elsewhere])
