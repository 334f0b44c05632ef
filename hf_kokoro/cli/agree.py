"""`hf-kokoro agree`: how far judges agree, or one judge with itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import print_json, print_table

if TYPE_CHECKING:
    from ..judging.agreement import Agreement


def agree(
    journals: Annotated[
        list[Path], typer.Argument(help="Verdict journals; one is enough if it holds two judges or a retest.")
    ],
    json_: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Compare judges on the answers that both scored: per dimension, and on the pairs they would make.

    Exact and within 1 are shares of answers; the difference is the second judge's mean minus the first's; kappa has
    quadratic weights; AC1 is Gwet's; alpha is Krippendorff's for ordinal data; rho is Spearman's. 95 % intervals come
    from resampling whole questions (those of the shares, Pearson's r and the confusion are in --json). A dash: not
    defined, since a side is constant.

    Example: hf-kokoro agree verdicts-rule.jsonl verdicts-claude.jsonl
    """
    from ..workflow import agree as run
    from ..workflow.joining import say_not_used

    report = run(journals)
    if json_:
        print_json(report.as_dict())
        return
    for judge in report.judges:
        print(f"{judge.name}: {len(judge.scores)} answers scored, {judge.unscored} unscored")
        if judge.not_used:
            print(f"  {say_not_used(judge.not_used)}")
    for agreement in report.agreements:
        print()
        _print(agreement)
    if len(report.judges) > 2:
        print()
        rows = [(name, _number(value)) for name, value in report.joint_alpha.items()]
        print_table(("dimension", "alpha"), rows, f"all {len(report.judges)} together")


def _print(agreement: Agreement) -> None:
    rows = [
        (
            found.dimension,
            *(f"{share.value:.1%}" for share in (found.exact, found.within_1)),
            *map(str, (found.difference, found.kappa, found.ac1, found.alpha, found.spearman)),
        )
        for found in agreement.dimensions
    ]
    header = ("dimension", "exact", "within 1", "difference", "kappa", "AC1", "alpha", "rho")
    print_table(header, rows, f"{agreement.first} against {agreement.second}, {agreement.answers} answers")
    pairs = agreement.pairs
    print(
        f"of {pairs.pairs} best-worst pairs of the first judge, {pairs.keep} keep their direction with the second "
        f"({pairs.same} are the same two answers), {pairs.flip} flip, {pairs.lose} are lost to a tie"
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
