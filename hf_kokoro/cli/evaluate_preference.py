"""`hf-kokoro evaluate preference`: how often a model prefers the chosen answer of a held-out pair."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .console import print_json, print_table


def preference(
    source: Annotated[str, typer.Option("--source", help="MITI-ST rows: folder, file or Hub dataset id.")],
    model: Annotated[str | None, typer.Option("--model", help="Policy: model or adapter folder, or Hub id.")] = None,
    reference: Annotated[
        str | None,
        typer.Option("--reference", help="Model before training; an adapter's own base if left out."),
    ] = None,
    reward_model: Annotated[
        str | None, typer.Option("--reward-model", help="Reward model: folder, adapter folder or Hub id.")
    ] = None,
    split: Annotated[str, typer.Option("--split", help="Split to measure on.")] = "test",
    split_by: Annotated[str, typer.Option("--split-by", help="What no two splits share.")] = "question",
    seed: Annotated[int, typer.Option("--seed", help="Seed of the split; the recipe's own.")] = 42,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Measure on the first N pairs.")] = None,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1, help="Sequences a forward pass.")] = 8,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """How often the chosen answer of a held-out pair is preferred: by a policy, a reward model, and baselines.

    The baselines are "the longer answer wins" and the rule judge's total. Accuracies are also split by margin,
    and by whether the answers' therapists wrote any answer of a training pair.

    Example: hf-kokoro evaluate preference --model runs/dpo --reference ./base --source ./rows
    """
    from ..workflow import evaluate_preference

    report = evaluate_preference(
        source,
        model=model,
        reference=reference,
        reward_model=reward_model,
        split=split,
        split_by=split_by,
        seed=seed,
        limit=limit,
        batch_size=batch_size,
    ).as_dict()
    if as_json:
        print_json(report)
    else:
        print_preference(report)


_NAMES = {
    "reward": "implicit reward (policy − reference)",
    "log_prob": "log-prob",
    "log_prob_per_token": "log-prob per token",
    "reward_model": "reward model",
    "longer_wins": "baseline: the longer answer wins",
    "rule_judge": "baseline: the rule judge's total",
}


def print_preference(report: dict[str, Any]) -> None:
    """Print accuracies for people: overall, then one table a kind of stratum."""
    overall = {**report, **report["others"]}
    names = [name for name in _NAMES if overall.get(name) is not None]
    rows = []
    for name in names:
        found = overall[name]
        rows.append((_NAMES[name], f"{found['value']:.3f}", f"{found['low']:.3f}-{found['high']:.3f}", found["ties"]))
    skipped = f" ({report['skipped']} longer than the model's context left out)" if report["skipped"] else ""
    print_table(("prefers chosen by", "accuracy", "95 % interval", "ties"), rows, f"{report['pairs']} pairs{skipped}")
    if any(judge.startswith("rule-based/") for judge in report["labelled_by"]):
        print("the rule judge made labels of these pairs itself: its accuracy on them means nothing")
    for kind, groups in report["strata"].items():
        header = [f"{group} ({found['longer_wins']['pairs']})" for group, found in groups.items()]
        cells = [(_NAMES[name], *(f"{found[name]['value']:.3f}" for found in groups.values())) for name in names]
        print()
        print_table((f"by {kind} (pairs)", *header), cells)
