"""Emotion prediction: free text to one of 28 labels, exact match, macro-F1, confusion."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..core.stats import rounded
from ..corpora.emplifai.emotions import EMOTION_NAMES, EMOTIONS, comparison_key, emotion_name
from ..errors import Fault, Faults, MissingExtraError, describe
from .predictions import read_rows

NO_LABEL = "no label"

_PARTS = re.compile(r"[^\w\-]+|_")
_SHORTEST_INSIDE = 2
"""A spelling of one character (愛) is taken only where it stands alone: inside words it is mostly another word."""


@dataclass(frozen=True)
class Answer:
    """The label that an answer names, or None; `how` says where it was found: whole, part, inside or none."""

    label: str | None
    how: str


@dataclass(frozen=True)
class EmotionReport:
    """Shares from 0 to 1. `macro_f1` is a mean over the labels that occur in the gold; `labels` order the matrix.

    `confusion[i][j]` counts gold label i answered as label j; the last column is "no label".
    """

    rows: int
    exact_match: float
    macro_f1: float
    no_label: int
    how: dict[str, int]
    labels: list[str]
    confusion: list[list[int]]
    by_label: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return asdict(self)


def read_answer(text: str) -> Answer:
    """Map free text to a label by English name, Japanese name or alias.

    The whole text may be a name; else every name in it is looked for: as a part between punctuation and spaces,
    or inside longer words (the longest first, so 不承認 is never 承認). Two different labels are no label:
    nothing is guessed.
    """
    whole = emotion_name(text)
    if whole is not None:
        return Answer(whole, "whole")
    folded = comparison_key(text)
    parts = {name for part in _PARTS.split(folded) if (name := emotion_name(part))}
    found = parts | {_labels()[match] for match in _inside().findall(folded)}
    if len(found) != 1:
        return Answer(None, "none")
    return Answer(found.pop(), "part" if parts else "inside")


def read_emotion_rows(path: str | Path) -> list[tuple[str, Answer]]:
    """(gold label, answer) of rows with `prediction` (free text) and `label` (a name in any accepted spelling).

    Raises SourceError, InputError.
    """
    faults, rows = Faults(), []
    for where, row in read_rows(path):
        text, label = row.get("prediction"), row.get("label")
        name = emotion_name(label) if isinstance(label, str) else None
        if not isinstance(text, str):
            faults.add(Fault(where, "prediction", describe(text), "text"))
        elif name is None:
            faults.add(Fault(where, "label", describe(label, show=True), "one of the 28 labels"))
        else:
            rows.append((name, read_answer(text)))
    faults.raise_if_any("predictions")
    return rows


def emotion_report(rows: Sequence[tuple[str, Answer]]) -> EmotionReport:
    """The figures of (gold, answer) rows, by scikit-learn; an answer without a label is a miss everywhere."""
    try:
        from sklearn.metrics import confusion_matrix, f1_score
    except ImportError as error:
        raise MissingExtraError(error.name or "scikit-learn", "eval", "macro-F1") from None
    gold = [label for label, _ in rows]
    said = [answer.label or NO_LABEL for _, answer in rows]
    present = [name for name in EMOTION_NAMES if name in {*gold}]
    scores = f1_score(gold, said, labels=present, average=None, zero_division=0.0)
    columns = [*EMOTION_NAMES, NO_LABEL]
    matrix = confusion_matrix(gold, said, labels=columns)[:-1]
    ways = [answer.how for _, answer in rows]
    return EmotionReport(
        rows=len(rows),
        exact_match=rounded(sum(g == s for g, s in zip(gold, said, strict=True)) / len(rows)),
        macro_f1=rounded(scores.mean()),
        no_label=said.count(NO_LABEL),
        how={name: ways.count(name) for name in ("whole", "part", "inside", "none")},
        labels=columns,
        confusion=[[int(count) for count in row] for row in matrix],
        by_label={name: rounded(score) for name, score in zip(present, scores, strict=True)},
    )


def draw_confusion(report: EmotionReport, path: str | Path) -> None:
    """The confusion matrix as a picture, rows in shares of each gold label. Needs matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plots", "the confusion figure") from None
    names = report.labels[:-1]
    shares = [[count / max(sum(row), 1) for count in row] for row in report.confusion]
    figure = Figure(figsize=(11, 10), layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    axes.set_xticks(range(len(report.labels)), report.labels, rotation=90)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("answered")
    axes.set_ylabel("gold")
    axes.set_title(f"exact match {report.exact_match:.3f}, macro-F1 {report.macro_f1:.3f}, {report.rows} rows")
    figure.colorbar(image, label="share of the gold label's rows", shrink=0.7)
    figure.savefig(path, dpi=110, metadata={"Software": None})


@cache
def _labels() -> dict[str, str]:
    return {comparison_key(s): e.name for e in EMOTIONS for s in (e.name, e.name_ja, *e.aliases)}


@cache
def _inside() -> re.Pattern[str]:
    spellings = sorted((key for key in _labels() if len(key) >= _SHORTEST_INSIDE), key=len, reverse=True)
    # English names only as whole words: "joy" is not in "enjoy"
    parts = [rf"(?<![a-z]){re.escape(key)}(?![a-z])" if key.isascii() else re.escape(key) for key in spellings]
    return re.compile("|".join(parts))


def display_names(language: str) -> dict[str, str]:
    """Label to the name that is compared for similarity: `ja` or `en`."""
    return {e.name: unicodedata.normalize("NFKC", e.name_ja if language == "ja" else e.name) for e in EMOTIONS}
