"""`evaluate_agreement`: people's ratings against a judge's."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...core.reports import Report
from ...errors import UsageError
from . import runs

if TYPE_CHECKING:
    from ...evaluation.human_agreement import MetricAgreement, PairwiseReport

_NOT_METRICS = ("item", "rater", "group")


@dataclass(frozen=True)
class AgreementEvaluation(Report):
    """Each metric that people and the judge rated, those that only people did, and who wins by majority.

    What was not asked for is None.
    """

    metrics: tuple[MetricAgreement, ...] | None = None
    without_judge: tuple[str, ...] = ()
    pairwise: PairwiseReport | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as `--json` prints it."""
        found: dict[str, Any] = {}
        if self.metrics is not None:
            found["metrics"] = [one.to_dict() for one in self.metrics]
            found["without_judge"] = list(self.without_judge)
        if self.pairwise is not None:
            found["pairwise"] = asdict(self.pairwise)
        return found


def evaluate_agreement(
    ratings: runs.Place | None = None, judge: runs.Place | None = None, preferences: runs.Place | None = None
) -> AgreementEvaluation:
    """How reliable human ratings are, how the judge's correlate with their mean, and who wins by majority.

    `ratings` is a table of item, rater and a column for each metric; `judge` the ratings.jsonl of
    `evaluate_dialogues`, or a table; `preferences` one of item, rater and verdict (win, lose, tie). Raises UsageError,
    SourceError, InputError.
    """
    from ...evaluation.human_agreement import metric_agreement, pairwise_majority, rating_rows, read_ratings

    if ratings is None and preferences is None:
        raise UsageError("nothing to compare; allowed: --ratings with --judge, --preferences, or all three")
    if (ratings is None) != (judge is None):
        raise UsageError("--ratings and --judge belong together; give both")
    found: tuple[MetricAgreement, ...] | None = None
    without: tuple[str, ...] = ()
    if ratings is not None and judge is not None:
        ratings, judge = Path(ratings), Path(judge)
        rows = list(rating_rows(ratings))
        metrics = [name for name in (rows[0][1] if rows else {}) if name not in _NOT_METRICS]
        people = read_ratings(rows, metrics)
        theirs = _judge_scores(judge, metrics)
        shared = [metric for metric in metrics if theirs[metric]]
        if not shared:
            raise UsageError(f"--judge {judge.name}: rates none of the metrics of {ratings.name}: {', '.join(metrics)}")
        found = tuple(metric_agreement(metric, people.values[metric], theirs[metric]) for metric in shared)
        without = tuple(metric for metric in metrics if metric not in shared)
    pairwise = None if preferences is None else pairwise_majority(rating_rows(Path(preferences)))
    return AgreementEvaluation(found, without, pairwise)


def _judge_scores(path: Path, metrics: list[str]) -> dict[str, dict[str, float]]:
    """Metric to item to the judge's rating. A rating that is not there is left out, never zero."""
    scores: dict[str, dict[str, float]] = {metric: {} for metric in metrics}
    if path.suffix == ".jsonl":
        from ...evaluation.predictions import read_rows

        for _, row in read_rows(path):
            for metric in metrics:
                if isinstance(row.get(metric), int | float):
                    scores[metric][str(row.get("dialogue_id"))] = float(row[metric])
        return scores
    from ...evaluation.human_agreement import rating_rows, read_ratings

    judged = read_ratings(rating_rows(path), metrics)
    for metric, items in judged.values.items():
        scores[metric] = {item: sum(given.values()) / len(given) for item, given in items.items()}
    return scores
