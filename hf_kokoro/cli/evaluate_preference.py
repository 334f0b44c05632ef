"""`hf-kokoro evaluate preference`: how often a model prefers the chosen answer of a held-out pair."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .console import print_json, print_table


def preference(
    model: Annotated[str, typer.Option("--model", help="Model or adapter folder, or Hub id.")],
    source: Annotated[str, typer.Option("--source", help="MITI-ST rows: folder, file or Hub dataset id.")],
    reference: Annotated[
        str | None,
        typer.Option("--reference", help="Model before training; an adapter's own base if left out."),
    ] = None,
    split: Annotated[str, typer.Option("--split", help="Split to measure on.")] = "test",
    split_by: Annotated[str, typer.Option("--split-by", help="What no two splits share.")] = "question",
    seed: Annotated[int, typer.Option("--seed", help="Seed of the split; the recipe's own.")] = 42,
    limit: Annotated[int | None, typer.Option("--limit", help="Measure on the first N pairs.")] = None,
    batch_size: Annotated[int, typer.Option("--batch-size", help="Sequences a forward pass.")] = 8,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """How often a model prefers the chosen answer of a held-out pair, beside "the longer answer wins".

    Example: hf-kokoro evaluate preference --model runs/dpo --reference ./base --source ./rows
    """
    from ..builders import load_dataset
    from ..evaluation.preference import evaluate_preference

    pairs = load_dataset("miti_st_dpo", "pairs", source=source, split=split, split_by=split_by, seed=seed)
    rows = pairs if limit is None else pairs.select(range(min(limit, len(pairs))))
    report = evaluate_preference(rows, model, reference, batch_size=batch_size).to_dict()
    if as_json:
        print_json(report)
    else:
        print_preference(report)


def print_preference(report: dict[str, Any]) -> None:
    """Print a PreferenceReport for people."""
    names = {
        "reward": "implicit reward (policy − reference)",
        "log_prob": "log-prob",
        "log_prob_per_token": "log-prob per token",
        "longer_wins": "baseline: the longer answer wins",
    }
    rows = []
    for key, name in names.items():
        found = report[key]
        if found is not None:
            interval = f"{found['low']:.3f}-{found['high']:.3f}"
            rows.append((name, f"{found['value']:.3f}", interval, found["ties"]))
    skipped = f" ({report['skipped']} longer than the model's context left out)" if report["skipped"] else ""
    print_table(("prefers chosen by", "accuracy", "95 % interval", "ties"), rows, f"{report['pairs']} pairs{skipped}")
