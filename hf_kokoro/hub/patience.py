"""How long and how often an append tries again, decided by the class of the error."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from ..core.retry import jittered
from .errors import AppendFailed, CommitRace, RateLimited, TargetError

_T = TypeVar("_T")


@dataclass(frozen=True)
class Patience:
    """Limits of an append's tries.

    A conflict means that somebody else got ahead, so many are allowed; other faults, and conflicts with a
    head that doesn't move, are counted in a row. Waits are random up to a limit that doubles (full jitter), so
    that writers who collided don't collide again.
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


def patiently(call: Callable[[], _T], patience: Patience) -> _T:
    """Run something that only reads, again after errors that may pass."""
    faults = 0
    while True:
        try:
            return call()
        except TargetError as error:
            faults += 1
            wait_between(error, faults, patience)


def wait_between(error: TargetError, faults: int, patience: Patience) -> None:
    """Wait after the `faults`th error in a row of a reader, or raise it if it won't pass."""
    if not error.retryable or faults >= patience.faults:
        raise error
    wait = error.wait if isinstance(error, RateLimited) and error.wait is not None else patience.jitter(faults)
    if wait > patience.seconds:
        raise error
    patience.sleep(wait)


@dataclass
class Tries:
    """The tries of one append so far; `after` waits, or raises AppendFailed when it is enough."""

    patience: Patience
    attempts: int = 0
    _conflicts: int = 0
    _faults: int = 0
    _still: int = 0
    _head: str | None = None
    _started: float | None = None

    def begin(self) -> None:
        self.attempts += 1
        if self._started is None:
            self._started = self.patience.clock()

    def after(self, error: TargetError, head: str | None) -> None:
        """Wait before the next try. `head` is the revision the try was based on (None: not even read)."""
        wait = self._count(error, head)
        elapsed = self.patience.clock() - (self._started or 0.0)
        if elapsed + wait > self.patience.seconds:
            raise self._give_up(error, f"{elapsed:.0f} s, and the next try would be {wait:.0f} s from now") from None
        if wait > 0:
            self.patience.sleep(wait)

    def _count(self, error: TargetError, head: str | None) -> float:
        """Seconds to wait. Raises AppendFailed if there were enough errors of this kind."""
        limit = self.patience
        if isinstance(error, CommitRace):
            self._conflicts, self._faults = self._conflicts + 1, 0
            self._still = self._still + 1 if head == self._head else 1
            self._head = head
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

    def _give_up(self, error: TargetError, why: str) -> AppendFailed:
        return AppendFailed(f"gave up after {self.attempts} tries ({why}); last: {error}")
