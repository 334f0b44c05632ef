"""Proof that one file only ever grew: every former version is a prefix of the newest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import BinaryIO, Protocol

from ..core.jsonl import CHUNK
from ..errors import Fault, Faults
from .errors import NotKept
from .files import git_hasher
from .lines import iter_lines
from .target import FileInfo, Revision, Target


class LineCheck(Protocol):
    """What is asked of the lines of the newest version of a file."""

    def start_file(self, path: str) -> None: ...

    def line(self, number: int, offset: int, line: bytes, faults: Faults) -> None: ...


@dataclass
class FileProof:
    """Rows of the file at each revision (None: its bytes can't be had), and the revisions that broke it."""

    rows: list[int | None]
    broken: set[int] = field(default_factory=set)


def prove_file(
    target: Target,
    path: str,
    revisions: Sequence[Revision],
    check: LineCheck,
    *,
    faults: Faults,
    row_faults: Faults,
) -> FileProof:
    """Check one file through all revisions, and each of its newest lines with `check`."""
    versions = [revision.files.get(path) for revision in revisions]
    proof = FileProof([0 if version is None else None for version in versions])
    _note_removals(path, revisions, versions, proof, faults)
    anchor = max(number for number, version in enumerate(versions) if version is not None)
    newest = True
    while True:
        until = versions[: anchor + 1]
        watch = _watch(target, path, revisions[anchor], until, check=check if newest else None, faults=row_faults)
        if watch is None:
            return proof
        bad = _compare(watch, until, proof)
        _note_torn(path, watch, revisions, until, bad=bad, proof=proof, faults=faults)
        if not bad:
            return proof
        if bad[-1] == anchor:
            # the bytes served are not even those on record for this revision
            proof.broken.update(bad)
            faults.add(_changed(path, revisions[bad[0]], versions[bad[0]]))
            return proof
        breaker = next(n for n in range(bad[-1] + 1, len(versions)) if versions[n] is not None)
        proof.broken.add(breaker)
        faults.add(_rewritten(path, revisions[breaker], revisions[bad[-1]], versions[bad[-1]]))
        anchor, newest = bad[-1], False


def _watch(
    target: Target,
    path: str,
    revision: Revision,
    versions: Sequence[FileInfo | None],
    *,
    check: LineCheck | None,
    faults: Faults,
) -> PrefixWatch | None:
    """Stream one version; None if it can't be had any more."""
    try:
        stream = target.open(revision, path)
    except NotKept:
        return None
    with closing(stream):
        watch = PrefixWatch(stream, [version for version in versions if version is not None])
        if check is not None:
            check.start_file(path)
            for number, (offset, line) in enumerate(iter_lines(watch), 1):
                check.line(number, offset, line, faults)
        watch.drain()
    return watch


def _compare(watch: PrefixWatch, versions: Sequence[FileInfo | None], proof: FileProof) -> list[int]:
    """Numbers of the versions that the stream did not start with; the others get their row counts."""
    bad = []
    for number, version in enumerate(versions):
        if version is None:
            continue
        if watch.matches(version):
            proof.rows[number] = watch.rows(version.size)
        else:
            bad.append(number)
    return bad


def _note_removals(
    path: str,
    revisions: Sequence[Revision],
    versions: Sequence[FileInfo | None],
    proof: FileProof,
    faults: Faults,
) -> None:
    for number in range(1, len(versions)):
        before = versions[number - 1]
        if versions[number] is None and before is not None:
            proof.broken.add(number)
            allowed = f"its {before.size} bytes and more"
            faults.add(Fault(f"revision {revisions[number].id[:12]}", path, "no file", allowed))


def _note_torn(
    path: str,
    watch: PrefixWatch,
    revisions: Sequence[Revision],
    versions: Sequence[FileInfo | None],
    *,
    bad: Sequence[int],
    proof: FileProof,
    faults: Faults,
) -> None:
    seen: set[int] = set()
    for number, version in enumerate(versions):
        if version is None or number in bad or version.size in seen or not watch.torn(version.size):
            continue
        seen.add(version.size)
        proof.broken.add(number)
        where = f"revision {revisions[number].id[:12]}"
        faults.add(Fault(where, path, f"an end inside a line (byte {version.size})", "whole lines"))


def _rewritten(path: str, breaker: Revision, before: Revision, version: FileInfo | None) -> Fault:
    size = version.size if version else 0
    return Fault(
        f"revision {breaker.id[:12]}",
        path,
        f"bytes that don't start with the {size} bytes of revision {before.id[:12]}",
        "the former bytes and more",
        "compare the two revisions and put the former bytes back",
    )


def _changed(path: str, revision: Revision, version: FileInfo | None) -> Fault:
    size = version.size if version else 0
    return Fault(
        f"revision {revision.id[:12]}",
        path,
        "other bytes than those on record",
        f"the {size} bytes of that revision, unchanged",
        "put the file back from a copy",
    )


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
        while self.read(CHUNK):
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
