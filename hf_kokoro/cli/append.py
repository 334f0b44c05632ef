"""`hf-kokoro append`: add rows to a growing dataset."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from .console import print_json


def append(
    rows: Annotated[Path, typer.Argument(help="JSON Lines file of new rows, as written by `pair`.")],
    to: Annotated[str, typer.Option("--to", help="./folder, user/repo or hf://datasets/user/repo@branch.")],
    path: Annotated[str, typer.Option(help="The growing file inside the target.")] = "data/pilot.jsonl",
    skip_invalid: Annotated[
        bool,
        typer.Option(
            "--skip-invalid", help="Leave faulty rows out (they go to --rejects) and add the others."
        ),
    ] = False,
    rejects: Annotated[Path, typer.Option(help="Where --skip-invalid puts the faulty rows.")] = Path(
        "rejects.jsonl"
    ),
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be added and change nothing.")
    ] = False,
    segment_bytes: Annotated[
        int | None, typer.Option(min=1, help="Seal the file at this size and go on in pilot-00001.jsonl, ...")
    ] = None,
    message: Annotated[str | None, typer.Option(help="Message of the commit.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Add rows to a dataset that only ever grows: each row once, old bytes untouched, or no change at all.

    Every row is checked first, and one faulty row refuses the batch. Rows that are there already are passed
    over, so running the same command again writes nothing.

    Example: hf-kokoro append rows.jsonl --to ./my-dataset
    """
    from ..hub import append_rows

    report = append_rows(
        to,
        rows,
        path,
        skip_invalid=skip_invalid,
        rejects=rejects,
        dry_run=dry_run,
        segment_bytes=segment_bytes,
        message=message,
    )
    if json_:
        print_json(asdict(report))
        return
    if report.rejected:
        kept = f"; they are in {report.rejects_file}" if report.rejects_file else ""
        print(f"left out {report.rejected} faulty row{'s' if report.rejected != 1 else ''}{kept}")
    verb = "would add" if dry_run else "added"
    already = f"; {report.duplicates} were there already or came twice" if report.duplicates else ""
    if not report.added:
        print(f"nothing {'to write' if dry_run else 'written'}: no new rows for {report.target}{already}")
    else:
        print(f"{verb} {report.added} row{'s' if report.added != 1 else ''} to {report.target}{already}")
        for name, size in report.files.items():
            print(f"  {name}  +{size} bytes")
    revision = f", revision {report.revision[:12]}" if report.revision else ""
    print(f"{report.target} {'would have' if dry_run else 'has'} {report.rows_total} rows{revision}")
