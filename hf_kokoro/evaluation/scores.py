"""The score-prediction table: ACC, ACC within one point, MAE, over all 20 items and for each.

An item that can't be read is wrong for ACC and ACC_soft and has no part in MAE, which is a mean over what was
read; how many there are, and why, stands beside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.stats import rounded
from ..corpora.kokorochat.schema import ITEM_MAX, ITEM_NAMES
from ..errors import Fault, Faults, describe
from .predictions import read_rows
from .score_items import ReadScores, read_scores

Scores = npt.NDArray[np.int64]

UNREAD = -1


@dataclass(frozen=True)
class ItemScores:
    """Shares from 0 to 1 and points; `mae` is None if nothing was read. `unread` counts (dialogue, item) pairs."""

    acc: float
    acc_soft: float
    mae: float | None
    pairs: int
    unread: int


@dataclass(frozen=True)
class ScoreReport:
    """One run: all items together, each item, and why pairs were unreadable (reason to count)."""

    dialogues: int
    overall: ItemScores
    items: dict[str, ItemScores]
    unread_reasons: dict[str, int]
    unread_dialogues: list[str]
    """Ids of dialogues with at least one unreadable item."""

    def to_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return asdict(self)


@dataclass(frozen=True)
class Spread:
    """Mean over runs, and the sample standard deviation (None for a single run)."""

    mean: float
    sd: float | None


@dataclass(frozen=True)
class ScoreRun:
    """Gold and predicted scores, (dialogues, 20), UNREAD where a prediction could not be read."""

    ids: list[str]
    gold: Scores
    predicted: Scores
    reasons: Counter[str]


def read_score_run(path: str | Path) -> ScoreRun:
    """Rows with `prediction` (text) and `reference` (the 20 scores: an object or its JSON text).

    Raises SourceError, or InputError for rows whose reference is not 20 scores.
    """
    faults, ids, gold, predicted, reasons = Faults(), list[str](), [], [], Counter[str]()
    for where, row in read_rows(path):
        text, reference = row.get("prediction"), _gold(row.get("reference"))
        if not isinstance(text, str):
            faults.add(Fault(where, "prediction", describe(text), "text"))
        elif reference is None:
            faults.add(Fault(where, "reference", describe(row.get("reference")), "the 20 items with scores 0-5"))
        else:
            found = read_scores(text)
            ids.append(str(row.get("id", where)))
            gold.append(reference)
            predicted.append(score_vector(found))
            reasons.update(found.faults.values())
    faults.raise_if_any("predictions")
    return ScoreRun(ids, np.array(gold), np.array(predicted), reasons)


def score_vector(found: ReadScores) -> list[int]:
    """20 scores in item order, UNREAD for a fault."""
    return [found.scores.get(name, UNREAD) for name in ITEM_NAMES]


def score_report(run: ScoreRun) -> ScoreReport:
    """ACC, ACC_soft and MAE of one run."""
    unread = (run.predicted == UNREAD).any(axis=1)
    return ScoreReport(
        dialogues=len(run.ids),
        overall=_measure(run.gold, run.predicted),
        items={name: _measure(run.gold[:, place], run.predicted[:, place]) for place, name in enumerate(ITEM_NAMES)},
        unread_reasons=dict(sorted(run.reasons.items())),
        unread_dialogues=[name for name, missing in zip(run.ids, unread, strict=True) if missing],
    )


def spread_over_runs(reports: Sequence[ScoreReport]) -> dict[str, Spread]:
    """acc, acc_soft and mae over all items: mean and sample standard deviation over the runs (seeds)."""
    found = {}
    for name in ("acc", "acc_soft", "mae"):
        values = [value for report in reports if (value := getattr(report.overall, name)) is not None]
        if values:
            sd = rounded(float(np.std(values, ddof=1))) if len(values) > 1 else None
            found[name] = Spread(rounded(float(np.mean(values))), sd)
    return found


BASELINES = ("constant", "majority", "mean")


def baseline_run(name: str, train: Iterable[Mapping[str, int]], test: ScoreRun) -> ScoreRun:
    """What a guess from the training scores alone would predict for `test`.

    `constant`: the most frequent score of all, for every item. `majority`: each item's most frequent score.
    `mean`: each item's mean, rounded half up. Of equally frequent scores the higher one is taken.
    """
    counts = np.zeros((len(ITEM_NAMES), ITEM_MAX + 1), dtype=np.int64)
    for scores in train:
        for place, item in enumerate(ITEM_NAMES):
            counts[place, scores[item]] += 1
    if name == "constant":
        guess = np.full(len(ITEM_NAMES), _most_frequent(counts.sum(axis=0)))
    elif name == "majority":
        guess = np.array([_most_frequent(row) for row in counts])
    else:
        guess = np.floor((counts @ np.arange(ITEM_MAX + 1)) / counts.sum(axis=1) + 0.5).astype(np.int64)
    return ScoreRun(test.ids, test.gold, np.tile(guess, (len(test.ids), 1)), Counter())


def best_constant(test: ScoreRun) -> tuple[int, ScoreReport]:
    """The single score that would have been right most often on `test` itself: a bar that no guess knows."""
    reports = []
    for score in range(ITEM_MAX + 1):
        predicted = np.full(test.gold.shape, score)
        reports.append(score_report(ScoreRun(test.ids, test.gold, predicted, Counter())))
    best = max(range(ITEM_MAX + 1), key=lambda score: reports[score].overall.acc)
    return best, reports[best]


def _most_frequent(counts: npt.NDArray[Any]) -> int:
    return int(len(counts) - 1 - np.argmax(counts[::-1]))


def _measure(gold: Scores, predicted: Scores) -> ItemScores:
    read = predicted != UNREAD
    apart = np.abs(gold - predicted)
    right, near = (apart == 0) & read, (apart <= 1) & read
    return ItemScores(
        acc=rounded(float(right.mean())),
        acc_soft=rounded(float(near.mean())),
        mae=rounded(float(apart[read].mean())) if read.any() else None,
        pairs=int(gold.size),
        unread=int((~read).sum()),
    )


def _gold(reference: Any) -> list[int] | None:
    """20 scores in item order, or None: a reference must be whole."""
    if isinstance(reference, dict):
        scores = [reference.get(name) for name in ITEM_NAMES]
        whole = all(isinstance(s, int) and not isinstance(s, bool) and 0 <= s <= ITEM_MAX for s in scores)
        return [int(s) for s in scores if s is not None] if whole else None
    if isinstance(reference, str):
        found = read_scores(reference)
        return None if found.faults else score_vector(found)
    return None


def gold_run(rows: Iterable[Mapping[str, Any]]) -> ScoreRun:
    """Rows of `score_prediction` as a run without predictions, for baselines."""
    ids, gold = [], []
    for row in rows:
        ids.append(str(row["dialogue_id"]))
        gold.append([int(row[name]) for name in ITEM_NAMES])
    table = np.array(gold)
    return ScoreRun(ids, table, np.full(table.shape, UNREAD), Counter())


def score_rows(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Any, dict[str, int]]]:
    """(id, prompt, the 20 scores) of `score_prediction` rows."""
    for row in rows:
        yield str(row["dialogue_id"]), row["prompt"], {name: int(row[name]) for name in ITEM_NAMES}
