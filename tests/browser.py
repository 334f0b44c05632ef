"""A real browser for pages: Chromium without a window, driven over its debugging pipe; no server and no library."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def _high(descriptor: int) -> int:
    """The same pipe at a number above those that the browser takes."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return moved


class Page:
    """One page of a browser of its own: `requests` are the addresses it asked for, `errors` what it complained of."""

    def __init__(self, profile: Path, downloads: Path) -> None:
        self.requests: list[str] = []
        self.errors: list[str] = []
        self._events: list[tuple[str, dict[str, Any]]] = []
        self._number = 0
        self._profile, self._downloads = profile, downloads
        self._session: str | None = None
        self._rest = b""

    def __enter__(self) -> Self:
        assert CHROMIUM is not None
        theirs_in, self._to = map(_high, os.pipe())
        self._from, theirs_out = map(_high, os.pipe())

        def hand_over() -> None:
            # the browser reads commands from descriptor 3 and writes to 4
            os.dup2(theirs_in, 3)
            os.dup2(theirs_out, 4)

        words = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run"]
        words += [f"--user-data-dir={self._profile}", "--disable-background-networking", "about:blank"]
        self._process = subprocess.Popen(
            [CHROMIUM, *words],
            preexec_fn=hand_over,  # noqa: PLW1509 (nothing else runs in this process)
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        [target] = [t for t in self("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        self._session = self("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self(f"{domain}.enable")
        self("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self._downloads), eventsEnabled=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError, EOFError):
            self._session = None
            self("Browser.close")
        self._process.wait(30)
        os.close(self._to)
        os.close(self._from)

    def __call__(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and give its result; events that come meanwhile are looked at."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session and not method.startswith(("Browser.", "Target.")):
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            reply = self._next()
            if reply.get("id") == self._number:
                assert "error" not in reply, reply["error"]
                result: dict[str, Any] = reply["result"]
                return result

    def open(self, file: Path) -> None:
        self._events.clear()
        self("Page.navigate", url=file.as_uri())
        self.wait("Page.loadEventFired")

    def wait(self, method: str, **parameters: Any) -> None:
        """Until an event with these parameters has come, be it before now."""
        while not any(m == method and parameters.items() <= p.items() for m, p in self._events):
            self._next()

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression."""
        found = self("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def press(self, *keys: str) -> None:
        for key in keys:
            text = {"text": key} if len(key) == 1 else {}
            self("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
            self("Input.dispatchKeyEvent", type="keyUp", key=key)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            more = os.read(self._from, 1 << 16)
            if not more:
                raise EOFError("the browser ended")
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        method, parameters = message.get("method", ""), message.get("params", {})
        self._events.append((method, parameters))
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Log.entryAdded":
            self.errors.append(parameters["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            self.errors.append(str(parameters["exceptionDetails"].get("exception", parameters["exceptionDetails"])))
        return message
