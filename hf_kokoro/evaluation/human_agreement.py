"""Do people and the judge agree: reliability of the raters, correlation with the judge, pairwise majorities."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..core import agreement as figures
from ..core import stats
from ..core.stats import Array, pearson, rounded
from ..core.tables import read_table
from ..errors import Fault, Faults, InputError, MissingExtraError, SourceError, describe

VERDICTS = ("win", "lose", "tie")


@dataclass(frozen=True)
class HumanRatings:
    """`values[metric][item][rater]` is a rating; `metrics` in the order of the columns."""

    metrics: tuple[str, ...]
    values: dict[str, dict[str, dict[str, float]]]


@dataclass(frozen=True)
class Icc:
    """ICC(2,k), weighted mean over `blocks` of items that the same raters rated; None if undefined."""

    value: float | None
    blocks: int
    raters: float


@dataclass(frozen=True)
class MetricAgreement:
    """One metric. Either a correlation (`pearson`, `low`, `high`, `p`), or for a constant side what it is."""

    metric: str
    items: int
    human_mean: float
    judge_mean: float
    icc: Icc
    alpha: float | None
    pearson: float | None
    low: float | None
    high: float | None
    p: float | None
    constant: dict[str, float] | None
    """The constant side(s) with their value, where a correlation is undefined."""
    mean_absolute_difference: float

    def to_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return asdict(self)


def rating_rows(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """(where, cells by column) of a table with the columns item and rater, in any format that `read_table` reads.

    Raises SourceError for a file that can't be read or is another table, InputError with all of its faults.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(f"{path.name}: can't be read ({error.strerror}); give a CSV file") from error
    faults = Faults()
    for where, cells in read_table(path.name, data, faults):
        if not {"item", "rater"} <= cells.keys():
            raise SourceError(f"{path.name}: columns {[*cells]}; needed: item, rater")
        nested = [name for name, cell in cells.items() if not isinstance(cell, str)]
        faults.extend(Fault(where, name, describe(cells[name]), "text or a number") for name in nested)
        if not nested:
            yield where, cells
    faults.raise_if_any("ratings")


def read_ratings(rows: Iterable[tuple[str, Mapping[str, str]]], metrics: Sequence[str]) -> HumanRatings:
    """Long rows (where, {item, rater, one column a metric}); a blank cell is a missing rating.

    Raises InputError for a cell that is no number, and for a second rating of one item by one rater.
    """
    faults = Faults()
    values: dict[str, dict[str, dict[str, float]]] = {metric: defaultdict(dict) for metric in metrics}
    for where, row in rows:
        item, rater = row.get("item", "").strip(), row.get("rater", "").strip()
        if not item or not rater:
            faults.add(Fault(where, "item" if not item else "rater", "nothing", "a name"))
            continue
        for metric in metrics:
            cell = (row.get(metric) or "").strip()
            if not cell:
                continue
            try:
                number = float(cell)
            except ValueError:
                number = float("nan")
            if not np.isfinite(number):
                faults.add(Fault(where, metric, describe(cell), "a number, or blank for none"))
            elif rater in values[metric][item]:
                faults.add(Fault(where, metric, "a second rating of this item by this rater", "one"))
            else:
                values[metric][item][rater] = number
    faults.raise_if_any("ratings")
    return HumanRatings(tuple(metrics), {metric: dict(items) for metric, items in values.items()})


def metric_agreement(
    metric: str, people: Mapping[str, Mapping[str, float]], judge: Mapping[str, float]
) -> MetricAgreement:
    """Judge against the mean of the raters, over the items that both rated. Raises InputError for none."""
    items = [item for item in people if item in judge and people[item]]
    if not items:
        raise InputError(
            "ratings", [Fault(metric, "items", "none that people and the judge both rated", "one or more")]
        )
    means = np.array([float(np.mean([*people[item].values()])) for item in items])
    judged = np.array([judge[item] for item in items], dtype=np.float64)
    found = _correlation(means, judged)
    constant = {
        side: rounded(values[0]) for side, values in (("people", means), ("judge", judged)) if np.ptp(values) == 0
    }
    return MetricAgreement(
        metric=metric,
        items=len(items),
        human_mean=rounded(means.mean()),
        judge_mean=rounded(judged.mean()),
        icc=icc_2k(people),
        alpha=_alpha(people),
        pearson=found[0],
        low=found[1],
        high=found[2],
        p=found[3],
        constant=constant or None,
        mean_absolute_difference=rounded(np.abs(means - judged).mean()),
    )


def icc_2k(people: Mapping[str, Mapping[str, float]]) -> Icc:
    """Reliability of the raters' mean: two-way random effects, absolute agreement (Shrout and Fleiss 1979, ICC(2,k)).

    Defined for items that the same raters all rated. Where groups of items had raters of their own, each group
    is one block and the value is the mean of the blocks, weighted by their items.
    """
    blocks: dict[tuple[str, ...], list[list[float]]] = defaultdict(list)
    for ratings in people.values():
        raters = tuple(sorted(ratings))
        blocks[raters].append([ratings[rater] for rater in raters])
    found = []
    for raters, table in blocks.items():
        counted = figures.icc_counts(np.array(table, dtype=np.float64), range(len(table)))
        value = float(figures.icc_2k(counted.sum(axis=0)))
        if not np.isnan(value):
            found.append((value, len(table), len(raters)))
    if not found:
        return Icc(None, 0, 0.0)
    items = sum(size for _, size, _ in found)
    mean = sum(value * size for value, size, _ in found) / items
    return Icc(rounded(mean), len(found), rounded(sum(raters * size for _, size, raters in found) / items))


def _alpha(people: Mapping[str, Mapping[str, float]]) -> float | None:
    """Krippendorff's alpha for ordinal data; raters may differ between items."""
    raters = sorted({rater for ratings in people.values() for rater in ratings})
    table = np.array([[ratings.get(rater, np.nan) for rater in raters] for ratings in people.values()])
    if not table.size:
        return None
    levels = np.unique(table[~np.isnan(table)]).tolist()
    value = float(figures.ordinal_alpha(figures.coincidences(table, levels, range(len(table))).sum(axis=0)))
    return None if np.isnan(value) else rounded(value)


def _correlation(first: Array, second: Array) -> tuple[float | None, float | None, float | None, float | None]:
    """Pearson's r, its 95 % interval (Fisher's z; from four items) and two-sided p; None where undefined."""
    if pearson(first, second) is None:
        return None, None, None, None
    try:
        from scipy.stats import pearsonr
    except ImportError:
        raise MissingExtraError("scipy", "eval", "the correlation's p") from None
    found = pearsonr(first, second)
    r, p = rounded(found.statistic), float(f"{float(found.pvalue):.6g}")
    if len(first) < 4:
        return r, None, None, p
    interval = found.confidence_interval(stats.LEVEL)
    return r, rounded(interval.low), rounded(interval.high), p


@dataclass(frozen=True)
class PairwiseReport:
    """One system against another: an item is won or lost by more than half of its judges, else a tie."""

    items: int
    win: int
    lose: int
    tie: int
    judges_per_item: float


def pairwise_majority(rows: Iterable[tuple[str, Mapping[str, str]]]) -> PairwiseReport:
    """Rows (where, {item, rater, verdict}) with verdict win, lose or tie. Raises InputError."""
    faults = Faults()
    verdicts: dict[str, dict[str, str]] = defaultdict(dict)
    for where, row in rows:
        item, rater = row.get("item", "").strip(), row.get("rater", "").strip()
        verdict = row.get("verdict", "").strip().lower()
        if verdict not in VERDICTS:
            faults.add(Fault(where, "verdict", describe(verdict, show=True), ", ".join(VERDICTS)))
        elif not item or not rater:
            faults.add(Fault(where, "item" if not item else "rater", "nothing", "a name"))
        elif rater in verdicts[item]:
            faults.add(Fault(where, "verdict", "a second verdict on this item by this rater", "one"))
        else:
            verdicts[item][rater] = verdict
    faults.raise_if_any("preferences")
    if not verdicts:
        raise InputError("preferences", [Fault("file", "", "no row", "one or more")])
    majorities = Counter(majority([*votes.values()]) for votes in verdicts.values())
    votes = sum(len(found) for found in verdicts.values())
    return PairwiseReport(
        len(verdicts), majorities["win"], majorities["lose"], majorities["tie"], rounded(votes / len(verdicts))
    )


def majority(votes: Sequence[str]) -> str:
    """`win` or `lose` if more than half say so, else `tie`."""
    for verdict in ("win", "lose"):
        if votes.count(verdict) * 2 > len(votes):
            return verdict
    return "tie"
