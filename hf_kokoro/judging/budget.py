"""Prices, what a request costs at most, and a budget that is never passed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ..core.shipped import shipped_text
from ..errors import KokoroError, UsageError

_MILLION = 1_000_000


class BudgetSpent(KokoroError):
    """The next request could pass the budget."""


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens."""

    input: float
    output: float
    cache_write: float
    cache_read: float
    batch_factor: float = 0.5

    def cost(self, usage: Mapping[str, Any], batch: bool = False) -> float:
        """What a reply's `usage` costs, in dollars."""
        tokens = {name: int(usage.get(name) or 0) for name in _USAGE}
        dollars = (
            tokens["input_tokens"] * self.input
            + tokens["output_tokens"] * self.output
            + tokens["cache_creation_input_tokens"] * self.cache_write
            + tokens["cache_read_input_tokens"] * self.cache_read
        ) / _MILLION
        return dollars * (self.batch_factor if batch else 1.0)

    def most(self, input_bytes: int, max_tokens: int, batch: bool = False) -> float:
        """An upper bound for a request, in dollars: a token is at least one byte of UTF-8."""
        dollars = (input_bytes * max(self.input, self.cache_write) + max_tokens * self.output) / _MILLION
        return dollars * (self.batch_factor if batch else 1.0)


_USAGE = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_FIELDS = ("input", "output", "cache_write", "cache_read", "batch_factor")


def load_price(model: str, path: str | Path | None = None) -> Price:
    """The model's price from the shipped table or from `path`. Raises UsageError if it is not there."""
    where = str(path) if path else "the shipped prices"
    try:
        text = Path(path).read_text("utf-8") if path else _shipped()
        table = yaml.safe_load(text)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"prices {where}: can't be read ({type(error).__name__})") from None
    if not isinstance(table, dict) or model not in table:
        known = ", ".join(map(str, table)) if isinstance(table, dict) else "nothing"
        raise UsageError(
            f"no price of model {model!r} in {where} (known: {known}); give one with --prices FILE, "
            f"a line such as: {model}: {{input: 5.0, output: 25.0}}"
        )
    return _price(model, table[model], where)


def _price(model: str, given: Any, where: str) -> Price:
    if not isinstance(given, dict) or not {"input", "output"} <= given.keys() <= {*_FIELDS}:
        raise UsageError(f"prices {where} {model}: needs input and output; may have {', '.join(_FIELDS[2:])}")
    for name, value in given.items():
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < 1e6:
            raise UsageError(f"prices {where} {model}.{name}: allowed: dollars per million tokens, 0 or more")
    defaults = {"cache_write": given["input"] * 1.25, "cache_read": given["input"] * 0.1}
    return Price(**{**defaults, **given})


def _shipped() -> str:
    return shipped_text(__package__, "prices.yaml")


class Budget:
    """Money spent and set aside. With `most=None` it only counts."""

    def __init__(self, most: float | None = None) -> None:
        if most is not None and most < 0:
            raise UsageError(f"--max-usd {most}: allowed: 0 or more")
        self.most, self.spent, self._reserved = most, 0.0, 0.0
        self._changed = asyncio.Condition()

    def has_room(self, dollars: float) -> bool:
        """Would `dollars` more, on top of what is spent and set aside, stay within the budget?"""
        return self.most is None or self.spent + self._reserved + dollars <= self.most

    @asynccontextmanager
    async def reserve(self, dollars: float) -> AsyncIterator[Callable[[float], None]]:
        """Set an upper bound aside while a request runs; call the yielded function with the real cost.

        Waits while others' bounds stand in the way and raises BudgetSpent once there is no room without them.
        """
        cost = 0.0

        def settle(real: float) -> None:
            nonlocal cost
            cost += real

        if self.most is None:
            try:
                yield settle
            finally:
                self.spent += cost
            return
        async with self._changed:
            while not self.has_room(dollars):
                if self._reserved <= 1e-12:
                    raise BudgetSpent(f"the budget of ${self.most:.2f} leaves no room for another request")
                await self._changed.wait()
            self._reserved += dollars
        try:
            yield settle
        finally:
            async with self._changed:
                self._reserved = max(0.0, self._reserved - dollars)
                self.spent += cost
                self._changed.notify_all()
