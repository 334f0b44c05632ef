"""`hf-kokoro evaluate scores`: how well a model predicts the client's 20 item scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from . import evaluate_runs as runs
from .console import print_json, print_table


@runs.model_options("seed", "temperature", batch_size=4, max_new_tokens=512)
def scores(
    context: typer.Context,
    predictions: Annotated[
        list[Path] | None,
        typer.Option("--predictions", help="JSONL with prediction and reference, or a run folder; one a seed."),
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option("--model", help="Model that predicts them; one a seed, in the seeds' order.")
    ] = None,
    baselines: Annotated[bool, typer.Option("--baselines", help="Only the baselines.")] = False,
    source: runs.Source = None,
    seed: Annotated[
        list[int] | None, typer.Option("--seed", help="Seed of the train/validation split; repeatable.")
    ] = None,
    options: runs.Options = runs.GIVEN,
    json_: runs.AsJson = False,
) -> None:
    """ACC, ACC within one point, and MAE over the 20 items; mean and spread over seeds.

    An item that can't be read in the answer, or is no whole number from 0 to 5, counts as wrong and is listed
    apart. With --source, guesses from the training scores stand beside.

    Example: hf-kokoro evaluate scores --baselines --source kokorochat.tar.gz --seed 1 --seed 2
    """
    from ..workflow import evaluate_scores

    report = evaluate_scores(
        predictions,
        model=model,
        baselines=baselines,
        source=source,
        seeds=seed or [42],
        **options,
        **runs.view(context.args, reads=bool(model or baselines or source is not None or not predictions)),
    ).as_dict()
    if json_:
        print_json(report)
    else:
        _print(report)


_HEADER = ("", "ACC (%)", "ACC_soft (%)", "MAE", "unread")


def _print(report: dict[str, Any]) -> None:
    rows = []
    if "runs" in report:
        unread = sum(run["overall"]["unread"] for run in report["runs"])
        rows.append(_row(f"predictions ({len(report['runs'])} runs)", report["over_runs"], unread))
    for name, baseline in report.get("baselines", {}).items():
        rows.append(_row(f"baseline: {_LABELS[name]}", baseline["over_runs"], 0))
    if best := report.get("best_constant_on_test"):
        same = {name: {"mean": best[name], "sd": None} for name in ("acc", "acc_soft", "mae")}
        rows.append(_row(f"always {best['score']} (best constant on this very test)", same, 0))
    print_table(_HEADER, rows, "all 20 items; mean ± standard deviation over runs")
    for number, run in enumerate(report.get("runs", []), start=1):
        items = [
            (name, runs.percent(item["acc"]), runs.percent(item["acc_soft"]), _points(item["mae"]), item["unread"])
            for name, item in run["items"].items()
        ]
        print()
        print_table(("item", *_HEADER[1:]), items, f"run {number}, {run['dialogues']} dialogues")
        if run["unread_reasons"]:
            reasons = ", ".join(f"{reason} {count}" for reason, count in run["unread_reasons"].items())
            shown = ", ".join(run["unread_dialogues"][:20])
            print(
                f"not read (wrong for ACC, not in MAE): {reasons}; in {len(run['unread_dialogues'])} dialogues: {shown}"
            )


_LABELS = {
    "constant": "train's most frequent score everywhere",
    "majority": "train's most frequent score of each item",
    "mean": "train's mean of each item, rounded",
}


def _row(name: str, found: dict[str, Any], unread: int) -> tuple[str, str, str, str, int]:
    return (name, _cell(found.get("acc"), 100), _cell(found.get("acc_soft"), 100), _cell(found.get("mae"), 1), unread)


def _cell(found: dict[str, Any] | None, scale: float) -> str:
    if found is None:
        return "-"
    digits = 2 if scale == 100 else 4
    sd = "" if found["sd"] is None else f" ± {scale * found['sd']:.{digits}f}"
    return f"{scale * found['mean']:.{digits}f}{sd}"


def _points(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
