"""Numbers of EmplifAI, counted from the `dialogues` view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .emotions import EMOTION_NAMES


@dataclass
class LabelMeasures:
    """Dialogues of every label's situations, in GoEmotions order, and lengths in characters."""

    situations: dict[str, Counter[str]] = field(default_factory=lambda: {name: Counter() for name in EMOTION_NAMES})
    patient_characters: int = 0
    supporter_characters: int = 0

    def add(self, row: Mapping[str, Any]) -> None:
        """Count one row; its label may be a number or a name."""
        label = row["emotion"]
        self.situations[label if isinstance(label, str) else EMOTION_NAMES[label]][row["situation_id"]] += 1
        texts = [turn["text"] for turn in row["turns"]]
        self.patient_characters += sum(map(len, texts[::2]))
        self.supporter_characters += sum(map(len, texts[1::2]))

    @property
    def dialogues(self) -> dict[str, int]:
        """Dialogues of every label."""
        return {name: found.total() for name, found in self.situations.items()}

    @property
    def total(self) -> int:
        return sum(self.dialogues.values())

    @property
    def per_situation(self) -> list[int]:
        """Dialogues of every situation."""
        return [count for found in self.situations.values() for count in found.values()]

    def numbers(self) -> list[tuple[str, str]]:
        """(what, value) of each line of the card's table."""
        counts = list(self.dialogues.values())
        situations = [len(found) for found in self.situations.values()]
        per_situation = self.per_situation
        turns = max(2 * self.total, 1)
        return [
            ("dialogues", f"{self.total:,}"),
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
                f"{self.patient_characters / turns:.1f}, {self.supporter_characters / turns:.1f}",
            ),
        ]


def measure_rows(rows: Iterable[Mapping[str, Any]]) -> LabelMeasures:
    """Measure rows of the `dialogues` view."""
    measures = LabelMeasures()
    for row in rows:
        measures.add(row)
    return measures
