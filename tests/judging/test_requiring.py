"""`pair --require-validity`: which reports let a judge's scores be paired, and that rows stay as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hf_kokoro.miti.contract import DIMENSIONS
from hf_kokoro.workflow import judge, pair
from hf_kokoro.workflow.requiring import ValidityError

from .judging_support import SAMPLE, run

PASSES = {"winning_rate": 0.8, "passes": True}


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    judge(SAMPLE, "rule", tmp_path / "v.jsonl")
    return tmp_path / "v.jsonl"


def report(journal: Path, *, leave_out: str = "", **changes: Any) -> Path:
    """A report about the journal's judge in which every dimension passes, but for `changes` (dimension to fields)."""
    first = json.loads(journal.read_text("ascii").splitlines()[0])
    one = {"n": 50, "kappa": 0.7, "ceiling": 0.6, "intervals": {}, "stand_in": PASSES}
    dimensions = {name: one | changes.get(name, {}) for name in DIMENSIONS if name != leave_out}
    fields = {"kind": "people", "people": ["human/a"], "dimensions": dimensions}
    signed = {name: first[name] for name in ("judge_model", "rubric_sha256")}
    file = journal.with_name("validity.json")
    file.write_text(json.dumps(fields | signed | {k: v for k, v in changes.items() if k not in DIMENSIONS}))
    return file


def test_a_judge_that_passes_is_paired_and_the_rows_are_the_same_as_without(journal: Path) -> None:
    plain = pair(journal, journal.with_name("plain.jsonl"))
    asked = pair(journal, journal.with_name("asked.jsonl"), require_validity=report(journal))
    assert asked.not_validated == {}
    assert asked.made.rows == plain.made.rows > 0
    assert journal.with_name("asked.jsonl").read_bytes() == journal.with_name("plain.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("name", "fields", "reason"),
    [
        ("empathy", {"kappa": 0.39}, "kappa 0.39 is below 0.4"),
        ("no_persuade", {"kappa": None}, "kappa is not defined: one side is constant"),
        (
            "partnership",
            {"stand_in": {"winning_rate": 0.2, "passes": False}},
            "fails the alternative annotator test",
        ),
        (
            "partnership",
            {"kappa": 0.1, "stand_in": {"winning_rate": 0.2, "passes": False}},
            "kappa 0.10 is below 0.4 and fails the alternative annotator test",
        ),
    ],
)
def test_one_dimension_that_does_not_pass_refuses_or_is_flagged(
    journal: Path, name: str, fields: dict[str, Any], reason: str
) -> None:
    file, out = report(journal, **{name: fields}), journal.with_name("rows.jsonl")
    with pytest.raises(ValidityError, match=rf"(?s)1 of the rubric's dimensions don't pass\n  {name}: {reason}\n"):
        pair(journal, out, require_validity=file)
    assert not out.exists()
    flagged = pair(journal, out, require_validity=file, flag=True)
    assert flagged.not_validated == {name: reason}
    assert out.exists()


def test_kappa_at_the_least_agreement_passes_and_no_test_is_no_failure(journal: Path) -> None:
    file = report(journal, empathy={"kappa": 0.4, "stand_in": None})
    assert pair(journal, journal.with_name("r.jsonl"), require_validity=file).not_validated == {}
    with pytest.raises(ValidityError):
        pair(journal, journal.with_name("r.jsonl"), require_validity=file, min_agreement=0.41)


def test_a_dimension_that_was_not_measured_does_not_pass(journal: Path) -> None:
    found = pair(
        journal, journal.with_name("r.jsonl"), require_validity=report(journal, leave_out="empathy"), flag=True
    )
    assert found.not_validated == {"empathy": "not measured"}


@pytest.mark.parametrize("changes", [{"judge_model": "claude-x"}, {"rubric_sha256": "00" * 32}])
def test_a_report_about_another_judge_or_other_instructions_is_bad_usage(journal: Path, changes: Any) -> None:
    file = report(journal, **changes)
    done = run("pair", "--journal", journal, "--out", "r.jsonl", "--require-validity", file, cwd=journal.parent)
    assert done.returncode == 2
    assert "these verdicts are by rule-based/miti-st-v1-r2@" in done.stderr


def test_the_verb_refuses_with_exit_1_and_says_with_flag_what_does_not_pass(journal: Path) -> None:
    words = (
        "pair",
        "--journal",
        journal,
        "--out",
        "r.jsonl",
        "--require-validity",
        report(journal, leave_out="empathy"),
    )
    done = run(*words, cwd=journal.parent)
    assert (done.returncode, "empathy: not measured" in done.stderr) == (1, True)
    flagged = run(*words, "--flag", cwd=journal.parent)
    assert flagged.returncode == 0
    assert "not validated: empathy: not measured" in flagged.stdout
    as_json = json.loads(run(*words, "--flag", "--json", cwd=journal.parent).stdout)
    assert as_json["not_validated"] == {"empathy": "not measured"}


@pytest.mark.parametrize("words", [("--flag",), ("--min-agreement", "0.5"), ("--min-agreement", "2")])
def test_options_without_a_report_are_bad_usage(journal: Path, words: tuple[str, ...]) -> None:
    done = run("pair", "--journal", journal, "--out", "r.jsonl", *words, cwd=journal.parent)
    assert done.returncode == 2
    assert "--min-agreement" in done.stderr


def test_a_missing_report_is_said(journal: Path) -> None:
    done = run("pair", "--journal", journal, "--out", "r.jsonl", "--require-validity", "no.json", cwd=journal.parent)
    assert done.returncode == 2
    assert "no.json: can't be read" in done.stderr
