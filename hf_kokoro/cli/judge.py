"""`hf-kokoro judge`: score answers on the MITI-ST rubric into a journal."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import KokoroError, UsageError
from .console import print_json
from .gate_options import LICENSE_HELP, SOURCE_DATASET_HELP, Allow, Redact


def judge(
    source: Annotated[str, typer.Option(help="counsel-chat: a file, folder, archive or Hub dataset id.")],
    judge: Annotated[
        list[str],
        typer.Option(help="rule, rule:strict, claude, scripted:FILE, or an installed judge; repeatable."),
    ],
    journal: Annotated[Path, typer.Option(help="Verdict journal (JSON Lines), made or gone on with.")],
    limit: Annotated[int | None, typer.Option(min=1, help="Judge at most so many answers now.")] = None,
    min_answers: Annotated[int, typer.Option(min=1, help="Only questions with so many answers.")] = 3,
    retry: Annotated[
        list[str] | None,
        typer.Option(help="Judge answers of this status again: incomplete, invalid, refused."),
    ] = None,
    model: Annotated[str, typer.Option(help="claude: the model.")] = "claude-opus-4-7",
    concurrency: Annotated[int, typer.Option(min=1, help="claude: answers in flight.")] = 16,
    batch: Annotated[
        bool, typer.Option("--batch", help="claude: Message Batches, half the price, within a day.")
    ] = False,
    poll_seconds: Annotated[float, typer.Option(min=0, help="claude --batch: time between looks.")] = 30.0,
    max_usd: Annotated[float | None, typer.Option(help="claude: stop before this run costs more.")] = None,
    prices: Annotated[Path | None, typer.Option(help="claude: YAML file of prices to use instead.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="claude: count tokens, print the price, judge nothing.")
    ] = False,
    repeat: Annotated[int, typer.Option(min=1, help="Judge each answer so many times (a retest).")] = 1,
    sample: Annotated[int | None, typer.Option(min=1, help="Only so many answers, drawn by --seed.")] = None,
    seed: Annotated[int, typer.Option(help="Decides --sample.")] = 42,
    append_to: Annotated[
        str | None, typer.Option(help="Grow this dataset meanwhile: ./folder, user/repo[@branch] or a Hub address.")
    ] = None,
    every: Annotated[int, typer.Option(min=1, help="--append-to: append after so many new verdicts.")] = 50,
    allow: Allow = None,
    redact: Redact = False,
    source_dataset: Annotated[str | None, typer.Option(help=f"--append-to: {SOURCE_DATASET_HELP}")] = None,
    license_: Annotated[str | None, typer.Option("--license", help=f"--append-to: {LICENSE_HELP}")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Score every answer of every question with enough answers, each alone, and journal each verdict at once.

    Answers that the journal has a verdict on (same texts, rubric and judge) are passed over, so the same
    command goes on where an interrupted one stopped. The exit code is 1 while answers are left unscored that
    another run could score.

    With --append-to the rows of complete questions (best against worst, as `pair` makes them) are appended while
    the scoring goes on, and once more at the end or on Ctrl-C; rows that are there already are passed over. A
    target that can't be reached doesn't stop the scoring; the same command again sends what is left. Texts that may
    point to people don't leave for the Hub: --allow KIND or --redact, in this run or in the next.

    Example: hf-kokoro judge --source counsel_chat.csv --judge rule --journal verdicts.jsonl
    """
    from ..judging import Journal
    from ..workflow import joining as join
    from ..workflow.growing import while_judging
    from ..workflow.stamps import advice, stamp_of
    from .judge_runs import ClaudeSettings, print_estimate, print_reports, run_judges, stopped_at_once

    _check_retry(retry or [])
    if (allow or redact) and append_to is None:
        raise UsageError("--allow and --redact are for --append-to: without it nothing leaves but what the judge reads")
    settings = ClaudeSettings(model, concurrency, batch, poll_seconds, max_usd, prices)
    judges = settings.judges(judge, repeat)
    chat = join.load_source(source)
    if not append_to and (source_dataset is not None or license_ is not None):
        raise UsageError("--source-dataset and --license are for --append-to; `pair` has them too")
    stamp = stamp_of(chat, source_dataset, license_)
    growing = (
        while_judging(journal, stamp, chat, judges, min_answers, append_to, every, tuple(allow or ()), redact)
        if append_to
        else None
    )
    questions = join.judged_questions(chat, min_answers)
    items = join.drawn(join.items_of(questions), sample, seed)
    found: dict[str, Any] = {
        "source": source,
        "questions": len(chat.questions),
        "questions_judged": len(questions),
        "answers": chat.answers,
        "duplicates": chat.duplicates,
        "ignored_columns": list(chat.ignored_columns),
        "ignored_files": list(chat.ignored_files),
        "journal": str(journal),
    }
    with Journal(journal) as book:
        if dry_run:
            print_estimate(judges, items, book, batch, found, json_)
            return
        found["verdicts_not_used"] = join.not_used(chat, book.statuses)
        join.write_origin(journal, source, chat)
        with growing or nullcontext():
            reports = run_judges(judges, items, book, settings, limit, retry or [], repeat, growing)
        found["healed_bytes"] = book.healed_bytes
    if growing:
        found["append"] = growing.as_dict()
    if json_:
        print_json(found | {"judges": [report.as_dict() for report in reports]})
    elif reason := stopped_at_once(reports):
        if growing:
            print(growing.summary())
        raise KokoroError(reason)
    else:
        print_reports(found, min_answers, reports, growing)
        if growing and not stamp.stated:
            print(advice(stamp))
    # refusals are final and --limit leaves the rest on purpose; anything else unscored is unfinished work
    unfinished = [
        r.statuses["incomplete"] + r.statuses["invalid"] + (r.missing if r.stopped or not limit else 0) for r in reports
    ]
    if any(unfinished) or (growing and growing.failure):
        raise typer.Exit(1)


def _check_retry(retry: list[str]) -> None:
    allowed = ("incomplete", "invalid", "refused")
    for status in retry:
        if status not in allowed:
            raise UsageError(f"--retry {status}: allowed: {', '.join(allowed)}")
