"""`hf-kokoro annotate`: people's ratings, from a blind sample to a journal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .console import print_json

app = typer.Typer(help="People's ratings: kits for blind raters, and their ratings as a journal.", no_args_is_help=True)

_Json = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]


@app.command("export")
def export(
    source: Annotated[str, typer.Option(help="counsel-chat as for `judge`: a file, a folder or a Hub id.")],
    out: Annotated[Path, typer.Option(help="A new folder for the kit.")],
    questions: Annotated[int, typer.Option(help="So many whole questions, drawn over topics.")] = 50,
    raters: Annotated[str, typer.Option(help="How many raters, or their names with commas between.")] = "3",
    overlap: Annotated[float, typer.Option(help="Share of the questions that all raters get.")] = 1.0,
    repeats: Annotated[float, typer.Option(help="Share of each list that comes again, unmarked.")] = 0.05,
    min_answers: Annotated[int, typer.Option(help="Questions with at least so many answers.")] = 3,
    seed: Annotated[int, typer.Option(help="Seed of the draw and of every order.")] = 42,
    json_: _Json = False,
) -> None:
    """Write a kit: each rater's list as CSV, XLSX, Label Studio, Argilla and an offline page, a codebook, and the key.

    Answers stand without their writers, in an order of each rater's own. Keep key.json from the raters: it says what
    the items are, and `annotate import` needs it beside the filled lists.

    Example: hf-kokoro annotate export --source counsel_chat.csv --questions 40 --raters anna,ben,chie --out kit
    """
    from ..workflow import annotate_export

    names = int(raters) if raters.strip().isdigit() else [name.strip() for name in raters.split(",")]
    report = annotate_export(
        source,
        out,
        questions=questions,
        raters=names,
        overlap=overlap,
        repeats=repeats,
        min_answers=min_answers,
        seed=seed,
    )
    if json_:
        print_json(report.as_dict())
        return
    print(f"{report.out}: {report.answers} answers to {report.questions} questions")
    for rater, items in report.items.items():
        print(f"  {rater}: {items} items")
    print("give each rater the codebook and one form of the list; keep key.json")
    print(f"next: hf-kokoro annotate import {report.out} --journal people.jsonl")


@app.command("import")
def import_(
    files: Annotated[list[Path], typer.Argument(help="The kit's folder, or filled lists beside its key.json.")],
    journal: Annotated[Path, typer.Option(help="Journal that the ratings go to.")],
    allow_missing: Annotated[bool, typer.Option(help="Take what is there, though items are missing.")] = False,
    json_: _Json = False,
) -> None:
    """Make a journal of filled lists, one verdict a rating, by `human/<rater>`.

    Ratings that are unknown, half filled or out of range are all named, and nothing is written then. Again is safe:
    what is there already is passed over.

    Example: hf-kokoro annotate import kit --journal people.jsonl
    """
    from ..workflow import annotate_import

    report = annotate_import(files, journal, allow_missing=allow_missing)
    if json_:
        print_json(report.as_dict())
        return
    for rater, rated in report.rated.items():
        again = f", {report.repeats[rater]} of them twice" if report.repeats.get(rater) else ""
        missing = f", {report.missing[rater]} items missing" if rater in report.missing else ""
        print(f"{rater}: {rated} answers rated{again}{missing}")
    print(f"{report.journal}: {report.written} ratings written")
    print(f"next: hf-kokoro validate VERDICTS.jsonl --people {report.journal}")


@app.command("adjudicate")
def adjudicate(
    journal: Annotated[Path, typer.Argument(help="Journal of people's ratings.")],
    out: Annotated[Path, typer.Option(help="A new folder for the kit.")],
    source: Annotated[
        str | None, typer.Option(help="Where the texts are, if the journal's note doesn't lead there.")
    ] = None,
    json_: _Json = False,
) -> None:
    """Write a kit of the answers on which people differ, to be settled by one more list.

    Example: hf-kokoro annotate adjudicate people.jsonl --out settle
    """
    from ..workflow import annotate_adjudicate

    report = annotate_adjudicate(journal, out, source=source)
    if json_:
        print_json(report.as_dict())
        return
    print(f"{report.out}: {report.answers} answers on which people differ")
    print(f"next: hf-kokoro annotate import {report.out} --journal {journal}")
