"""The verdict journal: append-only JSON Lines, one verdict a line, one writer at a time.

A line is handed to the system whole before the next answer is taken, so killing the process at any moment
loses at most the answers in flight; the disk is synced about once a second and at the end, so a power cut
costs a second of work. A line that was torn by either is removed when the journal is next opened for
writing; anything else that is no verdict is refused, untouched: it may be somebody's other file.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from ..core.disk import disk_errors, reason
from ..core.lock import ProcessLock, lock_descriptor
from ..errors import KokoroError
from .verdicts import Verdict, VerdictError, VerdictKey, parse_verdict

if TYPE_CHECKING:
    from concurrent.futures import Future

SYNC_SECONDS = 1.0

_FIRST_KEY = b'{"question_id": "'


class JournalError(KokoroError):
    """The journal can't be used: another file, in use by another process, or damaged in the middle."""


class Journal:
    """An open journal. Use as a context manager: it holds the lock, and closing syncs and releases it.

    `statuses` maps the key of every verdict so far to its status; the newest line of a key counts.
    """

    def __init__(self, path: str | os.PathLike[str], sync_seconds: float = SYNC_SECONDS) -> None:
        # late: who only reads verdicts needs no threads
        from concurrent.futures import ThreadPoolExecutor

        self.path = Path(path)
        self.statuses: dict[VerdictKey, str] = {}
        self.healed_bytes = 0
        self._sync_seconds = sync_seconds
        self._syncing = ThreadPoolExecutor(max_workers=1, thread_name_prefix="journal-sync")
        self._last_sync: Future[None] | None = None
        self._held: ProcessLock | None = None
        self._file = self._open()
        try:
            self._load()
        except BaseException:
            self._file.close()
            raise
        self._synced_at = time.monotonic()

    def append(self, verdict: Verdict) -> None:
        """Write one verdict. After it returns, killing the process can't lose it."""
        self._write(verdict.line().encode("ascii"))
        self.statuses[verdict.key] = verdict.status
        if time.monotonic() - self._synced_at >= self._sync_seconds:
            self._sync_soon()

    def close(self) -> None:
        """Sync to disk and let go of the lock."""
        if not self._file.closed:
            self._syncing.shutdown()
            try:
                with self._told():
                    os.fsync(self._file.fileno())
            finally:
                self._file.close()
                if self._held is not None:
                    self._held.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> FileIO:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = open(self.path, "a+b", buffering=0)  # noqa: SIM115 (close() ends it)
        except OSError as error:
            raise JournalError(f"{self.path}: can't be opened ({reason(error)}); nothing was judged") from error
        held_by = ""
        try:
            taken = lock_descriptor(file.fileno())
            if taken is None:  # no flock on this file system
                self._held = ProcessLock(self.path.with_name(f"{self.path.name}.lock"))
                with self._told():
                    taken = self._held.acquire()
                held_by = self._held.holder()
        except BaseException:
            file.close()
            raise
        if not taken:
            file.close()
            step = held_by or "wait for it, or give another --journal"
            raise JournalError(f"{self.path}: in use by another process; {step}")
        return file

    def _told(self) -> AbstractContextManager[None]:
        """OSErrors within are JournalErrors that say what was kept."""
        return disk_errors(self.path, "the verdicts before it are kept; the same command goes on there", JournalError)

    def _load(self) -> None:
        self._file.seek(0)
        data = self._file.readall()
        whole = data.rfind(b"\n") + 1
        for verdict in _verdicts(data[:whole], self.path.name):
            self.statuses[verdict.key] = verdict.status
        if tail := data[whole:]:
            self._heal(tail, whole)

    def _write(self, data: bytes) -> None:
        end = os.fstat(self._file.fileno()).st_size
        rest = memoryview(data)
        with self._told():
            try:
                while rest:
                    # unbuffered: what can't be written now must not come back to life when the file is closed
                    rest = rest[self._file.write(rest) or 0 :]
            except OSError:
                # a full disk may have taken half a line; take it back, so that what stands there stays whole
                with suppress(OSError):
                    os.ftruncate(self._file.fileno(), end)
                raise

    def _heal(self, tail: bytes, whole: int) -> None:
        try:
            verdict = parse_verdict(tail.decode("ascii"), self.path.name)
        except (VerdictError, UnicodeDecodeError):
            # Only what can be the start of a verdict (or the zeros of a power cut) is ours to remove.
            start = tail.rstrip(b"\0")[: len(_FIRST_KEY)]
            if not _FIRST_KEY.startswith(start):
                raise JournalError(f"{self.path}: its last line is no verdict; give the path of a journal") from None
            os.ftruncate(self._file.fileno(), whole)
            self.healed_bytes = len(tail)
        else:
            self._write(b"\n")
            self.statuses[verdict.key] = verdict.status

    def _sync_soon(self) -> None:
        # In a thread: a disk that takes its time must not hold up the answers in flight.
        self._synced_at = time.monotonic()
        if self._last_sync is None or self._last_sync.done():
            if self._last_sync is not None:
                with self._told():
                    self._last_sync.result()
            self._last_sync = self._syncing.submit(os.fsync, self._file.fileno())


def read_journal(path: str | os.PathLike[str]) -> list[Verdict]:
    """The newest verdict of every key, in order of first appearance.

    Takes no lock and leaves a line that is just being written aside. Raises JournalError or VerdictError.
    """
    newest = {verdict.key: verdict for verdict in verdicts_behind(path, 0)[0]}
    if not newest:
        raise JournalError(f"{path}: holds no verdict; `hf-kokoro judge --journal {path}` fills it")
    return list(newest.values())


def verdicts_behind(path: str | os.PathLike[str], offset: int) -> tuple[list[Verdict], int]:
    """Every verdict behind the byte `offset` (0, or where the last call ended), and where the next call starts.

    Takes no lock and leaves a line that is just being written aside. Raises JournalError or VerdictError.
    """
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(offset)
            data = file.read()
    except OSError as error:
        raise JournalError(f"{path}: can't be read ({error.strerror}); `hf-kokoro judge` makes a journal") from error
    if size < offset:
        raise JournalError(f"{path}: was cut to {size} bytes while it was read up to {offset}; start again")
    whole = data.rfind(b"\n") + 1
    name = Path(path).name if offset == 0 else f"{Path(path).name} behind byte {offset}"
    return list(_verdicts(data[:whole], name)), offset + whole


def _verdicts(data: bytes, name: str) -> Iterator[Verdict]:
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        where = f"{name} line {number}"
        try:
            yield parse_verdict(line.decode("utf-8"), where)
        except UnicodeDecodeError:
            raise VerdictError(f"{where}: not UTF-8; allowed: one verdict a line; is it a journal?") from None
