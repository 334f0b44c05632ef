"""What the paper says of EmplifAI (arXiv 2601.10033): its sizes, beside those of the files at hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..published import Figure
from .emotions import EMOTION_NAMES
from .measures import measure_rows


def figures(rows: Iterable[Mapping[str, Any]]) -> list[Figure]:
    """The paper's sizes, from rows of the `dialogues` view."""
    measured = measure_rows(rows)
    per_label = [len(found) for found in measured.situations.values() if found]
    per_situation = measured.per_situation
    return [
        Figure("dialogues", 4_125, measured.total),
        Figure("situations", 280, len(per_situation)),
        Figure("emotion labels", len(EMOTION_NAMES), len(per_label)),
        Figure("situations per label, fewest", 10, min(per_label, default=0)),
        Figure("situations per label, most", 10, max(per_label, default=0)),
        Figure("dialogues per situation, fewest", 14, min(per_situation, default=0)),
        Figure("dialogues per situation, most", 15, max(per_situation, default=0)),
    ]
