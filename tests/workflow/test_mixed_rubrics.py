"""Verdicts by two rubrics keep apart at every door, are counted in the card, and can be compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hf_kokoro import workflow
from hf_kokoro.hub.errors import MixedRubrics
from hf_kokoro.judging import RuleJudge
from tests.hub.double import HubDouble
from tests.judging.judging_support import SAMPLE, run

DATA = "data/pilot.jsonl"
RULES, STRICT = RuleJudge(), RuleJudge("strict")


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A dataset of rows by the rules, and beside it rows by their strict reading."""
    for spec, name in (("rule", "rules"), ("rule:strict", "strict")):
        words = ("judge", "--source", SAMPLE, "--judge", spec, "--journal", f"{name}.jsonl")
        assert run(*words, cwd=tmp_path).returncode == 0
        assert run("pair", "--journal", f"{name}.jsonl", "--out", f"{name}-rows.jsonl", cwd=tmp_path).returncode == 0
    assert run("append", "rules-rows.jsonl", "--to", "./ds", cwd=tmp_path).returncode == 0
    return tmp_path


DOORS = {
    "append": ("append", "strict-rows.jsonl", "--to", "./ds"),
    "watch": ("append", "--watch", "strict.jsonl", "--once", "--to", "./ds"),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_verb_refuses_a_second_rubric_and_takes_it_on_purpose(door: str, mixed: Path) -> None:
    before = (mixed / "ds" / DATA).read_bytes()
    done = run(*DOORS[door], cwd=mixed)
    assert done.returncode == 1
    assert "--mix-rubrics" in done.stdout + done.stderr
    assert (mixed / "ds" / DATA).read_bytes() == before
    assert run(*DOORS[door], "--mix-rubrics", cwd=mixed).returncode == 0
    assert (mixed / "ds" / DATA).read_bytes().startswith(before)
    assert len((mixed / "ds" / DATA).read_bytes()) > len(before)


def test_judging_into_a_dataset_refuses_it_and_keeps_the_verdicts(mixed: Path) -> None:
    before = (mixed / "ds" / DATA).read_bytes()
    words = ("judge", "--source", SAMPLE, "--judge", "rule:strict", "--journal", "new.jsonl", "--append-to", "./ds")
    done = run(*words, cwd=mixed)
    assert done.returncode == 1
    assert "--mix-rubrics" in done.stdout + done.stderr
    assert (mixed / "ds" / DATA).read_bytes() == before
    assert run(*words, "--mix-rubrics", cwd=mixed).returncode == 0
    assert len((mixed / "ds" / DATA).read_bytes()) > len(before)
    alone = run("judge", "--source", SAMPLE, "--judge", "rule", "--journal", "n.jsonl", "--mix-rubrics", cwd=mixed)
    assert (alone.returncode, "--append-to" in alone.stderr) == (2, True)


def test_python_refuses_it_too(mixed: Path) -> None:
    with pytest.raises(MixedRubrics):
        workflow.append_rows(mixed / "ds", mixed / "strict-rows.jsonl")
    report = workflow.append_rows(mixed / "ds", mixed / "strict-rows.jsonl", mix_rubrics=True)
    assert report.added > 0


def test_the_card_counts_rows_by_the_digest_of_the_instructions(mixed: Path) -> None:
    workflow.card(mixed / "ds", figures=False)
    rows = len((mixed / "rules-rows.jsonl").read_text("utf-8").splitlines())
    mine = f"`{RULES.rubric_sha256[:12]}` ({rows:,} rows by `{RULES.judge_model}`)"
    card = (mixed / "ds" / "README.md").read_text("utf-8")
    assert f"By the instructions with the digests {mine}." in card
    assert "filter before you compare" not in card
    added = workflow.append_rows(mixed / "ds", mixed / "strict-rows.jsonl", mix_rubrics=True).added
    card = (mixed / "ds" / "README.md").read_text("utf-8")
    assert mine in card
    assert f"`{STRICT.rubric_sha256[:12]}` ({added:,} rows by `{STRICT.judge_model}`)" in card
    assert "filter before you compare" in card


def test_publishing_sends_what_a_folder_mixes_on_purpose_and_mixes_nothing_itself(mixed: Path, hub: HubDouble) -> None:
    repo, kinds = hub.repo("user/pairs"), ("name", "url", "phone", "email", "digits")
    workflow.card(mixed / "ds", figures=False)
    workflow.publish(mixed / "ds", "user/pairs", figures=False, allow=kinds)
    first = repo.read(DATA)
    workflow.append_rows(mixed / "other", mixed / "strict-rows.jsonl", card=True)
    with pytest.raises(MixedRubrics):
        workflow.publish(mixed / "other", "user/pairs", figures=False, allow=kinds)
    assert repo.read(DATA) == first
    workflow.append_rows(mixed / "ds", mixed / "strict-rows.jsonl", mix_rubrics=True)
    workflow.publish(mixed / "ds", "user/pairs", figures=False, allow=kinds)
    assert repo.read(DATA) == (mixed / "ds" / DATA).read_bytes() != first


def test_agree_compares_two_rubrics_of_one_journal(mixed: Path) -> None:
    both = mixed / "both.jsonl"
    both.write_bytes((mixed / "rules.jsonl").read_bytes() + (mixed / "strict.jsonl").read_bytes())
    [found] = workflow.agree(both).agreements
    assert {found.first, found.second} == {RULES.judge_model, STRICT.judge_model}
    # one judge by two editions of its rubric is told apart by the digest
    lines = [json.loads(line) for line in both.read_text("ascii").splitlines()]
    for line in lines:
        line["judge_model"] = "one-judge"
    both.write_text("".join(json.dumps(line) + "\n" for line in lines), "ascii")
    [found] = workflow.agree(both).agreements
    assert {found.first, found.second} == {f"one-judge@{one.rubric_sha256[:12]}" for one in (RULES, STRICT)}
