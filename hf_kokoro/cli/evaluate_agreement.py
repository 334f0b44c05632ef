"""`hf-kokoro evaluate agreement`: people's ratings against a judge's."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import UsageError
from .console import print_json, print_table

if TYPE_CHECKING:
    from ..evaluation.human_agreement import MetricAgreement

_NOT_METRICS = ("item", "rater", "group")


def agreement(
    ratings: Annotated[
        Path | None, typer.Option("--ratings", help="CSV: item, rater, and a column for each metric.")
    ] = None,
    judge: Annotated[
        Path | None,
        typer.Option("--judge", help="ratings.jsonl of `evaluate dialogues`, or a CSV with item and metrics."),
    ] = None,
    preferences: Annotated[
        Path | None, typer.Option("--preferences", help="CSV: item, rater, verdict (win, lose or tie).")
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """How reliable human ratings are, how the judge's correlate with their mean, and who wins by majority.

    ICC(2,k) is of the raters' mean, alpha is Krippendorff's for ordinal ratings. Where one side is constant no
    correlation exists: the constant and the mean absolute difference stand there instead. A pairwise verdict
    needs more than half of an item's judges, else it is a tie.

    Example: hf-kokoro evaluate agreement --ratings people.csv --judge runs/d/ratings.jsonl
    """
    from ..evaluation.human_agreement import metric_agreement, pairwise_majority, rating_rows, read_ratings

    if ratings is None and preferences is None:
        raise UsageError("nothing to compare; allowed: --ratings with --judge, --preferences, or all three")
    if (ratings is None) != (judge is None):
        raise UsageError("--ratings and --judge belong together; give both")
    report: dict[str, Any] = {}
    found: list[MetricAgreement] = []
    if ratings is not None and judge is not None:
        rows = list(rating_rows(ratings))
        metrics = [name for name in (rows[0][1] if rows else {}) if name not in _NOT_METRICS]
        people = read_ratings(rows, metrics)
        theirs = _judge_scores(judge, metrics)
        shared = [metric for metric in metrics if theirs[metric]]
        if not shared:
            raise UsageError(f"--judge {judge.name}: rates none of the metrics of {ratings.name}: {', '.join(metrics)}")
        found = [metric_agreement(metric, people.values[metric], theirs[metric]) for metric in shared]
        report["metrics"] = [one.to_dict() for one in found]
        report["without_judge"] = [metric for metric in metrics if metric not in shared]
    if preferences is not None:
        report["pairwise"] = asdict(pairwise_majority(rating_rows(preferences)))
    if json_:
        print_json(report)
    else:
        _print(found, report)


def _judge_scores(path: Path, metrics: list[str]) -> dict[str, dict[str, float]]:
    """Metric to item to the judge's rating. A rating that is not there is left out, never zero."""
    scores: dict[str, dict[str, float]] = {metric: {} for metric in metrics}
    if path.suffix == ".jsonl":
        from ..evaluation.predictions import read_rows

        for _, row in read_rows(path):
            for metric in metrics:
                if isinstance(row.get(metric), int | float):
                    scores[metric][str(row.get("dialogue_id"))] = float(row[metric])
        return scores
    from ..evaluation.human_agreement import rating_rows, read_ratings

    judged = read_ratings(rating_rows(path), metrics)
    for metric, items in judged.values.items():
        scores[metric] = {item: sum(given.values()) / len(given) for item, given in items.items()}
    return scores


def _print(found: list[MetricAgreement], report: dict[str, Any]) -> None:
    if found:
        header = ("metric", "items", "people", "judge", "ICC(2,k)", "alpha", "r [95 %]", "p", "mean |difference|")
        print_table(header, [_row(one) for one in found])
    for metric in report.get("without_judge", []):
        print(f"{metric}: the judge did not rate it")
    if pairwise := report.get("pairwise"):
        items = pairwise["items"]
        print_table(
            ("pairwise, majority of judges", "items", "%"),
            [(name, pairwise[name], f"{100 * pairwise[name] / items:.1f}") for name in ("win", "lose", "tie")],
        )


def _row(one: MetricAgreement) -> tuple[Any, ...]:
    if one.constant:
        sides = ", ".join(f"{side} constant at {value:g}" for side, value in one.constant.items())
        r, p = sides, "-"
    elif one.pearson is None:
        r, p = "-", "-"
    else:
        interval = "" if one.low is None else f" [{one.low:.2f}, {one.high:.2f}]"
        r, p = f"{one.pearson:.2f}{interval}", f"{one.p:.4f}"
    icc = "-" if one.icc.value is None else f"{one.icc.value:.2f}"
    alpha = "-" if one.alpha is None else f"{one.alpha:.2f}"
    return (
        one.metric,
        one.items,
        f"{one.human_mean:.2f}",
        f"{one.judge_mean:.2f}",
        icc,
        alpha,
        r,
        p,
        f"{one.mean_absolute_difference:.2f}",
    )
