"""Rows that an append gave up on though they may pass later, in a folder that its caller named.

One entry is one batch: a header line (target, path, number of rows, time) and the rows as they were to be sent. No
append sends them: `send_spooled` does. A process holds a lock on the entries that it is sending; the lock dies
with it. Names of entries are times and random letters, and only the owner can read them.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from ..core.atomic import make_folders, sync_folder, write_atomically
from ..core.disk import disk_errors
from ..core.jsonl import parse_object
from ..core.lock import ProcessLock
from ..errors import SourceError, UsageError
from ..miti.contract import row_id
from .rows import NewRow


@dataclass
class SpoolEntry:
    """One batch in the spool. `held` is True while a process (this one or another) is sending it.

    `target` and `route` are `Target.name` and `Target.route` of where the rows were to go ("?" and "" in a file
    that is no entry).
    """

    file: Path
    target: str
    route: str
    path: str
    rows: int
    created_at: str
    bytes: int
    held: bool = False
    lock: ProcessLock | None = field(default=None, repr=False)

    @property
    def id(self) -> str:
        return self.file.stem

    def read(self) -> list[NewRow]:
        """The rows. Raises SourceError if somebody edited the entry, or it is none."""
        try:
            if not self.route:
                raise ValueError
            lines = self.file.read_bytes().splitlines(keepends=True)[1:]
            return [NewRow(bytes.fromhex(row_id(parse_object(line))), line) for line in lines]
        except (OSError, ValueError):
            raise SourceError(
                f"{self.file}: this spool entry can't be read; mend it, or drop it with "
                f"`hf-kokoro spool drop {self.file.parent} {self.id}`"
            ) from None


class Spool:
    """A folder of entries."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, target: str, route: str, path: str, rows: Sequence[NewRow]) -> None:
        """Write a batch, durably, without the rows that wait for that file by that route already."""
        there = {row.id for _, waiting in self._waiting(route, path) for row in waiting}
        new = [row for row in rows if row.id not in there]
        if new:
            self._write(target, route, path, new)

    def _write(self, target: str, route: str, path: str, rows: Sequence[NewRow]) -> None:
        make_folders(self.folder)
        self.folder.chmod(0o700)
        now = datetime.now(UTC)
        file = self.folder / f"{now:%Y%m%dT%H%M%S%f}-{uuid.uuid4().hex[:8]}.jsonl"
        created_at = now.isoformat(timespec="seconds")
        header = {"target": target, "route": route, "path": path, "rows": len(rows), "created_at": created_at}
        content = json.dumps(header).encode() + b"\n" + b"".join(row.line for row in rows)
        write_atomically(file, content, 0o600)

    def forget(self, route: str, path: str, arrived: Collection[bytes]) -> None:
        """Drop the entries for that file by that route all of whose rows (by id) are there now."""
        for entry, waiting in self._waiting(route, path):
            if all(row.id in arrived for row in waiting):
                self.drop_unheld(entry)

    def _waiting(self, route: str, path: str) -> Iterator[tuple[SpoolEntry, list[NewRow]]]:
        """Entries for that file by that route and their rows; one that can't be read is passed over."""
        for entry in self._entries():
            if entry.route == route and entry.path == path:
                with suppress(SourceError):
                    yield entry, entry.read()

    def hold(self, entry: SpoolEntry) -> bool:
        """Keep other processes from sending or dropping an entry; False if one is at it, or it is gone."""
        if not _acquire(entry):
            return False
        if not entry.file.exists():  # its owner finished between our look and our lock
            self.release(entry)
            return False
        return True

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

    def chosen(self, ids: Collection[str]) -> list[SpoolEntry]:
        """The entries of those ids. Raises UsageError if there is no such one."""
        found = {entry.id: entry for entry in self.entries()}
        if unknown := sorted(set(ids) - set(found)):
            raise UsageError(
                f"no entry {', '.join(unknown)} in {self.folder}; `hf-kokoro spool list {self.folder}` shows them"
            )
        return [entry for entry in found.values() if entry.id in ids]

    def drop(self, entry: SpoolEntry) -> None:
        """Forget a batch: it was sent, or isn't wanted any more."""
        with disk_errors(entry.file, "the entry is still there; nothing is sent twice", SourceError):
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
        """Let go of an entry."""
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


def _acquire(entry: SpoolEntry) -> bool:
    lock = ProcessLock(_lock_file(entry.file))
    with disk_errors(entry.file.parent, "the entries are kept, and nothing was sent", SourceError):
        if not lock.acquire():
            return False
    entry.lock, entry.held = lock, True
    return True
