"""`hf-kokoro validate`: may this judge stand in for people?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import print_json, print_table

if TYPE_CHECKING:
    from ..judging.validity import DimensionValidity, PairValidity


def validate(
    journal: Annotated[Path, typer.Argument(help="Verdict journal of the judge.")],
    people: Annotated[
        list[Path] | None,
        typer.Option(help="Journal of people's ratings, as `annotate import` makes it; may be given again."),
    ] = None,
    judge_model: Annotated[str | None, typer.Option(help="Which judge, if the journal holds several.")] = None,
    raters: Annotated[str, typer.Option(help="Kind of the people: expert, skilled or crowd.")] = "expert",
    source: Annotated[
        str | None, typer.Option(help="Where the texts are, if the journal's note doesn't lead there.")
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Compare a judge with people: their own ceiling, agreement, bias, confusion, and whether it may stand in for them.

    The ceiling is Krippendorff's alpha among the people; alpha, kappa (quadratic) and AC1 compare the judge with their
    consensus; bias is judge minus people. Intervals come from resampling whole questions. The alternative annotator
    test leaves each person out in turn: omega is the share of people that the judge may replace, passed at 0.5.

    Example: hf-kokoro validate verdicts.jsonl --people people.jsonl --json > validity.json
    """
    from ..workflow import validate as run

    report = run(journal, people or [], judge_model=judge_model, raters=raters, source=source)
    if json_:
        print_json(report.as_dict())
        return
    found = report.found
    header = ("dimension", "n", "ceiling", "alpha", "kappa", "AC1", "bias", "omega")
    title = f"{found.judge} against {len(found.people)} people, {found.answers} answers"
    print_table(header, [_row(one) for one in found.dimensions.values()], title)
    print(_pairs("best-worst pairs", found.pairs))
    if found.matched_pairs is not None:
        print(_pairs("pairs of matched length", found.matched_pairs))


def _row(one: DimensionValidity) -> tuple[str, ...]:
    test = one.stand_in
    omega = "three people needed" if test is None else f"{test.winning_rate:.2f} {'passes' if test.passes else 'fails'}"
    return (one.dimension, str(one.n), *map(str, (one.ceiling, one.alpha, one.kappa, one.ac1, one.bias)), omega)


def _pairs(what: str, found: PairValidity) -> str:
    return f"{what}: people keep the direction of {found.keep} of {found.pairs}, {found.flip} flip, {found.tie} tie"
