"""Bias figures against small cases worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from hf_kokoro.core.stats import wilson
from hf_kokoro.errors import UsageError
from hf_kokoro.judging.agreement import AnswerKey
from hf_kokoro.judging.bias import PairSides, ScoredAnswer, balanced, concentration, hedges, measure_bias, words


def answer(
    question: str, name: str, scores: Sequence[int], *, text: str = "", topic: str = "grief", therapist: str = ""
) -> ScoredAnswer:
    dimensions = ("empathy", "partnership", "reflection_present", "no_persuade", "no_confront")
    key = AnswerKey(question, f"{question}/{name}")
    return ScoredAnswer(key, therapist or name, topic, text or name, dict(zip(dimensions, scores, strict=True)))


# question 1: ann 11 beats bob 5. question 2: bob 9 beats cem 8 by no_persuade alone. question 3: all equal.
ANSWERS = [
    answer("1", "ann", [4, 4, 1, 1, 1]),
    answer("1", "bob", [2, 2, 0, 0, 1]),
    answer("1", "cem", [3, 3, 0, 0, 1]),
    answer("2", "ann", [3, 4, 1, 0, 1], topic="sleep"),
    answer("2", "bob", [3, 4, 0, 1, 1], topic="sleep"),
    answer("2", "cem", [3, 4, 0, 0, 1], topic="sleep"),
    answer("3", "ann", [2, 2, 0, 1, 1]),
    answer("3", "bob", [2, 2, 0, 1, 1]),
    answer("3", "dan", [2, 2, 0, 1, 1]),
]


def test_each_dimension_left_out_changes_and_removes_these_pairs() -> None:
    report = measure_bias("j", ANSWERS)
    effects = {effect.dimension: effect for effect in report.dimensions}
    assert report.pairs == 2
    # 1 stays in any case. 2 is ann (9, first of two) against cem (8): without reflection bob (9) against the
    # first of ann and cem (8); without no_persuade ann (9) against the first of bob and cem (8).
    assert {name: (e.changed, e.gone) for name, e in effects.items()} == {
        "empathy": (0, 0),
        "partnership": (0, 0),
        "reflection_present": (1, 0),
        "no_persuade": (1, 0),
        "no_confront": (0, 0),
    }
    assert effects["empathy"].decides == 1
    assert effects["reflection_present"].decides == 2
    assert effects["no_persuade"].levels == {0: 4, 1: 5}
    assert effects["empathy"].mean == pytest.approx((4 + 2 + 3 + 3 + 3 + 3 + 2 + 2 + 2) / 9)


def test_a_pair_that_one_dimension_alone_decides_is_gone_without_it() -> None:
    equal_but_one = [
        answer("1", "a", [3, 3, 0, 1, 1]),
        answer("1", "b", [3, 3, 0, 0, 1]),
        answer("1", "c", [3, 3, 0, 0, 1]),
    ]
    effects = {e.dimension: e for e in measure_bias("j", equal_but_one).dimensions}
    assert (effects["no_persuade"].gone, effects["no_persuade"].changed) == (1, 0)
    assert (effects["empathy"].gone, effects["empathy"].changed) == (0, 0)


def test_leaving_empathy_out_leaves_it_out_of_the_tie_break_too() -> None:
    tied = [answer("1", "a", [2, 4, 0, 1, 1]), answer("1", "b", [4, 2, 0, 1, 1]), answer("1", "c", [1, 1, 0, 0, 1])]
    effects = {e.dimension: e for e in measure_bias("j", tied).dimensions}
    # with it b is chosen (more empathy); without it a (4 + 2 against 2 + 2)
    assert effects["empathy"].changed == 1


def test_the_share_losing_no_persuade_counts_answers() -> None:
    assert measure_bias("j", ANSWERS).no_persuade_lost.value == pytest.approx(4 / 9)


def test_win_rates_count_pairs_against_somebody_else() -> None:
    report = measure_bias("j", ANSWERS)
    shares = {entry.therapist: entry for entry in report.prolific}
    assert (shares["ann"].answers, shares["ann"].sides, shares["ann"].wins.value) == (3, 2, 1.0)
    assert (shares["bob"].sides, shares["bob"].wins.value) == (1, 0.0)
    assert shares["dan"].wins.value is None
    assert report.own_pairs.value == 0


def test_pairs_of_one_therapist_with_themselves_are_a_share_and_no_win() -> None:
    own = [
        answer("1", "x", [5, 5, 1, 1, 1], therapist="ann"),
        answer("1", "y", [3, 3, 0, 0, 1], therapist="bob"),
        answer("1", "z", [1, 1, 0, 0, 1], therapist="ann"),
    ]
    report = measure_bias("j", own)
    assert report.own_pairs.value == 1
    assert {entry.therapist: entry.wins.value for entry in report.prolific} == {"ann": None, "bob": None}
    assert report.prolific[0].sides == 2


def test_a_score_that_is_only_length_is_seen_as_length() -> None:
    answers = [
        answer(str(n // 3), str(n), [1 + n % 5, 3, 0, 0, 1], text="word " * (10 + 7 * (n % 5))) for n in range(60)
    ]
    surface = measure_bias("j", answers).surface
    assert surface.length.value == pytest.approx(1)
    assert surface.hedging.value is None
    assert surface.chosen_longer.value == 1


def test_hedging_is_told_apart_from_the_length_that_comes_with_it() -> None:
    # the total follows length; every answer hedges once in ten words, so hedging follows length as well
    answers = [
        answer(str(n // 3), str(n), [1 + (n * 7) % 5, 3, 0, 0, 1], text=("maybe " + "word " * 9) * (1 + (n * 7) % 5))
        for n in range(60)
    ]
    surface = measure_bias("j", answers).surface
    assert surface.hedging.value == pytest.approx(1)
    assert surface.hedging_given_length is None


def test_words_and_hedges_are_counted() -> None:
    assert words("It\u00a0is  so.\n") == 3
    assert hedges("Maybe it might help. Perhaps it seems so, I think; it tends to. Mayor Maybell may not.") == 7
    assert hedges("I\u00a0Think so") == 1


def test_totals_and_topics_are_distributed() -> None:
    report = measure_bias("j", ANSWERS)
    assert report.totals == {5: 1, 6: 3, 7: 1, 8: 1, 9: 2, 11: 1}
    assert [(t.topic, t.answers) for t in report.topics] == [("grief", 6), ("sleep", 3)]
    assert report.topics[1].mean == pytest.approx((9 + 9 + 8) / 3)
    assert report.topics[1].deviation == pytest.approx((2 / 9) ** 0.5)


def test_concentration_names_its_largest_share() -> None:
    found = concentration("answers", {"a": 6, "b": 1, "c": 1})
    assert (found.therapists, found.amount, found.top) == (3, 8, 0.75)
    assert found.effective == pytest.approx(64 / 38)
    empty = concentration("answers", {})
    assert (empty.gini, empty.effective, empty.top) == (None, None, None)


def test_the_report_is_plain_json_and_nothing_is_bad_usage() -> None:
    json.dumps(measure_bias("j", ANSWERS).as_dict(), allow_nan=False)
    with pytest.raises(UsageError, match="no scored answer"):
        measure_bias("j", [])


def test_balancing_is_measured_on_the_weighted_pairs() -> None:
    """By hand: ann wins 2 of 3 pairs against others; weights 2, 1, 1 make that 3 of 4, from 16 / 6 effective pairs."""
    pairs = [PairSides("ann", "bob", 2.0), PairSides("ann", "cid", 1.0), PairSides("bob", "ann", 1.0)]
    own = PairSides("dee", "dee", 4.0)
    found = balanced("x", [*pairs, own], ["ann", "dee"])
    assert found.wins["ann"].value == pytest.approx(3 / 4)
    assert found.wins["ann"] == wilson(3 / 4 * 16 / 6, 16 / 6)
    assert found.wins["dee"].value is None
    assert found.own_pairs.value == pytest.approx(4 / 8)
    assert found.spread.amount == pytest.approx(16)
    assert found.spread.top == pytest.approx(8 / 16)
    even = balanced("x", [PairSides(p.chosen, p.rejected, 1.0) for p in pairs], ["ann"])
    assert even.wins["ann"] == wilson(2, 3)
