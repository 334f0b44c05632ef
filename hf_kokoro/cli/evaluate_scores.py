"""`hf-kokoro evaluate scores`: how well a model predicts the client's 20 item scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import UsageError
from . import evaluate_runs as runs
from .console import print_json, print_table

if TYPE_CHECKING:
    from ..evaluation.generate import PromptRow
    from ..evaluation.scores import ScoreReport, ScoreRun


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
    out: runs.Out = None,
    limit: runs.Limit = None,
    batch_size: runs.BatchSize = 4,
    max_new_tokens: runs.MaxNewTokens = 512,
    max_prompt_tokens: runs.MaxPromptTokens = None,
    four_bit: runs.FourBit = False,
    json_: runs.AsJson = False,
) -> None:
    """ACC, ACC within one point, and MAE over the 20 items; mean and spread over seeds.

    An item that can't be read in the answer, or is no whole number from 0 to 5, counts as wrong and is listed
    apart. With --source, guesses from the training scores stand beside.

    Example: hf-kokoro evaluate scores --baselines --source kokorochat.tar.gz --seed 1 --seed 2
    """
    from ..evaluation.scores import best_constant, read_score_run, score_report, spread_over_runs

    kind = runs.one_of(predictions=predictions, model=model, baselines=baselines)
    seeds = seed or [42]
    if kind != "model":
        runs.not_with(kind, limit=limit)
    if kind == "model":
        predictions = _written(context, model or [], source, seeds, out, limit, batch_size, max_new_tokens,
                               max_prompt_tokens, four_bit)  # fmt: skip
    elif kind == "predictions" and source is None:
        runs.no_options(context.args)
    found = [read_score_run(path) for path in predictions or []]
    report: dict[str, Any] = {}
    if found:
        reports = [score_report(run) for run in found]
        report["runs"] = [one.to_dict() for one in reports]
        report["over_runs"] = _spread(spread_over_runs(reports))
    if source is not None or not found:
        report["baselines"] = _baselines(context, source, seeds, found)
        report["seeds"] = seeds
    if found:
        score, best = best_constant(found[0])
        report["best_constant_on_test"] = {"score": score, **asdict(best.overall)}
    runs.keep_report(out, report)
    if json_:
        print_json(report)
    else:
        _print(report)


def _written(
    context: typer.Context,
    models: list[str],
    source: str | None,
    seeds: list[int],
    out: Path | None,
    limit: int | None,
    batch_size: int,
    max_new_tokens: int,
    max_prompt_tokens: int | None,
    four_bit: bool,
) -> list[Path]:
    """Run folders of the models: `out` for one, `out/1`, `out/2`, ... for several."""
    if out is None:
        raise UsageError("--model: give --out too, the folder that keeps what the model writes")
    # the test split is the same for every seed
    rows = runs.load_rows("kokorochat", "score_prediction", source, "test", context.args, limit, seed=seeds[0])
    folders = []
    for number, name in enumerate(models, start=1):
        folder = out if len(models) == 1 else out / str(number)
        run = runs.ModelRun(name, folder, batch_size, max_new_tokens, max_prompt_tokens, 0.0, four_bit, seeds[0])
        folders.append(run.write(_prompts(rows)))
    return folders


def _prompts(rows: Any) -> Iterator[PromptRow]:
    from ..evaluation.generate import PromptRow
    from ..evaluation.scores import score_rows

    for identity, prompt, reference in score_rows(rows):
        yield PromptRow(identity, prompt, {"reference": reference})


def _baselines(context: typer.Context, source: str | None, seeds: list[int], found: list[ScoreRun]) -> dict[str, Any]:
    """Each baseline over the seeds: its training scores change, the test set does not."""
    from ..corpora.kokorochat.schema import ITEM_NAMES
    from ..evaluation.scores import BASELINES, baseline_run, gold_run, score_report, spread_over_runs

    reports: dict[str, list[ScoreReport]] = {name: [] for name in BASELINES}
    for seed in seeds:
        parts = [
            runs.load_rows("kokorochat", "score_prediction", source, split, context.args, None, seed=seed)
            for split in ("train", "test")
        ]
        train, test = (part.select_columns(["dialogue_id", *ITEM_NAMES]) for part in parts)
        target = found[0] if found else gold_run(test)
        for name in BASELINES:
            reports[name].append(score_report(baseline_run(name, train, target)))
    return {
        name: {"over_runs": _spread(spread_over_runs(of)), "runs": [asdict(one.overall) for one in of]}
        for name, of in reports.items()
    }


def _spread(found: dict[str, Any]) -> dict[str, Any]:
    return {name: asdict(value) for name, value in found.items()}


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
