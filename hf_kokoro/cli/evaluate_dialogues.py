"""`hf-kokoro evaluate dialogues`: generated two-turn dialogues, rated on seven metrics by a judge."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import UsageError
from ..workflow.progress import shown
from . import evaluate_runs as runs
from .console import print_json, print_table

if TYPE_CHECKING:
    from ..evaluation.dialogue_raters import DialogueRater
    from ..evaluation.dialogue_ratings import DialogueReport
    from ..evaluation.generate import PromptRow


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
    from ..evaluation.dialogue_raters import check_self_judging
    from ..evaluation.dialogue_ratings import RATINGS_FILE, UNSCORED, rate_dialogues
    from ..evaluation.two_turn import read_generated

    kind = runs.one_of(predictions=predictions, model=model)
    if kind == "predictions":
        runs.not_with(kind, source=source)
    for status in retry or []:
        if status not in UNSCORED:
            raise UsageError(f"--retry {status}: allowed: {', '.join(UNSCORED)}")
    rater = _rater(judge, concurrency, max_usd, prices)
    check_self_judging(rater.judge_model, model or writer or _writer_of(predictions), allow_self_judging)
    if kind == "model":
        run = runs.ModelRun(model or "", out, batch_size, max_new_tokens, None, 0.0, four_bit, seed)
        predictions = run.write(_prompts(source, pairs, seed))
    generated = read_generated(predictions or out)
    with shown(None, rater.judge_model) as progress:
        report = rate_dialogues(generated, rater, out / RATINGS_FILE, retry=retry or (), progress=progress)
    runs.keep_report(out, report.to_dict())
    if json_:
        print_json(report.to_dict())
    else:
        _print(report)
    unfinished = sum(report.statuses.get(status, 0) for status in ("missing", "incomplete", "invalid"))
    if unfinished:
        raise typer.Exit(1)


def _rater(judge: str, concurrency: int, max_usd: float | None, prices: Path | None) -> DialogueRater:
    from ..evaluation.dialogue_raters import ClaudeRater, ScriptedRater
    from ..judging.budget import Budget, load_price
    from ..judging.claude import DEFAULT_MODEL

    name, _, argument = judge.partition(":")
    if name == "scripted":
        return ScriptedRater(argument)
    if name != "claude":
        raise UsageError(f"--judge {name}: allowed: claude, claude:MODEL, scripted:FILE")
    model, price = argument or DEFAULT_MODEL, None
    if max_usd is not None or prices is not None:
        price = load_price(model, prices)
    return ClaudeRater(model, concurrency=concurrency, price=price, budget=Budget(max_usd))


def _writer_of(predictions: Path | None) -> str | None:
    """The model that a run folder's settings name."""
    from ..evaluation.generate import SETTINGS_FILE

    if predictions is None:
        return None
    settings = (predictions if predictions.is_dir() else predictions.parent) / SETTINGS_FILE
    return str(json.loads(settings.read_text("utf-8"))["model"]) if settings.is_file() else None


def _prompts(source: str | None, pairs: int, seed: int) -> Iterator[PromptRow]:
    from ..evaluation.generate import PromptRow
    from ..evaluation.two_turn import dialogue_prompt, sample_pairs

    rows = runs.load_rows("emplifai", "situations", source, "train", [], None)
    names = rows.features["emotion"].names
    situations = [{**row, "emotion": names[row["emotion"]]} for row in rows]
    for row in sample_pairs(situations, pairs, seed):
        carried: dict[str, Any] = {"situation": row["situation"], "emotion": row["emotion"]}
        identity = f"{row['emotion']}-{row['situation_id']}"
        yield PromptRow(identity, dialogue_prompt(row["situation"], row["emotion"]), carried)


def _print(report: DialogueReport) -> None:
    counts = ", ".join(f"{status} {count}" for status, count in report.statuses.items())
    print(f"{report.dialogues} dialogues, judge {report.judge_model}: {counts}")
    rows = [(name, f"{m.mean:.2f}", f"{m.low:.2f} to {m.high:.2f}") for name, m in report.metrics.items()]
    print_table(("metric (1-5)", "mean", "95 % interval"), rows, "format breakers count as 1 everywhere")
    for identity, reason in report.unanswered[:20]:
        print(f"not rated: {identity}: {reason}")
    if report.unanswered:
        print(f"{len(report.unanswered)} not rated: run the same command again, only they are rated")
