"""Strategies, ties, waiting questions, caps and weights, on score matrices worked out by hand."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from hf_kokoro.errors import RowError, UsageError
from hf_kokoro.miti.contract import ROW_KEYS, row_faults
from hf_kokoro.miti.pairing import Candidate, CandidateSet, Options, PairKey, make_rows, pair_key, pair_weights


def answer(name: str, empathy: int, partnership: int, *flags: int, text: str = "") -> Candidate:
    reflection, no_persuade, no_confront = flags or (0, 0, 1)
    scores = {
        "empathy": empathy,
        "partnership": partnership,
        "reflection_present": reflection,
        "no_persuade": no_persuade,
        "no_confront": no_confront,
    }
    return Candidate(name, text or f"text of {name}", scores)


def question(*candidates: Candidate, key: str = "1:a", question_id: str = "1") -> CandidateSet:
    return CandidateSet(question_id, "grief", f"Why {key}?", "judge-x", tuple(candidates), key)


# totals: ann 9, bob 5, cem 9 (more empathy), dan 3, eve 5
FIVE = question(
    answer("ann", 3, 3, 1, 1, 1),
    answer("bob", 2, 2),
    answer("cem", 4, 2, 1, 1, 1),
    answer("dan", 1, 1),
    answer("eve", 2, 2),
)


def sides(rows: list[dict[str, object]]) -> list[tuple[object, object]]:
    return [(row["chosen_therapist"], row["rejected_therapist"]) for row in rows]


def test_best_worst_breaks_ties_by_empathy_and_keeps_all_answers_in_order() -> None:
    rows, report = make_rows([FIVE])
    (row,) = rows
    assert tuple(row) == ROW_KEYS
    assert (row["chosen_therapist"], row["chosen_score"]) == ("cem", 9)
    assert (row["rejected_therapist"], row["rejected_score"]) == ("dan", 3)
    assert [a["therapist"] for a in row["all_answers"]] == ["ann", "bob", "cem", "dan", "eve"]
    assert (row["judge_model"], row["source_dataset"], row["license"]) == (
        "judge-x",
        "not stated",
        "not stated",
    )
    assert (report.rows, report.with_rows, report.margins) == (1, 1, {6: 1})


def test_a_tie_for_last_place_rejects_the_one_with_less_empathy_then_the_first() -> None:
    low = question(answer("a", 4, 4), answer("b", 2, 1), answer("c", 1, 2), answer("d", 1, 2), key="2:b")
    rows, _ = make_rows([low])
    assert sides(rows) == [("a", "c")]


def test_all_pairs_gives_every_two_answers_with_different_totals() -> None:
    rows, report = make_rows([FIVE], "all-pairs")
    # 10 couples less ann/cem and bob/eve, which are equal
    assert len(rows) == 8
    assert report.margins == {2: 2, 4: 4, 6: 2}
    assert all(len(row["all_answers"]) == 2 for row in rows)
    assert ("cem", "eve") in sides(rows)


def test_the_minimum_margin_leaves_closer_pairs_out_and_counts_them() -> None:
    rows, report = make_rows([FIVE], "all-pairs", min_margin=4)
    assert (len(rows), report.pairs_below_margin) == (6, 2)
    rows, report = make_rows([FIVE], min_margin=7)
    assert (rows, report.below_margin, report.with_rows) == ([], 1, 0)


def test_top_bottom_sets_each_of_the_best_against_each_of_the_worst() -> None:
    rows, _ = make_rows([FIVE], "top-bottom", options=Options(top_k=2))
    # order: cem, ann, bob, eve, dan
    assert sorted(sides(rows)) == [("ann", "dan"), ("ann", "eve"), ("cem", "dan"), ("cem", "eve")]
    few = question(answer("a", 5, 5), answer("b", 3, 3), answer("c", 1, 1))
    rows, _ = make_rows([few], "top-bottom", options=Options(top_k=5))
    assert sides(rows) == [("a", "c")], "no answer stands on both sides"


def test_resampling_draws_the_same_subsets_for_a_seed_whatever_the_order_of_the_questions() -> None:
    many = [question(*(answer(f"t{i}", 1 + (i * n) % 5, 1 + i % 5) for i in range(8)), key=f"{n}:x") for n in range(6)]
    options = Options(seed=7, subsets=4, subset_size=3)
    rows, _ = make_rows(many, "resample", options=options)
    again, _ = make_rows(many[::-1], "resample", options=options)
    assert {str(row) for row in rows} == {str(row) for row in again}
    assert max(Counter(row["prompt"] for row in rows).values()) > 1
    assert all(len(row["all_answers"]) == 3 for row in rows)
    other, _ = make_rows(many, "resample", options=Options(seed=8, subsets=4, subset_size=3))
    assert {str(row) for row in rows} != {str(row) for row in other}


def test_resampling_draws_these_very_subsets_on_every_machine() -> None:
    rows, _ = make_rows([FIVE], "resample", options=Options(seed=1, subsets=3, subset_size=3))
    # recorded once: a change here means that everybody's re-sampled data sets change
    assert sides(rows) == [("bob", "dan"), ("ann", "dan"), ("cem", "eve")]


def test_resampling_a_small_question_takes_all_answers_once() -> None:
    three = question(answer("a", 5, 5), answer("b", 3, 3), answer("c", 1, 1))
    rows, _ = make_rows([three], "resample", options=Options(subsets=10, subset_size=3))
    assert sides(rows) == [("a", "c")]


def test_resampling_ends_where_an_answer_stands_twice() -> None:
    ann, bob, dan = answer("ann", 3, 3, 1, 1, 1), answer("bob", 2, 2), answer("dan", 1, 1)
    rows, _ = make_rows([question(ann, ann, bob, dan)], "resample", options=Options(subsets=100, subset_size=3))
    # all four subsets are drawn; three of them hold dan
    assert sorted(sides(rows)) == [("ann", "bob"), ("ann", "dan")]


@pytest.mark.parametrize("strategy", ["best-worst", "all-pairs", "resample", "top-bottom"])
def test_equal_totals_make_no_pair_and_are_counted(strategy: str) -> None:
    equal = question(answer("a", 3, 1), answer("b", 2, 2), answer("c", 1, 3))
    rows, report = make_rows([equal], strategy)
    assert (rows, report.tied) == ([], 1)


def test_the_same_text_by_two_therapists_is_never_its_own_rejection() -> None:
    same = question(answer("a", 5, 5, text="one"), answer("b", 1, 1, text="one"), answer("c", 3, 3, text="two"))
    rows, _ = make_rows([same], "all-pairs")
    assert sorted(sides(rows)) == [("a", "c"), ("c", "b")]


def test_a_question_with_an_unscored_answer_waits() -> None:
    waiting = question(answer("a", 5, 5), answer("b", 3, 3), Candidate("c", "refused by the judge"), answer("d", 1, 1))
    rows, report = make_rows([waiting])
    assert (rows, report.waiting, report.unscored_answers) == ([], 1, 1)
    rows, report = make_rows([waiting], allow_partial=True)
    assert sides(rows) == [("a", "d")]
    assert (report.partial, report.waiting) == (1, 0)
    assert [a["therapist"] for a in rows[0]["all_answers"]] == ["a", "b", "d"]


def test_one_scored_answer_is_not_enough_for_a_partial_pair() -> None:
    rows, report = make_rows(
        [question(answer("a", 5, 5), Candidate("b", "x"), Candidate("c", "y"))], allow_partial=True
    )
    assert (rows, report.waiting) == ([], 1)


def test_a_blank_answer_is_no_answer_and_nobody_waits_for_it() -> None:
    blank = Candidate("c", "\u3000", blank=True)
    rows, report = make_rows([question(answer("a", 5, 5), blank, answer("b", 3, 3), answer("d", 1, 1))])
    assert sides(rows) == [("a", "d")]
    assert (report.blank_answers, report.waiting) == (1, 0)
    rows, report = make_rows([question(answer("a", 5, 5), blank, answer("b", 3, 3))])
    assert (rows, report.too_few) == ([], 1)


def test_the_cap_holds_for_every_therapist_on_either_side() -> None:
    many = [
        question(answer("busy", 5, 5), answer(f"x{n}", 3, 3), answer(f"y{n}", 1, 1), key=f"{n}:k") for n in range(10)
    ]
    rows, report = make_rows(many, max_per_therapist=3)
    assert len(rows) == 3
    assert (report.pairs_capped, report.capped_out, report.with_rows) == (7, 7, 3)
    rows, report = make_rows(many, "all-pairs", max_per_therapist=2)
    counts = Counter(name for pair in sides(rows) for name in pair)
    assert max(counts.values()) == 2
    assert report.with_rows + report.capped_out == 10


def test_which_pairs_the_cap_keeps_depends_on_the_seed_and_not_on_the_order() -> None:
    many = [
        question(answer("busy", 5, 5), answer(f"x{n}", 3, 3), answer(f"y{n}", 1, 1), key=f"{n}:k") for n in range(20)
    ]

    def kept(sets: list[CandidateSet], seed: int) -> set[object]:
        return {row["prompt"] for row in make_rows(sets, max_per_therapist=4, options=Options(seed=seed))[0]}

    assert kept(many, 1) == kept(many[::-1], 1)
    assert kept(many, 1) != kept(many, 2)


def test_answers_without_a_name_are_not_capped_as_one_person() -> None:
    many = [
        question(answer("", 5, 5), answer("x", 3, 3, text=f"x{n}"), answer("", 1, 1, text=f"y{n}"), key=f"{n}:k")
        for n in range(4)
    ]
    assert len(make_rows(many, max_per_therapist=1)[0]) == 4


def test_a_question_listed_under_two_ids_is_counted_as_repeated() -> None:
    twice = [FIVE, CandidateSet("99", FIVE.topic, FIVE.prompt, FIVE.judge_model, FIVE.candidates, "99:a")]
    rows, report = make_rows(twice)
    assert (len(rows), report.pairs_repeated) == (2, 1)


def test_the_report_accounts_for_every_question() -> None:
    sets = [
        FIVE,
        question(answer("a", 1, 1), key="few:1"),
        question(answer("a", 3, 1), answer("b", 2, 2), answer("c", 1, 3), key="tied:1"),
        question(answer("a", 3, 3), answer("b", 3, 3), Candidate("c", "t"), key="wait:1"),
        question(answer("a", 3, 3), answer("b", 3, 2), answer("c", 3, 2), key="close:1"),
    ]
    _, report = make_rows(sets, min_margin=2)
    assert (report.with_rows, report.too_few, report.tied, report.waiting, report.below_margin) == (1, 1, 1, 1, 1)
    assert report.questions == 5


@pytest.mark.parametrize("strategy", ["best-worst", "all-pairs", "resample", "top-bottom"])
def test_rows_of_random_matrices_always_keep_the_invariants(strategy: str) -> None:
    chance = random.Random(5)
    sets = [
        question(
            *(
                answer(f"t{i}", chance.randint(1, 5), chance.randint(1, 5), *(chance.randint(0, 1) for _ in range(3)))
                for i in range(chance.randint(3, 9))
            ),
            key=f"{n}:r",
        )
        for n in range(60)
    ]
    rows, report = make_rows(sets, strategy, max_per_therapist=40)
    assert len(rows) > 20
    assert [fault for row in rows for fault in row_faults(row, "row")] == []
    assert report.questions == 60


def test_settings_out_of_range_are_bad_usage() -> None:
    for settings in (
        {"strategy": "worst-best"},
        {"min_margin": 0},
        {"max_per_therapist": 0},
        {"min_answers": 1},
    ):
        with pytest.raises(UsageError, match="allowed"):
            make_rows([FIVE], **settings)  # type: ignore[arg-type]
    for name in ("top_k", "subsets", "subset_size"):
        with pytest.raises(UsageError, match="allowed"):
            Options(**{name: 0})


def test_a_row_that_would_break_the_schema_is_refused_not_written() -> None:
    with pytest.raises(RowError, match="prompt"):
        make_rows([CandidateSet("1", "t", " ", "j", FIVE.candidates, "1:a")])


def test_weights_by_hand() -> None:
    keys = [PairKey(2, ("a", "b")), PairKey(6, ("a", "c")), PairKey(4, ("a", "a"))]
    assert pair_weights(keys) == [1, 1, 1]
    assert pair_weights(keys, "margin") == pytest.approx([0.5, 1.5, 1.0])
    # a stands on 4 sides, b and c on one: (1/4 + 1)/2 = .625, .625, (1/4 + 1/4)/2 = .25; mean .5
    for spelling in ("inverse-frequency", "inverse_frequency"):
        assert pair_weights(keys, spelling) == pytest.approx([1.25, 1.25, 0.5])
    assert pair_weights([], "margin") == []


def test_with_inverse_frequency_every_therapist_has_the_same_share() -> None:
    rows, _ = make_rows([FIVE], "all-pairs")
    keys = [pair_key(row) for row in rows]
    weights = pair_weights(keys, "inverse-frequency")
    assert sum(weights) / len(weights) == pytest.approx(1)
    # a pair's weight is, up to the scale, the mean of what its two sides bring in
    sides_of = Counter(name for key in keys for name in key.therapists)
    scale = len(keys) / (len(sides_of) / 2)
    for key, weight in zip(keys, weights, strict=True):
        first, second = key.therapists
        assert weight == pytest.approx(scale * (1 / sides_of[first] + 1 / sides_of[second]) / 2)


def test_unknown_or_empty_weightings_are_bad_usage() -> None:
    with pytest.raises(UsageError, match="uniform"):
        pair_weights([PairKey(1, ("a", "b"))], "popularity")
    with pytest.raises(UsageError, match="margin"):
        pair_weights([PairKey(0, ("a",)), PairKey(0, ("b",))], "margin")
