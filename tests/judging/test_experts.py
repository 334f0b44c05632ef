"""A judge against experts' codes: figures worked by hand, the sample's table, the journal, the verb and its JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import cohen_kappa_score, precision_score, recall_score, roc_auc_score

from hf_kokoro.errors import UsageError
from hf_kokoro.judging import read_journal
from hf_kokoro.judging.experts import Coded, validate_against_experts
from hf_kokoro.workflow import judge, validate_experts
from hf_kokoro.workflow.expert_codes import utterances

from .judging_support import ROOT, SAMPLE, run

EXPERTS = ROOT / "hf_kokoro" / "samples" / "annomi.csv"
FIVE = {"empathy": 3, "partnership": 3, "reflection_present": 0, "no_persuade": 1, "no_confront": 1}


def coded(session: str, reflects: int, given: Iterable[bool], *, high: bool = True, **scores: int) -> Coded:
    """One utterance; `given` says of each annotator whether it is a reflection. Nobody finds advice."""
    five = FIVE | {"reflection_present": reflects} | scores
    codes = {f"e{number}": is_one for number, is_one in enumerate(given)}
    both = {"reflection": codes, "advice": dict.fromkeys(codes, False)}
    return Coded(session, high, five | {"total": sum(five.values())}, both)


def test_a_code_is_what_more_than_half_gave_and_figures_are_of_the_code() -> None:
    said = [
        coded("1", 1, [True, True, False]),
        coded("1", 1, [True, False]),  # half is not more than half
        coded("2", 0, [True]),
        coded("2", 0, [False, False, False]),
    ]
    found = validate_against_experts("rule", said).dimensions["reflection_present"]
    truth, judged = [1, 0, 1, 0], [1, 1, 0, 0]
    assert (found.n, found.base_rate.value) == (4, 0.5)
    assert found.kappa.value == pytest.approx(cohen_kappa_score(truth, judged), abs=1e-12)
    assert found.precision.value == precision_score(truth, judged)
    assert found.recall.value == recall_score(truth, judged)
    assert found.n_ceiling == 3


def test_advice_is_what_breaks_no_persuade() -> None:
    said = [coded(str(n), 0, [False, False], no_persuade=n % 2) for n in range(4)]
    for n, one in enumerate(said):
        one.codes["advice"].update(dict.fromkeys(("e0", "e1"), n % 2 == 0))  # type: ignore[attr-defined]
    found = validate_against_experts("rule", said).dimensions["no_persuade"]
    assert (found.kappa.value, found.precision.value, found.recall.value, found.base_rate.value) == (1, 1, 1, 0.5)


def test_each_annotator_is_compared_with_the_judge_on_what_they_coded() -> None:
    said = [coded("1", 1, [True, False]), coded("1", 0, [False, True]), coded("2", 1, [True])]
    by_annotator = validate_against_experts("rule", said).dimensions["reflection_present"].by_annotator
    assert (by_annotator["e0"].n, by_annotator["e0"].kappa.value) == (3, 1)
    assert (by_annotator["e1"].n, by_annotator["e1"].kappa.value) == (2, -1)


def test_the_alternative_annotator_test_is_over_what_everybody_coded() -> None:
    alone = [coded("0", 0, [True]) for _ in range(5)]
    # the judge says what the three say of the first thirty, and three people are never unlike each other
    together = [coded(str(n), n % 2, [n % 2 == 1] * 3) for n in range(30)]
    found = validate_against_experts("rule", [*alone, *together]).dimensions["reflection_present"]
    assert found.stand_in is not None
    assert (found.stand_in_n, found.stand_in.winning_rate, found.stand_in.passes) == (30, 1, True)
    assert {person.person for person in found.stand_in.people} == {"e0", "e1", "e2"}
    two = validate_against_experts("rule", [coded("1", 1, [True, True])]).dimensions["reflection_present"]
    assert (two.stand_in, two.stand_in_n) == (None, 0)


def test_sessions_are_told_apart_by_the_mean_total_as_scikit_learn_computes_it() -> None:
    totals = {"1": [3, 5], "2": [4], "3": [2, 2, 5], "4": [1], "5": [4]}
    high = {"1": True, "2": True, "3": False, "4": False, "5": False}
    said = [coded(s, 0, [False], high=high[s], empathy=e) for s, scores in totals.items() for e in scores]
    found = validate_against_experts("rule", said).sessions
    means = [sum(scores) / len(scores) for scores in totals.values()]
    assert (found.n, found.high) == (5, 2)
    assert found.auc.value == pytest.approx(roc_auc_score([high[s] for s in totals], means), abs=1e-12)
    assert found.by_dimension["empathy"] == found.auc
    assert found.by_dimension["partnership"].value == 0.5


def test_sessions_of_one_quality_have_no_auc() -> None:
    assert validate_against_experts("rule", [coded("1", 1, [True])]).sessions.auc.value is None


def record(session: str, speaker: str, text: str, **codes: Any) -> dict[str, Any]:
    given = {"annotator": "a", "reflection": "none", "therapist_input": "none"} | codes
    return {
        "dialogue_id": session,
        "utterance": 0,
        "speaker": speaker,
        "text": text,
        "quality": "low",
        "codes": [given],
    }


def test_the_question_is_the_clients_utterance_before_and_short_ones_are_left_out() -> None:
    said = [
        *utterances(
            [
                record("1", "therapist", "Good morning to you all here"),
                record("1", "client", "I am late."),
                record("1", "therapist", "Four words are few"),
                record("1", "therapist", "You are late this time too", therapist_input="advice"),
                record("2", "therapist", "Another session begins just here"),
            ]
        )
    ]
    assert [one.item.question for one in said] == ["", "I am late.", ""]
    assert [one.codes["advice"]["a"] for one in said] == [False, True, False]
    assert not any(one.codes["reflection"]["a"] for one in said)


def test_the_verb_and_python_say_the_same_of_the_sample(tmp_path: Path) -> None:
    done = run("validate", "--experts", EXPERTS, "--judge", "rule", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    mine = json.loads(json.dumps(validate_experts(EXPERTS).as_dict()))
    # what was judged is the same, in a journal of another name
    assert {**report, "judges": []} == {**mine, "judges": []}
    reflection = report["dimensions"]["reflection_present"]
    assert {"kappa", "precision", "recall", "base_rate", "n", "intervals"} <= reflection.keys()
    with EXPERTS.open(encoding="utf-8") as stream:
        sessions = {(row["transcript_id"], row["mi_quality"]) for row in csv.DictReader(stream)}
    assert report["sessions"]["n"] == len(sessions)
    assert report["sessions"]["high"] == sum(quality == "high" for _, quality in sessions)
    assert 0 <= report["sessions"]["auc"] <= 1
    assert list(tmp_path.iterdir()) == [], "without a journal nothing is kept"
    table = run("validate", "--experts", EXPERTS, cwd=tmp_path)
    assert "against AnnoMI's experts" in table.stdout
    assert "AUC of the mean total" in table.stdout


def test_a_journal_keeps_digests_is_gone_on_with_and_is_compared_without_a_judge(tmp_path: Path) -> None:
    book = tmp_path / "verdicts.jsonl"
    started = validate_experts(EXPERTS, book, judge="rule", limit=3)
    assert (started.found.utterances, started.runs[0].judged) == (3, 3)
    assert started.found.unscored > 0
    rest = validate_experts(EXPERTS, book, judge="rule")
    assert (rest.runs[0].already, rest.found.unscored) == (3, 0)
    again = validate_experts(EXPERTS, book)
    assert again.found == rest.found
    assert again.runs == ()
    with EXPERTS.open(encoding="utf-8") as stream:
        texts = {row["utterance_text"] for row in csv.DictReader(stream)}
    kept = book.read_text("ascii")
    assert not any(json.dumps(text)[1:-1] in kept for text in texts if len(text) > 20)
    assert {verdict.judge_model for verdict in read_journal(book)} == {again.found.judge}


def test_a_journal_of_other_texts_is_refused_with_what_to_type(tmp_path: Path) -> None:
    book = tmp_path / "verdicts.jsonl"
    judge(SAMPLE, "rule", book)
    with pytest.raises(UsageError, match="--judge"):
        validate_experts(EXPERTS, book)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "needs a JOURNAL and --people, or --experts"),
        (("v.jsonl", "--judge", "rule"), "are for --experts"),
        (("--experts", EXPERTS, "--people", "p.jsonl"), "are not for --experts"),
        (("--experts", EXPERTS, "--raters", "crowd"), "they are experts"),
        (("v.jsonl", "--experts", EXPERTS, "--limit", "3"), "are for --judge"),
        (("v.jsonl", "--experts", EXPERTS, "--max-usd", "3"), "are for --judge"),
        (("--experts", EXPERTS, "--judge", "claude"), "what is paid for is kept"),
        (("--experts", EXPERTS, "--judge", "claude:claude-opus-4-7", "--max-usd", "1"), "what is paid for is kept"),
        (("--experts", EXPERTS, "--judge", "ruel"), "rule"),
        (("--experts", "missing.csv"), "missing.csv"),
    ],
)
def test_what_can_not_be_meant_is_refused(tmp_path: Path, words: tuple[object, ...], said: str) -> None:
    done = run("validate", *words, cwd=tmp_path)
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("options", [{"limit": 0}, {"least_words": 0}])
def test_python_refuses_numbers_that_leave_nothing(options: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="1 or more"):
        validate_experts(EXPERTS, judge="rule", **options)


@pytest.mark.parametrize("options", [{"limit": 3}, {"max_usd": 1.0}])
def test_python_refuses_options_without_a_judge_too(tmp_path: Path, options: Any) -> None:
    with pytest.raises(UsageError, match="are for --judge"):
        validate_experts(EXPERTS, tmp_path / "v.jsonl", **options)


def test_a_table_without_therapists_says_so(tmp_path: Path) -> None:
    with EXPERTS.open(encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["interlocutor"] == "client"]
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    (tmp_path / "clients.csv").write_text(buffer.getvalue(), "utf-8")
    done = run("validate", "--experts", tmp_path / "clients.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "no utterance" in done.stderr


def test_the_rule_judge_on_the_real_even_transcripts(real_data_dir: Path) -> None:
    report = validate_experts(real_data_dir / "annomi" / "AnnoMI-full-even.csv")
    found = report.found
    # VALIDITY's count of utterances and base rates; the agreement is the rules' second edition's
    assert found.utterances == 1713
    assert found.dimensions["reflection_present"].base_rate.value == pytest.approx(0.42, abs=0.005)
    assert found.dimensions["no_persuade"].base_rate.value == pytest.approx(0.05, abs=0.005)
    assert (found.sessions.n, found.sessions.high) == (67, 55)
    assert found.dimensions["reflection_present"].kappa.value == pytest.approx(0.46, abs=0.005)
    assert found.dimensions["no_persuade"].kappa.value == pytest.approx(0.41, abs=0.005)
    assert found.sessions.auc.value == pytest.approx(0.93, abs=0.005)
