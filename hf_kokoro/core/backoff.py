"""Waiting that all workers share: when the service says it is busy to one of them, all of them slow down."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass
class Backoff:
    """Doubling waits from `base` to `cap` seconds. `sleep` and `now` are there for tests.

    A `retry-after` longer than `longest` is not waited for: the run stops and says so.
    """

    base: float = 1.0
    cap: float = 60.0
    longest: float = 300.0
    attempts: int = 8
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    now: Callable[[], float] = time.monotonic
    _not_before: float = 0.0
    _busy_in_a_row: int = 0

    async def wait(self) -> None:
        """Wait until nobody has been told to slow down any more."""
        while (rest := self._not_before - self.now()) > 0:
            await self.sleep(rest)

    def busy(self, retry_after: float | None) -> None:
        """The service is busy (429, 529): nobody sends before the wait is over."""
        now = self.now()
        if retry_after is not None:
            self._not_before = max(self._not_before, now + retry_after)
        elif self._not_before <= now:
            # Many in flight hear of the same moment; only the first to hear sets the wait and doubles the next.
            self._not_before = now + self.delay(self._busy_in_a_row)
            self._busy_in_a_row += 1

    def fine(self) -> None:
        """A request was answered."""
        self._busy_in_a_row = 0

    def delay(self, failures: int) -> float:
        """Seconds to wait after so many failures: doubling, less up to a quarter so that workers spread out."""
        return min(self.cap, self.base * 2.0**failures) * random.uniform(0.75, 1.0)
