"""`hf-kokoro judge`: score answers on the MITI-ST rubric into a journal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import KokoroError
from .console import interruptible, print_json, print_table
from .gate_options import LICENSE_HELP, SOURCE_DATASET_HELP, WRITTEN_BY_HELP, Allow, PolicyFile, Redact
from .wait_options import MaxWait

if TYPE_CHECKING:
    from ..workflow.judging import JudgeRun


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
    sample: Annotated[
        int | None, typer.Option(min=1, help="Whole questions, drawn by --seed until they have so many answers.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides --sample.")] = 42,
    append_to: Annotated[
        str | None, typer.Option(help="Grow this dataset meanwhile: ./folder, user/repo[@branch] or a Hub address.")
    ] = None,
    every: Annotated[int, typer.Option(min=1, help="--append-to: append after so many new verdicts.")] = 50,
    allow: Allow = None,
    redact: Redact = None,
    policy: PolicyFile = None,
    source_dataset: Annotated[str | None, typer.Option(help=f"--append-to: {SOURCE_DATASET_HELP}")] = None,
    license_: Annotated[str | None, typer.Option("--license", help=f"--append-to: {LICENSE_HELP}")] = None,
    written_by: Annotated[str | None, typer.Option(help=f"--append-to: {WRITTEN_BY_HELP}")] = None,
    max_wait: MaxWait = None,
    mix_rubrics: Annotated[bool, typer.Option("--mix-rubrics", help="--append-to: as for `append`.")] = False,
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
    from ..workflow import judge as run

    with interruptible(f"what was scored is in {journal}; the same command again goes on there"):
        report = run(
            source,
            judge,
            journal,
            limit=limit,
            min_answers=min_answers,
            retry=retry or (),
            model=model,
            concurrency=concurrency,
            batch=batch,
            poll_seconds=poll_seconds,
            max_usd=max_usd,
            prices=prices,
            dry_run=dry_run,
            repeat=repeat,
            sample=sample,
            seed=seed,
            append_to=append_to,
            every=every,
            allow=allow or (),
            redact=redact,
            policy=policy,
            source_dataset=source_dataset,
            license_name=license_,
            written_by=written_by,
            max_wait=max_wait,
            mix_rubrics=mix_rubrics,
        )
    if json_:
        print_json(report.as_dict())
    elif dry_run:
        _print_estimates(report)
    elif reason := report.stopped_at_once:
        if report.append:
            print(report.append.summary)
        raise KokoroError(reason)
    else:
        _print(report, min_answers)
    if report.unfinished:
        raise typer.Exit(1)


def _print(found: JudgeRun, min_answers: int) -> None:
    """The run in words; the last lines say what is unscored and how to go on."""
    from ..core.suggest import with_nearest
    from ..corpora.counsel_chat import COLUMNS
    from ..workflow.joining import say_not_used

    duplicates = f" ({found.duplicates} given twice, judged once)" if found.duplicates else ""
    print(f"{found.source}: {found.questions} questions, {found.answers} answers{duplicates}")
    print(f"{found.questions_judged} questions have {min_answers} answers or more: those are judged")
    if found.ignored_columns:
        print(f"ignored columns: {with_nearest(found.ignored_columns, COLUMNS)}")
    if found.ignored_files:
        print(f"ignored files: {', '.join(found.ignored_files)}")
    if found.healed_bytes:
        print(f"journal: a torn last line ({found.healed_bytes} bytes) is removed and judged again")
    if found.verdicts_not_used:
        print(say_not_used(found.verdicts_not_used))
    for line in found.decided:
        print(f"  {line}")
    for report in found.judges:
        if report.asked < report.given:
            print(f"{report.given - report.asked} answers stand there again under another id: judged once")
        print(f"{report.judge_model}: judged {report.judged}, {report.already} were in the journal")
        print("  " + ", ".join(f"{status} {count}" for status, count in sorted(report.statuses.items())))
        if report.spent_usd is not None:
            print(f"  cost of this run so far: ${report.spent_usd:.4f}")
        for line in report.advice():
            print(f"  {line}")
    if found.append:
        print(found.append.summary)
        for line in found.append.decided:
            print(f"  {line}")
        if found.advice:
            print(found.advice)
        return
    print(f"next: hf-kokoro pair --journal {found.journal} --out rows.jsonl")


def _print_estimates(found: JudgeRun) -> None:
    for estimate in found.estimates:
        print_table(("", estimate.model), estimate.rows())
        print("nothing was judged; to run it without --dry-run, add --max-usd as a guard")
