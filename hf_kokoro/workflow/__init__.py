"""Whatever a verb does, one typed function does, and gives back a report: the package's public Python API.

Names are imported on first use, so that `import hf_kokoro.workflow` is light. What is not in `__all__` is internal.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .appending import append_rows
    from .growing import GrowReport
    from .judging import JudgeRun, judge
    from .pairing import PairRun, pair
    from .watching import grow

_EXPORTS = {
    "GrowReport": "growing",
    "JudgeRun": "judging",
    "PairRun": "pairing",
    "append_rows": "appending",
    "grow": "watching",
    "judge": "judging",
    "pair": "pairing",
}

__all__ = [
    "GrowReport",
    "JudgeRun",
    "PairRun",
    "append_rows",
    "grow",
    "judge",
    "pair",
]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_EXPORTS[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
