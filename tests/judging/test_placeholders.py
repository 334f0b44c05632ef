"""Placeholders such as `[removed]` are no answers: not judged, not paired, counted; old journals say what they hold."""

from __future__ import annotations

import asyncio
import csv
import json
from pathlib import Path

import pytest

from hf_kokoro.judging import Item, Journal, ScriptedJudge, read_journal, score_items
from hf_kokoro.judging.agreement import AnswerKey, ratings_of
from hf_kokoro.judging.batch import score_in_batches
from hf_kokoro.judging.bias import ScoredAnswer, measure_bias
from hf_kokoro.judging.budget import Price
from hf_kokoro.judging.claude import ClaudeJudge
from hf_kokoro.judging.estimate import estimate_cost
from hf_kokoro.judging.verdicts import Opinion, make_verdict, parse_verdict
from hf_kokoro.miti.pairing import Candidate, CandidateSet, make_rows

from .anthropic_double import Double
from .judging_support import rows_of, run

HIGH = {"empathy": 4, "partnership": 4, "reflection_present": 1, "no_persuade": 1, "no_confront": 1}
MIDDLE = {"empathy": 1, "partnership": 3, "reflection_present": 0, "no_persuade": 1, "no_confront": 1}
LOW = {"empathy": 1, "partnership": 1, "reflection_present": 0, "no_persuade": 0, "no_confront": 1}
PUSHY = ("You must stop at once. You should take pills.", "You have to see a doctor, you should not wait.")
PRICE = Price(1, 1, 1, 1)
COLUMNS = ("questionID", "questionTitle", "questionText", "therapistInfo", "answerText")


def table(path: Path, *answers: str) -> Path:
    """One question with these answers, as a CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(("1", "Sleep", "I can't sleep.", f"T{n}", answer) for n, answer in enumerate(answers))
    return path


def old_journal(path: Path, answers: dict[str, dict[str, int]]) -> None:
    """A journal as it was written before placeholders were known: they have scores."""
    with Journal(path) as journal:
        for number, (answer, scores) in enumerate(answers.items()):
            item = Item("1", "Sleep\n\nI can't sleep.", f"T{number}", answer)
            journal.append(make_verdict(item, Opinion("scored", scores), "old", "r" * 64))


@pytest.mark.parametrize("text", ["[removed]", "[deleted]", "nan", "N/A", "…", "削除済み"])
def test_two_answers_and_a_placeholder_are_two_answers(tmp_path: Path, text: str) -> None:
    table(tmp_path / "t.csv", *PUSHY, text)
    done = run("judge", "--source", "t.csv", "--judge", "rule", "--journal", "v.jsonl", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["questions_judged"] == 0


def test_a_placeholder_is_counted_by_judge_and_by_pair_and_is_in_no_row(tmp_path: Path) -> None:
    table(tmp_path / "t.csv", *PUSHY, "It sounds hard. What would help you?", "[removed]")
    done = run("judge", "--source", "t.csv", "--judge", "rule", "--journal", "v.jsonl", cwd=tmp_path)
    assert (done.returncode, "placeholder 1, scored 3" in done.stdout) == (0, True)
    assert [line["status"] for line in rows_of(tmp_path / "v.jsonl")].count("placeholder") == 1
    paired = run("pair", "--journal", "v.jsonl", "--out", "r.jsonl", "--json", cwd=tmp_path)
    report = json.loads(paired.stdout)
    assert (report["rows"], report["placeholder_answers"], report["verdicts_not_used"]) == (1, 1, 0)
    assert "[removed]" not in (tmp_path / "r.jsonl").read_text("utf-8")
    again = run("judge", "--source", "t.csv", "--judge", "rule", "--journal", "v.jsonl", "--json", cwd=tmp_path)
    judged = json.loads(again.stdout)["judges"][0]
    assert (judged["judged"], judged["statuses"]["placeholder"], judged["unscored"]) == (0, 1, 0)


def test_a_placeholder_never_reaches_a_judge_of_the_python_door(tmp_path: Path) -> None:
    judge = ScriptedJudge([json.dumps(HIGH)])
    with Journal(tmp_path / "v.jsonl") as journal:
        report = score_items([Item("1", "q", "t", "n/a"), Item("1", "q", "u", "I see.")], judge, journal)
    assert dict(report.statuses) == {"placeholder": 1, "scored": 1}
    assert [verdict.status for verdict in read_journal(tmp_path / "v.jsonl")] == ["placeholder", "scored"]


def test_a_scripted_verdict_and_a_journal_line_may_say_placeholder() -> None:
    opinion = ScriptedJudge(['{"status": "placeholder"}']).score("q", "a")
    line = make_verdict(Item("1", "q", "t", "[removed]"), opinion, "m", "r").line()
    assert parse_verdict(line, "j line 1").status == "placeholder"


def test_no_request_of_a_batch_and_no_single_one_holds_a_placeholder(double: Double, tmp_path: Path) -> None:
    items = [Item("b", "q", "t", "[removed]"), Item("s", "q", "t", "N/A")]
    with Journal(tmp_path / "b.jsonl") as journal:
        batch = score_in_batches(items, ClaudeJudge(), journal)
    with Journal(tmp_path / "s.jsonl") as journal:
        single = score_items(items, ClaudeJudge(), journal)
        assert estimate_cost([Item("n", "q", "t", "[deleted]")], ClaudeJudge(price=PRICE), journal).answers == 0
    assert (batch.statuses["placeholder"], single.statuses["placeholder"], double.requests) == (2, 2, [])
    assert asyncio.run(ClaudeJudge().score("q", "[removed]")) == Opinion("placeholder")
    assert double.requests == []


def test_candidates_with_placeholder_texts_are_no_answers_whatever_their_scores() -> None:
    good, bad = Candidate("a", "I hear you.", HIGH), Candidate("b", "Do it.", LOW)
    removed = Candidate("c", "[removed]", MIDDLE)
    short = CandidateSet("1", "t", "q", "j", (good, bad, removed), "1:a")
    assert make_rows([short])[1].too_few == 1
    rows, report = make_rows([short], min_answers=2)
    assert (report.placeholder_answers, report.blank_answers) == (1, 0)
    assert [answer["text"] for answer in rows[0]["all_answers"]] == ["I hear you.", "Do it."]


def test_an_old_journal_keeps_its_lines_and_every_report_says_what_is_not_used(tmp_path: Path) -> None:
    answers = {"I hear you, and I wonder what helps.": HIGH, PUSHY[0]: LOW, PUSHY[1]: LOW, "[removed]": MIDDLE}
    old_journal(tmp_path / "v.jsonl", answers)
    with Journal(tmp_path / "v.jsonl") as journal:
        for answer in answers:
            item = Item("1", "Sleep\n\nI can't sleep.", "T", answer)
            journal.append(make_verdict(item, Opinion("scored", LOW), "other", "r" * 64))
    table(tmp_path / "t.csv", *answers)
    before = (tmp_path / "v.jsonl").read_bytes()
    said = "1 verdict of a placeholder text in this journal is not used"
    one = ("--source", "t.csv", "--judge-model", "old")
    paired = run("pair", "--journal", "v.jsonl", "--out", "r.jsonl", *one, cwd=tmp_path)
    assert said in paired.stdout
    assert {answer["text"] for answer in rows_of(tmp_path / "r.jsonl")[0]["all_answers"]} == answers.keys() - {
        "[removed]"
    }
    biased = run("bias", "v.jsonl", *one, cwd=tmp_path)
    assert said in biased.stdout
    assert "3 answers scored, 0 unscored" in biased.stdout
    agreed = run("agree", "v.jsonl", cwd=tmp_path)
    assert agreed.stdout.count(said) == 2
    assert "old: 3 answers scored, 0 unscored" in agreed.stdout
    assert (tmp_path / "v.jsonl").read_bytes() == before


def test_judging_goes_on_with_an_old_journal_and_leaves_its_scores_of_placeholders_out(tmp_path: Path) -> None:
    table(tmp_path / "t.csv", *PUSHY, "I see, that is hard.", "[removed]")
    run("judge", "--source", "t.csv", "--judge", "rule", "--journal", "v.jsonl", cwd=tmp_path)
    lines = (tmp_path / "v.jsonl").read_text("ascii").splitlines()
    scored = [json.loads(line) for line in lines]
    scored[-1] |= {"status": "scored", **MIDDLE, "total": 6}
    (tmp_path / "v.jsonl").write_text("".join(json.dumps(line) + "\n" for line in scored))
    before = (tmp_path / "v.jsonl").read_bytes()
    done = run("judge", "--source", "t.csv", "--judge", "rule", "--journal", "v.jsonl", cwd=tmp_path)
    assert "1 verdict of a placeholder text in this journal is not used" in done.stdout
    assert "placeholder 1, scored 3" in done.stdout
    assert (tmp_path / "v.jsonl").read_bytes() == before


def test_agreement_leaves_out_spellings_that_only_the_source_can_tell(tmp_path: Path) -> None:
    odd = "[[ReMoVeD]]"
    old_journal(tmp_path / "v.jsonl", {"I hear you.": HIGH, odd: MIDDLE})
    verdicts = read_journal(tmp_path / "v.jsonl")
    assert [rating.not_used for rating in ratings_of(verdicts)] == [0]
    assert [rating.not_used for rating in ratings_of(verdicts, {verdicts[1].answer_sha256})] == [1]


def test_bias_of_the_python_door_leaves_placeholders_out() -> None:
    answers = [
        ScoredAnswer(AnswerKey("q", str(n)), f"T{n}", "t", text, scores)
        for n, (text, scores) in enumerate((("I hear you now.", HIGH), ("Do it.", LOW), ("[removed]", MIDDLE)))
    ]
    assert measure_bias("j", answers).answers == 2
