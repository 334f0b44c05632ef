"""`hf-kokoro stats`: the papers' figures beside ours."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .console import print_json, print_table

if TYPE_CHECKING:
    from ..cards.paper_tables import Figure


def stats(
    name: Annotated[str, typer.Argument(help="kokorochat, emplifai or miti_st_dpo.")],
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
    from ..corpora import BUILDERS
    from ..errors import UsageError

    if name not in BUILDERS:
        raise UsageError(f"dataset: got {name!r}; allowed: {', '.join(BUILDERS)}")
    if name == "kokorochat":
        _check_edition(source, allow_other_edition)
    figures = _figures(name, source)
    if json_:
        print_json([_plain(figure) for figure in figures])
        return
    print_table(("figure", "paper", "ours", "difference"), [figure.row() for figure in figures])
    compared = [figure for figure in figures if figure.paper is not None]
    if compared:
        differing = sum(figure.differs for figure in compared)
        print(f"{len(compared) - differing} of {len(compared)} figures equal the paper's")


def _figures(name: str, source: str | None) -> list[Figure]:
    from ..cards import paper_tables
    from ..corpora import load_dataset

    if name == "miti_st_dpo":
        return paper_tables.miti_st_figures(load_dataset(name, "rows", source=source, split="train"))
    dialogues = load_dataset(name, "dialogues", source=source, split="train")
    if name == "emplifai":
        return paper_tables.emplifai_figures(dialogues)
    return paper_tables.kokorochat_figures(dialogues.with_format("arrow").iter(1000))


def _check_edition(source: str | None, allowed: bool) -> None:
    from ..corpora.editions import KOKOROCHAT, edition_of
    from ..corpora.kokorochat.reader import is_dialogue_file
    from ..corpora.load import get_builder
    from ..errors import EditionError

    builder = get_builder("kokorochat", "dialogues", source=source)
    # another kind of source is no other edition
    builder.require_rows()
    files = builder.files
    found = edition_of(files.members(lambda name: is_dialogue_file(name, "ja") is True))
    if found != KOKOROCHAT and not allowed:
        raise EditionError(
            f"{files.path.name}: not the edition that the paper counted: {found.files:,} files of {found.bytes:,} "
            f"bytes, expected {KOKOROCHAT.files:,} of {KOKOROCHAT.bytes:,}; --allow-other-edition compares anyway"
        )


def _plain(figure: Figure) -> dict[str, Any]:
    ours = None if math.isnan(figure.ours) else float(figure.ours)
    return {"figure": figure.name, "paper": figure.paper, "ours": ours, "differs": figure.differs}
