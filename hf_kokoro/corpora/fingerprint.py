"""Content digests of sources: the part of a cache key that follows the input's bytes, wherever they lie.

Hashing 6,589 files takes 0.2 s, too long for a warm load; so the digest is remembered under what the file
system says of the files (name, size, times, inode). As in git's index, a file changed within the clock's
grain of that moment could be missed, so a digest of files that young is not remembered.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import xxhash

from ..core.archives import FolderFiles, SourceFiles
from ..core.atomic import write_atomically

SETTLED_SECONDS = 2.0
_BLOCK = 2**20


def source_digest(files: SourceFiles, names: Iterable[str], memory: Path) -> str:
    """Hex digest of a source: of the named files' (name, bytes) for a folder, of the file's bytes for anything else.

    Args:
        files: the opened source.
        names: for a folder, the members that count (other files may change freely).
        memory: folder in which digests are remembered.
    """
    if isinstance(files, FolderFiles):
        root = os.fspath(files.path)
        paths = [(name, f"{root}/{name}") for name in names]
    else:
        paths = [("", os.fspath(files.path))]
    started = time.time()
    stats = [os.stat(path) for _, path in paths]
    key = hashlib.sha256(os.fsencode(files.path.resolve()))
    for (name, _), status in zip(paths, stats, strict=True):
        stamp = f"{status.st_size},{status.st_mtime_ns},{status.st_ctime_ns},{status.st_ino}"
        key.update(f"{name}\0{stamp}\n".encode("utf-8", "surrogateescape"))
    remembered = memory / key.hexdigest()
    if remembered.exists():
        return remembered.read_text("ascii")
    digest = _digest(paths)
    newest = max((max(s.st_mtime, s.st_ctime) for s in stats), default=0.0)
    if newest < started - SETTLED_SECONDS:
        _remember(remembered, digest)
    return digest


def _digest(paths: list[tuple[str, str]]) -> str:
    # xxh3 is not cryptographic, nor need it be: nobody gains by forging their own cache; it is 20 x faster
    whole = xxhash.xxh3_128()
    for name, path in sorted(paths):
        content = xxhash.xxh3_128()
        with open(path, "rb", buffering=0) as file:
            while block := file.read(_BLOCK):
                content.update(block)
        whole.update(f"{name}\0{content.hexdigest()}\n".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def _remember(path: Path, digest: str) -> None:
    with suppress(OSError):  # without it the next run only reads the files once more
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, digest.encode())
