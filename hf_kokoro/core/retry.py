"""Trying again: how long to wait, for an append that waits alone and for the judge's workers that wait together.

Waits double up to a limit and are partly random, so that those who met once do not meet again; a service that says
how long to stay away is believed.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from ..errors import KokoroError

_T = TypeVar("_T")
_DOUBLINGS = 20


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by the header `Retry-After` (a number or an HTTP date); None if it says nothing readable."""
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


def doubled(first: float, longest: float, failures: int) -> float:
    """The longest wait after so many failures before this one: `first`, twice that, ..., `longest`."""
    return min(longest, first * 2.0 ** min(failures, _DOUBLINGS))


@dataclass(frozen=True)
class Patience:
    """Limits of the tries of one who waits alone.

    A conflict means that somebody else got ahead, so many are allowed; other faults, and conflicts with a
    head that doesn't move, are counted in a row. Waits are random from 0 on (full jitter).
    """

    conflicts: int = 200
    faults: int = 10
    still: int = 8
    seconds: float = 1800.0
    first_wait: float = 0.25
    longest_wait: float = 20.0
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    random: Callable[[], float] = random.random

    def jitter(self, failures: int) -> float:
        """Seconds to wait after so many errors in a row."""
        return self.random() * doubled(self.first_wait, self.longest_wait, failures)

    def after(self, error: KokoroError, faults: int) -> None:
        """Wait after the `faults`th error in a row of a reader, or raise it if it won't pass."""
        if not error.retryable or faults >= self.faults:
            raise error
        wait = self.jitter(faults) if error.wait is None else error.wait
        if wait > self.seconds:
            raise error
        self.sleep(wait)


def patiently(call: Callable[[], _T], patience: Patience) -> _T:
    """Run something that only reads, again after errors that may pass."""
    faults = 0
    while True:
        try:
            return call()
        except KokoroError as error:
            faults += 1
            patience.after(error, faults)


@dataclass
class Backoff:
    """Waits that all workers share, `base` to `cap` seconds: when one is told to slow down, all do.

    A `retry-after` longer than `longest` is not waited for: the run stops and says so. `sleep` and `now` are there
    for tests.
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
        """Seconds to wait after so many failures, less up to a quarter so that workers spread out."""
        return doubled(self.base, self.cap, failures) * random.uniform(0.75, 1.0)
