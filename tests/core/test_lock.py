"""A lock that dies with its process, with flock and without."""

from __future__ import annotations

import errno
import fcntl
import subprocess
import sys
from pathlib import Path

import pytest

from hf_kokoro.core.lock import ProcessLock, lock_descriptor

NO_FLOCK = [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS]


@pytest.fixture(params=[None, *NO_FLOCK], ids=["flock", "ENOLCK", "EOPNOTSUPP", "ENOSYS"])
def lock(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a lock is, on a file system with flock or one that answers as some NFS does."""
    if request.param is not None:

        def refuse(descriptor: int, operation: int) -> None:
            raise OSError(request.param, "no locks available")

        monkeypatch.setattr(fcntl, "flock", refuse)
    return tmp_path / "lock"


def test_one_process_has_the_lock_until_it_lets_go(lock: Path) -> None:
    ours, other = ProcessLock(lock), ProcessLock(lock)
    assert ours.acquire()
    assert not other.acquire()
    ours.release()
    assert other.acquire()
    other.release()


HOLD = "from filelock import SoftFileLock; import os, sys; SoftFileLock(sys.argv[1]).acquire(); os._exit(0)"


def test_a_dead_process_of_this_host_holds_nothing(lock: Path) -> None:
    subprocess.run([sys.executable, "-c", HOLD, f"{lock}.holder"], check=True)
    ours = ProcessLock(lock)
    assert ours.acquire()
    ours.release()


def test_another_hosts_lock_is_named_with_how_to_remove_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    marker = tmp_path / "lock.holder"
    marker.write_text("4711\nfar-away\n")
    ours = ProcessLock(tmp_path / "lock")
    assert not ours.acquire()
    assert ours.holder() == f"process 4711 on host far-away has it; if that process is no more, remove {marker}"
    marker.unlink()
    assert ours.acquire()
    ours.release()


def test_a_lock_that_cannot_be_written_is_no_lock_that_others_have(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"File exists|Not a directory"):
        ProcessLock(tmp_path / "file" / "lock").acquire()


@pytest.mark.parametrize("code", NO_FLOCK)
def test_a_descriptor_says_that_it_cannot_be_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(code, "no locks available")

    with (tmp_path / "journal").open("w") as one, (tmp_path / "journal").open("r") as other:
        assert lock_descriptor(one.fileno()) is True
        assert lock_descriptor(other.fileno()) is False
        monkeypatch.setattr(fcntl, "flock", refuse)
        assert lock_descriptor(other.fileno()) is None
