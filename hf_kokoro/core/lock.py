"""One process at a time: a lock that dies with its process, on file systems without flock (some NFS) too.

Where flock is not to be had, a file beside says who holds the lock (host, process, its start): that of a dead process
of this host is taken over, any other holds until it is removed.
"""

from __future__ import annotations

import errno
import logging
import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import BaseFileLock

NO_FLOCK = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS})
"""What a file system without flock answers."""
QUIET_SECONDS = 2.0
"""A wait for a lock that takes longer is said."""

logger = logging.getLogger(__name__)


class ProcessLock:
    """The lock named by `file`, which is made. Raises OSError where that can't be written."""

    def __init__(self, file: Path) -> None:
        self._file, self._marker = file, file.with_name(f"{file.name}.holder")
        self._lock: BaseFileLock | None = None

    def acquire(self, seconds: float = 0.0, waiting_for: str = "") -> bool:
        """Take the lock; False if another process kept it for `seconds`. A longer wait is logged by `waiting_for`."""
        short = min(seconds, QUIET_SECONDS)
        if self._take(short):
            return True
        if seconds > short:
            logger.warning("%s%s; waiting up to %.0f s for it, nothing is lost", waiting_for, self._by(), seconds)
            return self._take(seconds - short)
        return False

    def release(self) -> None:
        """Let go of the lock, if we have it."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def holder(self) -> str:
        """Who holds it and how to free it, where a file says so; else ""."""
        with suppress(OSError):
            fields = self._marker.read_text("utf-8").splitlines()
            if len(fields) > 1:
                here = " (this machine)" if fields[1] == socket.gethostname() else ""
                return (
                    f"process {fields[0]} on host {fields[1]}{here} has it; if that process is no more, remove "
                    f"{self._marker}"
                )
        return ""

    def _by(self) -> str:
        holder = self.holder()
        return f" ({holder})" if holder else ""

    def _take(self, seconds: float) -> bool:
        # late: a journal that is only read takes no lock
        from filelock import FileLock, SoftFileLock

        try:
            self._lock = _acquired(FileLock(self._file, timeout=seconds, fallback_to_soft=False))
        except (OSError, NotImplementedError) as error:
            if isinstance(error, OSError) and error.errno not in NO_FLOCK:
                raise
            self._lock = _acquired(SoftFileLock(self._marker, timeout=seconds))
        return self._lock is not None


def _acquired(lock: BaseFileLock) -> BaseFileLock | None:
    from filelock import Timeout

    try:
        lock.acquire()
    except Timeout:
        return None
    return lock


def lock_descriptor(descriptor: int) -> bool | None:
    """Lock an open file until it is closed; False if another process has it, None where files can't be locked."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        # a byte far behind the end: locking bytes that exist would keep readers out
        os.lseek(descriptor, 1 << 40, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return None if error.errno in NO_FLOCK else False
    return True
