"""An HTTP double of the Messages and Message Batches APIs, for the real SDK through its base URL.

It records what it was sent, and each reply is decided by a function of the request, so it can be busy, drop,
delay, refuse, cut off or answer with wrong shapes on demand. Run it in a thread (`with Double() as double`) or
as a process of its own (`python anthropic_double.py --delay 0.2`) that prints its address.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

SCORES = {"empathy": 3, "partnership": 4, "reflection_present": 1, "no_persuade": 1, "no_confront": 1}
USAGE = {"input_tokens": 400, "output_tokens": 60, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 1600}


@dataclass
class Reply:
    """What goes back. `drop` closes the connection instead, `cut` after half of the body."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = "application/json"
    delay: float = 0.0
    drop: bool = False
    cut: bool = False


@dataclass
class Request:
    """What was sent; `body` is the parsed JSON, or None."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


def message(text: str, stop: str | None = "end_turn", **changes: Any) -> Reply:
    """A Messages API reply with one text block (none, if the text is empty)."""
    content = [{"type": "text", "text": text, "citations": None}] if text else []
    body = {
        "id": "msg_double",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-4-7",
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": USAGE,
    }
    return Reply(body=body | changes)


def scored(**changes: Any) -> Reply:
    """Five scores, as asked for."""
    return message(json.dumps({"reason": "as the double thinks"} | SCORES | changes))


def error(status: int, kind: str, **headers: str) -> Reply:
    """An API error; header names are written with underscores."""
    body = {"type": "error", "error": {"type": kind, "message": "made up by the double"}, "request_id": "req_1"}
    return Reply(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


def refusal() -> Reply:
    """HTTP 200 with no content: how a refusal looks."""
    return message("", "refusal")


@dataclass
class Double:
    """`answer(n, request)` decides the n-th Messages reply; None stands for five good scores.

    Batches: `batch_status(n, custom_id)` gives succeeded, errored, expired or canceled for a row, and a batch
    ends at the poll number `polls_to_end`. `on_batch` may replace the reply to a creation (after it happened).
    """

    answer: Callable[[int, Request], Reply | None] = lambda n, request: None
    delay: float = 0.0
    together: int = 0
    """So many requests have to be in flight before the first is answered."""
    batch_status: Callable[[int, str], str] = lambda n, custom_id: "succeeded"
    polls_to_end: int = 1
    again: list[dict[str, Any]] = field(default_factory=list)
    """Rows that every batch's results hold once more."""
    on_batch: Callable[[int], Reply | None] = lambda n: None
    requests: list[Request] = field(default_factory=list)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    keep_requests: bool = True
    url: str = ""
    in_flight: int = 0
    most_in_flight: int = 0
    _messages: int = 0
    _rows: int = 0

    def __enter__(self) -> Self:
        ready = threading.Event()
        self._loop = asyncio.new_event_loop()

        def serve() -> None:
            asyncio.set_event_loop(self._loop)
            self._server = self._loop.run_until_complete(self.start())
            ready.set()
            self._loop.run_forever()

        self._thread = threading.Thread(target=serve, daemon=True)
        self._thread.start()
        ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        self._server.close()
        connections = asyncio.all_tasks() - {asyncio.current_task()}
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    async def start(self) -> asyncio.Server:
        self._met = asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return server

    def sent(self, path: str = "/v1/messages") -> list[Request]:
        """The requests to one path, in order."""
        return [request for request in self.requests if request.path.partition("?")[0] == path]

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await _read(reader):
                if self.keep_requests:
                    self.requests.append(request)
                self.in_flight += 1
                self.most_in_flight = max(self.most_in_flight, self.in_flight)
                try:
                    reply = self._route(request)
                    if self.in_flight >= self.together:
                        self._met.set()
                    await self._met.wait()
                    if wait := reply.delay or self.delay:
                        await asyncio.sleep(wait)
                finally:
                    self.in_flight -= 1
                if not await _write(writer, reply):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def _route(self, request: Request) -> Reply:
        path = request.path.partition("?")[0]
        if path == "/v1/messages":
            self._messages += 1
            return self.answer(self._messages - 1, request) or scored()
        if path == "/v1/messages/count_tokens":
            return Reply(body={"input_tokens": len(json.dumps(request.body)) // 4})
        if path == "/v1/messages/batches":
            return self._create_batch(request) if request.method == "POST" else self._list_batches()
        if path.startswith("/v1/messages/batches/"):
            name, _, part = path.removeprefix("/v1/messages/batches/").partition("/")
            if name not in self.batches:
                return error(404, "not_found_error")
            return self._results(name) if part == "results" else self._poll(name)
        return error(404, "not_found_error")

    def _create_batch(self, request: Request) -> Reply:
        name = f"msgbatch_{len(self.batches):03d}"
        rows = request.body["requests"]
        self.batches[name] = {"rows": rows, "polls": 0, "created_at": f"2030-01-01T00:00:{len(self.batches):02d}Z"}
        return self.on_batch(len(self.batches) - 1) or Reply(body=self._batch(name))

    def _list_batches(self) -> Reply:
        data = [self._batch(name) for name in reversed(self.batches)]
        return Reply(body={"data": data, "has_more": False, "first_id": None, "last_id": None})

    def _poll(self, name: str) -> Reply:
        self.batches[name]["polls"] += 1
        return Reply(body=self._batch(name))

    def _batch(self, name: str) -> dict[str, Any]:
        batch = self.batches[name]
        ended = batch["polls"] >= self.polls_to_end
        counts = {"processing": 0, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
        counts["succeeded" if ended else "processing"] = len(batch["rows"])
        return {
            "id": name,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts,
            "created_at": batch["created_at"],
            "expires_at": "2030-01-02T00:00:00Z",
            "ended_at": "2030-01-01T01:00:00Z" if ended else None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"{self.url}/v1/messages/batches/{name}/results" if ended else None,
        }

    def _results(self, name: str) -> Reply:
        lines = []
        # the order of results is not the order of requests
        for row in [*self.batches[name]["rows"], *self.again][::-1]:
            status = self.batch_status(self._rows, row["custom_id"])
            result: dict[str, Any] = {"type": status}
            if status == "succeeded":
                request = Request("POST", "/v1/messages", {}, row["params"])
                result["message"] = (self.answer(self._rows, request) or scored()).body
            elif status == "errored":
                result["error"] = error(500, "api_error").body
            self._rows += 1
            lines.append(json.dumps({"custom_id": row["custom_id"], "result": result}))
        return Reply(body=("\n".join(lines) + "\n").encode(), kind="application/x-jsonl")


async def _read(reader: asyncio.StreamReader) -> Request | None:
    head = await reader.readuntil(b"\r\n\r\n") if not reader.at_eof() else b""
    if not head:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    data = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(method, path, headers, json.loads(data) if data else None)


async def _write(writer: asyncio.StreamWriter, reply: Reply) -> bool:
    """Send the reply; False if the connection is to end with it."""
    if reply.drop:
        writer.transport.abort()
        return False
    body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
    headers = {"content-type": reply.kind, "content-length": str(len(body))} | reply.headers
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"HTTP/1.1 {reply.status} X\r\n{head}\r\n".encode("latin-1"))
    writer.write(body[: len(body) // 2] if reply.cut else body)
    await writer.drain()
    return not reply.cut


async def _serve_forever(delay: float) -> None:
    double = Double(delay=delay, keep_requests=False)
    server = await double.start()
    print(double.url, flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before every reply")
    asyncio.run(_serve_forever(parser.parse_args().delay))
