"""Datasets, preference pairs, append-only Hub growth and trainers for counselling and empathy dialogues.

Names are imported on first use, so `import hf_kokoro` costs next to nothing and never loads torch,
transformers or anthropic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .core.lazy import on_first_use

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .corpora import BUILDERS, load_dataset
    from .errors import KokoroError
    from .hub import AppendReport, AuditReport, audit
    from .workflow import append_rows

_EXPORTS = {
    "BUILDERS": "corpora",
    "load_dataset": "corpora",
    "KokoroError": "errors",
    "AppendReport": "hub",
    "AuditReport": "hub",
    "append_rows": "workflow",
    "audit": "hub",
}

__all__ = [
    "BUILDERS",
    "AppendReport",
    "AuditReport",
    "KokoroError",
    "__version__",
    "append_rows",
    "audit",
    "load_dataset",
]


__getattr__ = on_first_use(__name__, _EXPORTS)


def __dir__() -> list[str]:
    return sorted(__all__)
