"""The papers' figures beside ours: what a user compares first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ..corpora.emplifai.emotions import EMOTION_NAMES
from ..corpora.kokorochat.measures import CLIENT, COUNSELOR, DialogueMeasures, measure_dialogues
from ..corpora.kokorochat.schema import FLAG_NAMES, TOPICS
from ..miti.contract import DIMENSIONS


@dataclass(frozen=True)
class Figure:
    """One figure: the published value (None if there is none), ours, and the digits it is printed with."""

    name: str
    paper: float | None
    ours: float
    digits: int = 0

    @property
    def differs(self) -> bool:
        """True if the two differ in the digits that are printed."""
        # float(): figures come from numpy, whose booleans are not Python's
        return self.paper is not None and round(float(self.ours), self.digits) != round(self.paper, self.digits)

    def row(self) -> tuple[str, str, str, str]:
        """Name, paper, ours, difference as text."""
        paper = "-" if self.paper is None else f"{self.paper:,.{self.digits}f}"
        gap = f"{self.ours - (self.paper or 0):+,.{self.digits}f}" if self.differs else ""
        return self.name, paper, f"{self.ours:,.{self.digits}f}", gap


def kokorochat_figures(tables: Iterable[pa.Table]) -> list[Figure]:
    """KokoroChat's table (Qi et al. 2025, arXiv 2506.01357), from tables of the `dialogues` view."""
    m = measure_dialogues(tables)
    return [*_sizes(m), *_scores(m), *_correlations(m), *_topics(m)]


def _sizes(m: DialogueMeasures) -> list[Figure]:
    utterances, characters, turns = m.utterances.sum(axis=0), m.characters.sum(axis=0), m.turns.sum(axis=0)
    dialogues = len(m.score)
    people = [set(m.counselor_id.tolist()), set(m.client_id.tolist())]
    pairs = set(zip(m.client_id.tolist(), m.counselor_id.tolist(), strict=True))
    return [
        Figure("dialogues", 6_589, dialogues),
        Figure("utterances", 600_939, int(utterances.sum())),
        Figure("utterances, counsellor", 306_495, int(utterances[COUNSELOR])),
        Figure("utterances, client", 294_444, int(utterances[CLIENT])),
        Figure("utterances per dialogue", 91.20, utterances.sum() / dialogues, 2),
        Figure("utterances per dialogue, counsellor", 46.52, utterances[COUNSELOR] / dialogues, 2),
        Figure("utterances per dialogue, client", 44.69, utterances[CLIENT] / dialogues, 2),
        Figure("characters per utterance", 28.39, characters.sum() / utterances.sum(), 2),
        Figure("characters per utterance, counsellor", 35.84, characters[COUNSELOR] / utterances[COUNSELOR], 2),
        Figure("characters per utterance, client", 20.63, characters[CLIENT] / utterances[CLIENT], 2),
        Figure("speakers", 480, len(people[0] | people[1])),
        Figure("speakers, counsellors", 424, len(people[0])),
        Figure("speakers, clients", 463, len(people[1])),
        Figure("distinct client-counsellor pairs", 4_900, len(pairs)),
        Figure("turns (runs of one speaker merged)", 471_940, int(turns.sum())),
        Figure("turns, counsellor", 237_735, int(turns[COUNSELOR])),
    ]


def _scores(m: DialogueMeasures) -> list[Figure]:
    low, high = m.score < 70, (m.score >= 70) & (m.score <= 98)
    utterances = m.utterances.sum(axis=1)
    flags = [
        Figure(f"flagged: {name}", paper, int(checked))
        for name, paper, checked in zip(FLAG_NAMES, (8, 4, 209), m.screening.sum(axis=0), strict=True)
    ]
    return [
        Figure("score, mean", 63.58, float(m.score.mean()), 2),
        Figure("score, median", 64, float(np.median(m.score))),
        *flags,
        Figure("flagged: any", 215, int(m.screening.any(axis=1).sum())),
        Figure("score < 70, dialogues", 3_870, int(low.sum())),
        Figure("score < 70, utterances", 334_022, int(utterances[low].sum())),
        Figure("score 70-98, dialogues", 2_601, int(high.sum())),
        Figure("score 70-98, utterances", 254_515, int(utterances[high].sum())),
        Figure("score >= 99, dialogues (the test set)", 118, int((m.score >= 99).sum())),
    ]


def _correlations(m: DialogueMeasures) -> list[Figure]:
    published = (0.42, 0.28, 0.21, 0.17, -0.21)
    return [
        Figure(f"Spearman of score with {name}", paper, float("nan") if rho is None else rho, 2)
        for paper, (name, rho) in zip(published, m.score_correlations().items(), strict=True)
    ]


def _topics(m: DialogueMeasures) -> list[Figure]:
    published = (1330, 1123, 966, 928, 848, 454, 438, 306, 140, 49, 7)
    counts = np.bincount(m.topic, minlength=len(TOPICS))
    return [Figure(f"topic: {t}", p, int(c)) for t, p, c in zip(TOPICS, published, counts, strict=True)]


def emplifai_figures(rows: Iterable[Mapping[str, Any]]) -> list[Figure]:
    """EmplifAI's sizes (arXiv 2601.10033), from rows of the `dialogues` view."""
    dialogues: Counter[tuple[int, str]] = Counter((row["emotion"], row["situation_id"]) for row in rows)
    per_label = Counter(emotion for emotion, _ in dialogues)
    return [
        Figure("dialogues", 4_125, dialogues.total()),
        Figure("situations", 280, len(dialogues)),
        Figure("emotion labels", len(EMOTION_NAMES), len(per_label)),
        Figure("situations per label, fewest", 10, min(per_label.values(), default=0)),
        Figure("situations per label, most", 10, max(per_label.values(), default=0)),
        Figure("dialogues per situation, fewest", 14, min(dialogues.values(), default=0)),
        Figure("dialogues per situation, most", 15, max(dialogues.values(), default=0)),
    ]


def miti_st_figures(rows: Sequence[Mapping[str, Any]]) -> list[Figure]:
    """Sizes and means of a MITI-ST set; it grows, so nothing is published to compare with."""
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
