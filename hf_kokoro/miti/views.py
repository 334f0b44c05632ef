"""Training views of MITI-ST rows: a row as a pair, an answer with a desirable-or-not label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .contract import ANSWER_KEYS, row_id

Row = Mapping[str, Any]

DESIRABLE_MIN = 9
"""`unpaired`: an answer with at least this total (of 13) is desirable."""

_PAIR_KEYS = (
    "question_id",
    "topic",
    "chosen_score",
    "rejected_score",
    "chosen_therapist",
    "rejected_therapist",
    "judge_model",
)


def pair_view(
    row: Row, *, weight: float = 1.0, conversational: bool = True, identity: str | None = None
) -> dict[str, Any]:
    """A row of the config `pairs` (`pairs_features`): margin is chosen minus rejected score, in points.

    `identity` is the row's `row_id`, if it is known already.
    """
    return {
        "prompt": _text(row["prompt"], "user", conversational),
        "chosen": _text(row["chosen"], "assistant", conversational),
        "rejected": _text(row["rejected"], "assistant", conversational),
        "margin": float(row["chosen_score"] - row["rejected_score"]),
        "weight": weight,
        "row_id": identity or row_id(row),
        **{key: row[key] for key in _PAIR_KEYS},
    }


def unpaired_view(
    row: Row,
    answer: Row,
    *,
    weight: float = 1.0,
    desirable_min: int = DESIRABLE_MIN,
    conversational: bool = True,
) -> dict[str, Any]:
    """One answer of a row as a row of the config `unpaired` (`unpaired_features`)."""
    return {
        "prompt": _text(row["prompt"], "user", conversational),
        "completion": _text(answer["text"], "assistant", conversational),
        "label": answer["total"] >= desirable_min,
        "score": answer["total"],
        "weight": weight,
        "question_id": row["question_id"],
        "topic": row["topic"],
        "therapist": answer["therapist"],
        "judge_model": row["judge_model"],
    }


def answer_key(row: Row, answer: Row) -> int:
    """Identity of one verdict on one answer, in this process: a re-sampled question brings the same one again."""
    question = (row["question_id"], row["prompt"], row["judge_model"])
    return hash((question, *(answer[key] for key in ANSWER_KEYS)))


def _text(text: str, role: str, conversational: bool) -> Any:
    return [{"role": role, "content": text}] if conversational else text
