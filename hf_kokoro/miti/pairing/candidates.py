"""What pairs are made from: one question's answers with their five scores, where they have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..contract import answer_rank
from ..no_answers import NoAnswer, no_answer


@dataclass(frozen=True)
class Candidate:
    """One answer. `scores` is None exactly if it is unscored; a blank or placeholder text is no answer."""

    therapist: str
    text: str
    scores: Mapping[str, int] | None = None
    blank: bool = False
    """True for a text that is to count as blank whatever it holds."""

    @property
    def no_answer(self) -> NoAnswer | None:
        """Why this is no answer, or None if it is one."""
        return "blank" if self.blank else no_answer(self.text)

    @property
    def total(self) -> int:
        """Sum of the five scores. Raises ValueError for an unscored answer: it has no total, not 0."""
        if self.scores is None:
            raise ValueError("an unscored answer has no total")
        return sum(self.scores.values())

    @property
    def rank(self) -> tuple[int, int]:
        """(total, empathy): the order of answers."""
        return answer_rank(self.as_row())

    def as_row(self) -> dict[str, Any]:
        """The object that stands in a row's `all_answers`."""
        return {"therapist": self.therapist, "text": self.text, **(self.scores or {}), "total": self.total}


@dataclass(frozen=True)
class CandidateSet:
    """One question (by id and text), its candidates in the source's order, all scored by one judge."""

    question_id: str
    topic: str
    prompt: str
    judge_model: str
    candidates: tuple[Candidate, ...]
    key: str
    """Tells apart questions that share an id."""


@dataclass(frozen=True)
class Pair:
    """A chosen and a rejected answer, and those considered for the choice, in the source's order."""

    source: CandidateSet
    chosen: Candidate
    rejected: Candidate
    considered: tuple[Candidate, ...]

    @property
    def margin(self) -> int:
        """Points between the two totals."""
        return self.chosen.total - self.rejected.total

    @property
    def therapists(self) -> frozenset[str]:
        """The pair's named therapists; an answer without a name belongs to nobody that could be capped."""
        return frozenset(name for name in (self.chosen.therapist, self.rejected.therapist) if name.strip())
