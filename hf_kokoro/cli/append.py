"""`hf-kokoro append`: add rows to a growing dataset."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import UsageError
from .console import INTERRUPTED, interruptible, print_error, print_findings, print_json
from .gate_options import LICENSE_HELP, SOURCE_DATASET_HELP, WRITTEN_BY_HELP, Allow, PolicyFile, Redact
from .wait_options import MaxWait

if TYPE_CHECKING:
    from ..hub import AppendReport
    from ..workflow.growing import GrowReport


def append(
    to: Annotated[str, typer.Option("--to", help="./folder, user/repo[@branch] or a Hub address.")],
    rows: Annotated[
        Path | None,
        typer.Argument(
            help="File of new rows: JSON Lines as written by `pair`, JSON, Parquet, CSV, TSV or XLSX.",
            show_default=False,
        ),
    ] = None,
    path: Annotated[str, typer.Option(help="The growing file inside the target.")] = "data/pilot.jsonl",
    skip_invalid: Annotated[
        bool,
        typer.Option("--skip-invalid", help="Leave faulty rows out (they go to --rejects) and add the others."),
    ] = False,
    whole_floats: Annotated[
        bool, typer.Option("--whole-floats", help="Take floats without a fraction (2.0) for whole numbers.")
    ] = False,
    adopt: Annotated[
        bool,
        typer.Option(
            "--adopt",
            help="Take over rows that lie in another layout (`push_to_hub`) or in several spellings, with proof.",
        ),
    ] = False,
    mix_rubrics: Annotated[
        bool, typer.Option("--mix-rubrics", help="Take in rows that another rubric or judge scored than those there.")
    ] = False,
    rejects: Annotated[Path, typer.Option(help="Where --skip-invalid puts the faulty rows.")] = Path("rejects.jsonl"),
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be added and change nothing.")] = False,
    segment_bytes: Annotated[
        int | None, typer.Option(min=1, help="Seal the file at this size and go on in pilot-00001.jsonl, ...")
    ] = None,
    message: Annotated[str | None, typer.Option(help="Message of the commit.")] = None,
    branch: Annotated[str | None, typer.Option(help="Branch of the Hub repo; made if it is not there.")] = None,
    pr: Annotated[bool, typer.Option("--pr", help="Open a pull request instead of committing.")] = False,
    public: Annotated[bool, typer.Option("--public", help="A repo that is made now is public, not private.")] = False,
    allow: Allow = None,
    redact: Redact = None,
    policy: PolicyFile = None,
    spool: Annotated[
        Path | None,
        typer.Option(help="Folder to keep rows in that the Hub could not take now, for `spool send` (default: none)."),
    ] = None,
    max_wait: MaxWait = None,
    card: Annotated[
        bool | None,
        typer.Option("--card/--no-card", help="Renew the card in the same commit (default: if `card` wrote it)."),
    ] = None,
    watch: Annotated[
        Path | None, typer.Option(help="Instead of rows: follow this verdict journal while `judge` writes it.")
    ] = None,
    every: Annotated[int, typer.Option(min=1, help="--watch: append after so many new verdicts.")] = 50,
    poll_seconds: Annotated[float, typer.Option(min=0, help="--watch: time between looks.")] = 5.0,
    once: Annotated[bool, typer.Option("--once", help="--watch: append what is complete now, and end.")] = False,
    source: Annotated[str | None, typer.Option(help="--watch: where the texts are, as for `pair`.")] = None,
    judge_model: Annotated[
        str | None, typer.Option(help="--watch: whose verdicts, if the journal holds several judges'.")
    ] = None,
    min_answers: Annotated[int, typer.Option(min=2, help="--watch: least number of answers to a question.")] = 3,
    source_dataset: Annotated[str | None, typer.Option(help=f"--watch: {SOURCE_DATASET_HELP}")] = None,
    license_: Annotated[str | None, typer.Option("--license", help=f"--watch: {LICENSE_HELP}")] = None,
    written_by: Annotated[str | None, typer.Option(help=WRITTEN_BY_HELP)] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Add rows to a dataset that only ever grows: each row once, old bytes untouched, or no change at all.

    Every row is checked first, and one faulty row refuses the batch. Rows that are there already are passed
    over, so running the same command again writes nothing.

    On the Hub a branch that others write to as well is no problem, and every wait says what for. When an append fails,
    or Ctrl-C ends it, it says which rows are not there; the same command again sends them. Texts that may point to
    people stop it before anything is sent: --allow KIND, --redact, or decisions in a --policy file. For a folder they
    are only noted.

    A place that holds its rows as `push_to_hub` writes them is refused, or with --adopt taken over: in one commit
    all of its rows and the new ones are in data/pilot.jsonl, the card names it, and the former files are gone; that
    `datasets.load_dataset` gives exactly those rows is proven before (--dry-run shows the proof). ROWS may be left out.

    With --watch rows are made from a journal instead, best against worst as `pair` makes them, while another
    process judges: after every so many verdicts, after a minute (12 looks) without one, and on Ctrl-C, which ends it.

    Example: hf-kokoro append rows.jsonl --to user/my-pairs --segment-bytes 8000000
    """
    from ..workflow import append_rows, grow

    options: dict[str, Any] = {
        "card": card,
        "segment_bytes": segment_bytes,
        "mix_rubrics": mix_rubrics,
        "message": message,
        "branch": branch,
        "private": not public,
        "spool": spool,
        "max_wait": max_wait,
        "allow": tuple(allow or ()),
        "redact": redact,
        "policy": policy,
    }
    if watch is not None:
        if rows is not None or skip_invalid or dry_run or pr or adopt or whole_floats:
            raise UsageError(
                "--watch makes its own rows: leave out ROWS, --skip-invalid, --whole-floats, --adopt, --dry-run, --pr"
            )
        with interruptible("the verdicts are in the journal: the same command again appends what is missing"):
            grown = grow(
                watch,
                to,
                path,
                source=source,
                once=once,
                every=every,
                poll_seconds=poll_seconds,
                judge_model=judge_model,
                min_answers=min_answers,
                source_dataset=source_dataset,
                license_name=license_,
                written_by=written_by,
                appended=_pass_over if json_ else _print_now,
                **options,
            )
        _end_watch(grown, json_)
        return
    if (
        (rows is None and not adopt)
        or once
        or source
        or judge_model
        or source_dataset is not None
        or license_ is not None
    ):
        raise UsageError(
            "append: give a file of rows, or --watch JOURNAL (which --once, --source, --judge-model, "
            "--source-dataset and --license are for)"
        )
    again = "the same command again sends what is missing and passes over what is there"
    with interruptible("a dry run changes nothing" if dry_run else again):
        report = append_rows(
            to,
            [] if rows is None else rows,
            path,
            skip_invalid=skip_invalid,
            whole_floats=whole_floats,
            adopt=adopt,
            rejects=rejects,
            dry_run=dry_run,
            pr=pr,
            written_by=written_by,
            **options,
        )
    if json_:
        print_json(report.as_dict())
    else:
        print_report(report)
    print_findings(report.findings, report.allowed)


def _end_watch(grown: GrowReport, as_json: bool) -> None:
    """The last words of a watch; each append has had its own."""
    if as_json:
        print_json(grown.as_dict())
    elif grown.target is None and grown.failure is None and not grown.interrupted:
        print(grown.summary)
    if grown.interrupted:
        go_on = "; the same command goes on from the journal" if grown.failure is None else ""
        print_error(f"interrupted; {grown.summary}{go_on}")
        raise typer.Exit(INTERRUPTED)
    if grown.failure is not None:
        print_error(grown.summary)
        raise typer.Exit(1)


def _print_now(report: AppendReport) -> None:
    print_report(report)
    sys.stdout.flush()


def _pass_over(report: AppendReport) -> None:
    """--json: one document at the end."""


def print_report(report: AppendReport) -> None:
    """What happened, in the words of the target's owner."""
    if report.rejected:
        kept = f"; they are in {report.rejects_file}" if report.rejects_file else ""
        print(f"left out {_rows(report.rejected, 'faulty row')}{kept}")
    already = f"; {report.duplicates} were there already or came twice" if report.duplicates else ""
    if report.adopted:
        verb = "would adopt" if report.dry_run else "proposed to adopt" if report.pr_url else "adopted"
        print(f"{verb} {_rows(report.adopted['before'], 'row')} of {report.target} into {report.adopted['path']}")
        for line in report.preview or report.proof:
            print(f"  {line}")
    if report.added:
        verb = "would add" if report.dry_run else "proposed" if report.pr_url else "added"
        print(f"{verb} {_rows(report.added, 'row')} to {report.target}{already}")
        grown = report.preview or [f"{name}  +{size} bytes" for name, size in report.files.items()]
        for line in () if report.adopted else grown:
            print(f"  {line}")
    elif not report.adopted:
        print(f"nothing {'to write' if report.dry_run else 'written'}: no new rows for {report.target}{already}")
    if report.missing:
        made = "would be made" if report.dry_run and report.added else "not there, and not made"
        print(f"  {report.missing}: {made}")
    if report.redacted:
        print(f"  {report.redacted} findings replaced")
    for line in report.decided:
        print(f"  {line}")
    if report.pr_url:
        print(f"pull request: {report.pr_url}")
    revision = f", revision {report.revision[:12]}" if report.revision else ""
    would = "would have" if report.dry_run or report.pr_url else "has"
    print(f"{report.target} {would} {_rows(report.rows_total, 'row')}{revision}")


def _rows(count: int, name: str) -> str:
    return f"{count} {name}{'s' if count != 1 else ''}"
