"""`hf-kokoro evaluate generation`: BLEU, ROUGE and Distinct of counsellor replies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from . import evaluate_runs as runs
from .console import print_json, print_table

_NAMES = {
    **{f"bleu{order}": f"BLEU-{order}" for order in range(1, 5)},
    "rouge1": "ROUGE-1",
    "rouge2": "ROUGE-2",
    "rougeL": "ROUGE-L",
    "distinct1": "Distinct-1",
    "distinct2": "Distinct-2",
}


@runs.model_options(max_new_tokens=256)
def generation(
    context: typer.Context,
    predictions: Annotated[
        list[Path] | None,
        typer.Option(
            "--predictions", help="JSONL with prediction and reference, or a run folder; give two to compare."
        ),
    ] = None,
    model: runs.Model = None,
    baseline: Annotated[
        str | None, typer.Option(help="reference (replies against themselves) or shuffled (against others' replies).")
    ] = None,
    source: runs.Source = None,
    config: Annotated[
        str, typer.Option(help="next_turn, response_generation, or (baselines) turns: all counsellor turns.")
    ] = "next_turn",
    split: runs.Split = None,
    tokenizer: Annotated[str, typer.Option(help="mecab, char or space.")] = "mecab",
    normalize: Annotated[str, typer.Option(help="none, or nfkc to fold widths before tokenizing.")] = "none",
    bootstrap: Annotated[int, typer.Option(min=0, help="Draws of the intervals and of the paired test.")] = 1000,
    per_sample: Annotated[bool, typer.Option("--per-sample", help="Write per_sample.jsonl in --out.")] = False,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes (default: two, if there are cores).")] = None,
    options: runs.Options = runs.GIVEN,
    json_: runs.AsJson = False,
) -> None:
    """Overlap of replies with the counsellor's own, and how varied they are; KokoroChat's table of results.

    BLEU is cumulative and of the whole corpus, ROUGE a mean of F1, Distinct over everything the system said.
    Intervals resample dialogues. A view's options (--pool, --split-by, ...) go on to the dataset.

    Example: hf-kokoro evaluate generation --predictions sft.jsonl --predictions base.jsonl --json
    """
    from ..workflow import evaluate_generation

    report = evaluate_generation(
        predictions,
        model=model,
        baseline=baseline,
        source=source,
        config=config,
        split=split,
        tokenizer=tokenizer,
        normalize=normalize,
        bootstrap=bootstrap,
        per_sample=per_sample,
        workers=workers,
        **options,
        **runs.view(context.args, reads=bool(model or baseline or not predictions)),
    ).as_dict()
    if json_:
        print_json(report)
    else:
        _print(report)


def _print(report: dict[str, Any]) -> None:
    for system in report["systems"]:
        made = ", ".join(f"{name} {value}" for name, value in system["tokenizer"].items())
        print(f"{system['name']}: {system['samples']} replies in {system['groups']} dialogues; {made}")
        print(
            f"  tokens a reply: {system['tokens_per_prediction']:.2f}, of the references "
            f"{system['tokens_per_reference']:.2f}; {system['empty_predictions']} replies are empty"
        )
    header = ["metric"]
    for system in report["systems"]:
        header += [f"{system['name']} (%)", "95 % interval"]
    compared = report.get("first_minus_second", {})
    rows = []
    for key, name in _NAMES.items():
        row = [name]
        for system in report["systems"]:
            row += _cells(system["metrics"][key])
        if compared:
            row += _difference(compared.get(key))
        rows.append(row)
    print_table(header + (["difference", "95 % interval", "p"] if compared else []), rows)


def _cells(figure: dict[str, float | None]) -> list[str]:
    low, high = figure["low"], figure["high"]
    interval = "-" if low is None or high is None else f"{100 * low:.2f} to {100 * high:.2f}"
    return [runs.percent(figure["value"]), interval]


def _difference(found: dict[str, float] | None) -> list[str]:
    if found is None:
        return ["-", "-", "-"]
    return [
        f"{100 * found['value']:+.2f}",
        f"{100 * found['low']:+.2f} to {100 * found['high']:+.2f}",
        f"{found['p']:.4f}",
    ]
