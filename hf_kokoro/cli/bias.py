"""`hf-kokoro bias`: what a judge's scores follow besides the rubric."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .console import print_json, print_table

if TYPE_CHECKING:
    from ..judging.bias import Balanced, BiasReport, Concentration
    from ..miti.pairing import CandidateSet


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
    from ..judging import read_journal
    from ..judging.bias import measure_bias
    from ..miti.no_answers import NO_ANSWERS
    from ..workflow import joining as join

    verdicts = join.one_judge(read_journal(journal), judge_model, str(journal))
    _, chat = join.source_of_journal(journal, source)
    joined = join.candidate_sets(chat.questions, verdicts, verdicts[0].judge_model)
    sets, placeholders = joined.sets, join.placeholders_of(chat)
    unscored = sum(
        v.scores is None and v.status not in NO_ANSWERS and v.answer_sha256 not in placeholders for v in verdicts
    )
    report = measure_bias(verdicts[0].judge_model, join.scored_answers(sets), unscored)
    ways = _balanced(sets, max_per_therapist, [entry.therapist for entry in report.prolific])
    figures: list[str] = []
    if plots is not None:
        from .bias_plots import draw_bias

        figures = [str(path) for path in draw_bias(report, join.scored_answers(sets), plots)]
    if json_:
        from dataclasses import asdict

        extra = {"verdicts_not_used": joined.not_used}
        print_json(report.as_dict() | extra | {"balancing": [asdict(way) for way in ways], "figures": figures})
        return
    _print(report)
    if joined.not_used:
        print(join.say_not_used(joined.not_used))
    _print_spread([report.answers_by_therapist, *(way.spread for way in ways)])
    _print_wins(ways)
    for path in figures:
        print(f"figure: {path}")


def _balanced(sets: list[CandidateSet], cap: int, prolific: list[str]) -> list[Balanced]:
    """Best-worst pairs as they are, with the cap, and with weights."""
    from ..judging.bias import PairSides, balanced
    from ..miti.pairing import make_rows, pair_key, pair_weights

    def sides(rows: list[dict[str, Any]], weighting: str) -> list[PairSides]:
        weights = pair_weights([pair_key(row) for row in rows], weighting)
        return [
            PairSides(r["chosen_therapist"], r["rejected_therapist"], w) for r, w in zip(rows, weights, strict=True)
        ]

    rows, _ = make_rows(sets, allow_partial=True)
    capped, _ = make_rows(sets, allow_partial=True, max_per_therapist=cap)
    return [
        balanced("pair sides", sides(rows, "uniform"), prolific),
        balanced(f"pair sides, --max-per-therapist {cap}", sides(capped, "uniform"), prolific),
        balanced("pair sides, weights=inverse-frequency", sides(rows, "inverse-frequency"), prolific),
    ]


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


def _print_wins(ways: list[Balanced]) -> None:
    rows = [(name[:48], *(str(way.wins[name]) for way in ways)) for name in ways[0].wins]
    rows.append(("both sides by one therapist (share of pairs)", *(str(way.own_pairs) for way in ways)))
    print_table(("wins [95 %] of", "as it is", "capped", "weighted"), rows, "\nThe prolific, balanced")
