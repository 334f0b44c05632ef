"""Numbers of KokoroChat and EmplifAI for their cards, counted from the `dialogues` configs.

EmplifAI's rows are those of `schema.emplifai.DIALOGUES_FEATURES`; the label may be a number or a name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from ..core.stats import Array, spearman_matrix
from ..corpora.emplifai.emotions import EMOTION_NAMES
from ..corpora.kokorochat.measures import DialogueMeasures, measure_dialogues
from ..corpora.kokorochat.schema import TOPICS

Row = Mapping[str, Any]


@dataclass(frozen=True)
class KokoroChatFacts:
    """What the card says, read off the measures of all dialogues."""

    measured: DialogueMeasures

    @property
    def topics(self) -> Counter[str]:
        """Dialogues per topic."""
        names = list(TOPICS)
        return Counter(names[topic] for topic in self.measured.topic.tolist())

    @property
    def flagged(self) -> int:
        """Dialogues with a screening box checked."""
        return int(self.measured.screening.any(axis=1).sum())

    @property
    def people(self) -> tuple[int, int]:
        """Distinct clients and counsellors."""
        return len(np.unique(self.measured.client_id)), len(np.unique(self.measured.counselor_id))

    @property
    def utterances(self) -> tuple[int, int]:
        """Utterances of clients and of counsellors."""
        client, counselor = self.measured.utterances.sum(axis=0)
        return int(client), int(counselor)

    def item_correlations(self) -> Array:
        """Spearman between the 20 items, (20, 20); nan where an item is constant."""
        return spearman_matrix(self.measured.items.astype(float))


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


def kokorochat_facts(tables: Iterable[pa.Table]) -> KokoroChatFacts:
    """Facts of all dialogues, from tables of the `dialogues` view."""
    return KokoroChatFacts(measure_dialogues(tables))


def emplifai_facts(rows: Iterable[Row]) -> EmplifAIFacts:
    """Facts of all dialogues."""
    facts = EmplifAIFacts()
    for row in rows:
        facts.add(row)
    return facts


def kokorochat_statistics(facts: KokoroChatFacts) -> str:
    """The statistics section of the card, Markdown."""
    client, counselor = facts.utterances
    score = facts.measured.score
    rows = [
        ("dialogues", f"{len(score):,}"),
        ("utterances (client, counsellor)", f"{client:,}, {counselor:,}"),
        ("people (clients, counsellors)", ", ".join(f"{count:,}" for count in facts.people)),
        ("score, mean and median (points of 100)", f"{np.mean(score):.2f}, {np.median(score):g}"),
        ("dialogues with a screening box checked", f"{facts.flagged:,}"),
    ]
    for name, value in facts.measured.score_correlations().items():
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
