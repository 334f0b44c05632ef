"""A judge against people: their own ceiling, agreement, bias, confusion, and whether it may stand in for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..core import agreement as figures
from ..core.agreement import estimate
from ..core.stats import Array, Estimate, wilson
from ..errors import UsageError
from .agreement import MEASURED, AnswerKey, Ratings, best_worst_keys, levels_of
from .alternative import EPSILON, LEAST_PEOPLE, AlternativeTest, alternative_test

HUMAN = "human/"
"""What the `judge_model` of a person's ratings begins with."""
ALIKE = 1.25
"""Longer by at most this factor, two answers are of matched length."""


@dataclass(frozen=True)
class DimensionValidity:
    """One dimension: people among themselves, and the judge against them, with intervals from resampling questions.

    `consensus` figures compare with the people's median (of codes: their majority; `split` answers without one are
    left out; a median between two levels is taken as the one nearer to the middle of the scale); `icc` and `bias`
    (judge minus people, in levels) with their mean. `confusion` has the consensus in rows, the judge in columns, in the
    order of `levels`. `precision`, `recall` and `base_rate` are of code 1, None for scores.
    """

    dimension: str
    n: int
    questions: int
    split: int
    levels: tuple[int, ...]
    ceiling: Estimate
    alpha: Estimate
    kappa: Estimate
    ac1: Estimate
    exact: Estimate
    icc: Estimate | None
    bias: Estimate
    precision: Estimate | None
    recall: Estimate | None
    base_rate: Estimate | None
    confusion: tuple[tuple[int, ...], ...]
    stand_in: AlternativeTest | None


@dataclass(frozen=True)
class PairValidity:
    """What people think of the judge's best-worst pairs: the sign of their mean total's difference."""

    pairs: int
    keep: Estimate
    flip: int
    tie: int


@dataclass(frozen=True)
class Validity:
    """A judge's validity against people's ratings."""

    judge: str
    people: tuple[str, ...]
    answers: int
    dimensions: Mapping[str, DimensionValidity]
    pairs: PairValidity
    matched_pairs: PairValidity | None
    """Pairs of matched length alone (ALIKE), where lengths are known."""


def validate_against(
    judge: Ratings,
    people: Sequence[Ratings],
    *,
    epsilon: float = EPSILON["expert"],
    lengths: Mapping[AnswerKey, int] | None = None,
) -> Validity:
    """How far `judge` agrees with `people`, on the answers that it and at least one of them scored.

    `lengths` (of answers, in any unit) are for the pairs of matched length. The alternative annotator test needs
    three people. Raises UsageError for nobody, or no answer in common.
    """
    if not people:
        raise UsageError(f"no person's ratings; allowed: a journal whose judge_model begins with {HUMAN!r}")
    rated = {key for person in people for key in person.scores}
    keys = sorted(key for key in judge.scores if key in rated)
    if not keys:
        raise UsageError(f"{judge.name} and the people scored no answer in common; judge the source that they rated")
    dimensions = {name: _dimension(name, judge, people, keys, epsilon) for name in MEASURED}
    means = {key: float(np.mean([p.scores[key]["total"] for p in people if key in p.scores])) for key in rated}
    pairs = best_worst_keys(dict(sorted(judge.scores.items()))).values()
    matched = None
    if lengths is not None:
        matched = _pairs((pair for pair in pairs if _alike(*(lengths.get(key, 0) for key in pair))), means)
    names = tuple(person.name for person in people)
    return Validity(judge.name, names, len(keys), dimensions, _pairs(pairs, means), matched)


def consensus(ratings: Array, levels: Sequence[int]) -> Array:
    """(answers, people) with NaN for missing to (answers,): the median, NaN where people split on a code.

    Between two levels the one nearer to the scale's middle; exactly around the middle, the lower one.
    """
    found: Array = np.nanmedian(ratings, axis=1)
    middle, between = (levels[0] + levels[-1]) / 2, found != np.floor(found)
    if len(levels) == 2:
        return np.where(between, np.nan, found)
    return np.where(between, np.where(found < middle, np.ceil(found), np.floor(found)), found)


def _dimension(
    name: str, judge: Ratings, people: Sequence[Ratings], keys: Sequence[AnswerKey], epsilon: float
) -> DimensionValidity:
    levels, coded = levels_of(name), len(levels_of(name)) == 2
    ratings = np.array([[p.scores[k][name] if k in p.scores else np.nan for p in people] for k in keys])
    judged = np.array([judge.scores[key][name] for key in keys], dtype=float)
    questions = np.array([key.question_sha256 for key in keys])
    agreed = consensus(ratings, levels)
    kept = ~np.isnan(agreed)
    one, other, groups = agreed[kept], judged[kept], questions[kept]
    both, means = np.column_stack([one, other]), np.nanmean(ratings, axis=1)
    tables = figures.cross_tables(one, other, levels, groups)
    with_means = figures.icc_counts(np.column_stack([means, judged]), questions)
    alpha = figures.nominal_alpha if coded else figures.ordinal_alpha

    def of_codes(figure: figures.Figure) -> Estimate | None:
        return estimate(tables, figure) if coded else None

    return DimensionValidity(
        dimension=name,
        n=len(keys),
        questions=len({*questions}),
        split=int((~kept).sum()),
        levels=levels,
        ceiling=estimate(figures.coincidences(ratings, levels, questions), alpha),
        alpha=estimate(figures.coincidences(both, levels, groups), alpha),
        kappa=estimate(tables, figures.cohen_kappa),
        ac1=estimate(figures.ac1_counts(both, levels, groups), figures.gwet_ac1),
        exact=estimate(tables, figures.exact),
        icc=None if coded else estimate(with_means, figures.icc_2_1),
        bias=estimate(figures.summed(np.column_stack([judged - means, np.ones(len(keys))]), questions), figures.mean),
        precision=of_codes(figures.precision),
        recall=of_codes(figures.recall),
        base_rate=of_codes(figures.base_rate),
        confusion=tuple(tuple(map(int, row)) for row in tables.sum(axis=0).reshape(len(levels), -1)),
        stand_in=_stand_in(name, judge, people, coded, epsilon),
    )


def _stand_in(
    name: str, judge: Ratings, people: Sequence[Ratings], coded: bool, epsilon: float
) -> AlternativeTest | None:
    if len(people) < LEAST_PEOPLE:
        return None
    theirs = {person.name: {key: scores[name] for key, scores in person.scores.items()} for person in people}
    mine = {key: scores[name] for key, scores in judge.scores.items()}
    return alternative_test(mine, theirs, nominal=coded, epsilon=epsilon)


def _alike(one: int, other: int) -> bool:
    return 0 < max(one, other) <= ALIKE * min(one, other)


def _pairs(pairs: Iterable[tuple[AnswerKey, AnswerKey]], means: Mapping[AnswerKey, float]) -> PairValidity:
    """One pair a question, so that pairs are independent; those that no person rated on both sides are left out."""
    gaps = [means[chosen] - means[rejected] for chosen, rejected in pairs if chosen in means and rejected in means]
    keep, flip = sum(gap > 0 for gap in gaps), sum(gap < 0 for gap in gaps)
    return PairValidity(len(gaps), wilson(keep, len(gaps)), flip, len(gaps) - keep - flip)


def people_in(judges: Iterable[Ratings]) -> tuple[list[Ratings], list[Ratings]]:
    """(people, judges), by their names."""
    found: tuple[list[Ratings], list[Ratings]] = ([], [])
    for ratings in judges:
        found[not ratings.name.startswith(HUMAN)].append(ratings)
    return found
