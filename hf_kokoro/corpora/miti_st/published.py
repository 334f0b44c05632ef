"""Sizes and means of a MITI-ST set; it grows, so nothing is published to compare with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...miti.contract import DIMENSIONS
from ..published import Figure


def figures(rows: Sequence[Mapping[str, Any]]) -> list[Figure]:
    """Figures of the rows of the `rows` view."""
    answers = [answer for row in rows for answer in row["all_answers"]]
    margins = [row["chosen_score"] - row["rejected_score"] for row in rows]
    therapists = {answer["therapist"] for answer in answers}
    means = [Figure(f"mean {name}", None, _mean([a[name] for a in answers]), 2) for name in (*DIMENSIONS, "total")]
    return [
        Figure("rows", None, len(rows)),
        Figure("questions", None, len({row["question_id"] for row in rows})),
        Figure("answers in all rows", None, len(answers)),
        Figure("therapists", None, len(therapists)),
        Figure("mean margin (points)", None, _mean(margins), 2),
        *means,
    ]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")
