"""Numbers of a card, counted from the MITI-ST rows at hand in one pass over them."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.stats import spearman
from ..miti.contract import DIMENSIONS
from ..miti.views import answer_key
from ..policy.claims import claim_of
from ..policy.notes import Note

TOTALS = range(14)
"""The rubric's documented range of totals, 0 to 13."""


@dataclass
class MitiFacts:
    """Counts over the rows; an answer counts once a verdict, however often its question was re-sampled."""

    rows: int = 0
    answers: int = 0
    questions: set[int] = field(default_factory=set)
    topics: Counter[str] = field(default_factory=Counter)
    judges: Counter[str] = field(default_factory=Counter)
    rubrics: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Rows whose judge's instructions are known: the judge, and the digest of its rubric."""
    origins: Counter[tuple[str, ...]] = field(default_factory=Counter)
    """Rows a claim: `source_dataset` and `license` as they state them, who wrote the answers, how that is known."""
    margins: Counter[int] = field(default_factory=Counter)
    scores: dict[str, Counter[int]] = field(
        default_factory=lambda: {name: Counter() for name in (*DIMENSIONS, "total")}
    )
    therapists: dict[str, Counter[str]] = field(
        default_factory=lambda: {side: Counter() for side in ("answers", "chosen", "rejected")}
    )
    chosen_longer: int = 0
    chosen_characters: int = 0
    rejected_characters: int = 0
    lengths: array[int] = field(default_factory=lambda: array("i"))
    totals: array[int] = field(default_factory=lambda: array("b"))
    _seen: set[int] = field(default_factory=set)

    def add(self, row: Mapping[str, Any], note: Note | None = None) -> list[Mapping[str, Any]]:
        """Count one row and return its answers that were not seen before; `note` is what the ledger says of it.

        Raises KeyError or TypeError if the row does not have the schema's keys and types.
        """
        self.rows += 1
        self.questions.add(hash((row["question_id"], row["prompt"])))
        self.topics[row["topic"]] += 1
        self.judges[row["judge_model"]] += 1
        claim = None if note is None else note.claim
        if note is not None and note.rubric_sha256:
            self.rubrics[row["judge_model"], note.rubric_sha256] += 1
        # a line that names another source or licence than the row was not written for it
        noted = claim is not None and claim[:2] == (row["source_dataset"], row["license"])
        self.origins[claim if claim is not None and noted else claim_of(row)] += 1
        self.margins[row["chosen_score"] - row["rejected_score"]] += 1
        for side in ("chosen", "rejected"):
            self.therapists[side][row[f"{side}_therapist"]] += 1
        self.chosen_longer += len(row["chosen"]) > len(row["rejected"])
        self.chosen_characters += len(row["chosen"])
        self.rejected_characters += len(row["rejected"])
        return [answer for answer in row["all_answers"] if self._add_answer(answer, answer_key(row, answer))]

    def _add_answer(self, answer: Mapping[str, Any], key: int) -> bool:
        if key in self._seen:
            return False
        self._seen.add(key)
        self.answers += 1
        self.therapists["answers"][answer["therapist"]] += 1
        self.lengths.append(len(answer["text"]))
        self.totals.append(answer["total"])
        for name, counts in self.scores.items():
            counts[answer[name]] += 1
        return True

    @property
    def single_judge(self) -> str | None:
        """The judge's name if there is just one."""
        return next(iter(self.judges)) if len(self.judges) == 1 else None

    def length_correlation(self) -> float | None:
        """Spearman correlation of an answer's characters with its total; None where one is constant."""
        return spearman(np.asarray(self.lengths, dtype=float), np.asarray(self.totals, dtype=float))

    def share(self, side: str, top: int) -> float:
        """Share of the `top` most frequent therapists among answers, chosen or rejected sides."""
        counts = self.therapists[side]
        return sum(count for _, count in counts.most_common(top)) / max(counts.total(), 1)


def mean(counts: Mapping[int, int]) -> float:
    """Mean of a histogram; nan if it is empty."""
    total = sum(counts.values())
    return sum(value * count for value, count in counts.items()) / total if total else float("nan")


def median(counts: Mapping[int, int]) -> float:
    """Median of a histogram; nan if it is empty."""
    values = [v for v, count in sorted(counts.items()) for _ in range(count)]
    return float(np.median(values)) if values else float("nan")
