"""`hf-kokoro evaluate dialogues`: generated two-turn dialogues, rated on seven metrics by a judge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import evaluate_runs as runs
from .console import print_json, print_table

if TYPE_CHECKING:
    from ..evaluation.dialogue_ratings import DialogueReport


def dialogues(
    judge: Annotated[str, typer.Option("--judge", help="claude, claude:MODEL, or scripted:FILE.")],
    out: Annotated[Path, typer.Option("--out", help="Run folder: dialogues, ratings and report; gone on with.")],
    predictions: Annotated[
        Path | None, typer.Option("--predictions", help="JSONL with id, situation, emotion and prediction.")
    ] = None,
    model: runs.Model = None,
    source: runs.Source = None,
    pairs: Annotated[int, typer.Option(min=1, help="Emotion-situation pairs to write dialogues for.")] = 100,
    seed: Annotated[int, typer.Option(help="Draws the pairs.")] = 42,
    writer: Annotated[
        str | None, typer.Option(help="Model that wrote --predictions; a judge may not rate its own family.")
    ] = None,
    allow_self_judging: Annotated[bool, typer.Option("--allow-self-judging", help="Let it all the same.")] = False,
    retry: Annotated[
        list[str] | None, typer.Option(help="Rate dialogues of this status again: refused, incomplete, invalid.")
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="claude: dialogues in flight.")] = 16,
    max_usd: Annotated[float | None, typer.Option(help="claude: stop before this run costs more.")] = None,
    prices: Annotated[Path | None, typer.Option(help="claude: YAML file of prices to use instead.")] = None,
    batch_size: runs.BatchSize = 8,
    max_new_tokens: runs.MaxNewTokens = 400,
    four_bit: runs.FourBit = False,
    json_: runs.AsJson = False,
) -> None:
    """Rate generated patient-supporter dialogues from 1 to 5 on EmplifAI's seven metrics.

    A dialogue that breaks the format gets 1 everywhere without being sent. Judges over-reward correct, pushing
    answers where people value being understood: compare with people (`evaluate agreement`) before you trust them.

    Example: hf-kokoro evaluate dialogues --predictions d.jsonl --writer my-llama --judge claude --out runs/d
    """
    from ..workflow import evaluate_dialogues

    report = evaluate_dialogues(
        judge,
        out,
        predictions=predictions,
        model=model,
        source=source,
        pairs=pairs,
        seed=seed,
        writer=writer,
        allow_self_judging=allow_self_judging,
        retry=retry or (),
        concurrency=concurrency,
        max_usd=max_usd,
        prices=prices,
        batch_size=batch_size,
        max_new_tokens=max_new_tokens,
        four_bit=four_bit,
    )
    if json_:
        print_json(report.as_dict())
    else:
        _print(report)
    unfinished = sum(report.statuses.get(status, 0) for status in ("missing", "incomplete", "invalid"))
    if unfinished:
        raise typer.Exit(1)


def _print(report: DialogueReport) -> None:
    counts = ", ".join(f"{status} {count}" for status, count in report.statuses.items())
    print(f"{report.dialogues} dialogues, judge {report.judge_model}: {counts}")
    rows = [(name, f"{m.mean:.2f}", f"{m.low:.2f} to {m.high:.2f}") for name, m in report.metrics.items()]
    print_table(("metric (1-5)", "mean", "95 % interval"), rows, "format breakers count as 1 everywhere")
    for identity, reason in report.unanswered[:20]:
        print(f"not rated: {identity}: {reason}")
    if report.unanswered:
        print(f"{len(report.unanswered)} not rated: run the same command again, only they are rated")
