"""Growing verbs let nothing private out: said once, the judging goes on, and the next run with a choice appends."""

from __future__ import annotations

import json
from csv import DictReader, DictWriter
from pathlib import Path

import pytest

from hf_kokoro.miti.contract import NOT_STATED

from ..hub.double import HubDouble
from ..judging.judging_support import run

DATA = "data/pilot.jsonl"
MINE = ("--source-dataset", "me/mine", "--license", "MIT")
MARK = "Write to ada@example.org."


@pytest.fixture
def judged(tmp_path: Path, clean: str) -> tuple[object, ...]:
    """`judge` on the sample's texts with an address in one answer of the second question."""
    with (tmp_path / clean).open(encoding="utf-8", newline="") as stream:
        table = list(DictReader(stream))
    questions = list(dict.fromkeys(row["questionID"] for row in table))
    chosen = next(row for row in table if row["questionID"] == questions[1])
    chosen["answerText"] += f" {MARK}"
    with (tmp_path / "mine.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = DictWriter(stream, list(table[0]))
        writer.writeheader()
        writer.writerows(table)
    return ("judge", "--source", "mine.csv", "--judge", "rule", "--journal", "v.jsonl")


def on_hub(hub: HubDouble) -> list[str]:
    tree = hub.repo().head().tree
    return hub.store.read(tree[DATA]).decode("utf-8").splitlines() if DATA in tree else []


def test_judging_goes_on_and_the_next_run_with_a_choice_appends(
    hub: HubDouble, tmp_path: Path, judged: tuple[object, ...]
) -> None:
    done = run(*judged, "--append-to", "user/pairs", "--every", 20, *MINE, cwd=tmp_path)
    assert done.returncode == 1
    assert (
        done.stderr.count("appending stopped, the journal is not affected: nothing was sent: texts may point to people")
        == 1
    )
    assert "rows are not appended yet: nothing was sent: texts may point to people" in done.stdout
    assert "email: 1 in 1 row" in done.stdout
    assert "the same command with one of them goes on from the journal" in done.stdout
    assert "ada@" not in done.stdout + done.stderr
    assert (tmp_path / "v.jsonl").read_text("utf-8").count("\n") == 108
    rows = len(on_hub(hub))
    again = run(*judged, "--append-to", "user/pairs", "--redact", "--json", *MINE, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["append"]["added"] + rows == len(on_hub(hub)) == 28
    assert not any(b"ada@" in blob.read_bytes() for blob in hub.store.folder.iterdir())


def test_a_watched_journal_is_stopped_and_allowed_alike(
    hub: HubDouble, tmp_path: Path, judged: tuple[object, ...]
) -> None:
    assert run(*judged, cwd=tmp_path).returncode == 0
    follow = ("append", "--watch", "v.jsonl", "--to", "user/pairs", "--once", *MINE)
    stopped = run(*follow, cwd=tmp_path)
    assert stopped.returncode == 1
    assert "email: 1 in 1 row" in stopped.stderr
    assert not any("/commit/" in seen.path or "preupload" in seen.path for seen in hub.seen)
    assert on_hub(hub) == []
    allowed = run(*follow, "--allow", "email", cwd=tmp_path)
    assert allowed.returncode == 0, allowed.stderr
    assert len(on_hub(hub)) == 28
    assert sum(MARK in line for line in on_hub(hub)) == 1


def test_a_folder_grows_with_one_note(tmp_path: Path, judged: tuple[object, ...]) -> None:
    done = run(*judged, "--append-to", "./pairs", "--every", 20, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.count("note: texts may point to people: email: 1 in 1 row") == 1
    assert len((tmp_path / "pairs" / DATA).read_text("utf-8").splitlines()) == 28


def test_options_of_the_gate_are_checked_before_anything_is_judged(tmp_path: Path, judged: tuple[object, ...]) -> None:
    unknown = run(*judged, "--append-to", "./pairs", "--allow", "fax", cwd=tmp_path)
    assert (unknown.returncode, "allowed: email" in unknown.stderr) == (2, True)
    nowhere = run(*judged, "--redact", cwd=tmp_path)
    assert (nowhere.returncode, "--append-to" in nowhere.stderr) == (2, True)
    assert not (tmp_path / "v.jsonl").exists()


def test_rows_that_state_no_source_stay_here_and_the_advice_works(
    hub: HubDouble, tmp_path: Path, judged: tuple[object, ...]
) -> None:
    run(*judged, cwd=tmp_path)
    made = ("pair", "--journal", "v.jsonl", "--out", "rows.jsonl")
    assert run(*made, "--source-dataset", NOT_STATED, cwd=tmp_path).returncode == 0
    stopped = run("append", "rows.jsonl", "--to", "user/pairs", "--redact", cwd=tmp_path)
    assert stopped.returncode == 1
    assert "`hf-kokoro pair … --source-dataset NAME --license MIT`" in stopped.stderr
    assert hub.seen == []
    assert run("append", "rows.jsonl", "--to", "./pairs", cwd=tmp_path).returncode == 0
    published = run("publish", "./pairs", "--to", "user/pairs", "--redact", cwd=tmp_path)
    assert published.returncode == 1
    assert DATA not in hub.repo().head().tree
    assert run(*made, "--source-dataset", "me/mine", "--license", "MIT", cwd=tmp_path).returncode == 0
    sent = run("append", "rows.jsonl", "--to", "user/pairs", "--redact", cwd=tmp_path)
    assert sent.returncode == 0, sent.stderr
    assert len(on_hub(hub)) == 28


def test_rows_that_state_no_source_are_refused_before_anything_is_judged_for_the_hub(
    hub: HubDouble, tmp_path: Path, judged: tuple[object, ...]
) -> None:
    done = run(*judged, "--append-to", "user/pairs", cwd=tmp_path)
    assert done.returncode == 1
    assert "nothing was done" in done.stderr
    assert "--source-dataset NAME --license MIT" in done.stderr
    assert not (tmp_path / "v.jsonl").exists()
    run(*judged, cwd=tmp_path)
    watched = run("append", "--watch", "v.jsonl", "--to", "user/pairs", "--once", cwd=tmp_path)
    assert (watched.returncode, "nothing was done" in watched.stderr) == (1, True)
    assert DATA not in hub.repo().head().tree
