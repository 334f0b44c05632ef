"""What huggingface_hub leaves to its callers: errors told apart by type, in words for people.

Facts are for huggingface_hub 2.4: it never retries a commit, and answers a dropped connection, a lost reply and an HTML
page in as many different exceptions.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TypeVar

import httpx2
from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled
from huggingface_hub.utils._http import parse_ratelimit_headers

from .hub_errors import AccessError, CommitRace, OutcomeUnknown, RateLimited, TargetError
from .hubclient import BrokenConnection
from .retry import retry_after
from .secrets import masked

_T = TypeVar("_T")
SPEAK_SECONDS = 10.0
"""A call that is not answered for so long says so, and again after as long."""

logger = logging.getLogger(__name__)


def told_apart(error: Exception, doing: str) -> TargetError | None:
    """The TargetError for what the client raised while `doing` something; None if it isn't about the Hub.

    Only status and type count, and what the Hub itself says of a status. Messages of the client are not repeated:
    they may quote what was sent.
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
        case BrokenConnection():
            return OutcomeUnknown(f"{doing}: the connection failed ({error})")
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
    status, words = response.status_code, _words(response)
    request = response.headers.get("x-request-id", "")
    told = f"{doing}: HTTP {status}" + (f" (request {request})" if request else "") + (f": {words}" if words else "")
    then = "; " if words else ": "
    if status in (409, 412):
        return CommitRace(f"{told}{then}somebody else committed first")
    if status == 429:
        return RateLimited(f"{told}{then}too many requests", _wait_by(response.headers))
    if status in (401, 403, 404):
        return AccessError(then.join([told, *_advice(response, words)]))
    if status == 408 or status >= 500:
        return OutcomeUnknown(told)
    if status == 413:
        return TargetError(f"{told}{then}too large for one commit; grow in segments (--segment-bytes 8000000)")
    return TargetError(f"{told}{then}refused, nothing was written")


def _words(response: httpx2.Response) -> str:
    """What the Hub says of a refusal, in one short line; "" if it is not the Hub that speaks, or says nothing."""
    found: list[object] = [response.headers.get("x-error-message", "")]
    try:
        body = response.json()
    except (ValueError, httpx2.StreamError):
        body = None  # a proxy's page, or a body that nobody has read
    if isinstance(body, dict):
        errors = body.get("errors")
        entries = errors if isinstance(errors, list) else []
        found += [body.get("error"), *(entry.get("message") for entry in entries if isinstance(entry, dict))]
    lines = dict.fromkeys(" ".join(text.split()) for text in found if isinstance(text, str) and text.strip())
    sent = response.request.headers.get("authorization", "").removeprefix("Bearer ")
    text = masked(": ".join(lines), sent)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


_LONGEST = 400
_RIGHTS = re.compile(r"\b(?:writ|permission|right|scope|role|token|forbidden|unauthori[sz]ed)", re.IGNORECASE)
_LIKELY = {
    401: "the token is missing, wrong or expired; log in with `hf auth login` or set HF_TOKEN",
    403: "the token may not do this; it needs the scope 'Write access to contents' of this repo (a token that may "
    "only open pull requests works with --pr)",
    404: "no such repo or branch, or the token can't see it; it needs the scope 'Read access to contents' of this repo",
}


def _advice(response: httpx2.Response, words: str) -> Iterator[str]:
    """The next step after 401, 403 and 404, where the Hub's own words don't speak of something else."""
    if response.headers.get("x-error-code") == "GatedRepo":
        yield "the repo is gated: ask for access on its page, with the account whose token this is"
    elif response.status_code != 403 or not words or _RIGHTS.search(words):
        yield _LIKELY[response.status_code]


def _wait_by(headers: httpx2.Headers) -> float | None:
    """Seconds to wait by `Retry-After`, or by the Hub's header `RateLimit`."""
    wait = retry_after(headers)
    info = parse_ratelimit_headers(headers) if wait is None else None
    return float(info.reset_in_seconds) if info is not None else wait


def asked(doing: str, call: Callable[[], _T], *, commits: bool = False) -> _T:
    """Run one call of the client; what it raises becomes a TargetError, without the client's words.

    Only a call that `commits` can lose a race: a conflict anywhere else says nothing about our commit. A call that
    takes long says so.
    """
    try:
        with _speaking(doing):
            return call()
    except Exception as error:
        known = told_apart(error, doing)
        if known is None:
            raise
        if isinstance(known, CommitRace) and not commits:
            known = OutcomeUnknown(f"{doing}: a conflict where nothing was committed")
        raise known from None


@contextmanager
def _speaking(doing: str) -> Iterator[None]:
    """Say what is going on after some seconds without an answer, once a while."""
    over = Event()

    def speak() -> None:
        started = time.monotonic()
        while not over.wait(SPEAK_SECONDS):
            logger.warning("%s: at it for %.0f s, no answer yet", doing, time.monotonic() - started)

    thread = Thread(target=speak, name="speaking", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
