"""Per-dialogue measures of KokoroChat, computed column by column from the `dialogues` view."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...core.stats import spearman

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
