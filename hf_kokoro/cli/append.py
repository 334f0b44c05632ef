"""`hf-kokoro append`: add rows to a growing dataset."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import print_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..hub import AppendReport, ExtraFiles, Growth

_CARD_MARK = b"<!-- yours:"
"""What every card of `hf-kokoro card` has, and hardly any other: places for the owner's own text."""


def append(
    rows: Annotated[Path, typer.Argument(help="JSON Lines file of new rows, as written by `pair`.")],
    to: Annotated[str, typer.Option("--to", help="./folder, user/repo or hf://datasets/user/repo@branch.")],
    path: Annotated[str, typer.Option(help="The growing file inside the target.")] = "data/pilot.jsonl",
    skip_invalid: Annotated[
        bool,
        typer.Option("--skip-invalid", help="Leave faulty rows out (they go to --rejects) and add the others."),
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
    spool: Annotated[
        Path | None, typer.Option(help="Where rows are kept until the Hub has them (default: in the cache).")
    ] = None,
    card: Annotated[
        bool | None,
        typer.Option("--card/--no-card", help="Renew the card in the same commit (default: if `card` wrote it)."),
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Add rows to a dataset that only ever grows: each row once, old bytes untouched, or no change at all.

    Every row is checked first, and one faulty row refuses the batch. Rows that are there already are passed
    over, so running the same command again writes nothing.

    On the Hub a branch that others write to as well is no problem, and rows that can't be sent now are kept and
    sent first by the next append (see `hf-kokoro spool`).

    Example: hf-kokoro append rows.jsonl --to user/my-pairs --segment-bytes 8000000
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
        branch=branch,
        pr=pr,
        private=not public,
        spool=spool,
        extra_operations=_card_hook(to, path, card),
    )
    if json_:
        print_json(asdict(report))
    else:
        _print(report)


def _card_hook(to: str, path: str, wanted: bool | None) -> ExtraFiles | None:
    """Renews card, derived configs and figures together with the rows, so that they never say old numbers."""
    from importlib.util import find_spec

    from ..cards import card_files
    from ..hub import resolve_target
    from ..schema.miti_st import DATA_PATH

    if wanted is False or (wanted is None and path != DATA_PATH):
        return None
    repo = getattr(resolve_target(to), "repo_id", None)

    def files(growth: Growth) -> Mapping[str, bytes]:
        card = growth.small.get("README.md", b"")
        if wanted is None and _CARD_MARK not in card:
            return {}
        figures = find_spec("matplotlib") is not None and (wanted is True or b"assets/" in card)
        return card_files(growth, repo=repo, figures=figures) if repo else card_files(growth, figures=figures)

    return files


def _print(report: AppendReport) -> None:
    """What happened, in the words of the target's owner."""
    if report.rejected:
        kept = f"; they are in {report.rejects_file}" if report.rejects_file else ""
        print(f"left out {_rows(report.rejected, 'faulty row')}{kept}")
    already = f"; {report.duplicates} were there already or came twice" if report.duplicates else ""
    if report.added:
        former = f" (with {_rows(report.from_spool, 'row')} from the spool)" if report.from_spool else ""
        verb = "would add" if report.dry_run else "proposed" if report.pr_url else "added"
        print(f"{verb} {_rows(report.added, 'row')} to {report.target}{former}{already}")
        for line in report.preview or [f"{name}  +{size} bytes" for name, size in report.files.items()]:
            print(f"  {line}")
    else:
        print(f"nothing {'to write' if report.dry_run else 'written'}: no new rows for {report.target}{already}")
    if report.pr_url:
        print(f"pull request: {report.pr_url}")
    revision = f", revision {report.revision[:12]}" if report.revision else ""
    would = "would have" if report.dry_run or report.pr_url else "has"
    print(f"{report.target} {would} {_rows(report.rows_total, 'row')}{revision}")


def _rows(count: int, name: str) -> str:
    return f"{count} {name}{'s' if count != 1 else ''}"
