"""`hf-kokoro evaluate agreement`: people's ratings against a judge's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .console import print_json, print_table

if TYPE_CHECKING:
    from ..evaluation.human_agreement import MetricAgreement


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
    from ..workflow import evaluate_agreement

    report = evaluate_agreement(ratings, judge, preferences)
    if json_:
        print_json(report.as_dict())
    else:
        _print(list(report.metrics or ()), report.as_dict())


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
