"""Reading a file of a pinned revision: from any byte on, and on again after a dropped connection."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from huggingface_hub import get_session, hf_hub_url
from huggingface_hub.utils._headers import build_hf_headers
from huggingface_hub.utils._http import hf_raise_for_status

from ..core.retry import Patience
from .errors import OutcomeUnknown, TargetError
from .http import told_apart

_CHUNK = 1 << 16

Bounded = Callable[[], AbstractContextManager[None]]
"""Makes the context that a request runs in: time limits and counting (`http.bounded_http`)."""


class Pinned:
    """The files of one revision of a repo. Nothing is served from a cache, so nothing old can come back."""

    def __init__(self, repo_id: str, revision: str, *, token: str | None, endpoint: str, bounded: Bounded) -> None:
        self._repo_id, self._revision = repo_id, revision
        self._token, self._endpoint, self._bounded = token, endpoint, bounded

    def fetch(self, path: str, offset: int) -> Iterator[bytes]:
        """Bytes from `offset` to the end of the file; none if it ends there. Raises TargetError."""
        url = hf_hub_url(self._repo_id, path, repo_type="dataset", revision=self._revision, endpoint=self._endpoint)
        # compressed bytes could not be counted off against the offset
        headers = {**build_hf_headers(token=self._token), "Accept-Encoding": "identity"}
        if offset:
            headers["Range"] = f"bytes={offset}-"
        with self._bounded():
            try:
                with get_session().stream("GET", url, headers=headers) as response:
                    if response.status_code == 416:
                        return
                    hf_raise_for_status(response)
                    yield from _from_offset(response.iter_bytes(_CHUNK), 0 if response.status_code == 206 else offset)
            except GeneratorExit:
                raise
            except Exception as error:
                known = told_apart(error, f"reading {path} at {self._revision[:12]}")
                if known is None:
                    raise
                raise known from None


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
        self._position, self._faults = 0, 0
        self._chunks: Iterator[bytes] | None = None
        self._held = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._held and self._position < self._size:
            try:
                if self._chunks is None:
                    self._chunks = self._fetch(self._path, self._position)
                self._held = next(self._chunks, b"")
                if not self._held:
                    raise OutcomeUnknown(f"{self._path}: ended after {self._position} of {self._size} bytes")
                self._faults = 0
            except TargetError as error:
                self._chunks = None
                self._faults += 1
                self._patience.after(error, self._faults)
        part = self._held[: len(buffer)]
        buffer[: len(part)] = part
        self._held = self._held[len(part) :]
        self._position += len(part)
        return len(part)

    def close(self) -> None:
        if self._chunks is not None and hasattr(self._chunks, "close"):
            self._chunks.close()
        super().close()
