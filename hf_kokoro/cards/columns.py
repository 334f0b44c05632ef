"""Features as the table of columns that a card shows."""

from __future__ import annotations

from typing import Any

from datasets import ClassLabel, Features, List, Value

_NAMES_SHOWN = 6


def column_table(features: Features) -> str:
    """A Markdown table with one line a column: name and type, nested ones spelled out."""
    lines = [f"| `{name}` | {type_name(feature)} |" for name, feature in features.items()]
    return "\n".join(["| column | type |", "|---|---|", *lines])


def type_name(feature: Any) -> str:
    """A type in words: `list of {role: string, ...}`, `class label of 28: admiration, amusement, ...`."""
    if isinstance(feature, ClassLabel):
        names = list(feature.names)
        more = ", ..." if len(names) > _NAMES_SHOWN else ""
        return f"class label of {len(names)}: {', '.join(names[:_NAMES_SHOWN])}{more}"
    if isinstance(feature, Value):
        return str(feature.dtype)
    if isinstance(feature, List):
        return f"list of {type_name(feature.feature)}"
    if isinstance(feature, dict):
        fields = [f"{name}: {type_name(inner)}" for name, inner in feature.items()]
        return "{" + ", ".join(fields) + "}"
    return type(feature).__name__
