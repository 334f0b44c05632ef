"""A claim goes with its rows from `pair`, `judge` and `append --watch` to the ledger and the card, by every door."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hf_kokoro import workflow
from hf_kokoro.judging import RuleJudge
from hf_kokoro.miti.contract import row_id
from tests.hub.double import HubDouble
from tests.judging.judging_support import rows_of, run

OWN = """questionID,questionTitle,questionText,therapistInfo,answerText
1,Sleep,I can't sleep.,Ann,"It sounds hard to lie awake so long. What has helped you before?"
1,Sleep,I can't sleep.,Bob,You must stop this. You should take pills.
1,Sleep,I can't sleep.,Cem,You have to see somebody about it.
"""
DECLARED = ("--source-dataset", "me/pilot", "--license", "mit", "--written-by", "model")
CLAIM = {"source_dataset": "me/pilot", "license": "MIT", "written_by": "model", "known_by": "declared"}
LEDGER = ".hf_kokoro/provenance.jsonl"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "own.csv").write_text(OWN)
    done = run("judge", "--source", "own.csv", "--judge", "rule", "--journal", "v.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return tmp_path


def expected(row: dict[str, object], **other: str) -> dict[str, object]:
    judge = RuleJudge()
    judged = {"judge_model": judge.judge_model, "rubric_sha256": judge.rubric_sha256}
    return {"row_id": row_id(row), "path": "data/pilot.jsonl", **CLAIM, **judged, **other}


def typed(folder: Path) -> None:
    assert run("pair", "--journal", "v.jsonl", "--out", "r.jsonl", *DECLARED, cwd=folder).returncode == 0
    assert run("append", "r.jsonl", "--to", "./ds", cwd=folder).returncode == 0


def typed_with_watch(folder: Path) -> None:
    words = ("append", "--watch", "v.jsonl", "--once", "--to", "./ds", *DECLARED)
    assert run(*words, cwd=folder).returncode == 0


def typed_with_judge(folder: Path) -> None:
    words = ("judge", "--source", "own.csv", "--judge", "rule", "--journal", "v.jsonl", "--append-to", "./ds")
    assert run(*words, *DECLARED, cwd=folder).returncode == 0


def in_python(folder: Path) -> None:
    declared = {"source_dataset": "me/pilot", "license_name": "MIT", "written_by": "model"}
    workflow.pair(folder / "v.jsonl", folder / "r.jsonl", **declared)
    workflow.append_rows(folder / "ds", folder / "r.jsonl")


def grown_in_python(folder: Path) -> None:
    declared = {"source_dataset": "me/pilot", "license_name": "MIT", "written_by": "model"}
    workflow.grow(folder / "v.jsonl", str(folder / "ds"), once=True, **declared)


@pytest.mark.parametrize("way", [typed, typed_with_watch, typed_with_judge, in_python, grown_in_python])
def test_what_was_declared_stands_in_the_ledger_and_on_the_card(way: Callable[[Path], None], own: Path) -> None:
    way(own)
    [row] = rows_of(own / "ds" / "data" / "pilot.jsonl")
    assert rows_of(own / "ds" / LEDGER) == [expected(row)]
    workflow.card(own / "ds", figures=False)
    assert "the answers were written by a model, as their owner declared." in (own / "ds" / "README.md").read_text()


def test_without_its_notes_a_rows_file_is_taken_by_what_it_states(own: Path) -> None:
    assert run("pair", "--journal", "v.jsonl", "--out", "r.jsonl", *DECLARED, cwd=own).returncode == 0
    (own / "r.provenance").unlink()
    assert run("append", "r.jsonl", "--to", "./ds", cwd=own).returncode == 0
    [row] = rows_of(own / "ds" / "data" / "pilot.jsonl")
    unknown = expected(row, written_by="not stated")
    del unknown["rubric_sha256"]
    assert rows_of(own / "ds" / LEDGER) == [unknown]


@pytest.mark.parametrize("by_verb", [True, False])
def test_who_wrote_the_rows_of_a_file_of_ones_own_can_be_declared_at_the_append(own: Path, *, by_verb: bool) -> None:
    assert run("pair", "--journal", "v.jsonl", "--out", "r.jsonl", *DECLARED[:4], cwd=own).returncode == 0
    (own / "r.provenance").unlink()
    if by_verb:
        assert run("append", "r.jsonl", "--to", "./ds", "--written-by", "people", cwd=own).returncode == 0
    else:
        workflow.append_rows(own / "ds", rows_of(own / "r.jsonl"), written_by="people")
    assert [line["written_by"] for line in rows_of(own / "ds" / LEDGER)] == ["people"]
    refused = run("append", "r.jsonl", "--to", "./ds", "--written-by", "gpt", cwd=own)
    assert (refused.returncode, "allowed: people, model, fictional" in refused.stderr) == (2, True)


def test_a_proof_that_somebody_wrote_into_the_notes_proves_nothing(own: Path) -> None:
    assert run("pair", "--journal", "v.jsonl", "--out", "r.jsonl", cwd=own).returncode == 0
    line = json.loads((own / "r.provenance").read_text())
    (own / "r.provenance").write_text(json.dumps({**line, "written_by": "people", "known_by": "digest"}) + "\n")
    assert run("append", "r.jsonl", "--to", "./ds", cwd=own).returncode == 0
    [line] = rows_of(own / "ds" / LEDGER)
    assert (line["written_by"], line["known_by"]) == ("not stated", "not stated")


def test_claims_of_known_answers_outlive_redaction_and_publishing(tmp_path: Path, samples: Path) -> None:
    shutil.copy(samples / "counsel_chat.csv", tmp_path / "x.csv")
    for words in (
        ("judge", "--source", "x.csv", "--judge", "rule", "--journal", "v.jsonl"),
        ("pair", "--journal", "v.jsonl", "--out", "r.jsonl"),
        ("append", "r.jsonl", "--to", "./ds", "--redact"),
        ("publish", "./ds", "--to", "./there", "--no-figures", "--allow", "name"),
    ):
        done = run(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    there = rows_of(tmp_path / "there" / LEDGER)
    assert there == rows_of(tmp_path / "ds" / LEDGER)
    assert {(line["source_dataset"], line["written_by"], line["known_by"]) for line in there} == {
        ("hf-kokoro/sample", "fictional", "digest")
    }
    assert {line.get("text") for line in there} == {None, "redacted"}
    card = (tmp_path / "there" / "README.md").read_text()
    assert "**The texts are fictional.**" in card
    assert "not all of their answers" not in card


def test_a_repo_on_the_hub_gets_the_ledger_with_the_rows(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with HubDouble(tmp_path / "hub") as hub:
        repo = hub.repo("user/pairs")
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.endpoint)
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        monkeypatch.setenv("HF_TOKEN", "hf_writes")
        monkeypatch.setenv("HF_KOKORO_CACHE", str(tmp_path / "cache"))
        assert run("pair", "--journal", "v.jsonl", "--out", "r.jsonl", *DECLARED, cwd=own).returncode == 0
        commits = len(repo.commits) if hasattr(repo, "commits") else None
        done = run("append", "r.jsonl", "--to", "user/pairs", "--card", cwd=own)
        assert done.returncode == 0, done.stderr
        [row] = rows_of(own / "r.jsonl")
        assert [json.loads(line) for line in repo.read(LEDGER).decode().split("\n")[:-1]] == [expected(row)]
        assert b"written by a model" in repo.read("README.md")
        assert commits is None or len(repo.commits) == commits + 1


def test_a_claim_that_may_not_leave_stops_judging_for_the_hub_before_it_begins(own: Path) -> None:
    words = ("judge", "--source", "own.csv", "--judge", "rule", "--journal", "new.jsonl", "--append-to", "user/pairs")
    done = run(*words, "--source-dataset", "EmplifAI", "--license", "MIT", cwd=own)
    assert (done.returncode, "EmplifAI (no known licence)" in done.stderr) == (1, True), done.stderr
    assert not (own / "new.jsonl").exists()


def test_the_report_lists_the_claims(own: Path) -> None:
    made: Any = workflow.pair(own / "v.jsonl", own / "r.jsonl")
    assert made.as_dict()["claims"] == [{**dict.fromkeys(CLAIM, "not stated"), "rows": 1}]
    assert "not stated in 1 of 1 rows" in made.advice
    assert "--license MIT (any SPDX id)" in made.advice
