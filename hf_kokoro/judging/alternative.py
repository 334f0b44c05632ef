"""May a judge stand in for a person? The alternative annotator test.

Calderon, Reichart, Dror 2025, arXiv 2501.10970.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.stats import Array
from ..errors import MissingExtraError, UsageError

Scores = Mapping[Any, float]

EPSILON = {"expert": 0.2, "skilled": 0.15, "crowd": 0.1}
"""What a judge's lower cost is worth, by kind of rater (section 4)."""
LEAST_PEOPLE = 3
LEAST_FOR_T = 30
"""Items from which on the differences are tested by Student's t, with fewer by Wilcoxon's signed ranks."""
FALSE_DISCOVERIES = 0.05
PASSES_AT = 0.5


@dataclass(frozen=True)
class AgainstPerson:
    """The judge against one person, both compared with all others, over the items of all of them.

    `judge_wins` and `person_wins` are the shares of items on which each is at least as close to the others (a tie is
    both's); `p` is of the hypothesis that the person's share is higher by epsilon or more; None without an item.
    """

    person: str
    items: int
    judge_wins: float | None
    person_wins: float | None
    p: float | None
    test: str
    beaten: bool


@dataclass(frozen=True)
class AlternativeTest:
    """`winning_rate` (omega): share of people that the judge may replace; `advantage` (rho): mean of `judge_wins`."""

    epsilon: float
    winning_rate: float
    advantage: float | None
    passes: bool
    people: tuple[AgainstPerson, ...]


def alternative_test(
    judge: Scores, people: Mapping[str, Scores], *, nominal: bool, epsilon: float = EPSILON["expert"]
) -> AlternativeTest:
    """Leave each person out in turn, and see whether the judge agrees with the rest as well as that person does.

    Agreement with the rest is accuracy for `nominal` codes and minus the root mean squared error for scores (section
    3); people are tested one-sided, with the false discovery rate held at 5 % (Benjamini and Yekutieli 2001). A person
    without an item of at least one other counts as not beaten. Raises UsageError for fewer than three people or an
    epsilon outside 0 to 1, MissingExtraError without scipy.
    """
    if len(people) < LEAST_PEOPLE:
        raise UsageError(f"alternative annotator test: {len(people)} people; allowed: {LEAST_PEOPLE} or more")
    if not 0 <= epsilon < 1:
        raise UsageError(f"epsilon: got {epsilon}; allowed: from 0 to below 1 ({_kinds()})")
    differences = {name: _wins(judge, name, people, nominal) for name in people}
    tested = [_p_value(wins[:, 1] - wins[:, 0], epsilon) for wins in differences.values()]
    beaten = _discoveries([p for p, _ in tested])
    found = tuple(
        AgainstPerson(
            person=name,
            items=len(wins),
            judge_wins=float(wins[:, 0].mean()) if len(wins) else None,
            person_wins=float(wins[:, 1].mean()) if len(wins) else None,
            p=p,
            test=test,
            beaten=is_beaten,
        )
        for (name, wins), (p, test), is_beaten in zip(differences.items(), tested, beaten, strict=True)
    )
    shares = [one.judge_wins for one in found if one.judge_wins is not None]
    rate = sum(beaten) / len(found)
    return AlternativeTest(epsilon, rate, float(np.mean(shares)) if shares else None, rate >= PASSES_AT, found)


def _kinds() -> str:
    return ", ".join(f"{value} for {kind}s" for kind, value in EPSILON.items())


def _wins(judge: Scores, name: str, people: Mapping[str, Scores], nominal: bool) -> Array:
    """(items, 2): is the judge, is the person at least as close to the others?"""
    mine, wins = people[name], []
    for item in sorted((item for item in mine if item in judge), key=str):
        others = np.array([theirs[item] for other, theirs in people.items() if other != name and item in theirs])
        if len(others):
            one, two = _closeness(judge[item], others, nominal), _closeness(mine[item], others, nominal)
            wins.append((one >= two, two >= one))
    return np.array(wins, dtype=float).reshape(-1, 2)


def _closeness(score: float, others: Array, nominal: bool) -> float:
    if nominal:
        return float(np.mean(others == score))
    return -float(np.sqrt(np.mean((others - score) ** 2)))


def _p_value(behind: Array, epsilon: float) -> tuple[float | None, str]:
    """One-sided p of "the judge is behind by epsilon or more", and the test's name."""
    if not len(behind):
        return None, "none"
    test = "t" if len(behind) >= LEAST_FOR_T else "wilcoxon"
    if np.ptp(behind) == 0:
        # no spread: both tests are undefined, and there is nothing to be unsure of but the number of items
        return (0.0 if behind[0] < epsilon and len(behind) >= LEAST_FOR_T else _sign_p(behind, epsilon)), test
    stats = _scipy()
    if test == "t":
        return float(stats.ttest_1samp(behind, epsilon, alternative="less").pvalue), test
    return float(stats.wilcoxon(behind - epsilon, alternative="less").pvalue), test


def _sign_p(behind: Array, epsilon: float) -> float:
    """Signed ranks of equal differences, exactly: all below by chance, one half to the power of the items."""
    return float(0.5 ** len(behind)) if behind[0] < epsilon else 1.0


def _discoveries(p_values: Sequence[float | None]) -> list[bool]:
    known = [p for p in p_values if p is not None]
    adjusted = iter(_scipy().false_discovery_control(known, method="by") if known else ())
    return [p is not None and bool(next(adjusted) <= FALSE_DISCOVERIES) for p in p_values]


def _scipy() -> Any:
    try:
        from scipy import stats
    except ImportError:
        raise MissingExtraError("scipy", "eval", "the alternative annotator test") from None
    return stats
