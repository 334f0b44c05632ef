"""Watching a stream go by: what its first n bytes were, for many n in one pass."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import BinaryIO

from .target import FileInfo


def git_hasher(size: int) -> hashlib._Hash:
    """Starts the id that git, and so the Hub for regular files, gives to a blob of `size` bytes."""
    return hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)


class PrefixWatch:
    """A readable stream that notes, at the sizes of some versions, the digest of everything before.

    Once the stream was read to its end, `matches` tells whether it started with a version's bytes, `rows`
    how many rows (lines that aren't blank) a version had, and `torn` whether it stopped in the middle of one.
    """

    def __init__(self, stream: BinaryIO, versions: Iterable[FileInfo]) -> None:
        infos = list(versions)
        self._stream = stream
        self._sizes = sorted({info.size for info in infos}, reverse=True)
        # a blob id starts with the size, so every regular version needs a running hash of its own
        self._git = {info.size: git_hasher(info.size) for info in infos if info.git}
        self._sha256 = hashlib.sha256()
        self._position, self._last = 0, b"\n"
        self._ended, self._begun = 0, False
        self._digests: dict[int, tuple[str, str | None]] = {}
        self._rows: dict[int, int] = {}
        self._torn: set[int] = set()
        self._note_sizes()

    def read(self, size: int) -> bytes:
        chunk = self._stream.read(size)
        start = 0
        while start < len(chunk):
            room = self._sizes[-1] - self._position if self._sizes else len(chunk)
            part = chunk[start : start + room]
            self._take(part)
            start += len(part)
        return chunk

    def drain(self) -> None:
        """Read the rest."""
        while self.read(1 << 20):
            pass

    def matches(self, version: FileInfo) -> bool:
        """Whether the stream began with the version's bytes; one without a digest only has to fit by size."""
        if version.size not in self._digests:
            return False
        sha256, git = self._digests[version.size]
        return version.sha256 in (None, sha256) and version.git in (None, git)

    def rows(self, size: int) -> int:
        """Lines in the first `size` bytes that aren't blank; a last one without a line end counts."""
        return self._rows[size]

    def torn(self, size: int) -> bool:
        """Whether the first `size` bytes end inside a line."""
        return size in self._torn

    def _take(self, part: bytes) -> None:
        if self._position in self._rows and self._last != b"\n" and part[:1] != b"\n":
            self._torn.add(self._position)
        self._sha256.update(part)
        for hasher in self._git.values():
            hasher.update(part)
        self._count(part)
        self._position += len(part)
        self._last = part[-1:]
        self._note_sizes()

    def _count(self, part: bytes) -> None:
        """Rows that ended in this part, and whether one has begun behind them: as an append counts them."""
        *ends, rest = part.split(b"\n")
        for line in ends:
            self._ended += self._begun or not _blank(line)
            self._begun = False
        self._begun = self._begun or not _blank(rest)

    def _note_sizes(self) -> None:
        while self._sizes and self._sizes[-1] == self._position:
            size = self._sizes.pop()
            git = self._git.pop(size).hexdigest() if size in self._git else None
            self._digests[size] = (self._sha256.copy().hexdigest(), git)
            self._rows[size] = self._ended + self._begun


def _blank(line: bytes) -> bool:
    return not line or line.isspace()
