"""The Hub's client belongs to the whole process: during an append other threads keep their own limits and hooks."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
from huggingface_hub import HfApi, get_session

from hf_kokoro import append_rows
from hf_kokoro.hub.http import CONNECT_SECONDS, READ_SECONDS
from hf_kokoro.hub.remote import HubTarget

from .double import Delay, HubDouble
from .rows import rows

BOUNDED = {"connect": CONNECT_SECONDS, "read": READ_SECONDS, "write": READ_SECONDS, "pool": READ_SECONDS}
UNBOUNDED = dict.fromkeys(BOUNDED)
Seen = dict[str, list[httpx2.Request]]


@pytest.fixture
def seen() -> Iterator[Seen]:
    """Requests by the name of their thread, as they were sent, seen by a hook that the process has of its own."""
    found: Seen = defaultdict(list)
    client = get_session()
    before = client.event_hooks

    def on_response(response: httpx2.Response) -> None:
        found[threading.current_thread().name].append(response.request)

    client.event_hooks = {"request": before["request"], "response": [*before["response"], on_response]}
    yield found
    assert client.event_hooks["response"] == [on_response]
    client.event_hooks = before


@pytest.mark.parametrize(("method", "part"), [("POST", "/commit/"), ("PUT", "")], ids=["committing", "uploading"])
def test_a_call_of_another_thread_during_an_append_keeps_its_time_limits_and_is_not_counted(
    hub: HubDouble, hub_target: Callable[..., HubTarget], seen: Seen, method: str, part: str
) -> None:
    hub.lfs_bytes = 1
    go_on = threading.Event()
    delay = Delay(go_on)
    hub.faults.script(method, part, delay)
    api = HfApi(endpoint=hub.endpoint, token="hf_reads")
    with ThreadPoolExecutor(1, "append") as pool:
        # two files, so that the client uploads them with threads of its own
        done = pool.submit(append_rows, hub_target(), rows(1, 2), extra_operations=lambda growth: {"a.png": b"png"})
        try:
            assert delay.arrived.wait(60)
            api.dataset_info("user/pairs")
            api.dataset_info("user/pairs", timeout=7)
        finally:
            go_on.set()
        report = done.result()
    theirs = seen.pop(threading.current_thread().name)
    assert [request.extensions["timeout"] for request in theirs] == [UNBOUNDED, dict.fromkeys(BOUNDED, 7)]
    ours = [request for requests in seen.values() for request in requests]
    assert len(seen) > 1
    assert {method for method in ("POST", "PUT") if any(r.method == method for r in ours)} == {"POST", "PUT"}
    assert all(request.extensions["timeout"] == BOUNDED for request in ours)
    assert report.bytes_sent == sum(int(request.headers.get("content-length", 0)) for request in ours)
