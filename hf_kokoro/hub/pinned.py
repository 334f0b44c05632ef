"""Files of a pinned revision, read from any byte on, and on again after a dropped connection."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import ExitStack

from huggingface_hub import get_session, hf_hub_url
from huggingface_hub.utils._headers import build_hf_headers
from huggingface_hub.utils._http import hf_raise_for_status

from ..core.hubclient import OwnClient
from ..core.patience import Patience, Tries
from ..core.told import told_apart
from .errors import OutcomeUnknown, TargetError

_PIECE = 1 << 16


class Pinned:
    """The files of one revision of a repo. Nothing is served from a cache, so nothing old can come back."""

    def __init__(self, repo_id: str, revision: str, *, token: str | None, endpoint: str, own: OwnClient) -> None:
        self._repo_id, self._revision = repo_id, revision
        self._token, self._endpoint, self._own = token, endpoint, own

    def fetch(self, path: str, offset: int) -> Iterator[bytes]:
        """Bytes from `offset` to the end of the file; none if it ends there. Raises TargetError."""
        url = hf_hub_url(self._repo_id, path, repo_type="dataset", revision=self._revision, endpoint=self._endpoint)
        # compressed bytes could not be counted off against the offset
        headers = {**build_hf_headers(token=self._token), "Accept-Encoding": "identity"}
        if offset:
            headers["Range"] = f"bytes={offset}-"
        try:
            with ExitStack() as until_read:
                # left before the first chunk: whoever takes the chunks makes requests of his own in between
                with self._own.used():
                    response = until_read.enter_context(get_session().stream("GET", url, headers=headers))
                    if response.status_code == 416:
                        return
                    hf_raise_for_status(response)
                yield from _from_offset(response.iter_bytes(_PIECE), 0 if response.status_code == 206 else offset)
        except GeneratorExit:
            raise
        except Exception as error:
            known = told_apart(error, f"reading {path} at {self._revision[:12]}")
            if known is None:
                raise
            raise known from None
        finally:
            self._own.count()


def _from_offset(chunks: Iterator[bytes], skip: int) -> Iterator[bytes]:
    """Drop the first `skip` bytes, for a server that doesn't know Range."""
    for chunk in chunks:
        if skip < len(chunk):
            yield chunk[skip:]
        skip = max(0, skip - len(chunk))


class PinnedStream(io.RawIOBase):
    """One file as a stream of known size; goes on where it stopped when the connection breaks."""

    def __init__(self, fetch: Callable[[str, int], Iterator[bytes]], path: str, size: int, patience: Patience) -> None:
        self._fetch, self._path, self._size, self._patience = fetch, path, size, patience
        self._position, self._tries = 0, Tries(patience)
        self._chunks: Iterator[bytes] | None = None
        self._held = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._held and self._position < self._size:
            try:
                if self._chunks is None:
                    self._tries.begin()
                    self._chunks = self._fetch(self._path, self._position)
                self._held = next(self._chunks, b"")
                if not self._held:
                    raise OutcomeUnknown(f"{self._path}: ended after {self._position} of {self._size} bytes")
                if self._tries.attempts > 1:
                    self._tries = Tries(self._patience, attempts=1)
            except TargetError as error:
                self._chunks = None
                self._tries.after(error)
        part = self._held[: len(buffer)]
        buffer[: len(part)] = part
        self._held = self._held[len(part) :]
        self._position += len(part)
        return len(part)

    def close(self) -> None:
        if self._chunks is not None and hasattr(self._chunks, "close"):
            self._chunks.close()
        super().close()
