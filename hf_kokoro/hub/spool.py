"""Rows on their way: on disk before the first byte leaves, until the target is known to hold them.

One entry is one batch: a header line (target, path, number of rows, time) and the rows. A process holds a
lock on its entries; the lock dies with it, so what a killed process left is taken up by the next one. Names
of entries are times and random letters, and only the owner can read them.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from ..errors import SourceError
from ..schema.miti_st import row_id
from .atomic import make_folders, sync_folder, write_atomically
from .batch import NewRow
from .lines import parse_object
from .mirror import cache_root


@dataclass
class SpoolEntry:
    """One batch in the spool. `held` is True while a process (this one or another) is sending it.

    `target` is for people; `route` (`Target.route`) tells which appends may send it.
    """

    file: Path
    target: str
    route: str
    path: str
    rows: int
    created_at: str
    bytes: int
    held: bool = False
    lock: FileLock | None = field(default=None, repr=False)

    @property
    def id(self) -> str:
        return self.file.stem

    def read(self) -> list[NewRow]:
        """The rows. Raises SourceError if somebody edited the entry."""
        try:
            lines = self.file.read_bytes().splitlines(keepends=True)[1:]
            return [NewRow(bytes.fromhex(row_id(parse_object(line))), line) for line in lines]
        except (OSError, ValueError):
            raise SourceError(
                f"{self.file}: this spool entry can't be read; mend it, or drop it with "
                f"`hf-kokoro spool drop {self.id}`"
            ) from None


def default_spool() -> Spool:
    """The spool in the cache folder of this user."""
    return Spool(cache_root() / "spool")


class Spool:
    """A folder of entries."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, target: str, route: str, path: str, rows: Sequence[NewRow]) -> SpoolEntry:
        """Write a batch, durably, and hold it."""
        make_folders(self.folder)
        self.folder.chmod(0o700)
        now = datetime.now(UTC)
        file = self.folder / f"{now:%Y%m%dT%H%M%S%f}-{uuid.uuid4().hex[:8]}.jsonl"
        created_at = now.isoformat(timespec="seconds")
        header = {"target": target, "route": route, "path": path, "rows": len(rows), "created_at": created_at}
        lock = _lock(file)
        lock.acquire()
        content = json.dumps(header).encode() + b"\n" + b"".join(row.line for row in rows)
        write_atomically(file, content, 0o600)
        return SpoolEntry(file, target, route, path, len(rows), created_at, len(content), True, lock)

    def take(self, route: str, path: str) -> list[SpoolEntry]:
        """Entries for that file by that route that no living process holds, oldest first; they are held from now on."""
        taken = []
        for entry in self._entries():
            if entry.route == route and entry.path == path and _acquire(entry):
                if entry.file.exists():
                    taken.append(entry)
                else:  # its owner finished between our look and our lock
                    self.release(entry)
        return taken

    def entries(self) -> list[SpoolEntry]:
        """Everything in the spool, oldest first."""
        found = []
        for entry in self._entries():
            free = _acquire(entry)
            if free:
                self.release(entry)
            entry.held = not free
            found.append(entry)
        return found

    def drop(self, entry: SpoolEntry) -> None:
        """Forget a batch: it was sent, or isn't wanted any more."""
        entry.file.unlink(missing_ok=True)
        sync_folder(self.folder)
        self.release(entry)

    def drop_unheld(self, entry: SpoolEntry) -> bool:
        """Forget a batch unless a living process is sending it; tells whether it is gone."""
        if not _acquire(entry):
            return False
        self.drop(entry)
        return True

    def release(self, entry: SpoolEntry) -> None:
        """Let go of an entry; if its rows are still there the next run sends them."""
        if entry.lock is not None:
            entry.lock.release()
            entry.lock = None
        if not entry.file.exists():
            _lock_file(entry.file).unlink(missing_ok=True)
        entry.held = False

    def _entries(self) -> Iterator[SpoolEntry]:
        for file in sorted(self.folder.glob("*.jsonl")) if self.folder.is_dir() else []:
            try:
                with file.open("rb") as stream:
                    header = json.loads(stream.readline())
                target, route, path = header["target"], header["route"], header["path"]
                yield SpoolEntry(file, target, route, path, header["rows"], header["created_at"], file.stat().st_size)
            except FileNotFoundError:
                continue
            except (OSError, ValueError, KeyError, TypeError):
                yield SpoolEntry(file, "?", "", "?", 0, "?", file.stat().st_size)


def _lock_file(file: Path) -> Path:
    return file.with_suffix(".lock")


def _lock(file: Path) -> FileLock:
    return FileLock(_lock_file(file), timeout=0)


def _acquire(entry: SpoolEntry) -> bool:
    lock = _lock(entry.file)
    try:
        lock.acquire()
    except Timeout:
        return False
    entry.lock, entry.held = lock, True
    return True
