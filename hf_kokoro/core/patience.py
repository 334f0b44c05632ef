"""How long and how often what failed is tried again, decided by the class of the error; every wait says so."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from ..errors import UsageError
from .hub_errors import CommitRace, GaveUp, RateLimited, TargetError
from .retry import jittered

_T = TypeVar("_T")

logger = logging.getLogger(__name__)

READING = "nothing is changed there"
"""What is true of everything while a reader waits."""


@dataclass(frozen=True)
class Patience:
    """Limits of the tries of an append, a card or a download.

    A conflict means that somebody else got ahead, so many are allowed; other faults, and conflicts with a
    head that doesn't move, are counted in a row. Waits are random up to a limit that doubles (full jitter), so
    that writers who collided don't collide again. `seconds` bounds all tries and waits together.
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

    def jitter(self, doublings: int) -> float:
        """Seconds to wait after so many errors in a row."""
        return jittered(doublings, self.first_wait, self.longest_wait, random=self.random)

    def within(self, max_wait: float | None) -> Patience:
        """The same with at most so many seconds; None changes nothing. Raises UsageError for less than 0."""
        if max_wait is None:
            return self
        if not max_wait >= 0:
            raise UsageError(f"--max-wait (max_wait): got {max_wait}; allowed: seconds, 0 or more")
        return replace(self, seconds=max_wait)


@dataclass
class Tries:
    """The tries of one thing so far; `after` waits, or raises GaveUp when it is enough.

    `safe` is what is true of the data during a wait. `head` is the revision that a try is based on, as far as it has
    come (None: not even read).
    """

    patience: Patience
    safe: str = READING
    attempts: int = 0
    head: str | None = None
    _conflicts: int = 0
    _faults: int = 0
    _still: int = 0
    _last_head: str | None = None
    _started: float | None = None

    def begin(self) -> None:
        self.attempts, self.head = self.attempts + 1, None
        if self._started is None:
            self._started = self.patience.clock()

    def after(self, error: TargetError) -> None:
        """Wait before the next try, and say so. Raises `error` itself if it won't pass."""
        if not error.retryable:
            raise error
        wait = self._count(error)
        elapsed = self.patience.clock() - (self._started or 0.0)
        if elapsed + wait > self.patience.seconds:
            why = (
                f"{elapsed:.0f} s, and the next try would be {wait:.0f} s from now; --max-wait allows "
                f"{self.patience.seconds:.0f} s"
            )
            raise self._give_up(error, why) from None
        logger.warning("%s; try %d failed, the next one is in %.1f s; %s", error, self.attempts, wait, self.safe)
        if wait > 0:
            self.patience.sleep(wait)

    def _count(self, error: TargetError) -> float:
        """Seconds to wait. Raises GaveUp if there were enough errors of this kind."""
        limit = self.patience
        if isinstance(error, CommitRace):
            self._conflicts, self._faults = self._conflicts + 1, 0
            self._still = self._still + 1 if self.head == self._last_head else 1
            self._last_head = self.head
            if self._still >= limit.still:
                why = (
                    f"{self._still} conflicts in a row though nobody else committed: the token may lack the scope "
                    "'Write access to contents' (one that may only open pull requests works with --pr)"
                )
                raise self._give_up(error, why) from None
            if self._conflicts >= limit.conflicts:
                raise self._give_up(error, f"{self._conflicts} conflicts with other writers") from None
            # others that get ahead are progress, so those waits stay short
            return limit.jitter(self._still - 1 if self._still > 1 else min(self._conflicts - 1, 3))
        self._faults += 1
        if self._faults >= limit.faults:
            raise self._give_up(error, f"{self._faults} faults in a row") from None
        if isinstance(error, RateLimited) and error.wait is not None:
            # a second more than asked, and not all at the same moment
            return error.wait + self.patience.random()
        return limit.jitter(self._faults)

    def _give_up(self, error: TargetError, why: str) -> GaveUp:
        tries = f"{self.attempts} {'tries' if self.attempts != 1 else 'try'}"
        return GaveUp(f"gave up after {tries} ({why}); last: {error}")


def patiently(call: Callable[[], _T], patience: Patience, safe: str = READING) -> _T:
    """Run something that may be run twice, again after errors that may pass. Raises GaveUp, or what won't pass."""
    return persistently(lambda tries: call(), Tries(patience, safe))


def persistently(call: Callable[[Tries], _T], tries: Tries) -> _T:
    """The same with the caller's own Tries, on which `call` notes the `head` that it has read."""
    while True:
        tries.begin()
        try:
            return call(tries)
        except TargetError as error:
            tries.after(error)
