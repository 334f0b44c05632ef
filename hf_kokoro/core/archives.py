"""Named bytes from a file, a folder, an archive or a Hub dataset, with nothing unpacked to disk.

Archives are streamed. Member paths are labels, never places: one that is absolute or climbs out of the
archive is refused, links and devices are skipped and said, and a member larger than the limit is refused
by its declared size before a byte of it is read.
"""

from __future__ import annotations

import lzma
import os
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from ..errors import SourceError

MEMBER_LIMIT = 256 * 2**20
"""Largest member that is read, in bytes. Upstream's largest dialogue file is under 100 KB."""

ARCHIVE_SUFFIXES = (".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar", ".zip")

_NUMBER = re.compile(r"[0-9]{1,18}")

Accept = Callable[[str], bool]


@dataclass(frozen=True)
class Skipped:
    """Something in a source that is not read, and why."""

    name: str
    reason: str


class SourceFiles(Protocol):
    """Named members of one source. `members` yields (name, bytes) in the source's own order."""

    path: Path
    seekable: bool
    """True if `members(names=...)` costs only those members, so that work can be shared out by name."""

    def names(self) -> list[str]:
        """Every member's name: folders sorted, archives as stored."""

    def members(self, accept: Accept | None = None, names: Sequence[str] | None = None) -> Iterator[tuple[str, bytes]]:
        """Yield the members that `accept` takes, or exactly those in `names` (seekable sources)."""

    def skipped(self) -> list[Skipped]:
        """What was left out so far by its kind (links, devices), not by `accept`."""


def open_source(source: str | os.PathLike[str], member_limit: int = MEMBER_LIMIT) -> SourceFiles:
    """Open a local file, folder or archive. Raises SourceError if it is missing, empty or of no known kind."""
    path = Path(source).expanduser()
    if not path.exists():
        raise SourceError(f"{path}: not found; give a folder, an archive ({', '.join(ARCHIVE_SUFFIXES)}) or a file")
    if path.is_dir():
        return FolderFiles(path, member_limit)
    if path.stat().st_size == 0:
        raise SourceError(f"{path.name}: the file is empty; download it again")
    name = path.name.lower()
    if name.endswith(".zip"):
        return ZipFiles(path, member_limit)
    if name.endswith(ARCHIVE_SUFFIXES):
        return TarFiles(path, member_limit)
    return SingleFile(path, member_limit)


def check_member_name(name: str, archive: str) -> str:
    """Return the name with `/` separators; raise SourceError for a path outside the archive."""
    if (
        name[:1] not in ("/", ".", "\\")
        and "\\" not in name
        and ":" not in name
        and ".." not in name
        and "//" not in name
    ):
        return name  # the usual case, checked without building a path for each of thousands of members
    path = name.replace("\\", "/")
    parts = PurePosixPath(path).parts
    if path.startswith("/") or ".." in parts or (parts and parts[0].endswith(":")):
        raise SourceError(
            f"{archive}: a member's path leads outside the archive; refuse this file and get it from its authors"
        )
    return str(PurePosixPath(path))


def _check_size(name: str, size: int, limit: int, container: str) -> None:
    if size > limit:
        raise SourceError(
            f"{container}: member {name} says it holds {size:,} bytes; allowed: {limit:,}; nothing of it was read"
        )


class FolderFiles:
    """A folder, walked recursively in sorted order. Symbolic links to files are followed (Hub caches are made of
    them), links to folders are not."""

    seekable = True

    def __init__(self, path: Path, member_limit: int = MEMBER_LIMIT) -> None:
        self.path, self.member_limit = path, member_limit
        self._names: list[str] | None = None

    def names(self) -> list[str]:
        if self._names is None:
            found = []
            for folder, folders, files in os.walk(self.path):
                folders[:] = sorted(f for f in folders if not f.startswith("."))
                below = os.path.relpath(folder, self.path)
                prefix = "" if below == "." else f"{Path(below).as_posix()}/"
                found += [f"{prefix}{file}" for file in files]
            self._names = sorted(found, key=natural_order)
        return self._names

    def members(self, accept: Accept | None = None, names: Sequence[str] | None = None) -> Iterator[tuple[str, bytes]]:
        root, label = os.fspath(self.path), self.path.name
        for name in self.names() if names is None else names:
            if names is not None or accept is None or accept(name):
                yield name, _read_file(f"{root}/{name}", name, label, self.member_limit)

    def skipped(self) -> list[Skipped]:
        return []


def _read_file(path: str, name: str, container: str, limit: int) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise SourceError(f"{container}/{name}: not a regular file; remove it from the folder")
            _check_size(name, status.st_size, limit, container)
            return file.readall()
    except OSError as error:
        raise SourceError(f"{container}/{name}: can't be read ({error.strerror})") from error


class SingleFile:
    """One plain file, as a source with one member."""

    seekable = True

    def __init__(self, path: Path, member_limit: int = MEMBER_LIMIT) -> None:
        self.path = path
        self._folder = FolderFiles(path.parent, member_limit)

    def names(self) -> list[str]:
        return [self.path.name]

    def members(self, accept: Accept | None = None, names: Sequence[str] | None = None) -> Iterator[tuple[str, bytes]]:
        if names is not None or accept is None or accept(self.path.name):
            yield from self._folder.members(names=self.names() if names is None else names)

    def skipped(self) -> list[Skipped]:
        return []


class ZipFiles:
    """A zip archive; members are read one by one and their checksums verified."""

    seekable = True

    def __init__(self, path: Path, member_limit: int = MEMBER_LIMIT) -> None:
        self.path, self.member_limit = path, member_limit

    @contextmanager
    def _open(self) -> Iterator[zipfile.ZipFile]:
        try:
            with zipfile.ZipFile(self.path) as archive:
                yield archive
        except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError) as error:
            raise SourceError(f"{self.path.name}: not a readable zip archive ({error}); download it again") from error

    def names(self) -> list[str]:
        with self._open() as archive:
            members = [info.filename for info in archive.infolist() if not info.is_dir()]
        return [check_member_name(name, self.path.name) for name in members]

    def members(self, accept: Accept | None = None, names: Sequence[str] | None = None) -> Iterator[tuple[str, bytes]]:
        wanted = None if names is None else set(names)
        with self._open() as archive:
            for info in archive.infolist():
                if info.is_dir():
                    continue
                name = check_member_name(info.filename, self.path.name)
                if (name not in wanted) if wanted is not None else (accept is not None and not accept(name)):
                    continue
                if info.flag_bits & 1:
                    raise SourceError(
                        f"{self.path.name}: the archive is password-protected; unpack it yourself and give the folder"
                    )
                _check_size(name, info.file_size, self.member_limit, self.path.name)
                yield name, archive.read(info)

    def skipped(self) -> list[Skipped]:
        return []


class TarFiles:
    """A tar archive (plain, gzip or xz), streamed from front to back in one pass."""

    seekable = False

    def __init__(self, path: Path, member_limit: int = MEMBER_LIMIT) -> None:
        self.path, self.member_limit = path, member_limit
        self._skipped: list[Skipped] = []

    def names(self) -> list[str]:
        return [name for name, _ in self._walk(lambda name: False)]

    def members(self, accept: Accept | None = None, names: Sequence[str] | None = None) -> Iterator[tuple[str, bytes]]:
        wanted: Accept = set(names).__contains__ if names is not None else accept or (lambda name: True)
        for name, data in self._walk(wanted):
            if data is not None:
                yield name, data

    def _walk(self, wanted: Accept) -> Iterator[tuple[str, bytes | None]]:
        """Every member's name, with the bytes of those that are wanted."""
        self._skipped = []
        try:
            # no larger bufsize: tarfile copies its whole buffer for each member, so 1 MiB is five times slower
            with tarfile.open(self.path, "r|*") as archive:
                for info in archive:
                    name = check_member_name(info.name, self.path.name)
                    if info.isfile():
                        _check_size(name, info.size, self.member_limit, self.path.name)
                        yield name, _read_member(archive, info) if wanted(name) else None
                    elif not info.isdir():
                        self._skipped.append(Skipped(name, "a link or device"))
                    # the stream keeps every header it has seen; 6,589 of them would cost 15 MB
                    archive.members.clear()  # type: ignore[attr-defined]
        except (tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError) as error:
            raise SourceError(f"{self.path.name}: not a readable tar archive ({error}); download it again") from error

    def skipped(self) -> list[Skipped]:
        return self._skipped


def _read_member(archive: tarfile.TarFile, info: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(info)
    return file.read() if file else b""


def natural_order(name: str) -> tuple[str, int, str]:
    """Sort key: folder, then the first number in the file's name, then the name (2.json before 10.json)."""
    folder, _, file = name.rpartition("/")
    number = _NUMBER.search(file)
    return folder, int(number[0]) if number else -1, file
