"""`hf-kokoro audit`: prove that a dataset only ever grew."""

from __future__ import annotations

from typing import Annotated

import typer

from .console import print_json, print_table


def audit(
    target: Annotated[str, typer.Argument(help="./folder, user/repo[@branch] or a Hub address.")],
    path: Annotated[str, typer.Option(help="The growing file inside the target.")] = "data/pilot.jsonl",
    json_: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Prove from the history that every revision only ever grew, and that every row is valid and unique.

    Exits with 1 if it did not, and names the first violation.

    Example: hf-kokoro audit ./my-dataset
    """
    from ..workflow import audit as run_audit

    report = run_audit(target, path)
    if json_:
        print_json(report.as_dict())
    else:
        rows = [
            (
                r.revision[:12],
                r.time[:19],
                r.author,
                _shown(r.rows_added),
                _shown(r.rows),
                r.bytes,
                "NO" if not r.ok else "yes" if r.adopted is None else f"adopted {r.adopted}",
            )
            for r in report.revisions
        ]
        print_table(("revision", "date", "author", "rows added", "rows", "bytes", "only grew"), rows)
        for adoption in report.adopted:
            print(adoption)
        if not report.own_names:
            print(f"spelling: {report.spelling}")
        if report.ok:
            since = " from the adoption on" if report.adopted else ""
            print(
                f"ok: {len(rows)} revision{'s' if len(rows) != 1 else ''}, "
                f"each begins with the one before{since}; {report.rows} rows, all valid, none twice"
            )
        else:
            print(f"{report.fault_count} fault{'s' if report.fault_count != 1 else ''}:")
            for fault in report.faults:
                print(f"  {fault}")
            if report.fault_count > len(report.faults):
                print(f"  ... and {report.fault_count - len(report.faults)} more")
    if not report.ok:
        raise typer.Exit(1)


def _shown(count: int | None) -> str:
    return "?" if count is None else str(count)
