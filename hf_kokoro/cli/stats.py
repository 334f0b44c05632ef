"""`hf-kokoro stats`: the papers' figures beside ours."""

from __future__ import annotations

from typing import Annotated

import typer

from .console import print_json, print_table


def stats(
    name: Annotated[str, typer.Argument(help="kokorochat, emplifai, annomi or miti_st_dpo.")],
    source: Annotated[str | None, typer.Option(help="Folder, archive, file or Hub dataset id.")] = None,
    allow_other_edition: Annotated[
        bool, typer.Option("--allow-other-edition", help="Go on with files that are not the pinned edition.")
    ] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Print every published figure, ours, and the difference.

    The papers counted one state of the files. KokoroChat's is pinned by count, bytes and digest; other files
    are refused unless --allow-other-edition is given.

    Example: hf-kokoro stats kokorochat --source kokorochat.tar.gz
    """
    from ..workflow import stats as run

    report = run(name, source=source, allow_other_edition=allow_other_edition)
    if json_:
        print_json(report.as_dict()["figures"])
        return
    print_table(("figure", "paper", "ours", "difference"), [figure.row() for figure in report.figures])
    compared = [figure for figure in report.figures if figure.paper is not None]
    if compared:
        differing = sum(figure.differs for figure in compared)
        print(f"{len(compared) - differing} of {len(compared)} figures equal the paper's")
