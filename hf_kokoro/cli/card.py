"""`hf-kokoro card`: render a dataset card from the rows, or check that it still says what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .console import interruptible, print_json
from .gate_options import PolicyFile
from .wait_options import MaxWait


def card(
    target: Annotated[
        str, typer.Argument(help="./folder, user/repo[@branch] or Hub address that holds data/pilot.jsonl.")
    ],
    figures: Annotated[bool, typer.Option(help="Draw the figures too (needs the extra 'plots').")] = True,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 if the card does not fit the rows.")
    ] = False,
    croissant: Annotated[
        bool, typer.Option("--croissant", help="Add a validated croissant.json (needs the extra 'croissant').")
    ] = False,
    agreement: Annotated[
        Path | None, typer.Option(help="Report of `hf-kokoro agree --json` to show in the card.")
    ] = None,
    validity: Annotated[
        list[Path] | None,
        typer.Option(help="Report of `hf-kokoro validate --json` to show in the card; may be given again."),
    ] = None,
    max_wait: MaxWait = None,
    policy: PolicyFile = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Render README.md, the derived configs and the figures of a dataset from its rows.

    Text between `<!-- yours: NAME -->` and `<!-- /yours -->` and YAML keys that the package does not know
    are kept; text added anywhere else is moved into `<!-- yours: added -->` at the end. A second run without
    new rows changes nothing. In a folder that `build` made, --check lists every problem of its card.

    Example: hf-kokoro card ./my-dataset
    """
    from ..workflow import card as run
    from ..workflow.describing import BuiltCardReport

    with interruptible("the dataset has its former card or the new one, as a whole; the same command again renews it"):
        report = run(
            target,
            figures=figures,
            check=check,
            croissant=croissant,
            agreement=agreement,
            validity=validity or (),
            policy=policy,
            max_wait=max_wait,
        )
    if json_:
        print_json(report.as_dict())
    elif isinstance(report, BuiltCardReport):
        count = len(report.problems)
        print(f"{report.target}: {f'{count} problems' if count else 'the card fits its files'}")
        for problem in report.problems:
            print(f"  {problem}")
    elif not report.changed:
        print(f"{report.target}: the card fits its {report.rows} rows; nothing to write")
    else:
        verb = "does not fit" if check else "rendered from"
        print(f"{report.target}: card {verb} its {report.rows} rows")
        for path in report.changed:
            print(f"  {path}  {report.files[path]} bytes{' (differs)' if check else ''}")
        if check:
            print(f"next: hf-kokoro card {report.target}")
    if check and (report.problems if isinstance(report, BuiltCardReport) else report.changed):
        raise typer.Exit(1)
