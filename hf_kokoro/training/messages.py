"""The form of a message: `role` and `content`, for SFT also `weight`; anything else is refused by row.

A key that no trainer reads would change nothing, in silence: `tool_calls` that are never learnt, `weight: 0.5` that
counts as 1. `datasets` fills keys that other messages have with null, so null is a key that was not given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from datasets import Value

from ..errors import Fault, Faults, RowError, describe
from .cached_maps import Versioned

KEYS = ("role", "content")
TEXTS = ("messages", "prompt", "chosen", "rejected", "completion")
"""Columns that hold messages, or plain text."""

Problem = tuple[str, str, str]
"""Name of the key, what was got, what is allowed."""


def key_problem(message: Mapping[str, Any], *, weights: bool) -> Problem | None:
    """What is wrong with the keys of a message that has role and content, or None. Texts are never repeated."""
    allowed = f"the keys {', '.join((*KEYS, 'weight') if weights else KEYS)}"
    for key, value in message.items():
        if key in KEYS or value is None:
            continue
        if key != "weight" or not weights:
            return describe(key, show=True).strip("'"), "a key that training does not read", allowed
        if isinstance(value, bool) or not isinstance(value, int | float) or value not in (0, 1):
            return key, describe(value), "0 (not learnt) or 1 (learnt, as without it)"
    return None


def check_keys(rows: Any, name: str, *, weights: bool) -> Any:
    """The rows, looked through for keys of messages that the trainer would not read; `weights`: it reads weight.

    Raises RowError by row and message number; rows of a stream are looked at when they come.
    """
    present = [column for column in TEXTS if column in (rows.column_names or TEXTS)]
    if not hasattr(rows, "__len__"):
        return rows.map(Versioned(_check_row), with_indices=True, fn_kwargs={"name": name, "weights": weights})
    present = [column for column in present if not _is_plain(rows.features[column])]
    faults = Faults()
    for column in present:
        for number, value in enumerate(rows[column]):
            faults.extend(_faults(value, f"{name} row {number}", column, weights))
    faults.raise_if_any(f"messages of {name}", RowError)
    return rows


def _check_row(row: Mapping[str, Any], number: int, name: str, weights: bool) -> dict[str, Any]:
    faults = Faults()
    for column in TEXTS:
        faults.extend(_faults(row.get(column), f"{name} row {number}", column, weights))
    faults.raise_if_any(f"messages of {name}", RowError)
    return dict(row)


def _faults(value: Any, where: str, column: str, weights: bool) -> Iterator[Fault]:
    if not isinstance(value, list):
        return
    for number, message in enumerate(value):
        problem = key_problem(message, weights=weights) if isinstance(message, Mapping) else None
        if problem is not None:
            key, got, allowed = problem
            yield Fault(where, f"{column} message {number} {key}", got, allowed)


def _is_plain(feature: Any) -> bool:
    """Text, or messages whose type has room for role and content alone; so nothing has to be looked at."""
    inner = getattr(feature, "feature", feature[0] if isinstance(feature, list) else feature)
    if isinstance(inner, Mapping):
        return set(inner) <= set(KEYS)
    return isinstance(inner, Value) and inner.dtype in ("string", "large_string")
