"""What the Hub's client leaves to its callers: time limits, byte counts, and errors told apart by type.

Facts are for huggingface_hub 2.4: its shared client has no time limit, never retries a commit, and answers a
dropped connection, a lost reply and an HTML page in as many different exceptions.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import httpx2
from huggingface_hub import get_session
from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled
from huggingface_hub.utils._http import parse_ratelimit_headers
from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

from ..core.retry import retry_after
from .errors import AccessError, CommitRace, OutcomeUnknown, RateLimited, TargetError
from .target import Traffic

CONNECT_SECONDS = 15.0
READ_SECONDS = 120.0
"""No byte for this long counts as lost; a commit of a large repo may take a minute before it answers."""

_T = TypeVar("_T")
_lock = threading.Lock()


@contextmanager
def bounded_http(traffic: Traffic, read_seconds: float = READ_SECONDS) -> Iterator[None]:
    """Give every request of the Hub's shared client a time limit and count its body bytes, for a while.

    The whole process shares the client: requests of other threads get the limit too, if they had none.
    """
    limits = {"connect": CONNECT_SECONDS, "read": read_seconds, "write": read_seconds, "pool": read_seconds}
    responses: list[httpx2.Response] = []

    def on_request(request: httpx2.Request) -> None:
        given = request.extensions.get("timeout") or {}
        request.extensions["timeout"] = {name: given.get(name) or limit for name, limit in limits.items()}
        traffic.sent += int(request.headers.get("content-length", 0))

    def on_response(response: httpx2.Response) -> None:
        responses.append(response)

    hooks = _Hooks(on_request, on_response)
    with _quiet_unless_terminal():
        try:
            hooks.install()
            yield
        finally:
            hooks.remove()
            traffic.received += sum(response.num_bytes_downloaded for response in responses)


class _Hooks:
    """Our hooks on the shared client; `install` may be called again after the client was replaced."""

    def __init__(self, on_request: Callable[..., Any], on_response: Callable[..., Any]) -> None:
        self._on = {"request": on_request, "response": on_response}
        self._clients: list[httpx2.Client] = []

    def install(self) -> None:
        with _lock:
            client = get_session()
            hooks = client.event_hooks
            client.event_hooks = {kind: [*hooks[kind], hook] for kind, hook in self._on.items()}
            self._clients.append(client)

    def remove(self) -> None:
        with _lock:
            for client in self._clients:
                hooks = client.event_hooks
                client.event_hooks = {
                    kind: [h for h in hooks[kind] if h is not hook] for kind, hook in self._on.items()
                }


@contextmanager
def _quiet_unless_terminal() -> Iterator[None]:
    """Keep the client's progress bars out of pipes and log files."""
    if sys.stderr.isatty() or are_progress_bars_disabled():
        yield
        return
    disable_progress_bars()
    try:
        yield
    finally:
        enable_progress_bars()


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
