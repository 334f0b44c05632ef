"""What one judge's scores follow besides the rubric: length, hedging, one dimension, prolific therapists."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from ..core.resampling import bootstrap
from ..core.stats import Estimate, effective_number, gini, partial_spearman, spearman, wilson
from ..errors import UsageError
from ..miti.contract import DIMENSIONS
from ..miti.no_answers import no_answer
from .agreement import AnswerKey, best_worst_keys

PROLIFIC = 5
"""So many of the most prolific therapists are listed."""

HEDGES = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|might|may|could|seems?|seemingly|appears?|likely|somewhat|sometimes|often|"
    r"usually|generally|tends? to|sort of|kind of|i (?:think|guess|wonder|suppose|believe|imagine)|it sounds like)\b"
)


@dataclass(frozen=True)
class ScoredAnswer:
    """One scored answer with what a bias could hang on."""

    key: AnswerKey
    therapist: str
    topic: str
    text: str
    scores: Mapping[str, int]

    @property
    def total(self) -> int:
        """Sum of the five scores."""
        return sum(self.scores[name] for name in DIMENSIONS)


@dataclass(frozen=True)
class SurfaceBias:
    """Rank correlations with the total. Length is in words, hedging in hedges per answer."""

    length: Estimate
    hedging: Estimate
    hedging_given_length: float | None
    chosen_longer: Estimate
    """Share of pairs whose chosen answer is the longer one (equal lengths left out)."""


@dataclass(frozen=True)
class DimensionEffect:
    """One dimension: who loses a point on it, and what the pairs are without it.

    Of `pairs`, `changed` get another chosen or rejected answer and `gone` get equal totals.
    """

    dimension: str
    mean: float
    levels: dict[int, int]
    decides: int
    """Pairs whose chosen answer scores higher on this dimension than the rejected one."""
    pairs: int
    changed: int
    gone: int


@dataclass(frozen=True)
class TherapistShare:
    """One prolific therapist: answers, and wins among the pairs that set them against somebody else."""

    therapist: str
    answers: int
    sides: int
    wins: Estimate


@dataclass(frozen=True)
class Concentration:
    """How unequally something is spread over therapists; `top` is the share of the largest one."""

    what: str
    therapists: int
    amount: float
    gini: float | None
    effective: float | None
    top: float | None


@dataclass(frozen=True)
class Balanced:
    """What one way of balancing leaves of it all: the spread, the prolific therapists' win rates, own pairs."""

    spread: Concentration
    wins: dict[str, Estimate]
    own_pairs: Estimate


class PairSides(NamedTuple):
    """A pair as far as therapists go, with its weight."""

    chosen: str
    rejected: str
    weight: float


@dataclass(frozen=True)
class TopicScores:
    """Totals of one topic."""

    topic: str
    answers: int
    mean: float
    deviation: float


@dataclass(frozen=True)
class BiasReport:
    """Everything that `bias` prints."""

    judge: str
    answers: int
    unscored: int
    pairs: int
    surface: SurfaceBias
    no_persuade_lost: Estimate
    dimensions: tuple[DimensionEffect, ...]
    answers_by_therapist: Concentration
    prolific: tuple[TherapistShare, ...]
    own_pairs: Estimate
    """Share of pairs whose two answers are one therapist's."""
    topics: tuple[TopicScores, ...]
    totals: dict[int, int]

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return asdict(self)


def measure_bias(judge: str, answers: Sequence[ScoredAnswer], unscored: int = 0) -> BiasReport:
    """Measure one judge's scores; texts that are no answers are left out. Raises UsageError if nothing is left."""
    answers = [answer for answer in answers if no_answer(answer.text) is None]
    if not answers:
        raise UsageError(f"{judge}: no scored answer whose text is at hand; see --source")
    by_key = {answer.key: answer for answer in answers}
    pairs = [
        (by_key[chosen], by_key[rejected])
        for chosen, rejected in best_worst_keys({a.key: {**a.scores, "total": a.total} for a in answers}).values()
    ]
    named = [pair for pair in pairs if pair[0].therapist.strip()]
    lost = sum(answer.scores["no_persuade"] == 0 for answer in answers)
    return BiasReport(
        judge=judge,
        answers=len(answers),
        unscored=unscored,
        pairs=len(pairs),
        surface=_surface(answers, pairs),
        no_persuade_lost=wilson(lost, len(answers)),
        dimensions=tuple(_effect(name, answers, pairs) for name in DIMENSIONS),
        answers_by_therapist=concentration("answers", Counter(a.therapist for a in answers)),
        prolific=_prolific(answers, pairs),
        own_pairs=wilson(sum(high.therapist == low.therapist for high, low in named), len(pairs)),
        topics=_topics(answers),
        totals=dict(sorted(Counter(answer.total for answer in answers).items())),
    )


def concentration(what: str, amounts: Mapping[str, float]) -> Concentration:
    """How unequally `amounts` (answers, pair sides or weights by therapist) are spread."""
    values = list(amounts.values())
    total = float(sum(values))
    top = max(values) / total if total else None
    return Concentration(what, len(values), total, gini(values), effective_number(values), top)


def balanced(what: str, pairs: Sequence[PairSides], prolific: Sequence[str]) -> Balanced:
    """Measure a set of (weighted) pairs; intervals of weighted shares use Kish's effective number of pairs."""
    amounts: Counter[str] = Counter()
    for pair in pairs:
        for therapist in (pair.chosen, pair.rejected):
            amounts[therapist] += pair.weight  # type: ignore[assignment]
    others = [pair for pair in pairs if pair.chosen != pair.rejected]
    return Balanced(
        spread=concentration(what, dict(amounts)),
        wins={
            name: _weighted_share([(p.chosen == name, p.weight) for p in others if name in p[:2]]) for name in prolific
        },
        own_pairs=_weighted_share([(pair.chosen == pair.rejected, pair.weight) for pair in pairs]),
    )


def _weighted_share(cases: Sequence[tuple[bool, float]]) -> Estimate:
    total = sum(weight for _, weight in cases)
    if not total:
        return Estimate(None)
    effective = total**2 / sum(weight**2 for _, weight in cases)
    return wilson(sum(weight for hit, weight in cases if hit) / total * effective, effective)


def words(text: str) -> int:
    """Length of an answer, in words between spaces."""
    return len(text.split())


def hedges(text: str) -> int:
    """Hedging words and phrases in an answer."""
    return len(HEDGES.findall(" ".join(text.replace("\u2019", "'").lower().split())))


def _surface(answers: Sequence[ScoredAnswer], pairs: Sequence[tuple[ScoredAnswer, ScoredAnswer]]) -> SurfaceBias:
    totals = np.array([answer.total for answer in answers], dtype=float)
    lengths = np.array([words(answer.text) for answer in answers], dtype=float)
    hedging = np.array([hedges(answer.text) for answer in answers], dtype=float)
    questions = [answer.key.question_sha256 for answer in answers]
    gaps = [words(high.text) - words(low.text) for high, low in pairs]
    return SurfaceBias(
        length=bootstrap(spearman, totals, lengths, questions),
        hedging=bootstrap(spearman, totals, hedging, questions),
        hedging_given_length=partial_spearman(totals, hedging, lengths),
        chosen_longer=wilson(sum(gap > 0 for gap in gaps), sum(gap != 0 for gap in gaps)),
    )


def _effect(
    name: str, answers: Sequence[ScoredAnswer], pairs: Sequence[tuple[ScoredAnswer, ScoredAnswer]]
) -> DimensionEffect:
    # left out of the total and, for empathy, of the tie-break too
    without = best_worst_keys({a.key: {**a.scores, name: 0, "total": a.total - a.scores[name]} for a in answers})
    changed = gone = 0
    for high, low in pairs:
        other = without.get(high.key.question_sha256)
        gone += other is None
        changed += other is not None and other != (high.key, low.key)
    values = [answer.scores[name] for answer in answers]
    return DimensionEffect(
        dimension=name,
        mean=sum(values) / len(values),
        levels={level: values.count(level) for level in range(DIMENSIONS[name][0], DIMENSIONS[name][1] + 1)},
        decides=sum(high.scores[name] > low.scores[name] for high, low in pairs),
        pairs=len(pairs),
        changed=changed,
        gone=gone,
    )


def _prolific(
    answers: Sequence[ScoredAnswer], pairs: Sequence[tuple[ScoredAnswer, ScoredAnswer]]
) -> tuple[TherapistShare, ...]:
    counts = Counter(answer.therapist for answer in answers if answer.therapist.strip())
    shares = []
    for therapist, written in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))[:PROLIFIC]:
        sides = sum((high.therapist == therapist) + (low.therapist == therapist) for high, low in pairs)
        others = [(high, low) for high, low in pairs if high.therapist != low.therapist]
        wins = sum(high.therapist == therapist for high, _ in others)
        losses = sum(low.therapist == therapist for _, low in others)
        shares.append(TherapistShare(therapist, written, sides, wilson(wins, wins + losses)))
    return tuple(shares)


def _topics(answers: Sequence[ScoredAnswer]) -> tuple[TopicScores, ...]:
    by_topic: dict[str, list[int]] = {}
    for answer in answers:
        by_topic.setdefault(answer.topic, []).append(answer.total)
    found = [
        TopicScores(topic, len(totals), float(np.mean(totals)), float(np.std(totals)))
        for topic, totals in by_topic.items()
    ]
    return tuple(sorted(found, key=lambda scores: (-scores.answers, scores.topic)))
