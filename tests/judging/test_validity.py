"""A judge against made-up people: figures worked by hand or by scikit-learn, journals, the verb and its JSON."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, precision_score, recall_score

from hf_kokoro.core.stats import Estimate
from hf_kokoro.errors import UsageError
from hf_kokoro.judging import Item, Opinion, Verdict
from hf_kokoro.judging.agreement import Ratings, ratings_of
from hf_kokoro.judging.validity import consensus, people_in, validate_against
from hf_kokoro.judging.verdicts import make_verdict
from hf_kokoro.workflow import validate

from .judging_support import run

CHANCE = np.random.default_rng(8)
FIVE = {"empathy": 3, "partnership": 3, "reflection_present": 0, "no_persuade": 1, "no_confront": 1}


def text(question: int, answer: int) -> str:
    return f"Answer {answer} to question {question}." + " More words follow." * answer


def verdict(rater: str, question: int, answer: int, **scores: int) -> Verdict:
    item = Item(f"q{question}", f"What about question {question}?", f"t{answer}", text(question, answer))
    return make_verdict(item, Opinion("scored", FIVE | scores), rater, "rubric")


def rated(rater: str, *questions: list[int], dimension: str = "empathy") -> list[Verdict]:
    return [
        verdict(rater, number, index, **{dimension: score})
        for number, scores in enumerate(questions)
        for index, score in enumerate(scores)
    ]


def split(verdicts: list[Verdict]) -> tuple[Ratings, list[Ratings]]:
    people, [judge] = people_in(ratings_of(verdicts))
    return judge, people


def test_codes_are_compared_with_the_majority_and_answers_without_one_are_left_out_and_counted() -> None:
    # answer 3 of question 0 has one yes and one no: no majority
    people = [
        *rated("human/a", [1, 1, 0, 1], dimension="no_persuade"),
        *rated("human/b", [1, 1, 0, 0], dimension="no_persuade"),
    ]
    judge, persons = split([*people, *rated("rule", [1, 0, 0, 1], dimension="no_persuade")])
    found = validate_against(judge, persons).dimensions["no_persuade"]
    assert (found.n, found.split, found.questions) == (4, 1, 1)
    assert found.confusion == ((1, 0), (1, 1))
    assert (found.precision, found.recall) == (Estimate(1.0), Estimate(0.5))
    assert found.base_rate == Estimate(pytest.approx(2 / 3))
    assert found.icc is None


def test_kappa_precision_and_recall_equal_scikit_learns_on_random_codes() -> None:
    truth = CHANCE.integers(0, 2, (30, 4))
    judged = np.where(CHANCE.random(truth.shape) < 0.8, truth, 1 - truth)
    people = [v for rater in "abc" for v in rated(f"human/{rater}", *truth.tolist(), dimension="reflection_present")]
    judge, persons = split([*people, *rated("rule", *judged.tolist(), dimension="reflection_present")])
    found = validate_against(judge, persons).dimensions["reflection_present"]
    one, two = truth.ravel(), judged.ravel()
    assert found.kappa.value == pytest.approx(cohen_kappa_score(one, two), abs=1e-9)
    assert found.precision is not None
    assert found.recall is not None
    assert found.precision.value == pytest.approx(precision_score(one, two), abs=1e-9)
    assert found.recall.value == pytest.approx(recall_score(one, two), abs=1e-9)
    assert found.ceiling.value == 1, "the three people say the same"
    assert found.kappa.low is not None
    assert found.kappa.low < found.kappa.value < (found.kappa.high or 0)


def test_bias_is_judge_minus_peoples_mean_and_the_test_of_people_stands_beside_it() -> None:
    scores = [[1, 2, 3], [3, 4, 5], [2, 3, 4]] * 5
    people = [v for rater in "abc" for v in rated(f"human/{rater}", *scores)]
    kinder = [[min(5, score + 1) for score in row] for row in scores]
    judge, persons = split([*people, *rated("rule", *kinder)])
    empathy = validate_against(judge, persons).dimensions["empathy"]
    assert empathy.bias.value == pytest.approx(8 / 9)
    assert empathy.stand_in is not None
    # it is off by one on eight of nine, where people are never off: it beats nobody
    assert (empathy.stand_in.winning_rate, empathy.stand_in.passes) == (0, False)
    judge, persons = split([*people, *rated("rule", *scores)])
    exact = validate_against(judge, persons).dimensions["empathy"]
    assert exact.stand_in is not None
    assert (exact.bias.value, exact.stand_in.passes) == (0, True)


def test_two_people_have_a_ceiling_and_no_test() -> None:
    people = [*rated("human/a", [1, 3, 5]), *rated("human/b", [1, 3, 5])]
    judge, persons = split([*people, *rated("rule", [1, 3, 5])])
    found = validate_against(judge, persons).dimensions["empathy"]
    assert found.stand_in is None
    assert found.ceiling.value == 1


@pytest.mark.parametrize(
    ("ratings", "levels", "expected"),
    [
        ([1, 2], (1, 2, 3, 4, 5), 2),
        ([4, 5], (1, 2, 3, 4, 5), 4),
        ([2, 3], (1, 2, 3, 4, 5), 3),
        ([3, 4], (1, 2, 3, 4, 5), 3),
        ([1, 2, 5], (1, 2, 3, 4, 5), 2),
        ([0, 1, 1], (0, 1), 1),
        ([7, 8], tuple(range(2, 14)), 7),
    ],
)
def test_a_median_between_two_levels_goes_to_the_scales_middle(
    ratings: list[float], levels: tuple[int, ...], expected: float
) -> None:
    assert consensus(np.array([ratings], dtype=float), levels)[0] == expected


def test_people_keep_flip_or_tie_the_judges_pairs_and_matched_lengths_are_looked_at_alone() -> None:
    people = rated("human/a", [5, 3, 1], [1, 3, 5], [4, 3, 4])
    judge, persons = split([*people, *rated("rule", [5, 3, 1], [5, 3, 1], [5, 3, 1])])
    found = validate_against(judge, persons)
    assert (found.pairs.pairs, found.pairs.keep.value, found.pairs.flip, found.pairs.tie) == (
        3,
        pytest.approx(1 / 3),
        1,
        1,
    )
    assert found.matched_pairs is None
    keys = sorted(judge.scores)
    alike = validate_against(judge, persons, lengths=dict.fromkeys(keys, 12)).matched_pairs
    apart = validate_against(
        judge, persons, lengths={key: 10 * (n % 3 + 1) for n, key in enumerate(keys)}
    ).matched_pairs
    assert alike is not None
    assert apart is not None
    assert (alike.pairs, apart.pairs) == (3, 0)


def test_nobody_and_nothing_in_common_are_refused() -> None:
    judge, _ = split([*rated("rule", [1, 2, 3]), *rated("human/a", [1, 2, 3])])
    with pytest.raises(UsageError, match="human/"):
        validate_against(judge, [])
    stranger = ratings_of([verdict("human/a", 99, 1)])
    with pytest.raises(UsageError, match="no answer in common"):
        validate_against(judge, stranger)


@pytest.fixture
def journals(tmp_path: Path) -> tuple[Path, Path]:
    scores = [[1, 3, 5], [2, 4, 3], [5, 4, 1], [3, 3, 2]]
    judge, people = tmp_path / "verdicts.jsonl", tmp_path / "people.jsonl"
    judge.write_text("".join(v.line() for v in rated("rule", *scores)), "ascii")
    lines = [v.line() for rater in "abc" for v in rated(f"human/{rater}", *scores)]
    people.write_text("".join(lines), "ascii")
    return judge, people


def test_the_verb_and_python_say_the_same_and_numbers_stand_where_readers_look(journals: tuple[Path, Path]) -> None:
    judge, people = journals
    done = run("validate", judge, "--people", people, "--json", cwd=judge.parent)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report == json.loads(json.dumps(validate(judge, people).as_dict()))
    empathy = report["dimensions"]["empathy"]
    assert (empathy["n"], empathy["kappa"], empathy["intervals"]["kappa"][1]) == (12, 1.0, 1.0)
    assert empathy["stand_in"]["winning_rate"] == 1
    assert report["dimensions"]["no_persuade"]["base_rate"] == 1
    assert report["epsilon"] == 0.2
    table = run("validate", judge, "--people", people, cwd=judge.parent)
    assert table.returncode == 0, table.stderr
    assert "1.00 passes" in table.stdout


def test_one_journal_may_hold_both_and_a_source_adds_pairs_of_matched_length(journals: tuple[Path, Path]) -> None:
    judge, people = journals
    both = judge.with_name("both.jsonl")
    both.write_bytes(judge.read_bytes() + people.read_bytes())
    source = judge.with_name("source.csv")
    with source.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(
            ["questionID", "questionTitle", "questionText", "topic", "therapistInfo", "answerText", "upvotes", "views"]
        )
        for question in range(4):
            for answer in range(3):
                row = [
                    f"q{question}",
                    "",
                    f"What about question {question}?",
                    "",
                    f"t{answer}",
                    text(question, answer),
                    0,
                    0,
                ]
                table.writerow(row)
    report = validate(both, source=str(source)).as_dict()
    assert report["people"] == ["human/a", "human/b", "human/c"] or report["people"] == (
        "human/a",
        "human/b",
        "human/c",
    )
    assert report["matched_pairs"] is not None


def test_unknown_raters_and_judges_are_named_with_what_there_is(journals: tuple[Path, Path]) -> None:
    judge, people = journals
    done = run("validate", judge, "--people", people, "--raters", "experts", cwd=judge.parent)
    assert done.returncode == 2
    assert "did you mean 'expert'?" in done.stderr
    done = run("validate", judge, "--people", people, "--judge-model", "claude", cwd=judge.parent)
    assert done.returncode == 2
    assert "it holds rule" in done.stderr
    done = run("validate", people, cwd=judge.parent)
    assert done.returncode == 2
    assert "no judge but people" in done.stderr
