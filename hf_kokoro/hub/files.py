"""Data files as bytes: what is known of them, whether they are those of a revision, and their next version.

The row ids and spellings of a file are kept in an index, so that an append needn't parse what it parsed before. The
index is only a memory: it says which bytes it covers (size and sha256), is checked against the file, extended by the
new tail, and rebuilt whenever it doesn't fit, or was made by a version that told rows apart in another way.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import shutil
import struct
import zlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import overload

from ..core.atomic import make_folders, write_atomically
from ..core.disk import reason
from ..core.jsonl import CHUNK
from ..core.lock import ProcessLock
from .errors import LockedError, UnwritableError
from .lines import read_lines
from .target import FileInfo

# magic, covered size, mtime in ns, sha256 of the covered bytes, crc of what follows, bytes of the spellings
_HEADER = struct.Struct("<8sQQ32sII")
_MAGIC = b"hfkidx03"
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
    """Which rows a file holds: `ids` sorted, `size` and `sha256` of the bytes they were read from, `spellings` as in
    `lines.Lines`."""

    size: int
    sha256: bytes
    ids: Sequence[bytes]
    mtime_ns: int = 0
    spellings: Mapping[str, int] = field(default_factory=dict)

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
        spellings = json.dumps(self.spellings).encode()
        body = b"".join((spellings, *self.ids))
        header = _HEADER.pack(_MAGIC, self.size, self.mtime_ns, self.sha256, zlib.crc32(body), len(spellings))
        with suppress(OSError):
            make_folders(file.parent)
            write_atomically(file, header + body)


def load(file: Path) -> RowIndex | None:
    """The saved index, or None if there is none that can be used."""
    try:
        with file.open("rb") as stream:
            if os.fstat(stream.fileno()).st_size < _HEADER.size:
                return None
            buffer = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        return None
    magic, size, mtime_ns, sha256, crc, told = _HEADER.unpack(buffer[: _HEADER.size])
    start = _HEADER.size + told
    if magic != _MAGIC or (len(buffer) - start) % _ID or zlib.crc32(memoryview(buffer)[_HEADER.size :]) != crc:
        return None
    return RowIndex(size, sha256, _Ids(buffer, start), mtime_ns, json.loads(buffer[_HEADER.size : start]))


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
    Raises BaseFormatError as `read_lines` does.
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
        new = read_lines(stream, path, start)
    ids = sorted([*saved.ids, *new.ids]) if saved and usable else sorted(new.ids)
    spellings = Counter(saved.spellings if saved and usable else {}) + new.spellings
    index = RowIndex(stat.st_size, digests[stat.st_size], ids, stat.st_mtime_ns, spellings)
    if cache:
        index.save(cache)
    return index


class Notes:
    """Which files were proven already, so that a sealed segment isn't read again: losing it only costs time.

    Path to size, time in ns and digest: as in git's index, a file that has those of the last proof is unchanged.
    """

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


@contextmanager
def locked(folder: Path, seconds: float, name: str, way_out: str) -> Iterator[None]:
    """Hold the lock of a folder, which is made; it dies with the process.

    Raises LockedError, which says whose it is by `name`, after `seconds`; UnwritableError with the `way_out` if the
    folder can't be written.
    """
    lock = ProcessLock(folder / "lock")
    try:
        make_folders(folder)
        taken = lock.acquire(seconds, f"{name}: another process is writing there")
    except OSError as error:
        raise UnwritableError(f"{folder}: can't be written ({reason(error)}); nothing was sent; {way_out}") from None
    if not taken:
        raise LockedError(
            f"{name}: another process has been writing for {seconds:g} s; "
            f"{lock.holder() or 'it is on this machine: wait or stop it'}"
        )
    try:
        yield
    finally:
        lock.release()


def file_chunks(file: Path) -> Iterator[bytes]:
    """The bytes of a file, a piece at a time."""
    with file.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            yield chunk


def git_hasher(size: int) -> hashlib._Hash:
    """Starts the id that git, and so the Hub for regular files, gives to a blob of `size` bytes."""
    return hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)


def file_matches(file: Path, info: FileInfo) -> bool:
    """Whether the file has that size and digest, whichever digest `info` has."""
    return file.stat().st_size == info.size and _digest(file_chunks(file), info) == (info.sha256 or info.git)


def content_matches(content: bytes, info: FileInfo) -> bool:
    """The same for bytes in memory."""
    return len(content) == info.size and _digest([content], info) == (info.sha256 or info.git)


def _digest(chunks: Iterable[bytes], info: FileInfo) -> str:
    hasher = hashlib.sha256() if info.sha256 else git_hasher(info.size)
    for chunk in chunks:
        hasher.update(chunk)
    return hasher.hexdigest()


def write_grown(source: Path | None, tail: bytes, destination: Path) -> tuple[str, FileInfo]:
    """Write the bytes of `source` (none for a new file) + `tail` to a new file, durably.

    Gives back the sha256 of the source's bytes as they were copied, and size and sha256 of the whole.
    """
    digest, size = hashlib.sha256(), 0
    with destination.open("xb") as out:
        for chunk in file_chunks(source) if source else ():
            digest.update(chunk)
            out.write(chunk)
            size += len(chunk)
        if source:
            shutil.copymode(source, destination)
        copied = digest.copy().hexdigest()
        out.write(tail)
        digest.update(tail)
        out.flush()
        os.fsync(out.fileno())
    return copied, FileInfo(size + len(tail), sha256=digest.hexdigest())
