"""The Hub's client belongs to the whole process; ours does not: time limits and counts go with our requests alone,
whatever becomes of the process's client meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import httpx2
import pytest
from huggingface_hub import HfApi, close_session, get_session, set_client_factory
from huggingface_hub.utils._http import default_client_factory

from hf_kokoro import append_rows
from hf_kokoro.core.hubclient import CONNECT_SECONDS, READ_SECONDS
from hf_kokoro.hub.remote import HubTarget

from .double import Delay, Hang, HubDouble
from .rows import numbers, rows

BOUNDED = {"connect": CONNECT_SECONDS, "read": READ_SECONDS, "write": READ_SECONDS, "pool": READ_SECONDS}
UNBOUNDED = dict.fromkeys(BOUNDED)
Make = Callable[..., HubTarget]


@dataclass
class Watched(httpx2.BaseTransport):
    """Keeps the requests of all clients that the process's factory made; may refuse one as if nobody were there."""

    refuse: str = "/nowhere/"
    sent: list[httpx2.Request] = field(default_factory=list)
    refused: int = 0
    made: int = 0
    _way: httpx2.HTTPTransport = field(default_factory=httpx2.HTTPTransport)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        if self.refuse in request.url.path and not self.refused:
            self.refused += 1
            raise httpx2.ConnectError("no such host", request=request)
        self.sent.append(request)
        return self._way.handle_request(request)

    def client(self) -> httpx2.Client:
        """As huggingface_hub's own factory makes it, with this transport."""
        self.made += 1
        hooks = default_client_factory().event_hooks
        return httpx2.Client(transport=self, event_hooks=hooks, follow_redirects=True, timeout=None)

    def close(self) -> None:
        """The clients come and go, the connections stay."""


@pytest.fixture
def watched() -> Iterator[Watched]:
    transport = Watched()
    set_client_factory(transport.client)
    yield transport
    set_client_factory(default_client_factory)


def limits(requests: list[httpx2.Request]) -> list[object]:
    return [request.extensions["timeout"] for request in requests]


@pytest.mark.parametrize(("method", "part"), [("POST", "/commit/"), ("PUT", "")], ids=["committing", "uploading"])
@pytest.mark.parametrize("pooled", [False, True], ids=["plain thread", "thread of a pool"])
def test_a_call_of_another_thread_during_an_append_keeps_its_time_limits_and_is_not_counted(
    hub: HubDouble, hub_target: Make, watched: Watched, method: str, part: str, *, pooled: bool
) -> None:
    hub.lfs_bytes = 1
    go_on = threading.Event()
    delay = Delay(go_on)
    hub.faults.script(method, part, delay)
    api = HfApi(endpoint=hub.endpoint, token="hf_reads")
    get_session().headers["x-whose"] = "theirs"

    def look() -> None:
        api.dataset_info("user/pairs")
        api.dataset_info("user/pairs", timeout=7)

    with ThreadPoolExecutor(1, "append") as pool:
        # rows, their ledger and a figure, which the client would upload with threads of its own
        done = pool.submit(append_rows, hub_target(), rows(1, 2), extra_operations=lambda growth: {"a.png": b"png"})
        try:
            assert delay.arrived.wait(60)
            if pooled:
                with ThreadPoolExecutor(1) as theirs:
                    theirs.submit(look).result()
            else:
                look()
        finally:
            go_on.set()
        report = done.result()
    marked = [request for request in watched.sent if request.headers.get("x-whose") == "theirs"]
    ours = [request for request in watched.sent if request not in marked]
    assert limits(marked) == [UNBOUNDED, dict.fromkeys(BOUNDED, 7)]
    assert limits(ours) == [BOUNDED] * len(ours)
    assert sum(request.method == "PUT" for request in ours) == 3
    assert report.bytes_sent == sum(int(request.headers.get("content-length", 0)) for request in ours)


def test_our_limits_hold_when_a_failed_connection_makes_the_client_begin_anew(
    hub: HubDouble, hub_target: Make, watched: Watched
) -> None:
    watched.refuse = "/preupload/"
    hub.faults.script("POST", "/preupload/", Hang())
    report = append_rows(hub_target(read_seconds=0.2), rows(1, 2))
    assert (watched.refused, hub.faults.left, hub.outwaited) == (1, 0, 0)
    assert report.added == 2
    assert numbers(hub.repo().read("data/pilot.jsonl")) == [1, 2]


def test_a_failed_connection_of_ours_does_not_close_the_client_of_others(
    hub: HubDouble, hub_target: Make, watched: Watched
) -> None:
    append_rows(hub_target(), rows(1))
    theirs = get_session().get
    watched.refuse = "/preupload/"
    append_rows(hub_target(), rows(2))
    assert watched.refused == 1
    assert theirs(f"{hub.endpoint}/api/datasets/user/pairs").status_code == 200


def test_a_factory_that_is_set_between_appends_is_the_one_that_ours_is_made_by(
    hub: HubDouble, hub_target: Make, watched: Watched
) -> None:
    append_rows(hub_target(), rows(1))
    other = Watched()
    set_client_factory(other.client)
    before = len(watched.sent)
    append_rows(hub_target(), rows(2))
    assert len(watched.sent) == before
    assert limits(other.sent) == [BOUNDED] * len(other.sent) != []


def test_what_is_set_on_the_processs_client_or_closed_is_that_client_and_not_ours(
    hub: HubDouble, hub_target: Make, watched: Watched
) -> None:
    target = hub_target()
    append_rows(target, rows(1))
    get_session().timeout = 3
    assert get_session().timeout == httpx2.Timeout(3)
    close_session()
    assert get_session().timeout == httpx2.Timeout(None)
    watched.sent.clear()
    assert append_rows(target, rows(2)).added == 1
    assert limits(watched.sent) == [BOUNDED] * len(watched.sent)
    assert get_session().event_hooks == default_client_factory().event_hooks


def test_a_factory_that_gives_everybody_one_client_leaves_others_their_limits(
    hub: HubDouble, hub_target: Make, watched: Watched
) -> None:
    only = watched.client()
    set_client_factory(lambda: only)
    assert append_rows(hub_target(), rows(1)).bytes_sent > 0
    ours = len(watched.sent)
    HfApi(endpoint=hub.endpoint, token="hf_reads").dataset_info("user/pairs")
    assert limits(watched.sent) == [*[BOUNDED] * ours, UNBOUNDED]


def test_targets_share_one_client_so_that_connections_are_used_again(
    hub: HubDouble, hub_target: Make, watched: Watched
) -> None:
    for number in range(3):
        append_rows(hub_target(), rows(number))
    assert watched.made == 1
