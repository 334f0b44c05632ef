"""`hf-kokoro evaluate emotion`: which of 28 emotions a patient's dialogue shows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from . import evaluate_runs as runs
from .console import print_json, print_table


@runs.model_options("temperature", max_new_tokens=32)
def emotion(
    context: typer.Context,
    predictions: Annotated[
        Path | None, typer.Option("--predictions", help="JSONL with prediction (free text) and label, or a run folder.")
    ] = None,
    model: runs.Model = None,
    source: runs.Source = None,
    split: runs.Split = None,
    fasttext: Annotated[Path | None, typer.Option(help="fastText .vec file for the similarity of label names.")] = None,
    bert: Annotated[str | None, typer.Option(help="Model folder or Hub id for BERTScore of label names.")] = None,
    names: Annotated[str, typer.Option(help="Label names that are compared: ja or en.")] = "ja",
    figure: Annotated[Path | None, typer.Option(help="Draw the confusion matrix into this file (PNG, SVG).")] = None,
    options: runs.Options = runs.GIVEN,
    json_: runs.AsJson = False,
) -> None:
    """Exact match and macro-F1 of predicted emotions, and how near the wrong ones are by name.

    An answer is mapped to a label by its English name, Japanese name or an alias; one that names none, or
    several, is "no label" and a miss. fastText and BERTScore are computed only if they are given.

    Example: hf-kokoro evaluate emotion --predictions emotions.jsonl --figure confusion.png
    """
    from ..workflow import evaluate_emotion

    report = evaluate_emotion(
        predictions,
        model=model,
        source=source,
        split=split,
        fasttext=fasttext,
        bert=bert,
        names=names,
        figure=figure,
        **options,
        **runs.view(context.args, reads=bool(model or not predictions)),
    ).as_dict()
    if json_:
        print_json(report)
    else:
        _print(report, figure)


def _print(found: dict[str, Any], figure: Path | None) -> None:
    how = ", ".join(f"{name} {count}" for name, count in found["how"].items())
    print(f"{found['rows']} answers; label found in: {how}; {found['no_label']} have no label")
    rows = [("exact match (%)", runs.percent(found["exact_match"])), ("macro-F1 (%)", runs.percent(found["macro_f1"]))]
    for name, similarity in found["similarity"].items():
        mean = "-" if similarity["mean"] is None else f"{similarity['mean']:.4f}"
        rows.append((f"{name} of names", f"{mean} ({similarity['undefined']} without a vector)"))
    print_table(("metric", "value"), rows)
    worst = sorted(found["by_label"].items(), key=lambda entry: entry[1])[:5]
    print("lowest F1: " + ", ".join(f"{name} {100 * score:.1f}" for name, score in worst))
    if figure is not None:
        print(f"confusion matrix: {figure}")
