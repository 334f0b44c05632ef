"""Per-dialogue measures of KokoroChat, computed column by column from the `dialogues` view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from datasets import Dataset

from ...core.stats import Array, spearman, spearman_matrix
from .schema import TOPICS

IntArray = npt.NDArray[np.int64]
CLIENT, COUNSELOR = 0, 1
"""The codes of the role ClassLabel."""


@dataclass(frozen=True)
class DialogueMeasures:
    """Arrays with one entry a dialogue, (N,); those by role are (N, 2), client first.

    `response_seconds` is the mean wait from a client's last utterance to the counsellor's next, in seconds; nan
    where a counsellor never answers. `turns` counts runs of one speaker. `items` are the 20 ratings, (N, 20).
    """

    score: IntArray
    topic: IntArray
    client_id: IntArray
    counselor_id: IntArray
    screening: npt.NDArray[np.bool_]
    utterances: IntArray
    characters: IntArray
    turns: IntArray
    response_seconds: npt.NDArray[np.float64]
    items: IntArray

    @property
    def mean_score(self) -> float:
        return float(np.mean(self.score))

    @property
    def median_score(self) -> float:
        return float(np.median(self.score))

    @property
    def topics(self) -> Counter[str]:
        """Dialogues per topic."""
        names = list(TOPICS)
        return Counter(names[topic] for topic in self.topic.tolist())

    @property
    def flagged(self) -> int:
        """Dialogues with a screening box checked."""
        return int(self.screening.any(axis=1).sum())

    def item_correlations(self) -> Array:
        """Spearman between the 20 items, (20, 20); nan where an item is constant."""
        return spearman_matrix(self.items.astype(float))

    def correlates(self) -> dict[str, npt.NDArray[Any]]:
        """What the paper correlates with the score: name to values, (N,)."""
        return {
            "client characters": self.characters[:, CLIENT],
            "counsellor characters": self.characters[:, COUNSELOR],
            "client utterances": self.utterances[:, CLIENT],
            "counsellor utterances": self.utterances[:, COUNSELOR],
            "counsellor mean response time": self.response_seconds,
        }

    def score_correlations(self) -> dict[str, float | None]:
        """Spearman of each correlate with the score; None where it is not defined."""
        known = {name: ~np.isnan(values) for name, values in self.correlates().items()}
        return {
            name: spearman(values[known[name]].astype(float), self.score[known[name]].astype(float))
            for name, values in self.correlates().items()
        }

    def numbers(self) -> list[tuple[str, str]]:
        """(what, value) of each line of the card's table."""
        client, counselor = self.utterances.sum(axis=0)
        clients, counselors = len(np.unique(self.client_id)), len(np.unique(self.counselor_id))
        correlations = self.score_correlations().items()
        return [
            ("dialogues", f"{len(self.score):,}"),
            ("utterances (client, counsellor)", f"{client:,}, {counselor:,}"),
            ("people (clients, counsellors)", f"{clients:,}, {counselors:,}"),
            ("score, mean and median (points of 100)", f"{self.mean_score:.2f}, {self.median_score:g}"),
            ("dialogues with a screening box checked", f"{self.flagged:,}"),
            *(
                (f"Spearman of the score with {name}", "not defined" if rho is None else f"{rho:.2f}")
                for name, rho in correlations
            ),
            *((f"topic: {topic}", f"{count:,}") for topic, count in self.topics.most_common()),
        ]


def measure_rows(rows: Dataset) -> DialogueMeasures:
    """Measure rows of the `dialogues` view, a thousand dialogues in memory at a time."""
    return measure_dialogues(rows.with_format("arrow").iter(1000))


def measure_dialogues(tables: Iterable[pa.Table]) -> DialogueMeasures:
    """Measure tables of the `dialogues` view, one after the other, so that memory follows the largest table."""
    parts = [_measure(table.combine_chunks()) for table in tables if len(table)]
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in vars(parts[0])}
    return DialogueMeasures(**columns)


def _measure(table: pa.Table) -> DialogueMeasures:
    utterances = table["utterances"].chunk(0)
    lengths = pc.list_value_length(utterances).to_numpy()
    flat = utterances.flatten()
    role = flat.field("role").to_numpy()
    seconds = flat.field("time").cast(pa.int64()).to_numpy()
    characters = pc.utf8_length(flat.field("text")).to_numpy()
    owner = np.repeat(np.arange(len(table)), lengths)

    same_dialogue = np.concatenate([[False], owner[1:] == owner[:-1]])
    previous = np.concatenate([[0], role[:-1]])
    opens_turn = ~same_dialogue | (role != previous)
    answers = same_dialogue & (role == COUNSELOR) & (previous == CLIENT)
    waits = np.diff(seconds, prepend=seconds[:1])[answers]
    answered = np.bincount(owner[answers], minlength=len(table))
    with np.errstate(invalid="ignore"):
        response = np.bincount(owner[answers], weights=waits, minlength=len(table)) / answered
    screening = table["screening"].chunk(0)
    return DialogueMeasures(
        score=_ints(table, "score"),
        topic=_ints(table, "topic"),
        client_id=_ints(table, "client_id"),
        counselor_id=_ints(table, "counselor_id"),
        screening=np.stack([f.to_numpy(zero_copy_only=False) for f in screening.flatten()], axis=1),
        utterances=_by_role(owner, role, np.ones_like(owner), len(table)),
        characters=_by_role(owner, role, characters, len(table)),
        turns=_by_role(owner[opens_turn], role[opens_turn], np.ones(int(opens_turn.sum())), len(table)),
        response_seconds=response,
        items=np.stack([f.to_numpy() for f in table["items"].chunk(0).flatten()], axis=1).astype(np.int64),
    )


def _ints(table: pa.Table, column: str) -> IntArray:
    values: IntArray = table[column].to_numpy().astype(np.int64)
    return values


def _by_role(owner: IntArray, role: IntArray, amount: npt.NDArray[np.generic], dialogues: int) -> IntArray:
    sums = np.bincount(owner * 2 + role, weights=amount, minlength=2 * dialogues)
    return sums.astype(np.int64).reshape(dialogues, 2)
