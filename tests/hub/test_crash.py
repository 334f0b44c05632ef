"""kill -9 at any moment of an append: the next run leaves every row there once and no half line."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from hf_kokoro import append_rows, audit
from hf_kokoro.hub import LocalTarget
from hf_kokoro.hub.errors import HistoryError, LockedError, TargetError
from hf_kokoro.hub.remote import HubTarget

from .double import Delay, HubDouble
from .places import LocalPlace
from .rows import numbers, row, rows

DATA = "data/pilot.jsonl"
WORKER = Path(__file__).with_name("worker.py")


def start(job: dict[str, object]) -> subprocess.Popen[str]:
    env = {**os.environ, "HF_HUB_DISABLE_XET": "1"}
    return subprocess.Popen(
        [sys.executable, str(WORKER), json.dumps(job)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
    )


def stop_at_step(folder: Path, step: int, batch: list[int], *, by: str = "kill") -> bool:
    """Append in a child that is stopped just before its `step`th system call; True if it got that far.

    `by` "kill" is SIGKILL, "interrupt" is Ctrl-C.
    """
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        return os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 7
    code = 1
    try:
        _stop_at(step, by)
        append_rows(LocalTarget(folder), rows(*batch), extra_operations=_card)
        code = 0
    except KeyboardInterrupt:
        code = 7
    finally:
        os._exit(code)


def _card(growth: object) -> dict[str, bytes]:
    return {"README.md": f"# {growth.rows_total} rows\n".encode()}


def _stop_at(step: int, by: str) -> None:
    """Stop this process before its nth fsync, rename, unlink, mkdir or open: the steps whose order matters."""
    left = [step]

    def stopping(call: Callable[..., object]) -> Callable[..., object]:
        def wrapped(*arguments: object, **options: object) -> object:
            left[0] -= 1
            if left[0] == 0:
                if by == "interrupt":
                    raise KeyboardInterrupt
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **options)

        return wrapped

    for name in ("fsync", "replace", "unlink", "mkdir", "open"):
        setattr(os, name, stopping(getattr(os, name)))


def assert_whole(folder: Path, expected: list[int]) -> None:
    """Rows once each and in order, history proven, nothing left over."""
    content = (folder / DATA).read_bytes()
    assert numbers(content) == expected
    report = audit(folder)
    assert report.ok
    assert report.revisions[-1].revision != "now"
    assert (folder / "README.md").read_text() == f"# {len(expected)} rows\n"
    left = [file for file in folder.rglob("*") if file.is_file() and ("staged" in file.parts or "tmp" in file.name)]
    assert left == []
    assert not (folder / ".hf_kokoro" / "commit.json").exists()


@pytest.mark.parametrize("by", ["kill", "interrupt"])
@pytest.mark.parametrize("first", [True, False], ids=["new folder", "grown folder"])
def test_folder_append_stopped_before_each_step_in_turn(tmp_path: Path, *, first: bool, by: str) -> None:
    killed, step = 0, 0
    while True:
        step += 1
        folder = tmp_path / str(step)
        if not first:
            append_rows(folder, rows(1), extra_operations=_card)
        was_killed = stop_at_step(folder, step, [2, 3], by=by)
        visible = (folder / DATA).read_bytes() if (folder / DATA).exists() else b""
        assert numbers(visible) in ([], [1], [2, 3], [1, 2, 3]) if visible else True
        report = append_rows(folder, rows(2, 3), extra_operations=_card)
        assert report.added + report.duplicates == 2
        assert_whole(folder, [2, 3] if first else [1, 2, 3])
        if not was_killed:
            break
        killed += 1
    assert killed > 10


@pytest.mark.parametrize("again", range(1, 12))
def test_recovery_that_is_killed_too_is_taken_up_by_the_next(tmp_path: Path, again: int) -> None:
    folder = tmp_path / "folder"
    append_rows(folder, rows(1), extra_operations=_card)
    steps = 0
    while not (folder / ".hf_kokoro" / "commit.json").exists():
        steps += 1
        stop_at_step(folder, steps, [2])
    stop_at_step(folder, again, [2])
    append_rows(folder, rows(2), extra_operations=_card)
    assert_whole(folder, [1, 2])


def test_a_declared_append_whose_place_is_taken_says_so_and_goes_on_once_it_is_free(tmp_path: Path) -> None:
    folder, steps = tmp_path / "folder", 0
    while not (folder / ".hf_kokoro" / "commit.json").exists():
        steps += 1
        stop_at_step(folder, steps, [1])
    (folder / DATA).mkdir(parents=True)
    for _ in range(2):
        with pytest.raises(TargetError, match=r"pilot\.jsonl: .*the next append goes on from here"):
            append_rows(folder, rows(2), extra_operations=_card)
    (folder / DATA).rmdir()
    append_rows(folder, rows(2), extra_operations=_card)
    assert_whole(folder, [1, 2])


@pytest.mark.slow
def test_folder_append_killed_at_sixty_random_moments(tmp_path: Path) -> None:
    dice, folder, expected = random.Random(7), tmp_path / "folder", []
    for round_ in range(60):
        batch = [10 * round_, 10 * round_ + 1]
        child = os.fork()
        if not child:
            try:
                append_rows(folder, [row(n, size=20_000) for n in batch])
            finally:
                os._exit(0)
        delay = threading.Event()
        delay.wait(dice.uniform(0, 0.03))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        append_rows(folder, [row(n, size=20_000) for n in batch])
        expected += batch
        assert numbers((folder / DATA).read_bytes()) == expected
    assert audit(folder).ok


@pytest.mark.slow
def test_hub_append_killed_at_sixty_random_moments(hub: HubDouble, tmp_path: Path, hub_target: object) -> None:
    hub.lfs_bytes = 30_000
    dice, expected, unfinished = random.Random(11), [], 0
    for round_ in range(60):
        batch = [10 * round_, 10 * round_ + 1]
        before = len(hub.seen)
        child = os.fork()
        if not child:
            try:
                append_rows(hub_target("here"), rows(*batch))
            finally:
                os._exit(0)
        # die when the nth request of this append arrives, or a moment later
        wanted, moment = dice.randint(0, 9), threading.Event()
        for _ in range(400):
            if len(hub.seen) - before >= wanted:
                break
            moment.wait(0.002)
        moment.wait(dice.uniform(0, 0.004))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        unfinished += numbers(hub.repo().read(DATA))[-2:] != batch if DATA in hub.repo().head().tree else 1
        append_rows(hub_target("here"), rows(*batch))
        expected += batch
        assert numbers(hub.repo().read(DATA)) == expected
    assert unfinished > 20
    assert audit(hub_target("here")).ok


def test_killed_process_leaves_no_lock(hub: HubDouble, tmp_path: Path, hub_target: Callable[..., HubTarget]) -> None:
    asked, answer = threading.Event(), threading.Event()
    hub.faults.script("POST", "/commit/", Delay(answer, asked))
    job = {
        "repo": "user/pairs",
        "token": "hf_writes",
        "endpoint": hub.endpoint,
        "cache": str(tmp_path / "machines" / "here"),
        "numbers": [1],
    }
    with start(job) as process:
        assert asked.wait(60)
        with pytest.raises(LockedError):
            append_rows(hub_target(lock_seconds=0), rows(2))
        process.kill()
    answer.set()
    # the killed one's rows are in its caller's hands: its command again, with what is there passed over
    append_rows(hub_target(lock_seconds=0), rows(1, 2))
    assert sorted(numbers(hub.repo().read(DATA))) == [1, 2]


def test_folder_writers_wait_for_each_other(tmp_path: Path) -> None:
    place = LocalPlace(tmp_path / "folder")
    jobs = [{"folder": str(place.folder), "batches": [[10 * w + n] for n in range(6)]} for w in range(4)]
    workers = [start(job) for job in jobs]
    for worker in workers:
        _, errors = worker.communicate(timeout=120)
        assert worker.returncode == 0, errors
    assert sorted(numbers(place.files()[DATA])) == sorted(10 * w + n for w in range(4) for n in range(6))
    report = audit(place.folder)
    assert report.ok
    assert len(report.revisions) == 24


def test_interrupted_append_whose_new_file_was_lost_is_not_declared_done(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    append_rows(folder, rows(1))
    steps = 0
    while not (folder / ".hf_kokoro" / "commit.json").exists():
        steps += 1
        stop_at_step(folder, steps, [2])
    for staged in (folder / ".hf_kokoro" / "staged").iterdir():
        staged.unlink()
    with pytest.raises(HistoryError, match="can't be finished"):
        append_rows(folder, rows(3))
    assert numbers((folder / DATA).read_bytes()) == [1]
