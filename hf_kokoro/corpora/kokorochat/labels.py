"""Desirable or not: a label per dialogue for KTO, by the raw score or by the score as its rater uses the scale.

Scores follow the rater (intraclass correlation 0.34 by client) more than the counsellor (0.11), so a strict
client's 60 can be praise. Raters were not assigned at random, so centring is offered, not the default.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from statistics import fmean

from .reader import Dialogue

CHOICES = ("raw", "rater_centered")


class Labeller:
    """Labels dialogues. With `ratings` (client id, score) scores are centred by client:
    score - mean of that client's scores + mean of all scores."""

    def __init__(
        self,
        desirable_min: float = 70,
        ratings: Iterable[tuple[int, int]] | None = None,
        min_ratings: int = 3,
    ) -> None:
        self.desirable_min = desirable_min
        self._shift: dict[int, float] | None = None
        if ratings is not None:
            self._shift = _shifts(list(ratings), min_ratings)

    def label(self, dialogue: Dialogue) -> tuple[bool, float] | None:
        """(label, the score that decided it); None if its rater has too few ratings to be centred.

        A dialogue with a screening flag is never desirable, whatever its score.
        """
        if not self.knows(dialogue.client_id):
            return None
        score = float(dialogue.score)
        if self._shift is not None:
            score += self._shift[dialogue.client_id]
        return score >= self.desirable_min and not dialogue.flagged, score

    def knows(self, client_id: int) -> bool:
        """Has this rater enough ratings to be centred, or is nobody centred?"""
        return self._shift is None or client_id in self._shift


def _shifts(ratings: list[tuple[int, int]], min_ratings: int) -> dict[int, float]:
    by_client: dict[int, list[int]] = defaultdict(list)
    for client, score in ratings:
        by_client[client].append(score)
    overall = fmean(score for _, score in ratings) if ratings else 0.0
    return {client: overall - fmean(scores) for client, scores in by_client.items() if len(scores) >= min_ratings}
