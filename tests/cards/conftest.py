"""MITI-ST rows written for the tests, and an isolated `datasets` cache."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hf_kokoro as hk
from hf_kokoro.cards import write_card
from hf_kokoro.miti.contract import RUBRIC, SOURCE_DATASET, answer_rank

Row = dict[str, Any]
# empathy, partnership, reflection_present, no_persuade, no_confront of three answers: totals 13, 8 and 3
SCORES = ((5, 5, 1, 1, 1), (3, 3, 0, 1, 1), (1, 1, 0, 0, 1))
THERAPISTS = ("Ada North", "Ben South", "Cleo West")


def make_row(number: int, judge: str = "rule-based/miti-st-v1", scores: Any = SCORES) -> Row:
    """A valid row; every number is another question."""
    answers = []
    for position, (therapist, five) in enumerate(zip(THERAPISTS, scores, strict=True)):
        names = ("empathy", "partnership", "reflection_present", "no_persuade", "no_confront")
        text = f"Answer {position} to question {number}" + " and more" * position
        answers.append(
            {"therapist": therapist, "text": text, **dict(zip(names, five, strict=True)), "total": sum(five)}
        )
    best, worst = max(answers, key=answer_rank), min(answers, key=answer_rank)
    return {
        "question_id": f"q{number}",
        "topic": "anxiety" if number % 2 else "grief",
        "prompt": f"Title {number}\n\nText {number}",
        "chosen": best["text"],
        "rejected": worst["text"],
        "chosen_score": best["total"],
        "rejected_score": worst["total"],
        "chosen_therapist": best["therapist"],
        "rejected_therapist": worst["therapist"],
        "all_answers": answers,
        "rubric": RUBRIC,
        "judge_model": judge,
        "source_dataset": SOURCE_DATASET,
        "license": "MIT",
    }


@pytest.fixture
def rows() -> Callable[[int, int], list[Row]]:
    """rows(start, stop): valid rows with those numbers."""
    return lambda start, stop: [make_row(number) for number in range(start, stop)]


@pytest.fixture
def one_row() -> Callable[..., Row]:
    """one_row(number, judge=...): a valid row."""
    return make_row


@pytest.fixture
def repo(tmp_path: Path, rows: Callable[[int, int], list[Row]]) -> Path:
    """A folder of three rows with its card, without figures."""
    hk.append_rows(tmp_path / "repo", rows(0, 3))
    write_card(tmp_path / "repo", figures=False, today="2026-01-01")
    return tmp_path / "repo"


@pytest.fixture
def cache(tmp_path: Path) -> str:
    """A `datasets` cache of this test alone."""
    return str(tmp_path / "hf-cache")
