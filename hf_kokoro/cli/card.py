"""`hf-kokoro card`: render a dataset card from the rows, or check that it still says what they say."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ..core.places import read_place
from .console import print_json, print_strays


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
    json_: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Render README.md, the derived configs and the figures of a dataset from its rows.

    Text between `<!-- yours: NAME -->` and `<!-- /yours -->` and YAML keys that the package does not know
    are kept; text added anywhere else is moved into `<!-- yours: added -->` at the end. A second run without
    new rows changes nothing. In a folder that `build` made, --check lists every problem of its card.

    Example: hf-kokoro card ./my-dataset
    """
    from ..cards import write_card

    place = read_place(target)
    if check and isinstance(place, Path) and _is_built(place):
        _check_built(place, json_)
        return
    report = write_card(target, figures=figures, check=check, croissant=croissant, agreement=agreement)
    if json_:
        print_json(asdict(report))
    elif not report.changed:
        print(f"{report.target}: the card fits its {report.rows} rows; nothing to write")
    else:
        verb = "does not fit" if check else "rendered from"
        print(f"{report.target}: card {verb} its {report.rows} rows")
        for path in report.changed:
            print(f"  {path}  {report.files[path]} bytes{' (differs)' if check else ''}")
        if check:
            print(f"next: hf-kokoro card {report.target}")
    print_strays(report.strays)
    if check and report.changed:
        raise typer.Exit(1)


def _is_built(folder: Path) -> bool:
    """A local folder with a card and without growing rows."""
    return (folder / "README.md").is_file() and not (folder / "data" / "pilot.jsonl").exists()


def _check_built(folder: Path, json_: bool) -> None:
    from ..cards.check_files import folder_problems

    problems = [str(problem) for problem in folder_problems(folder)]
    if json_:
        print_json({"target": str(folder), "problems": problems})
    else:
        print(f"{folder}: {f'{len(problems)} problems' if problems else 'the card fits its files'}")
        for problem in problems:
            print(f"  {problem}")
    if problems:
        raise typer.Exit(1)
