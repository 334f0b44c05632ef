"""An HTTP client of our own inside huggingface_hub: time limits and byte counts for our requests and for no others.

Nothing is tried again within it, for huggingface_hub waits in silence, as long as a server says: 429, 5xx and broken
connections are raised at once, and who made the call waits (`core.patience`).

Facts are for huggingface_hub 2.4: one client serves the whole process, `HfApi` takes none for a call, and setting a
factory closes the client under the requests of other threads. It asks for that client at every request, though, so a
`_Shared` is put in its place, and in the place of the factory, for a client that is closed is made anew. It passes
everything on to the client that the process had, except within `OwnClient.used`: there it passes on to ours.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Any

import httpx2
from huggingface_hub import get_token
from huggingface_hub.utils import _http
from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

from .secrets import check_secret

CONNECT_SECONDS = 15.0
READ_SECONDS = 120.0
"""No byte for this long counts as lost; a commit of a large repo may take a minute before it answers."""
LEAST_SECONDS = 5.0
"""What --max-wait leaves for an answer: a commit that is given up sooner may well have landed."""


@dataclass
class Traffic:
    """Body bytes that went out and came in."""

    sent: int = 0
    received: int = 0


class BrokenConnection(Exception):
    """A connection that failed, by the class of the HTTP library's error: no class that huggingface_hub tries again."""


_Factory = Callable[[], httpx2.Client]


class OwnClient:
    """Time limits and a counter for the requests of one target; they share the client that is ours.

    Requests that have no time limits get these; body bytes are added to `traffic`. `token` is what requests carry:
    UsageError, before any, if they can't.
    """

    def __init__(self, traffic: Traffic, read_seconds: float = READ_SECONDS, token: str | bool | None = None) -> None:
        self._traffic, self._token, self._token_checked = traffic, token, False
        self.read_seconds = read_seconds
        self._limits = {"connect": CONNECT_SECONDS, "read": read_seconds, "write": read_seconds, "pool": read_seconds}
        self._responses: list[httpx2.Response] = []

    @contextmanager
    def used(self) -> Iterator[None]:
        """Within this, requests of huggingface_hub are ours, those of this context: threads that it starts are not."""
        self._check_token()
        _take_its_place()
        before = _USED.set(self)
        try:
            with _quiet_unless_terminal():
                yield
        finally:
            _USED.reset(before)
            self.count()

    def _check_token(self) -> None:
        if not self._token_checked:
            login = "log in again with `hf auth login`, or set HF_TOKEN anew"
            token = get_token() if self._token is None or self._token is True else self._token
            check_secret(token, "the Hub's token", login)
            self._token_checked = True

    def count(self) -> None:
        """Add up the responses that have ended."""
        self._traffic.received += sum(r.num_bytes_downloaded for r in self._responses if r.is_closed)
        self._responses = [response for response in self._responses if not response.is_closed]

    def sends(self, request: httpx2.Request) -> None:
        """Bound and count a request that is about to go out."""
        given = request.extensions.get("timeout") or {}
        request.extensions["timeout"] = {name: given.get(name) or limit for name, limit in self._limits.items()}
        self._traffic.sent += int(request.headers.get("content-length", 0))

    def gets(self, response: httpx2.Response) -> None:
        """Remember a response whose body will be counted."""
        self._responses.append(response)


_USED: ContextVar[OwnClient | None] = ContextVar("hf_kokoro_own_client", default=None)


def _on_request(request: httpx2.Request) -> None:
    # a factory may give the same client to everybody
    if own := _USED.get():
        own.sends(request)


def _on_response(response: httpx2.Response) -> None:
    if own := _USED.get():
        own.gets(response)
        if response.status_code == 429 or response.status_code >= 500:
            response.read()
            _http.hf_raise_for_status(response)


def _breaking(call: Callable[..., Any]) -> Callable[..., Any]:
    """A client's `request` whose connection errors nobody tries again on the way."""

    @wraps(call)
    def request(*given: Any, **named: Any) -> Any:
        try:
            return call(*given, **named)
        except httpx2.TransportError as error:
            raise BrokenConnection(type(error).__name__) from error

    return request


def _breaking_stream(call: Callable[..., Any]) -> Callable[..., Any]:
    """The same for `stream`."""

    @wraps(call)
    @contextmanager
    def stream(*given: Any, **named: Any) -> Iterator[Any]:
        try:
            with call(*given, **named) as response:
                yield response
        except httpx2.TransportError as error:
            raise BrokenConnection(type(error).__name__) from error

    return stream


_BREAKING = {"request": _breaking, "stream": _breaking_stream}


class _Shared:
    """Client and factory of the process: whatever is done to it is done to the client that this context uses.

    Both clients are made by the factory that the process had, so with its proxies and certificates, and made anew when
    closed. Ours is also made anew after a fork; huggingface_hub closes the other then.
    """

    def __init__(self, factory: _Factory, theirs: httpx2.Client | None) -> None:
        vars(self).update(factory=factory, theirs=theirs, ours=None, process=0, lock=threading.Lock())

    def __call__(self) -> _Shared:
        return self

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._current(), name)
        return _BREAKING[name](found) if name in _BREAKING and _USED.get() else found

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._current(), name, value)

    def _current(self) -> httpx2.Client:
        state, own = vars(self), _USED.get() is not None
        which = "ours" if own else "theirs"
        with state["lock"]:
            client: httpx2.Client | None = state[which]
            if client is None or client.is_closed or (own and state["process"] != os.getpid()):
                client = state[which] = state["factory"]()
                if own:
                    state["process"] = os.getpid()
                    hooks = {"request": _on_request, "response": _on_response}
                    client.event_hooks = {kind: [*found, hooks[kind]] for kind, found in client.event_hooks.items()}
            return client


def _take_its_place() -> None:
    """Stand where the process's client and factory are; again after somebody set another factory."""
    with _http._CLIENT_LOCK:
        if not isinstance(_http._GLOBAL_CLIENT_FACTORY, _Shared):
            shared: Any = _Shared(_http._GLOBAL_CLIENT_FACTORY, _http._GLOBAL_CLIENT)
            _http._GLOBAL_CLIENT = _http._GLOBAL_CLIENT_FACTORY = shared


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
