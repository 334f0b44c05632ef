"""The HTTP side of the Hub double."""

from __future__ import annotations

import json
import select
import socket
import struct
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from .faults import Delay, Drop, Fault, Faults, Hang, Html, Reset, Sneak, Status, Wound
from .routes import Reply, Request, answer
from .store import Repo, Store

_CHUNK = 1 << 16
_HANG_SECONDS = 5


@dataclass(frozen=True)
class Seen:
    """One request as the double saw it. `authorized` tells whether it carried a token."""

    method: str
    path: str
    host: str
    authorized: bool
    body_bytes: int
    fault: Fault | None


@dataclass
class HubDouble:
    """A Hub on 127.0.0.1; LFS objects come from the host name `localhost`, as if that were another machine.

    `tokens` maps tokens to "write" or "read". Regular files become LFS files from `lfs_bytes` on. Without
    `ranges` a part of a file is answered with the whole.
    """

    folder: Path
    tokens: dict[str, str] = field(default_factory=lambda: {"hf_writes": "write", "hf_reads": "read"})
    lfs_bytes: int = 10_000_000
    ranges: bool = True
    faults: Faults = field(default_factory=Faults)
    seen: list[Seen] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)
    outwaited: int = 0
    """Requests that were never answered, and whose client was still there when we gave up."""
    bytes_in: int = 0
    bytes_out: int = 0
    """Body bytes that came and went, whoever the client is."""

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.store = Store(self.folder)
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.double = self
        self.port = self._server.server_address[1]

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def storage(self) -> str:
        return f"http://localhost:{self.port}"

    def repo(self, repo_id: str = "user/pairs", private: bool = False) -> Repo:
        return self.store.repos.get(repo_id) or self.store.create(repo_id, private)

    def requests(self, method: str, part: str) -> list[Seen]:
        return [seen for seen in self.seen if seen.method == method and part in seen.path]

    def __enter__(self) -> HubDouble:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    double: HubDouble

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what many tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def setup(self) -> None:
        super().setup()
        # answers are written in small pieces; without this each costs 40 ms
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def handle_any(self) -> None:
        double = self.server.double
        fault = double.faults.next_for(self.command, self.path)
        request = self._read()
        double.bytes_in += request.body_bytes
        double.seen.append(Seen(self.command, self.path, request.host, bool(request.token), request.body_bytes, fault))
        match fault:
            case Delay(event, arrived):
                arrived.set()
                event.wait(30)
            case Sneak(action):
                action()
        if self._goes_wrong(fault, request):
            return
        self._send(answer(double, request), cut=fault.bytes if isinstance(fault, Wound) else None)

    do_GET = do_POST = do_PUT = do_HEAD = handle_any

    def _goes_wrong(self, fault: Fault | None, request: Request) -> bool:
        """Carry out a fault; False if the request is to be answered as usual."""
        double = self.server.double
        if isinstance(fault, Status | Drop | Reset | Hang | Html) and getattr(fault, "applied", True):
            answer(double, request)
        match fault:
            case Status(code, headers, says=says):
                self._send(Reply(code, json.dumps({"error": says}).encode(), headers=dict(headers)))
            case Html():
                self._send(Reply(200, b"<html>a proxy's page</html>", headers={"Content-Type": "text/html"}))
            case Drop():
                self.close_connection = True
            case Reset():
                self.close_connection = True
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
            case Hang():
                self.close_connection = True
                if not double.stopped.wait(_HANG_SECONDS) and self._client_waits():
                    double.outwaited += 1
            case _:
                return False
        return True

    def _client_waits(self) -> bool:
        """Whether the client has not closed the connection yet."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        return not readable or bool(self.connection.recv(1, socket.MSG_PEEK))

    def _read(self) -> Request:
        parts = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        target: Path | None = None
        body = b""
        if self.command == "PUT":
            target = self._read_upload(length)
        elif self.headers.get("Transfer-Encoding") == "chunked":
            body = self._read_chunked()
        elif length:
            body = self.rfile.read(length)
            if len(body) < length:
                raise ConnectionAbortedError("the client went away in the middle of a request")
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ") or None
        return Request(
            method=self.command,
            path=[unquote(part) for part in parts.path.strip("/").split("/")],
            query={name: values[-1] for name, values in parse_qs(parts.query).items()},
            host=self.headers.get("Host") or "",
            token=token,
            range=self.headers.get("Range") if self.server.double.ranges else None,
            body=body,
            upload=target,
            body_bytes=length or len(body),
        )

    def _read_upload(self, length: int) -> Path:
        target = self.server.double.folder / f"upload-{threading.get_ident()}"
        with target.open("wb") as out:
            if self.headers.get("Transfer-Encoding") == "chunked":
                out.write(self._read_chunked())
            while length > 0:
                chunk = self.rfile.read(min(length, _CHUNK))
                if not chunk:
                    raise ConnectionAbortedError("the client went away in the middle of an upload")
                out.write(chunk)
                length -= len(chunk)
        return target

    def _read_chunked(self) -> bytes:
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _send(self, reply: Reply, cut: int | None = None) -> None:
        self.send_response(reply.status)
        for name, value in {"Content-Type": "application/json", **reply.headers}.items():
            self.send_header(name, value)
        size = len(reply.body) if reply.file is None else reply.length
        self.send_header("Content-Length", str(size))
        self.end_headers()
        if self.command == "HEAD":
            return
        self.server.double.bytes_out += size
        if reply.file is None:
            self.wfile.write(reply.body[:cut])
        else:
            with reply.file.open("rb") as stream:
                stream.seek(reply.start)
                left = size if cut is None else min(size, cut)
                while left > 0 and (chunk := stream.read(min(left, _CHUNK))):
                    self.wfile.write(chunk)
                    left -= len(chunk)
        if cut is not None:
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Tests read `seen`."""
