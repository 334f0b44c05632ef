"""The nightly example as cron runs it: real processes, against doubles of the Hub and of the judge's API."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from hf_kokoro.policy import read_policy

from ..conftest import ROOT
from ..hub.double import HubDouble, Status
from ..judging.anthropic_double import Double, Reply, Request, scored

EXAMPLE = ROOT / "examples" / "nightly"
DATA = "data/pilot.jsonl"
pytestmark = pytest.mark.slow
KEY, TOKEN = "sk-ant-of-a-double", "hf_writes"
POLICY = """
[private_data]
allow = []
{decisions}
[declare]
source_dataset = "me/table"
license = "MIT"

[limits]
max_wait = 1
max_usd = {usd}
"""
# a shell that starts the tests in the background has its children ignore Ctrl-C
PROGRAM = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from hf_kokoro.cli import main; main()"
)
Night = Callable[..., subprocess.CompletedProcess[str]]
BUDGET = 0.2
"""Dollars for some of the 36 answers, at the prices of the table and the tokens of the double."""


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[HubDouble]:
    with HubDouble(tmp_path / "hub") as double:
        double.repo("user/pairs")
        yield double


@pytest.fixture
def claude() -> Iterator[Double]:
    """Scores that differ, so that questions have pairs."""
    with Double(answer=lambda number, request: scored(empathy=number % 5 + 1)) as double:
        yield double


def ask(folder: Path, *questions: int, more: str = "") -> None:
    """The table of questions, each with three answers; `more` stands at the end of one of the last question's."""
    with (folder / "table.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("questionID", "questionTitle", "questionText", "topic", "therapistInfo", "answerText"))
        for number in questions:
            answers = (
                f"It sounds as if number {number} weighs on you. What would you like to change?",
                f"You should just stop it, number {number}. You must be strong.",
                f"Many people know number {number}." + (f" {more}" if more and number == questions[-1] else ""),
            )
            for therapist, text in zip(("North", "South", "West"), answers, strict=True):
                writer.writerow((number, f"Sleep {number}", f"I wake at night, {number}.", "sleep", therapist, text))


@pytest.fixture
def night(hub: HubDouble, claude: Double, tmp_path: Path) -> Night:
    """Runs the script once."""
    scripts = tmp_path / "bin"
    scripts.mkdir()
    command = scripts / "hf-kokoro"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{PROGRAM}" "$@"\n')
    command.chmod(0o755)
    ask(tmp_path, 1, 2)

    def run(
        judge: str = "rule",
        usd: float = 1,
        decisions: str = "",
        meanwhile: Callable[[int], None] | None = None,
        **settings: str,
    ) -> subprocess.CompletedProcess[str]:
        (tmp_path / "policy.toml").write_text(POLICY.format(usd=usd, decisions=decisions), "utf-8")
        environment = os.environ | {
            "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
            "NIGHTLY_SOURCE": "table.csv",
            "NIGHTLY_TARGET": "user/pairs",
            "NIGHTLY_STATE": "state",
            "NIGHTLY_POLICY": "policy.toml",
            "NIGHTLY_JUDGE": judge,
            "HF_ENDPOINT": hub.endpoint,
            "HF_HOME": str(tmp_path / "home"),
            "HF_KOKORO_CACHE": str(tmp_path / "cache"),
            "HF_HUB_DISABLE_XET": "1",
            "HF_TOKEN": TOKEN,
            "ANTHROPIC_BASE_URL": claude.url,
            "ANTHROPIC_API_KEY": KEY,
        }
        process = subprocess.Popen(
            [str(EXAMPLE / "nightly.sh")],
            cwd=tmp_path,
            env=environment | settings,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        if meanwhile is not None:
            meanwhile(process.pid)
        out, err = process.communicate(timeout=600)
        done = subprocess.CompletedProcess(process.args, process.returncode, out, err)
        kept = [file.read_text("utf-8") for file in (tmp_path / "state").glob("*") if file.is_file()]
        assert not any(secret in text for secret in (KEY, TOKEN) for text in (done.stdout, done.stderr, *kept))
        return done

    return run


def questions(hub: HubDouble) -> list[str]:
    """The questions of the rows on the Hub."""
    tree = hub.repo().head().tree
    lines = hub.store.read(tree[DATA]).decode("utf-8").splitlines() if DATA in tree else []
    return [json.loads(line)["question_id"] for line in lines]


def commits(hub: HubDouble) -> int:
    return len(list(hub.repo().log("main")))


def test_nights_grow_the_dataset_and_one_without_new_questions_commits_nothing(night: Night, hub: HubDouble) -> None:
    first = night()
    assert first.returncode == 0, first.stderr
    assert questions(hub) == ["1", "2"]
    assert "policy policy.toml: source_dataset me/table, license MIT" in first.stdout
    assert "2 rows, all valid, none twice" in first.stdout
    before = commits(hub)
    second = night()
    assert second.returncode == 0, second.stderr
    assert (commits(hub), "nothing written: no new rows" in second.stdout) == (before, True)
    assert "judged 0, 6 were in the journal" in second.stdout


def test_private_data_stops_the_night_until_somebody_decides_on_the_row(
    night: Night, hub: HubDouble, tmp_path: Path
) -> None:
    ask(tmp_path, 1, 2, more="Write to ada@example.org.")
    stopped = night()
    assert stopped.returncode == 1
    assert questions(hub) == []
    assert not any("/commit/" in seen.path for seen in hub.seen)
    said = re.search(r"email: 1 in 1 row \(([0-9a-f]{12})\)", stopped.stderr)
    assert said, stopped.stderr
    assert "ada@" not in stopped.stdout + stopped.stderr
    decision = f'[[private_data.rows]]\nid = "{said[1]}"\nkind = "email"\ndecision = "redact"\n'
    decided = night(decisions=decision)
    assert decided.returncode == 0, decided.stderr
    assert f"by row, redact: email: 1 in 1 row ({said[1]})" in decided.stdout
    assert questions(hub) == ["1", "2"]
    assert not any(b"ada@" in blob.read_bytes() for blob in hub.store.folder.iterdir() if blob.is_file())


def test_a_budget_that_ends_in_the_middle_is_said_and_the_next_night_goes_on(
    night: Night, hub: HubDouble, claude: Double, tmp_path: Path
) -> None:
    ask(tmp_path, *range(1, 13))
    first = night("claude", usd=BUDGET)
    assert first.returncode == 1, first.stdout + first.stderr
    assert f"policy policy.toml: max_usd {BUDGET}" in first.stdout
    some = questions(hub)
    assert 0 < len(some) < 12
    paid = len(claude.sent())
    second = night("claude")
    assert second.returncode == 0, second.stderr
    assert questions(hub)[: len(some)] == some
    assert sorted(questions(hub), key=int) == [str(number) for number in range(1, 13)]
    # nothing is paid for twice: 12 questions of three answers
    assert paid < len(claude.sent()) == 36


def test_an_interrupted_night_says_so_and_keeps_what_was_judged(
    night: Night, hub: HubDouble, claude: Double, tmp_path: Path
) -> None:
    journal = tmp_path / "state" / "verdicts.jsonl"

    def answer(number: int, request: Request) -> Reply:
        return scored(empathy=number + 1) if number < 3 else Reply(delay=600)

    def interrupt(group: int) -> None:
        hangs = time.monotonic() + 300
        while not journal.exists() or journal.read_bytes().count(b"\n") < 3:
            assert time.monotonic() < hangs, "nothing was judged"
            time.sleep(0.01)
        os.killpg(group, signal.SIGINT)

    claude.answer = answer
    done = night("claude", meanwhile=interrupt)
    assert done.returncode == 130, done.stderr
    assert "nightly: judge ended with 130" in done.stderr
    assert not any("/commit/" in seen.path for seen in hub.seen)
    assert journal.read_text("utf-8").count('"scored"') == 3


def test_a_hub_that_is_down_costs_nothing_but_the_night(night: Night, hub: HubDouble, tmp_path: Path) -> None:
    hub.faults.script("*", "", *[Status(503)] * 200)
    down = night()
    assert down.returncode == 1
    assert "503" in down.stderr
    assert questions(hub) == []
    assert len((tmp_path / "state" / "rows.jsonl").read_text("utf-8").splitlines()) == 2
    hub.faults.stop()
    up = night()
    assert up.returncode == 0, up.stderr
    assert "judged 0, 6 were in the journal" in up.stdout
    assert questions(hub) == ["1", "2"]


def test_a_wrong_setting_or_policy_ends_with_two_before_anything_is_judged(night: Night, tmp_path: Path) -> None:
    unset = night(NIGHTLY_TARGET="")
    assert (unset.returncode, "NIGHTLY_TARGET is not set" in unset.stderr) == (2, True)
    wrong = night(decisions="redcat = true\n")
    assert wrong.returncode == 2
    assert "private_data.redcat: unknown; allowed: allow, redact, rows; did you mean 'redact'?" in wrong.stderr
    assert not (tmp_path / "state" / "verdicts.jsonl").exists()


def test_a_night_that_meets_another_at_work_does_nothing(night: Night, hub: HubDouble, tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    holder = subprocess.Popen(
        ["flock", str(tmp_path / "state" / "lock"), "sh", "-c", "echo held; cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    met = night()
    holder.communicate("")
    assert (met.returncode, "still at it" in met.stderr) == (1, True)
    assert not (tmp_path / "state" / "verdicts.jsonl").exists()


def test_the_examples_files_are_what_they_say() -> None:
    policy = read_policy(EXAMPLE / "hf-kokoro-policy.toml")
    assert (policy.allow, policy.redact, policy.max_usd, policy.max_wait) == (("url",), False, 5.0, 900)
    # the decision that is shown in comments is one that can be used
    text = re.sub(
        r"(?m)^# (\[\[|id =|kind =|decision =)", r"\1", (EXAMPLE / "hf-kokoro-policy.toml").read_text("utf-8")
    )
    assert len(tomllib.loads(text)["private_data"]["rows"]) == 1
    workflow = yaml.safe_load((EXAMPLE / "nightly.yml").read_text("utf-8"))
    steps = workflow["jobs"]["grow"]["steps"]
    [settings] = [step["env"] for step in steps if "env" in step]
    asked = re.findall(r"\bNIGHTLY_[A-Z]+|\bHF_TOKEN|\bANTHROPIC_API_KEY", (EXAMPLE / "nightly.sh").read_text("utf-8"))
    assert set(settings) == {*asked} - {"NIGHTLY_JUDGE"}
    assert all(value.startswith("${{ secrets.") for name, value in settings.items() if not name.startswith("NIGHTLY"))
