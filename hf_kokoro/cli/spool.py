"""`hf-kokoro spool`: rows that an append could not send yet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import print_json, print_table

if TYPE_CHECKING:
    from ..hub.spool import Spool

app = typer.Typer(help="Rows that an append could not send yet: look at them, or drop them.", no_args_is_help=True)

_Folder = Annotated[Path | None, typer.Option("--spool", help="The spool's folder (default: in the cache).")]


@app.command("list")
def list_entries(
    folder: _Folder = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the entries as JSON.")] = False,
) -> None:
    """List what is waiting: the next append to the same target sends it first.

    Example: hf-kokoro spool list
    """
    spool = _spool(folder)
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
def drop(
    ids: Annotated[list[str] | None, typer.Argument(help="Entries to drop, as `spool list` names them.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Drop everything that is not being sent now.")] = False,
    folder: _Folder = None,
) -> None:
    """Forget rows that are waiting. They are not in the target, and will not be sent.

    Example: hf-kokoro spool drop 20260101T120000-1a2b3c4d
    """
    from ..errors import UsageError

    spool = _spool(folder)
    entries = {entry.id: entry for entry in spool.entries()}
    unknown = sorted(set(ids or []) - set(entries))
    if unknown or not (ids or all_):
        named = f"no entry {', '.join(unknown)}" if unknown else "nothing to drop was named"
        raise UsageError(f"{named} in {spool.folder}; `hf-kokoro spool list` shows the entries")
    chosen = [entry for entry in entries.values() if all_ or entry.id in (ids or [])]
    dropped = [entry for entry in chosen if spool.drop_unheld(entry)]
    print(f"dropped {len(dropped)} of {len(chosen)}, {sum(entry.rows for entry in dropped)} rows")
    if len(dropped) < len(chosen):
        print("the others are being sent by a running append")


def _spool(folder: Path | None) -> Spool:
    from ..hub.spool import Spool, default_spool

    return Spool(folder) if folder is not None else default_spool()
