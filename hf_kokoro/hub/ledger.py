"""What a folder remembers: its history, and the commit that is being carried out.

`.hf_kokoro/history.jsonl` has one line a revision, chained by ids. A line says how many bytes and rows every data file
had and their sha256. Since files only grow, the newest bytes are enough to check every line: the first `size` bytes
must have that digest. `.hf_kokoro/commit.json` is what a commit is about to do, so that the next process can finish it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .errors import HistoryError
from .target import FileInfo

_TAIL = 1 << 16


@dataclass(frozen=True)
class Entry:
    """One revision of a folder. `kind` is "append", "found" for bytes that came from elsewhere, or "adopt": then
    `adopted` rows were taken over from other files."""

    id: str
    parent: str
    time: str
    kind: str
    rows_added: int
    files: Mapping[str, FileInfo]
    adopted: int | None = None

    def line(self) -> bytes:
        return (json.dumps({"revision": self.id, **self._body()}, ensure_ascii=False) + "\n").encode()

    def _body(self) -> dict[str, Any]:
        files = {path: {"size": info.size, "sha256": info.sha256} for path, info in sorted(self.files.items())}
        return {
            "parent": self.parent,
            "time": self.time,
            "kind": self.kind,
            "rows_added": self.rows_added,
            "files": files,
            **({} if self.adopted is None else {"adopted": self.adopted}),
        }

    def computed_id(self) -> str:
        """sha256 over everything else in the entry, so that a changed line or a changed past shows."""
        return hashlib.sha256(json.dumps(self._body(), sort_keys=True).encode()).hexdigest()


def new_entry(
    parent: str, kind: str, rows_added: int, files: Mapping[str, FileInfo], adopted: int | None = None
) -> Entry:
    """The entry that follows `parent` ("" for the first one)."""
    time = datetime.now(UTC).isoformat(timespec="milliseconds")
    draft = Entry("", parent, time, kind, rows_added, dict(files), adopted)
    return replace(draft, id=draft.computed_id())


def read_entry(line: bytes, path: Path, offset: int) -> Entry:
    """Parse one line. Raises HistoryError if it isn't one of ours."""
    try:
        raw = json.loads(line)
        files = {name: FileInfo(int(f["size"]), sha256=str(f["sha256"])) for name, f in raw["files"].items()}
        rows, adopted = int(raw["rows_added"]), raw.get("adopted")
        if adopted is not None and type(adopted) is not int:
            raise TypeError
        return Entry(raw["revision"], raw["parent"], raw["time"], raw["kind"], rows, files, adopted)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise HistoryError(
            f"{path} byte {offset}: a line that is not a history entry; put the file back from a copy, or "
            "delete it to start a new history from the files as they are",
            offset,
        ) from None


class Ledger:
    """The history file of one folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def size(self) -> int:
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def last(self) -> Entry | None:
        """The newest entry; reads only the file's end, so it takes no longer when the history is long."""
        size = self.size()
        if not size:
            return None
        reach = _TAIL
        with self.path.open("rb") as stream:
            while True:
                start = max(0, size - reach)
                stream.seek(start)
                tail = stream.read(size - start)
                cut = tail.rstrip(b"\n").rfind(b"\n") + 1
                if cut or not start:
                    return read_entry(tail[cut:], self.path, start + cut)
                reach *= 4

    def __iter__(self) -> Iterator[Entry]:
        if not self.size():
            return
        offset = 0
        with self.path.open("rb") as stream:
            for line in stream:
                yield read_entry(line, self.path, offset)
                offset += len(line)

    def write(self, line: bytes, at: int) -> None:
        """Put `line` at byte `at` and make it durable; twice is the same as once (crash recovery)."""
        with self.path.open("r+b" if self.path.exists() else "w+b") as stream:
            stream.truncate(at)
            stream.seek(at)
            stream.write(line)
            stream.flush()
            os.fsync(stream.fileno())


@dataclass(frozen=True)
class Declared:
    """A commit that counts. `files`: path in the dataset to the name of its staged version ("": it is removed).
    `entries`: the history lines that follow. `deleted`: path to the sha256 of a file that goes in an adoption.

    `ledger_size` is the byte at which those lines begin in the history file.
    """

    files: Mapping[str, str]
    ledger_size: int
    entries: Sequence[str]
    deleted: Mapping[str, str] = field(default_factory=dict)

    def content(self) -> bytes:
        """As it stands in the file."""
        fields = {
            "files": dict(self.files),
            "ledger_size": self.ledger_size,
            "entries": list(self.entries),
            "deleted": dict(self.deleted),
        }
        return json.dumps(fields).encode()


def read_declared(file: Path) -> Declared:
    """Raises HistoryError, with the way out, if the file is not one that we wrote."""
    try:
        fields = json.loads(file.read_bytes())
        files, size, entries = fields["files"], fields["ledger_size"], fields["entries"]
        deleted = fields.get("deleted", {})
        texts = [*files, *files.values(), *entries, *deleted, *deleted.values()]
        if not entries or not all(isinstance(text, str) for text in texts) or type(size) is not int or size < 0:
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise HistoryError(
            f"{file}: the note of an append that was interrupted, and it can't be read; put it back from a copy, or "
            "delete it (the data files stay as they are) and append those rows again",
            0,
        ) from None
    return Declared(files, size, entries, deleted)
