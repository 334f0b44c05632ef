"""The row ids of a data file, kept beside it so that an append needn't parse what it parsed before.

The index is only a memory: it says which bytes it covers (size and sha256), is checked against the file,
extended by the new tail, and rebuilt whenever it doesn't fit.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import overload

from ..core.atomic import make_folders, write_atomically
from ..core.jsonl import CHUNK
from .lines import read_ids

_HEADER = struct.Struct("<8sQQ32sI")  # magic, covered size, mtime in ns, sha256 of the covered bytes, crc of the ids
_MAGIC = b"hfkidx02"
_ID = 32


class _Ids(Sequence[bytes]):
    """Sorted 32-byte records in a buffer, as a sequence."""

    def __init__(self, buffer: bytes | mmap.mmap, start: int) -> None:
        self._buffer, self._start = buffer, start

    def __len__(self) -> int:
        return (len(self._buffer) - self._start) // _ID

    @overload
    def __getitem__(self, position: int) -> bytes: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[bytes]: ...
    def __getitem__(self, position: int | slice) -> bytes | Sequence[bytes]:
        if isinstance(position, slice):
            return [self[i] for i in range(*position.indices(len(self)))]
        if not 0 <= position < len(self):
            raise IndexError(position)
        start = self._start + position * _ID
        return self._buffer[start : start + _ID]


@dataclass(frozen=True)
class RowIndex:
    """Which rows a file holds: `ids` sorted, `size` and `sha256` of the bytes they were read from."""

    size: int
    sha256: bytes
    ids: Sequence[bytes]
    mtime_ns: int = 0

    @property
    def rows(self) -> int:
        return len(self.ids)

    def __contains__(self, row_id: object) -> bool:
        if not isinstance(row_id, bytes):
            return False
        at = bisect_left(self.ids, row_id)
        return at < len(self.ids) and self.ids[at] == row_id

    def save(self, file: Path) -> None:
        """Write the index where that is possible: without it the next append only takes longer."""
        ids = b"".join(self.ids)
        header = _HEADER.pack(_MAGIC, self.size, self.mtime_ns, self.sha256, zlib.crc32(ids))
        with suppress(OSError):
            make_folders(file.parent)
            write_atomically(file, header + ids)


def load(file: Path) -> RowIndex | None:
    """The saved index, or None if there is none that can be used."""
    try:
        with file.open("rb") as stream:
            if os.fstat(stream.fileno()).st_size < _HEADER.size:
                return None
            buffer = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        return None
    magic, size, mtime_ns, sha256, crc = _HEADER.unpack(buffer[: _HEADER.size])
    if magic != _MAGIC or (len(buffer) - _HEADER.size) % _ID or zlib.crc32(memoryview(buffer)[_HEADER.size :]) != crc:
        return None
    return RowIndex(size, sha256, _Ids(buffer, _HEADER.size), mtime_ns)


def prefix_digests(file: Path, sizes: Iterable[int]) -> dict[int, bytes]:
    """sha256 of the file's first `size` bytes for each size that the file has, in one pass."""
    running, position = hashlib.sha256(), 0
    found: dict[int, bytes] = {}
    with file.open("rb") as stream:
        for size in sorted(set(sizes)):
            while position < size:
                chunk = stream.read(min(CHUNK, size - position))
                if not chunk:
                    return found
                running.update(chunk)
                position += len(chunk)
            found[size] = running.digest()
    return found


def index_file(file: Path, path: str, cache: Path | None, known: dict[int, bytes] | None = None) -> RowIndex:
    """The index of `file` as it is now: the saved one, extended or rebuilt, and saved again if it changed.

    `path` names the file in messages; `known` may hold prefix digests taken before (`prefix_digests`).
    Raises BaseFormatError as `read_ids` does.
    """
    stat = file.stat()
    saved = load(cache) if cache else None
    if saved and saved.size == stat.st_size and saved.mtime_ns == stat.st_mtime_ns:
        return saved
    sizes = {stat.st_size, *({saved.size} if saved else ())}
    digests = known if known and sizes <= set(known) else prefix_digests(file, sizes)
    usable = saved is not None and digests.get(saved.size) == saved.sha256
    start = saved.size if saved and usable else 0
    with file.open("rb") as stream:
        stream.seek(start)
        new = read_ids(stream, path, start)
    ids = sorted([*saved.ids, *new]) if saved and usable else sorted(new)
    index = RowIndex(stat.st_size, digests[stat.st_size], ids, stat.st_mtime_ns)
    if cache:
        index.save(cache)
    return index
