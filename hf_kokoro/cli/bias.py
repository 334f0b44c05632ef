"""`hf-kokoro bias`: what a judge's scores follow besides the rubric."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import print_json, print_table

if TYPE_CHECKING:
    from ..judging.bias import Balanced, BiasReport, Concentration


def bias(
    journal: Annotated[Path, typer.Argument(help="Verdict journal of one judge.")],
    source: Annotated[str | None, typer.Option(help="Where the texts are, if not where `judge` found them.")] = None,
    judge_model: Annotated[
        str | None, typer.Option(help="Whose verdicts, if the journal holds several judges'.")
    ] = None,
    max_per_therapist: Annotated[int, typer.Option(min=1, help="The cap that is tried out.")] = 10,
    plots: Annotated[Path | None, typer.Option(help="Folder for figures (needs the plots extra).")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Measure surface bias, what each dimension decides, and how far a few therapists dominate.

    Correlations are Spearman's with 95 % intervals from resampling whole questions; shares have Wilson's. The
    last table shows what a cap per therapist or inverse-frequency weights would change.

    Example: hf-kokoro bias verdicts.jsonl --max-per-therapist 10
    """
    from ..workflow import bias as run
    from ..workflow.joining import say_not_used

    found = run(journal, source=source, judge_model=judge_model, max_per_therapist=max_per_therapist, plots=plots)
    if json_:
        print_json(found.as_dict())
        return
    _print(found.measured)
    if found.verdicts_not_used:
        print(say_not_used(found.verdicts_not_used))
    _print_spread([found.measured.answers_by_therapist, *(way.spread for way in found.balancing)])
    _print_wins(found.balancing)
    for path in found.figures:
        print(f"figure: {path}")


def _print(report: BiasReport) -> None:
    print(f"{report.judge}: {report.answers} answers scored, {report.unscored} unscored, {report.pairs} pairs")
    surface = report.surface
    given = surface.hedging_given_length
    print_table(
        ("surface", "value [95 %]"),
        [
            ("total with length in words (rho)", surface.length),
            ("total with hedging words (rho)", surface.hedging),
            ("  the same with length held fixed", "-" if given is None else f"{given:.2f}"),
            ("chosen answer is the longer one (share)", surface.chosen_longer),
        ],
        "\nDoes the score follow the surface?",
    )
    print_table(
        ("dimension", "mean", "levels", "decides", "changed", "gone"),
        [
            (
                effect.dimension,
                f"{effect.mean:.2f}",
                " ".join(f"{level}:{count}" for level, count in effect.levels.items()),
                effect.decides,
                effect.changed,
                effect.gone,
            )
            for effect in report.dimensions
        ],
        f"\nWhat does each dimension decide? ({report.pairs} pairs; changed and gone if it is left out)",
    )
    lost = report.no_persuade_lost
    print(f"share of answers losing the point of no_persuade, for advice or information pressed: {lost}")
    print_table(
        ("therapist", "answers", "pair sides", "wins [95 %]"),
        [(entry.therapist[:48], entry.answers, entry.sides, entry.wins) for entry in report.prolific],
        "\nDo a few therapists dominate?",
    )
    print(f"share of pairs with both sides by one therapist: {report.own_pairs}")
    print_table(("total", "answers"), list(report.totals.items()), "\nTotals")
    print_table(
        ("topic", "answers", "mean total", "deviation"),
        [(t.topic or "(none)", t.answers, f"{t.mean:.2f}", f"{t.deviation:.2f}") for t in report.topics],
        "\nTotals by topic",
    )


def _print_spread(entries: list[Concentration]) -> None:
    def shown(value: float | None, form: str) -> str:
        return "-" if value is None else format(value, form)

    print_table(
        ("spread over therapists", "therapists", "amount", "Gini", "effective", "largest share"),
        [
            (
                entry.what,
                entry.therapists,
                f"{entry.amount:.0f}",
                shown(entry.gini, ".2f"),
                shown(entry.effective, ".1f"),
                shown(entry.top, ".1%"),
            )
            for entry in entries
        ],
        "\nWhat does balancing buy?",
    )


def _print_wins(ways: Sequence[Balanced]) -> None:
    rows = [(name[:48], *(str(way.wins[name]) for way in ways)) for name in ways[0].wins]
    rows.append(("both sides by one therapist (share of pairs)", *(str(way.own_pairs) for way in ways)))
    print_table(("wins [95 %] of", "as it is", "capped", "weighted"), rows, "\nThe prolific, balanced")
