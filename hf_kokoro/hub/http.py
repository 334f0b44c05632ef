"""What huggingface_hub leaves to its callers: errors told apart by type, and reading a file of a pinned revision from
any byte on, and on again after a dropped connection.

Facts are for huggingface_hub 2.4: it never retries a commit, and answers a dropped connection, a lost reply and an HTML
page in as many different exceptions.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TypeVar

import httpx2
from huggingface_hub import get_session, hf_hub_url
from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled
from huggingface_hub.utils._headers import build_hf_headers
from huggingface_hub.utils._http import hf_raise_for_status, parse_ratelimit_headers

from ..core.retry import retry_after
from .client import OwnClient
from .errors import AccessError, CommitRace, OutcomeUnknown, RateLimited, TargetError
from .patience import Patience, wait_between

_T = TypeVar("_T")
_PIECE = 1 << 16


def told_apart(error: Exception, doing: str) -> TargetError | None:
    """The TargetError for what the client raised while `doing` something; None if it isn't about the Hub.

    Only status and type count. Messages of the client are not repeated: they may quote what was sent.
    """
    for cause in _chain(error):
        known = _by_type(cause, doing)
        if known is not None:
            return known
    if isinstance(error, ValueError):
        return TargetError(f"{doing}: refused before sending ({type(error).__name__}); is the card's YAML valid?")
    return None


def _by_type(error: BaseException, doing: str) -> TargetError | None:
    match error:
        case TargetError():
            return error
        case OfflineModeIsEnabled():
            return TargetError(f"{doing}: offline mode is on (HF_HUB_OFFLINE); unset it to reach the Hub")
        case HfHubHTTPError() | httpx2.HTTPStatusError():
            return _by_status(error.response, doing)
        case httpx2.HTTPError():
            return OutcomeUnknown(f"{doing}: the connection failed ({type(error).__name__})")
        case json.JSONDecodeError():
            return OutcomeUnknown(f"{doing}: the reply is not JSON, perhaps a proxy's error page")
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__


def _by_status(response: httpx2.Response, doing: str) -> TargetError:
    status = response.status_code
    request = response.headers.get("x-request-id", "")
    told = f"{doing}: HTTP {status}" + (f" (request {request})" if request else "")
    if status in (409, 412):
        return CommitRace(f"{told}: somebody else committed first")
    if status == 429:
        return RateLimited(f"{told}: too many requests", _wait_by(response.headers))
    if status in (401, 403, 404):
        return AccessError(f"{told}: {_LIKELY[status]}")
    if status == 408 or status >= 500:
        return OutcomeUnknown(told)
    if status == 413:
        return TargetError(f"{told}: too large for one commit; grow in segments (--segment-bytes 8000000)")
    return TargetError(f"{told}: refused; nothing was written")


_LIKELY = {
    401: "the token is missing, wrong or expired; log in with `hf auth login` or set HF_TOKEN",
    403: "the token may not do this; it needs the scope 'Write access to contents' of this repo (a token that may "
    "only open pull requests works with --pr)",
    404: "no such repo or branch, or the token can't see it; it needs the scope 'Read access to contents' of this repo",
}


def _wait_by(headers: httpx2.Headers) -> float | None:
    """Seconds to wait by `Retry-After`, or by the Hub's header `RateLimit`."""
    wait = retry_after(headers)
    info = parse_ratelimit_headers(headers) if wait is None else None
    return float(info.reset_in_seconds) if info is not None else wait


def asked(doing: str, call: Callable[[], _T], *, commits: bool = False) -> _T:
    """Run one call of the client; what it raises becomes a TargetError, without the client's words.

    Only a call that `commits` can lose a race: a conflict anywhere else says nothing about our commit.
    """
    try:
        return call()
    except Exception as error:
        known = told_apart(error, doing)
        if known is None:
            raise
        if isinstance(known, CommitRace) and not commits:
            known = OutcomeUnknown(f"{doing}: a conflict where nothing was committed")
        raise known from None


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
                wait_between(error, self._faults, self._patience)
        part = self._held[: len(buffer)]
        buffer[: len(part)] = part
        self._held = self._held[len(part) :]
        self._position += len(part)
        return len(part)

    def close(self) -> None:
        if self._chunks is not None and hasattr(self._chunks, "close"):
            self._chunks.close()
        super().close()
