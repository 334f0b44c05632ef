"""The next version of a file, written beside the old one before anything is changed."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

from ..core.jsonl import CHUNK
from .prefixes import git_hasher
from .target import FileInfo


def write_grown(source: Path | None, tail: bytes, destination: Path) -> tuple[str, FileInfo]:
    """Write the bytes of `source` (none for a new file) + `tail` to a new file, durably.

    Gives back the sha256 of the source's bytes as they were copied, and size and sha256 of the whole.
    """
    digest, size = hashlib.sha256(), 0
    with destination.open("xb") as out:
        if source is not None:
            with source.open("rb") as stream:
                while chunk := stream.read(CHUNK):
                    digest.update(chunk)
                    out.write(chunk)
                    size += len(chunk)
            shutil.copymode(source, destination)
        copied = digest.copy().hexdigest()
        out.write(tail)
        digest.update(tail)
        out.flush()
        os.fsync(out.fileno())
    return copied, FileInfo(size + len(tail), sha256=digest.hexdigest())


def file_matches(file: Path, info: FileInfo) -> bool:
    """Whether the file has that size and digest, whichever digest `info` has."""
    if file.stat().st_size != info.size:
        return False
    hasher = hashlib.sha256() if info.sha256 else git_hasher(info.size)
    with file.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            hasher.update(chunk)
    return hasher.hexdigest() == (info.sha256 or info.git)


def content_matches(content: bytes, info: FileInfo) -> bool:
    """The same for bytes in memory."""
    if len(content) != info.size:
        return False
    hasher = hashlib.sha256() if info.sha256 else git_hasher(info.size)
    hasher.update(content)
    return hasher.hexdigest() == (info.sha256 or info.git)
