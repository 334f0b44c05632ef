"""Writing so that a crash at any moment leaves the old bytes or the new ones, never something between."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

TEMPORARY = ".hfk-tmp"
"""Suffix of files that only exist while something is being written; leftovers may be deleted."""


def temporary_name(path: Path) -> Path:
    """A hidden name beside `path`, so that a rename stays on one file system."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}{TEMPORARY}")


def delete_temporaries(folder: Path) -> None:
    """Delete what a killed process left half written in a folder and below. Only under the folder's lock."""
    for leftover in folder.rglob(f".*{TEMPORARY}"):
        leftover.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make renames and new names in a folder durable, where the system can."""
    if os.name == "nt":
        return  # directories can't be opened there; the rename itself is journalled
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_folders(folder: Path) -> None:
    """Create a folder and its parents, each made durable in its parent."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for new in reversed(missing):
        new.mkdir(exist_ok=True)
        sync_folder(new.parent)


def write_synced(path: Path, content: bytes, mode: int | None = None) -> None:
    """Write a new file and its bytes to disk; `mode` as for os.open, else what the umask allows."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else mode)
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def write_atomically(path: Path, content: bytes, mode: int | None = None) -> None:
    """Replace `path` by `content`: temporary file, fsync, rename, fsync of the folder."""
    temporary = temporary_name(path)
    try:
        write_synced(temporary, content, mode)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)
