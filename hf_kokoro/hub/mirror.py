"""A local copy of a Hub branch's data files: what we know them to be, byte for byte.

The copy makes two things cheap. An append fetches only what others added, and a history that was rewritten is
noticed, because the bytes on the Hub no longer start with ours.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from huggingface_hub import constants

from ..core.atomic import delete_temporaries, make_folders, write_atomically
from ..core.jsonl import CHUNK
from .errors import HistoryError, OutcomeUnknown
from .files import Notes, content_matches, file_matches
from .target import FileInfo

Fetch = Callable[[str, int], Iterator[bytes]]
"""Bytes of a file (path) from an offset to its end at the pinned revision."""


def cache_root() -> Path:
    """Where mirrors live: `HF_KOKORO_CACHE`, else `hf-kokoro` in `HF_HOME`."""
    given = os.environ.get("HF_KOKORO_CACHE")
    return Path(given).expanduser() if given else Path(constants.HF_HOME) / "hf-kokoro"


def folder_name(*parts: str) -> str:
    """One readable, unique folder name for an endpoint, repo and branch."""
    readable = re.sub(r"[^A-Za-z0-9.-]+", "-", "--".join(parts[1:])).strip("-.")
    return f"{readable[:80]}-{hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]}"


class Mirror:
    """The copy of one branch. Only used under the target's lock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._notes = Notes(folder / "proven.json")

    def file(self, path: str) -> Path:
        return self.folder / "files" / path

    def known(self, path: str) -> int | None:
        """Bytes of the file we hold, None if we hold none."""
        with suppress(FileNotFoundError):
            return self.file(path).stat().st_size
        return None

    def prove(self, path: str, remote: FileInfo, fetch: Fetch) -> Path:
        """A local file with exactly the remote bytes, fetching only what is missing.

        Raises HistoryError with the first differing byte if the remote doesn't start with what we hold, and
        OutcomeUnknown if what was downloaded is not what the revision holds.
        """
        size = self.known(path)
        if size == remote.size and self._is(path, remote):
            return self.file(path)
        if size is not None and size < remote.size:
            with self._downloaded(path, fetch, keep=size) as staged:
                if file_matches(staged, remote):
                    self.adopt(path, staged, remote)
                    return self.file(path)
        with self._downloaded(path, fetch, keep=0) as staged:
            if not file_matches(staged, remote):
                raise OutcomeUnknown(f"{path}: the download is not the file of the pinned revision")
            offset = self._first_difference(path, staged) if size is not None else None
            if offset is not None:
                raise self._rewritten(path, remote, offset)
            self.adopt(path, staged, remote)
        return self.file(path)

    def adopt(self, path: str, staged: Path, info: FileInfo) -> None:
        """Take a file that we just committed, and read back, as the new copy."""
        file = self.file(path)
        make_folders(file.parent)
        os.replace(staged, file)
        self._notes.add(path, file, info.sha256 or info.git)

    def forget(self, path: str) -> None:
        """Drop the copy of a file that we just deleted."""
        self.file(path).unlink(missing_ok=True)

    def small(self, path: str, remote: FileInfo, fetch: Fetch) -> bytes:
        """A small file, from the copy if its digest is the remote's."""
        file = self.folder / "small" / path
        with suppress(FileNotFoundError):
            content = file.read_bytes()
            if content_matches(content, remote):
                return content
        content = b"".join(fetch(path, 0))
        if not content_matches(content, remote):
            raise OutcomeUnknown(f"{path}: {len(content)} bytes came that are not those of the pinned revision")
        make_folders(file.parent)
        write_atomically(file, content)
        return content

    def staging(self, path: str) -> Path:
        """A new place for the next version of a file; it keeps the name, which the client shows."""
        folder = self.folder / "staged" / uuid.uuid4().hex[:12]
        make_folders(folder)
        return folder / Path(path).name

    def clean(self) -> None:
        """Delete what is half written, by us or by a process that was killed."""
        shutil.rmtree(self.folder / "staged", ignore_errors=True)
        delete_temporaries(self.folder)

    @contextmanager
    def _downloaded(self, path: str, fetch: Fetch, *, keep: int) -> Iterator[Path]:
        """Our first `keep` bytes + the remote's rest, in a staged file."""
        staged = self.staging(path)
        try:
            if keep:
                shutil.copyfile(self.file(path), staged)
            with staged.open("ab") as out:
                for chunk in fetch(path, keep):
                    out.write(chunk)
                out.flush()
                os.fsync(out.fileno())
            yield staged
        finally:
            staged.unlink(missing_ok=True)
            staged.parent.rmdir()

    def _rewritten(self, path: str, remote: FileInfo, offset: int) -> HistoryError:
        return HistoryError(
            f"{path} byte {offset}: the file on the Hub ({remote.size} bytes) does not start with the "
            f"{self.known(path)} bytes that were there before: its history was rewritten or cut; nothing was written; "
            "ways out: see what happened with `hf-kokoro audit`, put the former bytes back (a copy is in "
            f"{self.file(path)}), or, if the change is wanted, delete that copy",
            offset,
        )

    def held(self) -> list[str]:
        """Paths of the files we hold."""
        root = self.folder / "files"
        return sorted(file.relative_to(root).as_posix() for file in root.rglob("*") if file.is_file())

    def removed(self, path: str) -> HistoryError:
        """The error for a file that was there and is gone."""
        return HistoryError(
            f"{path} byte 0: the file is no longer on the Hub, where it had {self.known(path)} bytes; nothing "
            f"was written; ways out: put it back (a copy is in {self.file(path)}), or, if the change is wanted, "
            "delete that copy",
            0,
        )

    def _first_difference(self, path: str, theirs: Path) -> int | None:
        """The first byte where another file doesn't go on as ours does; None if it starts with all of ours."""
        offset = 0
        with self.file(path).open("rb") as ours, theirs.open("rb") as other:
            while mine := ours.read(CHUNK):
                there = other.read(len(mine))
                if mine != there:
                    differ = (i for i, (a, b) in enumerate(zip(mine, there, strict=False)) if a != b)
                    return offset + next(differ, len(there))
                offset += len(mine)
        return None

    def _is(self, path: str, remote: FileInfo) -> bool:
        """Whether our copy has the remote's digest; one that was proven and not touched since isn't read again."""
        digest = remote.sha256 or remote.git
        if self._notes.holds(path, self.file(path), digest):
            return True
        if not file_matches(self.file(path), remote):
            return False
        self._notes.add(path, self.file(path), digest)
        return True
