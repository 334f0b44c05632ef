"""A judge against codes that experts gave to what was said in sessions, and against the quality of the sessions.

Two dimensions of the rubric have a code to be compared with: a reflection, and advice. What the experts coded is what
more than half of an utterance's annotators gave.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

import numpy as np

from ..core import agreement as figures
from ..core.agreement import estimate
from ..core.stats import Array, Estimate
from ..errors import UsageError
from .agreement import MEASURED
from .alternative import EPSILON, LEAST_PEOPLE, AlternativeTest, alternative_test

CODES = {"reflection_present": ("reflection", 1), "no_persuade": ("advice", 0)}
"""Of a dimension: the code that it is compared with, and the score that says the same as the code."""


@dataclass(frozen=True)
class Coded:
    """One utterance of a therapist: its session, the judge's scores, and who gave which code."""

    session: str
    high: bool
    """Is its session one of high quality?"""
    scores: Mapping[str, int]
    """The five scores and `total`."""
    codes: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)
    """Code to annotator to whether that one gave it."""

    def judged(self, dimension: str) -> bool:
        """Does the judge's score say what the dimension's code says?"""
        return self.scores[dimension] == CODES[dimension][1]


@dataclass(frozen=True)
class CodeValidity:
    """One dimension against a code: figures of whether the code is given, with intervals from resampling sessions.

    `ceiling` is Krippendorff's alpha among the annotators, over the `n_ceiling` utterances of several of them.
    `by_annotator` has kappa with each one's own codes. `stand_in` is over the `stand_in_n` utterances that most
    annotators coded, None where these are fewer than three.
    """

    dimension: str
    code: str
    n: int
    base_rate: Estimate
    kappa: Estimate
    precision: Estimate
    recall: Estimate
    exact: Estimate
    ac1: Estimate
    ceiling: Estimate
    n_ceiling: int
    by_annotator: Mapping[str, AgainstAnnotator]
    stand_in: AlternativeTest | None
    stand_in_n: int


@dataclass(frozen=True)
class AgainstAnnotator:
    """The judge against one annotator's own codes."""

    n: int
    base_rate: Estimate
    kappa: Estimate


@dataclass(frozen=True)
class SessionValidity:
    """How often a session of high quality has a higher mean than one of low quality (AUC; ties count half)."""

    n: int
    high: int
    auc: Estimate
    """Of the mean total of a session's utterances."""
    by_dimension: Mapping[str, Estimate]


@dataclass(frozen=True)
class ExpertValidity:
    """A judge against experts' codes."""

    judge: str
    utterances: int
    unscored: int
    dimensions: Mapping[str, CodeValidity]
    sessions: SessionValidity


def validate_against_experts(
    judge: str, coded: Sequence[Coded], unscored: int = 0, *, epsilon: float = EPSILON["expert"]
) -> ExpertValidity:
    """How far a judge agrees with the codes; `unscored` is how many utterances it left unscored.

    Raises UsageError for no utterance, MissingExtraError without scipy where the alternative annotator test is due.
    """
    if not coded:
        raise UsageError("no utterance with both a verdict and an expert's code; judge the file of the experts first")
    dimensions = {name: _dimension(name, coded, epsilon) for name in CODES}
    return ExpertValidity(judge, len(coded), unscored, dimensions, _sessions(coded))


def _dimension(name: str, coded: Sequence[Coded], epsilon: float) -> CodeValidity:
    code = CODES[name][0]
    annotators = sorted({annotator for one in coded for annotator in one.codes[code]})
    codes = np.array([[float(one.codes[code].get(a, np.nan)) for a in annotators] for one in coded])
    judged = np.array([one.judged(name) for one in coded], dtype=float)
    sessions = np.array([one.session for one in coded])
    agreed = (np.nanmean(codes, axis=1) > 0.5).astype(float)
    tables = figures.cross_tables(agreed, judged, (0, 1), sessions)
    several = (~np.isnan(codes)).sum(axis=1) > 1
    stand_in, together = _stand_in(codes, judged, annotators, epsilon)
    return CodeValidity(
        dimension=name,
        code=code,
        n=len(coded),
        base_rate=estimate(tables, figures.base_rate),
        kappa=estimate(tables, figures.cohen_kappa),
        precision=estimate(tables, figures.precision),
        recall=estimate(tables, figures.recall),
        exact=estimate(tables, figures.exact),
        ac1=estimate(figures.ac1_counts(np.column_stack([agreed, judged]), (0, 1), sessions), figures.gwet_ac1),
        ceiling=_ceiling(codes[several], sessions[several]),
        n_ceiling=int(several.sum()),
        by_annotator={a: _against(codes[:, i], judged, sessions) for i, a in enumerate(annotators)},
        stand_in=stand_in,
        stand_in_n=together,
    )


def _ceiling(codes: Array, sessions: Array) -> Estimate:
    if not len(codes):
        return Estimate(None)
    return estimate(figures.coincidences(codes, (0, 1), sessions), figures.nominal_alpha)


def _against(codes: Array, judged: Array, sessions: Array) -> AgainstAnnotator:
    theirs = ~np.isnan(codes)
    tables = figures.cross_tables(codes[theirs], judged[theirs], (0, 1), sessions[theirs])
    return AgainstAnnotator(
        int(theirs.sum()), estimate(tables, figures.base_rate), estimate(tables, figures.cohen_kappa)
    )


def _stand_in(
    codes: Array, judged: Array, annotators: Sequence[str], epsilon: float
) -> tuple[AlternativeTest | None, int]:
    """The alternative annotator test over the utterances that most annotators coded, and their number."""
    counts = (~np.isnan(codes)).sum(axis=1)
    together = np.flatnonzero(counts == counts.max())
    everybody = [int(i) for i in np.flatnonzero(~np.isnan(codes[together]).any(axis=0))]
    if len(everybody) < LEAST_PEOPLE:
        return None, 0
    people = {annotators[i]: {int(k): codes[k, i] for k in together} for i in everybody}
    mine = {int(k): judged[k] for k in together}
    return alternative_test(mine, people, nominal=True, epsilon=epsilon), len(together)


def _sessions(coded: Sequence[Coded]) -> SessionValidity:
    said: dict[str, list[Coded]] = {}
    for one in coded:
        said.setdefault(one.session, []).append(one)
    high = np.array([float(utterances[0].high) for utterances in said.values()])

    def auc(name: str) -> Estimate:
        means = np.array([fmean(one.scores[name] for one in utterances) for utterances in said.values()])
        return estimate(np.eye(len(means)), _auc(means, high))

    found = {name: auc(name) for name in MEASURED}
    return SessionValidity(len(high), int(high.sum()), found.pop("total"), found)


def _auc(means: Array, high: Array) -> figures.Figure:
    """The AUC of (..., sessions) counts of each session."""
    above = (means[:, None] > means[None, :]) + 0.5 * (means[:, None] == means[None, :])

    def figure(counts: Array) -> Array:
        good, poor = counts * high, counts * (1 - high)
        pairs = good.sum(axis=-1) * poor.sum(axis=-1)
        found: Array = ((good @ above) * poor).sum(axis=-1) / np.where(pairs, pairs, np.nan)
        return found

    return figure
