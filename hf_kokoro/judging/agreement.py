"""How far judges agree: per dimension and total, and on the pairs that their scores would make."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ..core import agreement as figures
from ..core.agreement import estimate
from ..core.resampling import bootstrap
from ..core.stats import Array, Estimate, pearson, spearman
from ..errors import UsageError
from ..miti.contract import DIMENSIONS, answer_rank
from ..miti.no_answers import NO_ANSWERS
from .verdicts import Verdict, placeholder_digests

MEASURED = (*DIMENSIONS, "total")
TOTAL = (sum(low for low, _ in DIMENSIONS.values()), sum(high for _, high in DIMENSIONS.values()))
"""Range of the sum of the five."""


class AnswerKey(NamedTuple):
    """One answer to one question, by digest."""

    question_sha256: str
    answer_sha256: str


@dataclass(frozen=True)
class Ratings:
    """One judge's verdicts: scores by answer, and how many answers are unscored."""

    name: str
    scores: Mapping[AnswerKey, Mapping[str, int]]
    unscored: int
    not_used: int = 0
    """Scored verdicts of placeholder texts, which are no answers."""
    judge_model: str = ""
    rubric_sha256: str = ""
    """Who scored by which instructions; `name` is the shortest that tells judges apart."""


@dataclass(frozen=True)
class DimensionAgreement:
    """Two judges on one dimension, over the answers that both scored; shares are from 0 to 1.

    `difference` is the mean of second minus first, in points. `confusion` counts answers, the first judge's levels in
    rows, the second's in columns, in the order of `levels`. Intervals come from resampling whole questions.
    """

    dimension: str
    exact: Estimate
    within_1: Estimate
    difference: Estimate
    kappa: Estimate
    ac1: Estimate
    alpha: Estimate
    pearson: Estimate
    spearman: Estimate
    levels: tuple[int, ...]
    confusion: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class PairAgreement:
    """What becomes of the first judge's best-worst pairs under the second judge's scores."""

    pairs: int
    keep: int
    """The chosen answer still scores higher; in `same` of these the second judge picks the same two."""
    same: int
    flip: int
    """The rejected answer scores higher."""
    lose: int
    """The two tie, or one is unscored: no pair."""


@dataclass(frozen=True)
class Agreement:
    """Two judges against each other."""

    first: str
    second: str
    answers: int
    dimensions: tuple[DimensionAgreement, ...]
    pairs: PairAgreement

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return asdict(self)


def ratings_of(verdicts: Iterable[Verdict], placeholders: Collection[str] = ()) -> list[Ratings]:
    """One Ratings a judge, in the order of their first verdicts; where a single judge was retested, one a pass.

    Verdicts of placeholder texts, whose usual spellings are known by digest, are left out; `placeholders` are digests
    of more of them.
    """
    no_answers = placeholder_digests().union(placeholders)
    found: dict[tuple[str, str, int], list[Verdict]] = {}
    for verdict in verdicts:
        found.setdefault((verdict.judge_model, verdict.rubric_sha256, verdict.repeat), []).append(verdict)
    judges = list(dict.fromkeys((model, rubric) for model, rubric, _ in found))
    models = [model for model, _ in judges]
    ratings = []
    for model, rubric, repeat in sorted(found, key=lambda key: (judges.index(key[:2]), key[2])):
        group = found[model, rubric, repeat]
        if repeat and len(judges) > 1:
            # passes of one judge are compared with each other, not with other judges
            continue
        name = model if models.count(model) == 1 else f"{model}@{rubric[:12]}"
        if len(judges) == 1 and len(found) > 1:
            name = f"{name} pass {repeat + 1}"
        scores = {
            AnswerKey(v.question_sha256, v.answer_sha256): {**v.scores, "total": v.total or 0}
            for v in group
            if v.scores is not None and v.answer_sha256 not in no_answers
        }
        unscored = sum(
            v.scores is None and v.status not in NO_ANSWERS and v.answer_sha256 not in no_answers for v in group
        )
        not_used = sum(v.scores is not None and v.answer_sha256 in no_answers for v in group)
        ratings.append(Ratings(name, scores, unscored, not_used, model, rubric))
    return ratings


def compare(first: Ratings, second: Ratings) -> Agreement:
    """Agreement of two judges. Raises UsageError if they scored no answer in common."""
    # sorted, so that sums of floats don't depend on the order of a journal's lines
    common = sorted(key for key in first.scores if key in second.scores)
    if not common:
        raise UsageError(f"{first.name} and {second.name} scored no answer in common; judge the same source with both")
    groups = [key.question_sha256 for key in common]
    dimensions = []
    for name in MEASURED:
        a = np.array([first.scores[key][name] for key in common], dtype=float)
        b = np.array([second.scores[key][name] for key in common], dtype=float)
        dimensions.append(_dimension(name, a, b, groups))
    pairs = pair_agreement(first, second)
    return Agreement(first.name, second.name, len(common), tuple(dimensions), pairs)


def compare_all(judges: Sequence[Ratings]) -> list[Agreement]:
    """Every two judges against each other. Raises UsageError for fewer than two."""
    if len(judges) < 2:
        raise UsageError(
            "one judge only: give a second journal, or judge again with another --judge, or --repeat 3 --sample 50"
        )
    names = [judge.name for judge in judges]
    if len({*names}) < len(names):
        raise UsageError(f"the same judge twice ({', '.join(names)}); give journals of different judges")
    return [compare(first, second) for first, second in combinations(judges, 2)]


def joint_alpha(judges: Sequence[Ratings]) -> dict[str, float | None]:
    """Krippendorff's alpha over all judges, answers that one of them left unscored included."""
    keys = sorted({key for judge in judges for key in judge.scores})
    missing = dict.fromkeys(MEASURED, np.nan)
    return {
        name: _alpha(np.array([[judge.scores.get(key, missing)[name] for judge in judges] for key in keys]), name, keys)
        for name in MEASURED
    }


def levels_of(dimension: str) -> tuple[int, ...]:
    """Every level of a dimension, or of the total."""
    low, high = DIMENSIONS.get(dimension, TOTAL)
    return tuple(range(low, high + 1))


def pair_agreement(first: Ratings, second: Ratings) -> PairAgreement:
    """Best-worst pairs of the first judge, looked at with the second judge's totals.

    Answers of the same rank are told apart by their digests: the order of a journal's lines, in which answers came
    back from a service, decides nothing.
    """
    theirs = best_worst_keys(dict(sorted(second.scores.items())))
    counts = dict.fromkeys(("pairs", "keep", "same", "flip", "lose"), 0)
    for question, (chosen, rejected) in best_worst_keys(dict(sorted(first.scores.items()))).items():
        counts["pairs"] += 1
        high, low = second.scores.get(chosen), second.scores.get(rejected)
        margin = 0 if high is None or low is None else high["total"] - low["total"]
        counts["keep" if margin > 0 else "flip" if margin < 0 else "lose"] += 1
        counts["same"] += theirs.get(question) == (chosen, rejected)
    return PairAgreement(**counts)


def best_worst_keys(
    scores: Mapping[AnswerKey, Mapping[str, int]], least: int = 3
) -> dict[str, tuple[AnswerKey, AnswerKey]]:
    """The best-worst pair of every question with `least` scored answers and unequal totals.

    Among answers of the same rank the first in the order of `scores` is taken, as `pair` does in the source's order.
    """
    questions: dict[str, list[AnswerKey]] = {}
    for key in scores:
        questions.setdefault(key.question_sha256, []).append(key)
    pairs = {}
    for question, keys in questions.items():
        chosen = max(keys, key=lambda key: answer_rank(scores[key]))
        rejected = min(keys, key=lambda key: answer_rank(scores[key]))
        if len(keys) >= least and scores[chosen]["total"] > scores[rejected]["total"]:
            pairs[question] = (chosen, rejected)
    return pairs


def _dimension(name: str, a: Array, b: Array, groups: Sequence[str]) -> DimensionAgreement:
    levels, both = levels_of(name), np.column_stack([a, b])
    tables = figures.cross_tables(a, b, levels, groups)
    return DimensionAgreement(
        dimension=name,
        exact=estimate(tables, figures.exact),
        within_1=estimate(tables, lambda t: figures.within(t, 1)),
        difference=estimate(tables, figures.mean_difference),
        kappa=estimate(tables, figures.cohen_kappa),
        ac1=estimate(figures.ac1_counts(both, levels, groups), figures.gwet_ac1),
        alpha=estimate(figures.coincidences(both, levels, groups), figures.ordinal_alpha),
        pearson=bootstrap(pearson, a, b, groups),
        spearman=bootstrap(spearman, a, b, groups),
        levels=levels,
        confusion=tuple(tuple(map(int, row)) for row in tables.sum(axis=0).reshape(len(levels), -1)),
    )


def _alpha(ratings: Array, name: str, keys: Sequence[AnswerKey]) -> float | None:
    groups = [key.question_sha256 for key in keys]
    return estimate(figures.coincidences(ratings, levels_of(name), groups), figures.ordinal_alpha).value
