"""The row contract as `datasets` Features, and the views that trainers read. Frozen: a change bumps VERSION."""

from __future__ import annotations

from datasets import Features, List, Value

from .contract import DIMENSIONS, ROW_KEYS

_ANSWER = {
    "therapist": Value("string"),
    "text": Value("string"),
    **{name: Value("int32") for name in DIMENSIONS},
    "total": Value("int32"),
}

ROWS_FEATURES = Features(
    {
        key: Value("int32")
        if key in ("chosen_score", "rejected_score")
        else List(_ANSWER)
        if key == "all_answers"
        else Value("string")
        for key in ROW_KEYS
    }
)
ANSWERS_FEATURES = Features(
    {
        "question_id": Value("string"),
        "topic": Value("string"),
        "prompt": Value("string"),
        **_ANSWER,
        "judge_model": Value("string"),
        "rubric": Value("string"),
    }
)
_MESSAGES = List({"role": Value("string"), "content": Value("string")})


def pairs_features(conversational: bool) -> Features:
    """`prompt`, `chosen`, `rejected` (messages or strings), `margin` in points (>= 1), `weight` (mean 1)."""
    text = _MESSAGES if conversational else Value("string")
    return Features(
        {
            "prompt": text,
            "chosen": text,
            "rejected": text,
            "margin": Value("float32"),
            "weight": Value("float32"),
            "row_id": Value("string"),
            "question_id": Value("string"),
            "topic": Value("string"),
            "chosen_score": Value("int32"),
            "rejected_score": Value("int32"),
            "chosen_therapist": Value("string"),
            "rejected_therapist": Value("string"),
            "judge_model": Value("string"),
        }
    )


def unpaired_features(conversational: bool) -> Features:
    """`prompt`, `completion`, `label` (True = desirable), one row an answer; `score` is its total."""
    text = _MESSAGES if conversational else Value("string")
    return Features(
        {
            "prompt": text,
            "completion": text,
            "label": Value("bool"),
            "score": Value("int32"),
            "weight": Value("float32"),
            "question_id": Value("string"),
            "topic": Value("string"),
            "therapist": Value("string"),
            "judge_model": Value("string"),
        }
    )
