"""Trying again: how long to wait after failures in a row or as a service asks, and waiting that all workers share."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def jittered(
    failures: int, first: float, cap: float, least: float = 0.0, random: Callable[[], float] = random.random
) -> float:
    """Seconds to wait after so many failures in a row: a random part of a limit that doubles from `first` to `cap`.

    Random, so that those who collided spread out; the part is at least `least` (0: full jitter).
    """
    # past 20 doublings every cap is reached, and the power would overflow some day
    return min(cap, first * 2.0 ** min(failures, 20)) * (least + (1 - least) * random())


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by the header `Retry-After`, a number or an HTTP date; None if it says nothing readable."""
    value = (headers.get("retry-after") or "").strip()
    try:
        seconds = float(value)
    except ValueError:
        try:
            when = parsedate_to_datetime(value)
        except ValueError:
            return None
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
        seconds = (when - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None


@dataclass
class Backoff:
    """When the service says it is busy to one worker, all of them slow down: doubling waits from `base` to `cap`
    seconds. `sleep` and `now` are there for tests.

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
        """Seconds to wait after so many failures, at least three quarters of the limit."""
        return jittered(failures, self.base, self.cap, least=0.75)
