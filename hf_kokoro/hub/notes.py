"""Which files were proven already, so that a sealed segment isn't read again for every append.

As in git's index, a file whose size and modification time are those of the last proof counts as unchanged.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from ..core.atomic import make_folders, write_atomically


class Notes:
    """Path to size, time in ns and digest at the last proof; losing it only costs time."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def holds(self, path: str, file: Path, digest: str | None) -> bool:
        """Whether `file` was proven to have that digest and was not touched since."""
        stat = file.stat()
        return digest is not None and self._read().get(path) == [stat.st_size, stat.st_mtime_ns, digest]

    def add(self, path: str, file: Path, digest: str | None) -> None:
        stat = file.stat()
        notes = self._read() | {path: [stat.st_size, stat.st_mtime_ns, digest]}
        with suppress(OSError):
            make_folders(self._file.parent)
            write_atomically(self._file, json.dumps(notes).encode())

    def _read(self) -> dict[str, list[int | str | None]]:
        try:
            notes: dict[str, list[int | str | None]] = json.loads(self._file.read_bytes())
            return notes
        except (OSError, ValueError):
            return {}
