"""Every wait for the Hub says what for, which try and how long, and ends when it is told to."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from hf_kokoro import append_rows, audit
from hf_kokoro.core.hubclient import LEAST_SECONDS
from hf_kokoro.errors import UsageError
from hf_kokoro.hub import HubTarget
from hf_kokoro.hub.errors import AppendFailed
from hf_kokoro.miti.contract import row_line
from tests.cli.test_growing import PROGRAM

from .double import Delay, Drop, Fault, Hang, HubDouble, Status
from .rows import numbers, rows

DATA = "data/pilot.jsonl"
Make = Callable[..., HubTarget]


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name.startswith("hf_kokoro.core.")]


@pytest.mark.parametrize(
    "fault",
    [Status(500), Status(503), Status(409), Status(429, {"Retry-After": "60"}), Drop(applied=False), Hang()],
    ids=lambda fault: repr(fault).replace("headers=", ""),
)
def test_each_wait_says_what_for_which_try_how_long_and_that_the_rows_are_safe(
    hub: HubDouble, hub_target: Make, waits: list[float], caplog: pytest.LogCaptureFixture, fault: Fault
) -> None:
    hub.faults.script("POST", "/commit/", fault, fault)
    append_rows(hub_target(read_seconds=0.2), rows(1))
    lines = said(caplog)
    assert len(lines) == len(waits) == 2
    for number, (line, wait) in enumerate(zip(lines, waits, strict=True), 1):
        assert line.startswith("hf://datasets/user/pairs: committing: ")
        assert f"try {number} failed, the next one is in {wait:.1f} s" in line
        assert "the rows are safe: the next try looks first which have arrived" in line
    assert numbers(hub.repo().read(DATA)) == [1]


@pytest.mark.parametrize("part", ["POST /preupload/", "POST /objects/batch", "PUT /storage/"])
def test_an_upload_that_is_refused_for_a_while_waits_in_the_open_too(
    hub: HubDouble, hub_target: Make, waits: list[float], caplog: pytest.LogCaptureFixture, part: str
) -> None:
    hub.lfs_bytes = 1
    hub.faults.script(*part.split(), Status(429, {"Retry-After": "60"}), Drop(applied=False))
    append_rows(hub_target(), rows(1))
    assert [line.partition("; try")[0].rpartition(": ")[0] for line in said(caplog)] != []
    assert len(waits) == 2
    assert 60 <= waits[0] <= 62


def test_reading_that_waits_says_so_and_that_nothing_is_changed(
    hub: HubDouble, hub_target: Make, caplog: pytest.LogCaptureFixture
) -> None:
    append_rows(hub_target(), rows(1))
    hub.faults.script("GET", "/commits/", Status(503))
    hub.faults.script("GET", "/resolve/", Status(503))
    assert audit(hub_target()).ok
    lines = said(caplog)
    assert len(lines) == 2
    assert all("nothing is changed there" in line for line in lines)


def test_a_call_that_is_not_answered_says_so_while_it_hangs(
    hub: HubDouble, hub_target: Make, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hf_kokoro.core.told.SPEAK_SECONDS", 0.05)
    caplog.set_level(logging.WARNING)
    hub.faults.script("POST", "/commit/", Hang())
    append_rows(hub_target(read_seconds=0.5), rows(1))
    assert any("committing: at it for" in line and "no answer yet" in line for line in said(caplog))


def test_max_wait_ends_the_tries_before_a_wait_that_is_longer(hub: HubDouble, hub_target: Make) -> None:
    hub.faults.script("POST", "/commit/", Status(429, {"Retry-After": "60"}))
    with pytest.raises(AppendFailed, match="--max-wait allows 30 s") as caught:
        append_rows(hub_target(), rows(1), max_wait=30)
    assert "the same command again sends what is missing" in str(caught.value)
    assert len(hub.requests("POST", "/commit/")) == 1


def test_max_wait_bounds_how_long_an_answer_is_waited_for() -> None:
    limits = {None: 120.0, 30.0: 30.0, 0.0: LEAST_SECONDS, 3000.0: 120.0}
    assert {seconds: HubTarget("user/pairs", max_wait=seconds)._repo._own.read_seconds for seconds in limits} == limits


@pytest.mark.parametrize("seconds", [-1.0, float("nan")])
def test_a_wait_of_less_than_nothing_is_refused(tmp_path: Path, seconds: float) -> None:
    with pytest.raises(UsageError, match=r"max_wait.*allowed: seconds, 0 or more"):
        append_rows(tmp_path / "pairs", rows(1), max_wait=seconds)


def command(hub: HubDouble, tmp_path: Path, *words: object) -> subprocess.Popen[str]:
    environment = os.environ | {
        "HF_ENDPOINT": hub.endpoint,
        "HF_HOME": str(tmp_path / "home"),
        "HF_KOKORO_CACHE": str(tmp_path / "cache"),
        "HF_TOKEN": "hf_writes",
        "HF_HUB_DISABLE_XET": "1",
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
    }
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, words)],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def interrupted_at(hub: HubDouble, tmp_path: Path, method: str, part: str, *words: object) -> tuple[int, str]:
    """The exit code and stderr of a command that gets Ctrl-C while the Hub holds a request of it."""
    held = Delay(threading.Event())
    hub.faults.script(method, part, held)
    process = command(hub, tmp_path, *words)
    assert held.arrived.wait(120)
    process.send_signal(signal.SIGINT)
    held.event.set()
    _, err = process.communicate(timeout=120)
    return process.returncode, err


@pytest.mark.parametrize(
    ("method", "part", "says"),
    [
        ("GET", "/revision/", "interrupted; nothing of 2 rows was sent: the same command again sends what is missing"),
        ("POST", "/commit/", "interrupted; it is not known whether 2 rows arrived: the same command again sends"),
    ],
    ids=["before", "in the commit"],
)
def test_ctrl_c_says_what_is_not_there_and_what_sends_it(
    hub: HubDouble, tmp_path: Path, method: str, part: str, says: str
) -> None:
    (tmp_path / "rows.jsonl").write_text("".join(map(row_line, rows(1, 2))), "utf-8")
    code, err = interrupted_at(hub, tmp_path, method, part, "append", "rows.jsonl", "--to", "user/pairs")
    assert code == 130, err
    assert f"hf-kokoro: {says}" in err
    assert "Traceback" not in err


def test_ctrl_c_of_card_and_spool_send_says_what_was_kept(hub: HubDouble, hub_target: Make, tmp_path: Path) -> None:
    append_rows(hub_target(), rows(1))
    code, err = interrupted_at(hub, tmp_path, "GET", "/tree/", "card", "user/pairs", "--no-figures")
    assert code == 130, err
    assert "interrupted; the dataset has its former card or the new one, as a whole" in err
    (tmp_path / "rows.jsonl").write_text("".join(map(row_line, rows(1, 2))), "utf-8")
    hub.faults.script("POST", "/commit/", Status(429, {"Retry-After": "7200"}))
    gave_up = command(hub, tmp_path, "append", "rows.jsonl", "--to", "user/pairs", "--spool", "waiting")
    assert gave_up.wait(120) == 1
    code, err = interrupted_at(hub, tmp_path, "POST", "/commit/", "spool", "send", "waiting")
    assert code == 130, err
    assert "the same command again sends" in err
    assert "Traceback" not in err
    assert len(list((tmp_path / "waiting").glob("*.jsonl"))) == 1


def test_a_dry_run_waits_as_an_append_does(hub: HubDouble, hub_target: Make, waits: list[float]) -> None:
    hub.faults.script("GET", "/revision/", Status(503), Drop(applied=False))
    assert append_rows(hub_target(), rows(1), dry_run=True).added == 1
    assert len(waits) == 2
