"""`evaluate_dialogues`: generated two-turn dialogues, rated on seven metrics by a judge."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...core.suggest import allowed
from ...errors import UsageError
from ..progress import Progress, shown
from . import runs

if TYPE_CHECKING:
    from ...evaluation.dialogue_raters import DialogueRater
    from ...evaluation.dialogue_ratings import DialogueReport
    from ...evaluation.generate import PromptRow


def evaluate_dialogues(
    judge: str,
    out: runs.Place,
    *,
    predictions: runs.Place | None = None,
    model: str | None = None,
    source: runs.Place | None = None,
    pairs: int = 100,
    seed: int = 42,
    writer: str | None = None,
    allow_self_judging: bool = False,
    retry: Sequence[str] = (),
    concurrency: int = 16,
    max_usd: float | None = None,
    prices: Path | None = None,
    batch_size: int = 8,
    max_new_tokens: int = 400,
    four_bit: bool = False,
    progress: Progress | None = None,
) -> DialogueReport:
    """Rate generated patient-supporter dialogues from 1 to 5 on EmplifAI's seven metrics.

    `judge` is claude, claude:MODEL or scripted:FILE; `out` keeps dialogues, ratings and report, and is gone on with.
    Give `predictions`, or a `model` that writes dialogues for `pairs` of emotion and situation drawn by `seed`. A
    judge may not rate its own family (`writer` names who wrote the predictions). Raises UsageError, SourceError,
    InputError.
    """
    from ...evaluation.dialogue_raters import check_self_judging
    from ...evaluation.dialogue_ratings import RATINGS_FILE, UNSCORED, rate_dialogues
    from ...evaluation.two_turn import read_generated

    kind = runs.one_of(predictions=predictions, model=model)
    if kind == "predictions":
        runs.not_with(kind, source=source)
    for status in retry:
        if status not in UNSCORED:
            raise UsageError(f"--retry {status}: {allowed(status, UNSCORED)}")
    given, folder = None if predictions is None else Path(predictions), Path(out)
    rater = _rater(judge, concurrency, max_usd, prices)
    check_self_judging(rater.judge_model, model or writer or _writer_of(given), allow_self_judging)
    if kind == "model":
        run = runs.ModelRun(
            model or "", folder, batch_size, max_new_tokens, four_bit=four_bit, seed=seed, progress=progress
        )
        given = run.write(_prompts(source, pairs, seed))
    generated = read_generated(given or folder)
    with shown(progress, rater.judge_model) as bar:
        report = rate_dialogues(generated, rater, folder / RATINGS_FILE, retry=retry, progress=bar)
    runs.keep_report(folder, report.as_dict())
    return report


def _rater(judge: str, concurrency: int, max_usd: float | None, prices: Path | None) -> DialogueRater:
    from ...evaluation.dialogue_raters import ClaudeRater, ScriptedRater
    from ...judging.budget import Budget, load_price
    from ...judging.claude import DEFAULT_MODEL

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
    from ...evaluation.generate import SETTINGS_FILE

    if predictions is None:
        return None
    settings = (predictions if predictions.is_dir() else predictions.parent) / SETTINGS_FILE
    return str(json.loads(settings.read_text("utf-8"))["model"]) if settings.is_file() else None


def _prompts(source: runs.Place | None, pairs: int, seed: int) -> Iterator[PromptRow]:
    from ...evaluation.generate import PromptRow
    from ...evaluation.two_turn import dialogue_prompt, sample_pairs

    rows = runs.load_rows(("emplifai", "situations"), source, "train", {})
    names = rows.features["emotion"].names
    situations = [{**row, "emotion": names[row["emotion"]]} for row in rows]
    for row in sample_pairs(situations, pairs, seed):
        carried: dict[str, Any] = {"situation": row["situation"], "emotion": row["emotion"]}
        identity = f"{row['emotion']}-{row['situation_id']}"
        yield PromptRow(identity, dialogue_prompt(row["situation"], row["emotion"]), carried)
