"""What the double can do wrong, by script (the next n requests that match) or by a seeded dice."""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Status:
    """Answer with this status and words; the request is not carried out unless `applied`."""

    code: int
    headers: Mapping[str, str] = field(default_factory=dict)
    applied: bool = False
    says: str = "as the script says"


@dataclass(frozen=True)
class Drop:
    """Close the connection without an answer, before or after the request was carried out."""

    applied: bool


@dataclass(frozen=True)
class Reset:
    """Reset the connection (RST) without an answer, after the request was carried out if `applied`."""

    applied: bool = False


@dataclass(frozen=True)
class Html:
    """Carry out the request, but answer 200 with a page of HTML."""


@dataclass(frozen=True)
class Hang:
    """Don't answer for seconds, then close the connection; the request was carried out if `applied`."""

    applied: bool = False


@dataclass(frozen=True)
class Delay:
    """Tell that the request is there, and wait for an event before it is carried out."""

    event: threading.Event
    arrived: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True)
class Wound:
    """Send only the first `bytes` of the answer's body, then close the connection."""

    bytes: int


@dataclass(frozen=True)
class Sneak:
    """Do something (such as another writer's commit) just before the request is carried out."""

    action: Callable[[], object]


Fault = Status | Drop | Reset | Html | Hang | Delay | Wound | Sneak


@dataclass
class _Rule:
    method: str
    pattern: re.Pattern[str]
    faults: list[Fault]


class Faults:
    """Decides, for each request, what goes wrong."""

    def __init__(self) -> None:
        self._rules: list[_Rule] = []
        self._lock = threading.Lock()
        self._dice: random.Random | None = None
        self._rate = 0.0
        self._kinds: Sequence[Fault] = ()
        self.rolled = 0

    def script(self, method: str, pattern: str, *faults: Fault) -> None:
        """The next requests with that method and a path that contains the pattern get these faults, in order."""
        self._rules.append(_Rule(method, re.compile(pattern), list(faults)))

    def roll(self, rate: float, seed: int, kinds: Sequence[Fault]) -> None:
        """From now on each request is hit with probability `rate` by one of `kinds`."""
        self._dice, self._rate, self._kinds = random.Random(seed), rate, kinds

    def stop(self) -> None:
        self._dice = None
        self._rules.clear()

    def next_for(self, method: str, path: str) -> Fault | None:
        with self._lock:
            for rule in self._rules:
                if rule.faults and rule.method in (method, "*") and rule.pattern.search(path):
                    return rule.faults.pop(0)
            if self._dice is not None and self._dice.random() < self._rate:
                self.rolled += 1
                return self._dice.choice(self._kinds)
        return None

    @property
    def left(self) -> int:
        """Scripted faults that no request has met yet."""
        return sum(len(rule.faults) for rule in self._rules)
