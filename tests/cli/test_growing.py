"""`judge --append-to` and `append --watch`: datasets that grow while somebody judges."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hf_kokoro.core.series import Series
from hf_kokoro.hub import LocalTarget

from ..hub.double import Delay, HubDouble, Status
from ..judging.anthropic_double import Double, Reply, Request, scored
from ..judging.judging_support import KEY, ROOT, SAMPLE, Done, run

DATA = "data/pilot.jsonl"
RULE = ("judge", "--source", SAMPLE, "--judge", "rule", "--journal", "v.jsonl")
MINE = ("--source-dataset", "me/mine", "--license", "MIT")
CLEAN = ("judge", "--source", "clean.csv", "--judge", "rule", "--journal", "v.jsonl", *MINE)
CLAUDE = ("judge", "--source", SAMPLE, "--judge", "claude", "--journal", "v.jsonl", "--concurrency", 4)
VERDICTS = 108
"""Answers of the sample (107, and a blank one): 28 questions with three or more."""

# a shell that starts the tests in the background has its children ignore Ctrl-C
PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from hf_kokoro.cli import main
main()
"""


@pytest.fixture
def claude(monkeypatch: pytest.MonkeyPatch) -> Iterator[Double]:
    """The Messages API; its scores differ from answer to answer."""
    with Double(answer=uneven) as double:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", double.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
        yield double


def uneven(number: int, request: Request) -> Reply:
    return scored(empathy=number % 5 + 1)


def until(condition: Callable[[], bool], may_come: Callable[[], bool]) -> None:
    """Wait for a condition for as long as it may still come; how fast the machine is decides nothing."""
    while not condition():
        # the other first: what was done last before an end counts
        assert may_come() or condition(), "it did not happen"
        time.sleep(0.01)


def within(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() < end


def running(process: subprocess.Popen[str]) -> Callable[[], bool]:
    """Is the process still at it? The limit is for one that hangs, far beyond what a busy machine needs."""
    hangs_not = within(600)
    return lambda: process.poll() is None and hangs_not()


def appending() -> bool:
    """Is an append of this very process under way?"""
    return any(thread.name == "append" for thread in threading.enumerate())


def start(*words: object, cwd: Path) -> subprocess.Popen[str]:
    """The command line in a process of its own, to be interrupted."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, words)],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def interrupted(process: subprocess.Popen[str]) -> Done:
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return Done(process.returncode, out, err)


def lines(file: Path) -> list[str]:
    return file.read_text("utf-8").splitlines() if file.exists() else []


def on_hub(hub: HubDouble) -> list[str]:
    tree = hub.repo().head().tree
    return hub.store.read(tree[DATA]).decode("utf-8").splitlines() if DATA in tree else []


def paired(cwd: Path, *stated: str, journal: str = "v.jsonl") -> list[str]:
    """The rows that `pair` makes of the journal as it is."""
    done = run("pair", "--journal", journal, "--out", "paired.jsonl", *stated, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return lines(cwd / "paired.jsonl")


def revisions(folder: Path) -> int:
    return len(list(LocalTarget(folder).history(Series(DATA))))


def test_a_dataset_grows_every_so_many_verdicts_and_ends_as_pair_would_make_it(tmp_path: Path) -> None:
    done = run(*RULE, "--append-to", "./pairs", "--every", 30, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)["append"]
    # 108 verdicts: after 30, 60 and 90, and at the end
    assert report["appends"] == revisions(tmp_path / "pairs") == 4
    assert (report["added"], report["waiting"], report["failure"]) == (28, 0, None)
    assert lines(tmp_path / "pairs" / DATA) == paired(tmp_path)
    assert "ok: 4 revisions" in run("audit", "./pairs", cwd=tmp_path).stdout


def test_the_same_command_again_writes_nothing(tmp_path: Path) -> None:
    assert run(*RULE, "--append-to", "./pairs", cwd=tmp_path).returncode == 0
    before = (tmp_path / "pairs" / DATA).read_bytes(), revisions(tmp_path / "pairs")
    again = run(*RULE, "--append-to", "./pairs", cwd=tmp_path)
    assert again.returncode == 0
    assert "nothing written: no new rows; ./pairs has 28 rows" in again.stdout
    watched = run("append", "--watch", "v.jsonl", "--to", "./pairs", "--once", cwd=tmp_path)
    assert watched.returncode == 0
    assert watched.stdout.startswith("nothing written: no new rows for ./pairs")
    assert ((tmp_path / "pairs" / DATA).read_bytes(), revisions(tmp_path / "pairs")) == before


def test_questions_with_unscored_answers_wait_for_the_run_that_scores_them(tmp_path: Path) -> None:
    first = run(*RULE, "--append-to", "./pairs", "--limit", 2, cwd=tmp_path)
    assert (first.returncode, (tmp_path / "pairs").exists()) == (0, False)
    assert "no question is complete yet" in first.stdout
    run(*RULE, "--append-to", "./pairs", "--limit", 50, cwd=tmp_path)
    some = lines(tmp_path / "pairs" / DATA)
    assert 0 < len(some) < 28
    assert some == paired(tmp_path)
    run(*RULE, "--append-to", "./pairs", cwd=tmp_path)
    assert lines(tmp_path / "pairs" / DATA) == paired(tmp_path)


def test_a_card_of_the_card_verb_is_renewed_with_every_append(tmp_path: Path) -> None:
    run(*RULE, "--append-to", "./pairs", "--limit", 40, cwd=tmp_path)
    assert run("card", "./pairs", "--no-figures", cwd=tmp_path).returncode == 0
    assert run(*RULE, "--append-to", "./pairs", "--every", 30, cwd=tmp_path).returncode == 0
    assert run("card", "./pairs", "--no-figures", "--check", cwd=tmp_path).returncode == 0
    assert "28 pairs" in (tmp_path / "pairs" / "README.md").read_text("utf-8")


def test_an_asynchronous_judge_goes_on_while_rows_are_appended(claude: Double, tmp_path: Path) -> None:
    def gated(number: int, request: Request) -> Reply:
        if number == 60:
            until((tmp_path / "pairs" / DATA).exists, appending)
        return uneven(number, request)

    claude.answer = gated
    done = run(*CLAUDE, "--append-to", "./pairs", "--every", 20, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert revisions(tmp_path / "pairs") > 1
    assert sorted(lines(tmp_path / "pairs" / DATA)) == sorted(paired(tmp_path))


def test_batches_are_appended_as_each_ends(claude: Double, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hf_kokoro.judging.batch.MAX_ROWS", 40)
    done = run(*CLAUDE, "--batch", "--poll-seconds", 0, "--append-to", "./pairs", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    # 107 answers that are not blank: 40, 40 and 27
    assert len(claude.batches) == json.loads(done.stdout)["append"]["appends"] == revisions(tmp_path / "pairs") == 3
    assert sorted(lines(tmp_path / "pairs" / DATA)) == sorted(paired(tmp_path))


def test_ctrl_c_appends_what_is_complete_and_the_next_run_finishes(claude: Double, tmp_path: Path) -> None:
    claude.answer = lambda number, request: uneven(number, request) if number < 40 else Reply(delay=600)
    process = start(*CLAUDE, "--append-to", "./pairs", "--every", 1000, cwd=tmp_path)
    until(lambda: len(lines(tmp_path / "v.jsonl")) >= 40, running(process))
    done = interrupted(process)
    assert done.returncode == 130, done.stderr
    some = lines(tmp_path / "pairs" / DATA)
    assert 0 < len(some) < 28
    assert sorted(some) == sorted(paired(tmp_path))
    assert f"added {len(some)} rows in 1 append" in done.stderr
    claude.answer = uneven
    again = run(*CLAUDE, "--append-to", "./pairs", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert lines(tmp_path / "pairs" / DATA)[: len(some)] == some
    assert sorted(lines(tmp_path / "pairs" / DATA)) == sorted(paired(tmp_path))


@pytest.mark.usefixtures("clean")
def test_ctrl_c_in_the_middle_of_a_commit_lets_it_end(hub: HubDouble, tmp_path: Path) -> None:
    held = Delay(threading.Event())
    hub.faults.script("POST", "/commit/", held)
    process = start(*CLEAN, "--append-to", "user/pairs", "--every", 30, cwd=tmp_path)
    assert held.arrived.wait(60)
    process.send_signal(signal.SIGINT)
    held.event.set()
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert 0 < len(on_hub(hub)) < 28
    again = run(*CLEAN, "--append-to", "user/pairs", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert on_hub(hub) == paired(tmp_path, *MINE)


@pytest.mark.usefixtures("clean")
def test_a_second_ctrl_c_ends_at_once_and_loses_nothing(hub: HubDouble, tmp_path: Path) -> None:
    held = Delay(threading.Event())
    hub.faults.script("POST", "/commit/", held)
    process = start(*CLEAN, "--append-to", "user/pairs", "--every", 30, cwd=tmp_path)
    assert held.arrived.wait(60)

    still = running(process)

    def interrupted_again() -> bool:
        process.send_signal(signal.SIGINT)
        return still()

    until(lambda: process.poll() is not None, interrupted_again)
    process.communicate()
    assert on_hub(hub) == []
    held.event.set()
    again = run(*CLEAN, "--append-to", "user/pairs", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert sorted(on_hub(hub)) == sorted(paired(tmp_path, *MINE))


@pytest.mark.usefixtures("clean")
def test_an_append_that_fails_is_said_once_and_the_next_one_sends_its_rows(hub: HubDouble, tmp_path: Path) -> None:
    hub.faults.script("POST", "/commit/", Status(403))
    done = run(*CLEAN, "--append-to", "user/pairs", "--every", 20, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("appending failed, the next append tries again") == 1
    assert on_hub(hub) == paired(tmp_path, *MINE)


@pytest.mark.usefixtures("clean")
def test_a_hub_that_stays_away_fails_the_command_but_not_the_scoring(hub: HubDouble, tmp_path: Path) -> None:
    hub.faults.script("POST", "/commit/", *[Status(403)] * 50)
    done = run(*CLEAN, "--append-to", "user/pairs", "--every", 20, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("appending failed") == 1
    assert "28 rows are not appended yet" in done.stdout
    assert "the same command again" not in done.stdout
    assert len(lines(tmp_path / "v.jsonl")) == VERDICTS
    assert not (tmp_path / "cache" / "spool").exists()
    hub.faults.stop()
    again = run(*CLEAN, "--append-to", "user/pairs", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert sorted(on_hub(hub)) == sorted(paired(tmp_path, *MINE))


def test_a_journal_is_followed_while_another_process_writes_it(claude: Double, tmp_path: Path) -> None:
    file = tmp_path / "pairs" / DATA

    def gated(number: int, request: Request) -> Reply:
        if number == 60:
            until(file.exists, within(30))
        return uneven(number, request)

    claude.answer = gated
    # so long between looks that no rest of 12 looks is waited for before the gate gives up
    follow = ("append", "--watch", "v.jsonl", "--to", "./pairs", "--every", 10, "--poll-seconds", 3)
    process = start(*follow, cwd=tmp_path)
    assert process.stderr is not None
    assert "waiting for `hf-kokoro judge`" in process.stderr.readline()
    assert run(*CLAUDE, cwd=tmp_path).returncode == 0
    done = interrupted(process)
    # one answer of the sample names a telephone number
    assert (done.returncode, done.stderr.count("\n")) == (130, 2)
    assert done.stderr.startswith("note: texts may point to people: phone: 1 in 1 row")
    assert "interrupted; added 28 rows in" in done.stderr
    assert done.stderr.endswith("the same command goes on from the journal\n")
    assert sorted(lines(file)) == sorted(paired(tmp_path))
    assert revisions(tmp_path / "pairs") == done.stdout.count("added ") > 1


def test_a_journal_that_rests_is_appended_though_fewer_verdicts_are_new(tmp_path: Path) -> None:
    assert run(*RULE, "--limit", 30, cwd=tmp_path).returncode == 0
    rows = paired(tmp_path)
    follow = ("append", "--watch", "v.jsonl", "--to", "./pairs", "--every", 1000, "--poll-seconds", 0.01)
    process = start(*follow, cwd=tmp_path)
    until(lambda: lines(tmp_path / "pairs" / DATA) == rows, running(process))
    done = interrupted(process)
    assert (done.returncode, done.stderr.count("\n"), revisions(tmp_path / "pairs")) == (130, 1, 1)
    assert "interrupted; added" in done.stderr


def test_a_line_that_is_just_being_written_waits_for_the_next_look(tmp_path: Path) -> None:
    assert run(*RULE, cwd=tmp_path).returncode == 0
    whole = (tmp_path / "v.jsonl").read_bytes()
    follow = ("append", "--watch", "v.jsonl", "--to", "./pairs", "--once")
    cut = len(b"".join(whole.splitlines(keepends=True)[:50])) + 20
    (tmp_path / "v.jsonl").write_bytes(whole[:cut])
    assert run(*follow, cwd=tmp_path).returncode == 0
    some = lines(tmp_path / "pairs" / DATA)
    assert some == paired(tmp_path)
    (tmp_path / "v.jsonl").write_bytes(whole)
    assert run(*follow, cwd=tmp_path).returncode == 0
    assert len(some) < len(lines(tmp_path / "pairs" / DATA)) == 28
    assert lines(tmp_path / "pairs" / DATA) == paired(tmp_path)


def test_a_journal_of_two_judges_needs_the_choice_of_one(tmp_path: Path) -> None:
    run(*RULE, "--judge", "rule:strict", cwd=tmp_path)
    unclear = run("append", "--watch", "v.jsonl", "--to", "./pairs", "--once", cwd=tmp_path)
    assert (unclear.returncode, (tmp_path / "pairs").exists()) == (2, False)
    assert "--judge-model" in unclear.stderr
    follow = ("append", "--watch", "v.jsonl", "--to", "./pairs", "--once", "--judge-model", "rule-based/miti-st-v1-r2")
    assert run(*follow, cwd=tmp_path).returncode == 0
    assert {json.loads(line)["judge_model"] for line in lines(tmp_path / "pairs" / DATA)} == {
        "rule-based/miti-st-v1-r2"
    }


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((*RULE, "--judge", "rule:strict", "--append-to", "./pairs"), 2, "allowed: one"),
        ((*RULE, "--append-to", "hf://models/user/x"), 2, "hf://datasets/user/repo"),
        ((*RULE, "--append-to", "./pairs", "--every", 0), 2, "--every"),
        (("append", "rows.jsonl", "--watch", "v.jsonl", "--to", "./pairs"), 2, "makes its own rows"),
        (("append", "--watch", "v.jsonl", "--to", "./pairs", "--dry-run"), 2, "--dry-run"),
        (("append", "--to", "./pairs"), 2, "--watch JOURNAL"),
        (("append", "rows.jsonl", "--to", "./pairs", "--once"), 2, "--once"),
        (("append", "--watch", "none.jsonl", "--to", "./pairs", "--once"), 1, "`hf-kokoro judge` makes a journal"),
        (("append", "--watch", SAMPLE, "--source", SAMPLE, "--to", "./pairs", "--once"), 1, "is it a journal?"),
    ],
)
def test_bad_usage_is_said_before_anything_is_judged_or_written(
    tmp_path: Path, words: tuple[object, ...], code: int, said: str
) -> None:
    done = run(*words, cwd=tmp_path)
    assert done.returncode == code
    assert said in " ".join(done.stderr.split())
    assert not (tmp_path / "v.jsonl").exists()
    assert not (tmp_path / "pairs").exists()
