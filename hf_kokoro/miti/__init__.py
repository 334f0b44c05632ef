"""MITI-ST v1 as a contract: what a row is, when it is valid, what its identity is. Loads no `datasets`.

The same as `datasets` Features is in `features`; the views that trainers read are in `views` and `weights`, pairing
in `pairing`.
"""

from __future__ import annotations

from .contract import (
    ANSWER_KEYS,
    DATA_PATH,
    DIMENSIONS,
    HUB_ID,
    LICENSE,
    NOT_STATED,
    ROW_KEYS,
    RUBRIC,
    SAMPLE_DATASET,
    SOURCE_DATASET,
    VERSION,
    answer_rank,
    row_faults,
    row_id,
    row_line,
    row_schema,
    scores_fault,
)
from .no_answers import NO_ANSWERS, is_blank, is_placeholder, no_answer

__all__ = [
    "ANSWER_KEYS",
    "DATA_PATH",
    "DIMENSIONS",
    "HUB_ID",
    "LICENSE",
    "NOT_STATED",
    "NO_ANSWERS",
    "ROW_KEYS",
    "RUBRIC",
    "SAMPLE_DATASET",
    "SOURCE_DATASET",
    "VERSION",
    "answer_rank",
    "is_blank",
    "is_placeholder",
    "no_answer",
    "row_faults",
    "row_id",
    "row_line",
    "row_schema",
    "scores_fault",
]
