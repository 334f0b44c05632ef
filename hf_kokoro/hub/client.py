"""An HTTP client of our own inside huggingface_hub: time limits and byte counts for our requests and for no others.

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
from typing import Any

import httpx2
from huggingface_hub.utils import _http
from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

from .target import Traffic

CONNECT_SECONDS = 15.0
READ_SECONDS = 120.0
"""No byte for this long counts as lost; a commit of a large repo may take a minute before it answers."""

_Factory = Callable[[], httpx2.Client]


class OwnClient:
    """The client of one target, made by the process's factory (so with its proxies and certificates) when needed.

    Requests that have no time limits get them; body bytes are added to `traffic`.
    """

    def __init__(self, traffic: Traffic, read_seconds: float = READ_SECONDS) -> None:
        self._traffic = traffic
        self._limits = {"connect": CONNECT_SECONDS, "read": read_seconds, "write": read_seconds, "pool": read_seconds}
        self._client: httpx2.Client | None = None
        self._process = 0
        self._responses: list[httpx2.Response] = []

    @contextmanager
    def used(self) -> Iterator[None]:
        """Within this, requests of huggingface_hub are ours, those of this context: threads that it starts are not."""
        _take_its_place()
        before = _USED.set(self)
        try:
            with _quiet_unless_terminal():
                yield
        finally:
            _USED.reset(before)
            self.count()

    def count(self) -> None:
        """Add up the responses that have ended."""
        self._traffic.received += sum(r.num_bytes_downloaded for r in self._responses if r.is_closed)
        self._responses = [response for response in self._responses if not response.is_closed]

    def client(self, factory: _Factory) -> httpx2.Client:
        """The client as it is now: one that was closed, or made before a fork, is made anew."""
        if self._client is None or self._client.is_closed or self._process != os.getpid():
            self._client, self._process = factory(), os.getpid()
            hooks = self._client.event_hooks
            self._client.event_hooks = {
                "request": [*hooks["request"], self._on_request],
                "response": [*hooks["response"], self._on_response],
            }
        return self._client

    def _on_request(self, request: httpx2.Request) -> None:
        if _USED.get() is self:  # a factory may give the same client to everybody
            given = request.extensions.get("timeout") or {}
            request.extensions["timeout"] = {name: given.get(name) or limit for name, limit in self._limits.items()}
            self._traffic.sent += int(request.headers.get("content-length", 0))

    def _on_response(self, response: httpx2.Response) -> None:
        if _USED.get() is self:
            self._responses.append(response)


_USED: ContextVar[OwnClient | None] = ContextVar("hf_kokoro_own_client", default=None)


class _Shared:
    """Client and factory of the process: whatever is done to it is done to the client that this context uses."""

    def __init__(self, factory: _Factory, client: httpx2.Client | None) -> None:
        vars(self).update(_factory=factory, _theirs=client, _lock=threading.Lock())

    def __call__(self) -> _Shared:
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._current(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._current(), name, value)

    def _current(self) -> httpx2.Client:
        own, mine = _USED.get(), vars(self)
        if own is not None:
            return own.client(mine["_factory"])
        with mine["_lock"]:
            if mine["_theirs"] is None or mine["_theirs"].is_closed:
                mine["_theirs"] = mine["_factory"]()
            theirs: httpx2.Client = mine["_theirs"]
            return theirs


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
