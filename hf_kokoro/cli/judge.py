"""`hf-kokoro judge`: score answers on the MITI-ST rubric into a journal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import UsageError
from .console import print_json

if TYPE_CHECKING:
    from ..judging import Item, Journal, JudgeReport


def judge(
    source: Annotated[str, typer.Option(help="counsel-chat: a file, folder, archive or Hub dataset id.")],
    judge: Annotated[
        list[str], typer.Option(help="rule, rule:strict, scripted:FILE, or an installed judge; repeatable.")
    ],
    journal: Annotated[Path, typer.Option(help="Verdict journal (JSON Lines), made or gone on with.")],
    limit: Annotated[int | None, typer.Option(min=1, help="Judge at most so many answers now.")] = None,
    min_answers: Annotated[int, typer.Option(min=1, help="Only questions with so many answers.")] = 3,
    retry: Annotated[
        list[str] | None,
        typer.Option(help="Judge answers of this status again: incomplete, invalid, refused."),
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Score every answer of every question with enough answers, each alone, and journal each verdict at once.

    Answers that the journal has a verdict on (same texts, rubric and judge) are passed over, so the same
    command goes on where an interrupted one stopped.

    Example: hf-kokoro judge --source counsel_chat.csv --judge rule --journal verdicts.jsonl
    """
    from ..judging import Journal, resolve_judge
    from . import verdict_join as join

    _check_retry(retry or [])
    judges = [resolve_judge(spec) for spec in judge]
    chat = join.load_source(source)
    questions = join.judged_questions(chat, min_answers)
    items = join.items_of(questions)
    with Journal(journal) as book:
        join.write_origin(journal, source, chat)
        reports = [_run(one, items, book, limit, retry or []) for one in judges]
        healed = book.healed_bytes
    found: dict[str, Any] = {
        "source": source,
        "questions": len(chat.questions),
        "questions_judged": len(questions),
        "answers": chat.answers,
        "duplicates": chat.duplicates,
        "ignored_columns": list(chat.ignored_columns),
        "ignored_files": list(chat.ignored_files),
        "journal": str(journal),
        "healed_bytes": healed,
    }
    if json_:
        print_json(found | {"judges": [report.as_dict() for report in reports]})
    else:
        _print(found, min_answers, reports)
    # refusals are final and --limit leaves the rest on purpose; anything else unscored is unfinished work
    unfinished = [r.statuses["incomplete"] + r.statuses["invalid"] + (0 if limit else r.missing) for r in reports]
    if any(unfinished):
        raise typer.Exit(1)


def _check_retry(retry: list[str]) -> None:
    allowed = ("incomplete", "invalid", "refused")
    for status in retry:
        if status not in allowed:
            raise UsageError(f"--retry {status}: allowed: {', '.join(allowed)}")


def _run(judge: Any, items: list[Item], journal: Journal, limit: int | None, retry: list[str]) -> JudgeReport:
    from ..judging import score_items
    from .progress import progress_bar

    with progress_bar(judge.judge_model) as progress:
        return score_items(items, judge, journal, limit=limit, retry=retry, progress=progress)


def _print(found: dict[str, Any], min_answers: int, reports: list[JudgeReport]) -> None:
    duplicates = f" ({found['duplicates']} given twice, judged once)" if found["duplicates"] else ""
    print(f"{found['source']}: {found['questions']} questions, {found['answers']} answers{duplicates}")
    print(f"{found['questions_judged']} questions have {min_answers} answers or more: those are judged")
    for name in ("ignored_columns", "ignored_files"):
        if found[name]:
            print(f"{name.replace('_', ' ')}: {', '.join(found[name])}")
    if found["healed_bytes"]:
        print(f"journal: a torn last line of {found['healed_bytes']} bytes was removed; its answer is judged again")
    for report in reports:
        if report.asked < report.given:
            print(f"{report.given - report.asked} answers stand there again under another id: judged once")
        print(f"{report.judge_model}: judged {report.judged}, {report.already} were in the journal")
        print("  " + ", ".join(f"{status} {count}" for status, count in sorted(report.statuses.items())))
        for line in report.advice():
            print(f"  {line}")
    print(f"next: hf-kokoro pair --journal {found['journal']} --out rows.jsonl")
