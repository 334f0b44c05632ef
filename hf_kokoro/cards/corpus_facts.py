"""Numbers of KokoroChat and EmplifAI for their cards, counted from rows of the `dialogues` configs.

Rows are those of `schema.kokorochat.DIALOGUES_FEATURES` and `schema.emplifai.DIALOGUES_FEATURES`; class
labels may be numbers or names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ..schema.emotions import EMOTION_NAMES
from ..schema.kokorochat import FLAG_NAMES, ITEM_NAMES, ROLES, TOPICS
from .facts import spearman

Row = Mapping[str, Any]

DIALOGUE_MEASURES = (
    "client characters",
    "counsellor characters",
    "client utterances",
    "counsellor utterances",
    "counsellor mean response time",
)
"""What is correlated with the score; the response time is in seconds, the others are counts."""


@dataclass
class KokoroChatFacts:
    """One entry a dialogue in every list, in row order."""

    scores: list[int] = field(default_factory=list)
    topics: Counter[str] = field(default_factory=Counter)
    flags: Counter[str] = field(default_factory=Counter)
    flagged: int = 0
    speakers: dict[str, set[int]] = field(default_factory=lambda: {role: set() for role in ROLES})
    items: list[list[int]] = field(default_factory=list)
    measures: list[list[float]] = field(default_factory=list)
    """Values of DIALOGUE_MEASURES; nan where a dialogue has no counsellor reply."""

    def add(self, row: Row) -> None:
        self.scores.append(row["score"])
        self.topics[_name(row["topic"], tuple(TOPICS))] += 1
        checked = [name for name in FLAG_NAMES if row["screening"][name]]
        self.flags.update(checked)
        self.flagged += bool(checked)
        self.speakers["client"].add(row["client_id"])
        self.speakers["counselor"].add(row["counselor_id"])
        self.items.append([row["items"][name] for name in ITEM_NAMES])
        self.measures.append(_measures(row["utterances"]))

    @property
    def utterances(self) -> tuple[int, int]:
        """Utterances of clients and of counsellors."""
        table = np.asarray(self.measures)
        return int(table[:, 2].sum()), int(table[:, 3].sum())

    def item_correlations(self) -> np.ndarray:
        """Spearman between the 20 items, (20, 20); nan where an item is constant."""
        ranks = pd.DataFrame(self.items).rank()
        correlations: np.ndarray = ranks.corr().to_numpy()
        return correlations

    def score_correlations(self) -> list[float | None]:
        """Spearman of each of DIALOGUE_MEASURES with the score; None where it is not defined."""
        table = np.asarray(self.measures)
        known = [~np.isnan(table[:, i]) for i in range(len(DIALOGUE_MEASURES))]
        scores = np.asarray(self.scores)
        return [spearman(table[k, i].tolist(), scores[k].tolist()) for i, k in enumerate(known)]


@dataclass
class EmplifAIFacts:
    """Dialogues and situations of every label, in GoEmotions order, and lengths in characters."""

    dialogues: Counter[str] = field(default_factory=Counter)
    situations: dict[str, Counter[str]] = field(default_factory=lambda: {name: Counter() for name in EMOTION_NAMES})
    patient_characters: int = 0
    supporter_characters: int = 0

    def add(self, row: Row) -> None:
        emotion = _name(row["emotion"], EMOTION_NAMES)
        self.dialogues[emotion] += 1
        self.situations[emotion][row["situation_id"]] += 1
        texts = [turn["text"] for turn in row["turns"]]
        self.patient_characters += sum(map(len, texts[::2]))
        self.supporter_characters += sum(map(len, texts[1::2]))

    @property
    def total(self) -> int:
        return self.dialogues.total()


def kokorochat_facts(rows: Iterable[Row]) -> KokoroChatFacts:
    """Facts of all dialogues."""
    facts = KokoroChatFacts()
    for row in rows:
        facts.add(row)
    return facts


def emplifai_facts(rows: Iterable[Row]) -> EmplifAIFacts:
    """Facts of all dialogues."""
    facts = EmplifAIFacts()
    for row in rows:
        facts.add(row)
    return facts


def kokorochat_statistics(facts: KokoroChatFacts) -> str:
    """The statistics section of the card, Markdown."""
    client, counselor = facts.utterances
    rows = [
        ("dialogues", f"{len(facts.scores):,}"),
        ("utterances (client, counsellor)", f"{client:,}, {counselor:,}"),
        ("people (clients, counsellors)", ", ".join(f"{len(facts.speakers[role]):,}" for role in ROLES)),
        (
            "score, mean and median (points of 100)",
            f"{np.mean(facts.scores):.2f}, {np.median(facts.scores):g}",
        ),
        ("dialogues with a screening box checked", f"{facts.flagged:,}"),
    ]
    for name, value in zip(DIALOGUE_MEASURES, facts.score_correlations(), strict=True):
        rows.append((f"Spearman of the score with {name}", "not defined" if value is None else f"{value:.2f}"))
    rows += [(f"topic: {topic}", f"{count:,}") for topic, count in facts.topics.most_common()]
    return _section(rows)


def emplifai_statistics(facts: EmplifAIFacts) -> str:
    """The statistics section of the card, Markdown."""
    counts = [facts.dialogues[name] for name in EMOTION_NAMES]
    situations = [len(facts.situations[name]) for name in EMOTION_NAMES]
    per_situation = [n for label in facts.situations.values() for n in label.values()]
    turns = max(2 * facts.total, 1)
    rows = [
        ("dialogues", f"{facts.total:,}"),
        ("situations", f"{sum(situations):,}"),
        ("labels with a dialogue", f"{sum(n > 0 for n in counts)} of {len(EMOTION_NAMES)}"),
        ("dialogues of a label (least, most)", f"{min(counts):,}, {max(counts):,}"),
        ("situations of a label (least, most)", f"{min(situations):,}, {max(situations):,}"),
        (
            "dialogues of a situation (least, most)",
            f"{min(per_situation, default=0)}, {max(per_situation, default=0)}",
        ),
        (
            "characters of an utterance, mean (patient, supporter)",
            f"{facts.patient_characters / turns:.1f}, {facts.supporter_characters / turns:.1f}",
        ),
    ]
    return _section(rows)


def _section(rows: Sequence[tuple[str, str]]) -> str:
    lines = [f"| {name} | {value} |" for name, value in rows]
    return "\n".join(["## Numbers", "", "| what | value |", "|---|---|", *lines])


def _name(label: Any, names: Sequence[str]) -> str:
    return label if isinstance(label, str) else names[label]


def _measures(utterances: Sequence[Row]) -> list[float]:
    """Characters and utterances of both roles, and the mean seconds until a counsellor answers a client."""
    characters, counts = dict.fromkeys(ROLES, 0), dict.fromkeys(ROLES, 0)
    waits = []
    previous: tuple[str, Any] | None = None
    for utterance in utterances:
        role = _name(utterance["role"], ROLES)
        characters[role] += len(utterance["text"])
        counts[role] += 1
        if previous and (previous[0], role) == ("client", "counselor"):
            waits.append((utterance["time"] - previous[1]).total_seconds())
        previous = role, utterance["time"]
    wait = float(np.mean(waits)) if waits else float("nan")
    return [characters["client"], characters["counselor"], counts["client"], counts["counselor"], wait]
