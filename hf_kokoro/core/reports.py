"""What reports have in common: plain data for `--json`, lines for people, a table for notebooks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from html import escape
from typing import Any

_LONGEST = 200
"""Characters of a value that are shown; `as_dict()` has all of it."""


class Report:
    """A frozen dataclass that tells what a function did."""

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as `--json` prints it."""
        return asdict(self)  # type: ignore[call-overload, no-any-return]

    def __str__(self) -> str:
        return "\n".join([type(self).__name__, *(f"  {name}: {value}" for name, value in self._shown())])

    def _repr_html_(self) -> str:
        """A small table; everything in it is escaped, for texts and paths come from others."""
        rows = "".join(
            f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{escape(value)}</td></tr>'
            for name, value in self._shown()
        )
        return f"<table><caption>{escape(type(self).__name__)}</caption>{rows}</table>"

    def _shown(self) -> Iterator[tuple[str, str]]:
        for name, value in self.as_dict().items():
            yield name.replace("_", " "), _short(value)


def flat_estimates(one: Any) -> dict[str, Any]:
    """A dataclass as plain data: its estimates as numbers, and `intervals` of those that have one."""
    # numpy comes along with it, which a report without figures does not need
    from .stats import Estimate

    estimates = {name: value for name, value in vars(one).items() if isinstance(value, Estimate)}
    intervals = {name: [value.low, value.high] for name, value in estimates.items() if value.low is not None}
    return {**asdict(one), **{name: value.value for name, value in estimates.items()}, "intervals": intervals}


def _short(value: Any) -> str:
    if value is None or value in ("", [], (), {}):
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Mapping):
        parts = [f"{key} {_short(part)}" for key, part in value.items() if not _nested(part)]
        text = ", ".join(parts) if len(parts) == len(value) else f"{len(value)} entries"
    elif isinstance(value, Sequence) and not isinstance(value, str):
        text = f"{len(value)} entries" if any(map(_nested, value)) else ", ".join(map(_short, value))
    else:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _nested(value: Any) -> bool:
    return isinstance(value, Mapping | Sequence) and not isinstance(value, str)
