"""Rating generated dialogues into a file that a run can go on from, and the table made of it."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..core.reports import Report
from ..core.resampling import bootstrap_sums, interval
from ..core.stats import rounded
from ..judging.concurrent import STOPPED, ask_concurrently
from .dialogue_raters import DialogueRater, Rating
from .dialogue_rubric import LOWEST, METRICS
from .predictions import finished_ids, row_line
from .two_turn import GeneratedDialogue

RATINGS_FILE = "ratings.jsonl"
FORMAT = "format"
"""Status of a dialogue that broke the format: rated 1 everywhere, never sent to a judge."""

UNSCORED = ("refused", "incomplete", "invalid")


@dataclass(frozen=True)
class MetricMean:
    """Mean rating with its 95 % bootstrap interval over dialogues."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class DialogueReport(Report):
    """`statuses` counts every dialogue; means are over scored ones and format breakers (rated 1)."""

    judge_model: str
    rubric_sha256: str
    dialogues: int
    statuses: dict[str, int]
    metrics: dict[str, MetricMean]
    unanswered: list[tuple[str, str]]


def rate_dialogues(
    dialogues: Sequence[GeneratedDialogue],
    rater: DialogueRater,
    path: Path,
    *,
    retry: Collection[str] = (),
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> DialogueReport:
    """Rate what `path` lacks, and report on all. A dialogue's text, the rubric and the judge make it new work."""
    path.parent.mkdir(parents=True, exist_ok=True)
    known = finished_ids(path)
    work = [d for d in dialogues if known.get(_key(d, rater), {}).get("status", "") in {"", *retry}]
    with open(path, "ab") as file:

        def keep(dialogue: GeneratedDialogue, rating: Rating) -> None:
            file.write(_line(dialogue, rater, rating).encode("ascii"))
            file.flush()

        outcome = asyncio.run(ask_concurrently(work, rater, partial(_one, rater=rater), keep, progress))
    # there is no other place for the run's reason
    unanswered = [(d.id, outcome.stopped if reason == STOPPED else reason) for d, reason in outcome.unanswered]
    rows = finished_ids(path)
    return _report(dialogues, rater, rows, unanswered)


async def _one(dialogue: GeneratedDialogue, rater: DialogueRater) -> Rating:
    if dialogue.turns is None:
        return Rating(FORMAT, dict.fromkeys(METRICS, LOWEST), "the text is not a two-turn dialogue")
    return await rater.rate(dialogue)


def _key(dialogue: GeneratedDialogue, rater: DialogueRater) -> str:
    """Identity of a rating: the pair, the text, the rubric and the judge."""
    told = "\0".join([dialogue.situation, dialogue.emotion, dialogue.text, rater.rubric_sha256, rater.judge_model])
    digest = hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{dialogue.id}:{digest}"


def _line(dialogue: GeneratedDialogue, rater: DialogueRater, rating: Rating) -> str:
    return row_line(
        {
            "id": _key(dialogue, rater),
            "dialogue_id": dialogue.id,
            "emotion": dialogue.emotion,
            "judge_model": rater.judge_model,
            "rubric_sha256": rater.rubric_sha256,
            "status": rating.status,
            **(rating.scores or {}),
            "reason": rating.reason,
            "raw": rating.raw,
        }
    )


def _report(
    dialogues: Sequence[GeneratedDialogue],
    rater: DialogueRater,
    rows: dict[str, dict[str, Any]],
    unanswered: list[tuple[str, str]],
) -> DialogueReport:
    found = [rows.get(_key(dialogue, rater)) for dialogue in dialogues]
    statuses = Counter("missing" if row is None else str(row["status"]) for row in found)
    rated = [[row[name] for name in METRICS] for row in found if row is not None and METRICS[0] in row]
    metrics: dict[str, MetricMean] = {}
    if rated:
        table = np.array(rated, dtype=np.int64)
        draws = bootstrap_sums(table) / len(table)
        for place, name in enumerate(METRICS):
            low, high = interval(draws[:, place].tolist())
            mean = float(table[:, place].mean())
            metrics[name] = MetricMean(*map(rounded, (mean, low, high)))
    return DialogueReport(
        rater.judge_model, rater.rubric_sha256, len(dialogues), dict(sorted(statuses.items())), metrics, unanswered
    )
