"""`hf-kokoro spool`: rows that an append with --spool could not send."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import interruptible, print_error, print_findings, print_json, print_table
from .gate_options import Allow, PolicyFile, Redact
from .wait_options import MaxWait

if TYPE_CHECKING:
    from ..hub import AppendReport

app = typer.Typer(
    help="Rows that an append with --spool could not send: look at them, send them, or drop them. "
    "(Older versions filled the folder `spool` in their cache; give that folder.)",
    no_args_is_help=True,
)

_Folder = Annotated[Path, typer.Argument(help="The spool's folder.")]


@app.command("list")
def list_entries(
    folder: _Folder,
    json_: Annotated[bool, typer.Option("--json", help="Print the entries as JSON.")] = False,
) -> None:
    """List what is waiting; nothing sends it but `spool send`.

    Example: hf-kokoro spool list ./waiting
    """
    from ..hub.spool import Spool

    spool = Spool(folder)
    entries = spool.entries()
    if json_:
        print_json(
            [
                {
                    "id": entry.id,
                    "target": entry.target,
                    "path": entry.path,
                    "rows": entry.rows,
                    "bytes": entry.bytes,
                    "created_at": entry.created_at,
                    "being_sent": entry.held,
                }
                for entry in entries
            ]
        )
    elif entries:
        rows = [
            (e.id, e.target, e.path, e.rows, e.bytes, e.created_at[:19], "being sent" if e.held else "waiting")
            for e in entries
        ]
        print_table(("id", "target", "path", "rows", "bytes", "since", "state"), rows)
    else:
        print(f"nothing is waiting in {spool.folder}")


@app.command()
def send(
    folders: Annotated[list[Path], typer.Argument(help="Folders of spools.")],
    ids: Annotated[list[str] | None, typer.Option("--entry", help="Only this entry of one folder; repeatable.")] = None,
    allow: Allow = None,
    redact: Redact = None,
    policy: PolicyFile = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be added and change nothing.")] = False,
    segment_bytes: Annotated[int | None, typer.Option(min=1, help="As for `append`.")] = None,
    mix_rubrics: Annotated[bool, typer.Option("--mix-rubrics", help="As for `append`.")] = False,
    card: Annotated[
        bool | None,
        typer.Option("--card/--no-card", help="Renew the card in the same commit (default: if `card` wrote it)."),
    ] = None,
    max_wait: MaxWait = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the reports as JSON.")] = False,
) -> None:
    """Append what is waiting to where it was to go, and drop what arrived; texts are checked as by `append`.

    Rows that arrived meanwhile are passed over. A repo that must be made is made private.

    Example: hf-kokoro spool send ./waiting --dry-run
    """
    from ..errors import UsageError
    from ..workflow import SendReport, send_spooled
    from .append import print_report

    if ids and len(folders) > 1:
        raise UsageError(f"--entry: got {len(folders)} folders; give the one that holds it")

    def print_now(report: AppendReport) -> None:
        if not json_:
            print_report(report)
        print_findings(report.findings, report.allowed)

    sent: list[SendReport] = []
    where = ", ".join(map(str, folders))
    with interruptible(f"what was not sent is kept in {where}; the same command again sends it"):
        for folder in folders:
            report = send_spooled(
                folder,
                ids=ids or (),
                allow=tuple(allow or ()),
                redact=redact,
                policy=policy,
                dry_run=dry_run,
                segment_bytes=segment_bytes,
                mix_rubrics=mix_rubrics,
                card=card,
                max_wait=max_wait,
                done=print_now,
            )
            sent.append(report)
            if report.failure is not None:
                print_error(f"{folder}: {report.failure}")
            elif not report.sent and not json_:
                print(f"nothing is waiting in {folder}")
    if json_:
        print_json([one.as_dict() for report in sent for one in report.sent])
    if any(report.failure is not None for report in sent):
        raise typer.Exit(1)


@app.command()
def drop(
    folder: _Folder,
    ids: Annotated[list[str] | None, typer.Argument(help="Entries to drop, as `spool list` names them.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Drop everything that is not being sent now.")] = False,
) -> None:
    """Forget rows that are waiting. They are not in the target, and will not be sent.

    Example: hf-kokoro spool drop ./waiting 20260101T120000-1a2b3c4d
    """
    from ..errors import UsageError
    from ..hub.spool import Spool

    spool = Spool(folder)
    if not (ids or all_):
        raise UsageError(f"nothing to drop was named; `hf-kokoro spool list {folder}` shows the entries")
    chosen = spool.entries() if all_ else spool.chosen(ids or [])
    dropped = [entry for entry in chosen if spool.drop_unheld(entry)]
    print(f"dropped {len(dropped)} of {len(chosen)}, {sum(entry.rows for entry in dropped)} rows")
    if len(dropped) < len(chosen):
        print("the others are being sent by another process")
