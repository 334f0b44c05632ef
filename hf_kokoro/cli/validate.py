"""`hf-kokoro validate`: may this judge stand in for people?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import UsageError
from .console import interruptible, print_json, print_table

if TYPE_CHECKING:
    from ..judging.alternative import AlternativeTest
    from ..judging.experts import CodeValidity
    from ..judging.validity import DimensionValidity, PairValidity
    from ..workflow import ExpertReport, ValidityReport


def validate(
    journal: Annotated[
        Path | None, typer.Argument(help="Verdict journal of the judge; with --experts it may be left out.")
    ] = None,
    people: Annotated[
        list[Path] | None,
        typer.Option(help="Journal of people's ratings, as `annotate import` makes it; may be given again."),
    ] = None,
    experts: Annotated[
        Path | None, typer.Option(help="Your copy of AnnoMI-full.csv: compare with its experts' codes.")
    ] = None,
    judge: Annotated[
        str | None, typer.Option(help="--experts: who scores what the journal lacks, as of `judge` (no journal: rule).")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="--judge: score at most so many utterances in this run.")
    ] = None,
    max_usd: Annotated[float | None, typer.Option(help="--judge claude: stop before more is spent.")] = None,
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

    With --experts the judge scores what therapists said in AnnoMI's sessions; reflection_present and no_persuade are
    compared with the experts' codes, and the mean total of a session with its quality. Nothing of the file is kept but
    digests.

    Example: hf-kokoro validate verdicts.jsonl --people people.jsonl --json > validity.json

    Example: hf-kokoro validate --experts AnnoMI-full.csv --judge rule
    """
    if experts is None:
        _refuse(journal is None, "validate needs a JOURNAL and --people, or --experts FILE")
        _refuse(
            any(value is not None for value in (judge, limit, max_usd)),
            "--judge, --limit and --max-usd are for --experts; `hf-kokoro judge` scores a source",
        )
        assert journal is not None
        _against_people(journal, people or [], judge_model, raters, source, json_)
    else:
        _refuse(bool(people or source), "--people and --source are not for --experts; compare with one of them a run")
        _refuse(raters != "expert", "--raters is not for --experts: they are experts")
        _against_experts(experts, journal, judge, judge_model, limit, max_usd, json_)


def _refuse(wrong: bool, why: str) -> None:
    if wrong:
        raise UsageError(why)


def _against_people(
    journal: Path, people: list[Path], judge_model: str | None, raters: str, source: str | None, as_json: bool
) -> None:
    from ..workflow import validate as run

    report = run(journal, people, judge_model=judge_model, raters=raters, source=source)
    if as_json:
        print_json(report.as_dict())
        return
    _print_people(report)


def _print_people(report: ValidityReport) -> None:
    found = report.found
    header = ("dimension", "n", "ceiling", "alpha", "kappa", "AC1", "bias", "omega")
    title = f"{found.judge} against {len(found.people)} people, {found.answers} answers"
    print_table(header, [_row(one) for one in found.dimensions.values()], title)
    print(_pairs("best-worst pairs", found.pairs))
    if found.matched_pairs is not None:
        print(_pairs("pairs of matched length", found.matched_pairs))


def _against_experts(
    experts: Path,
    journal: Path | None,
    judge: str | None,
    judge_model: str | None,
    limit: int | None,
    max_usd: float | None,
    as_json: bool,
) -> None:
    from ..workflow import validate_experts as run

    kept = f"the verdicts so far are in {journal}; the same command goes on" if journal else "nothing was kept"
    with interruptible(kept):
        report = run(experts, journal, judge=judge, judge_model=judge_model, limit=limit, max_usd=max_usd)
    if as_json:
        print_json(report.as_dict())
    else:
        _print_experts(report)
    if any(one.stopped for one in report.runs):
        raise typer.Exit(1)


def _print_experts(report: ExpertReport) -> None:
    found = report.found
    header = ("dimension", "code", "n", "base rate", "kappa", "precision", "recall", "ceiling", "omega")
    title = f"{found.judge} against AnnoMI's experts, {found.utterances} utterances"
    print_table(header, [_code_row(one) for one in found.dimensions.values()], title)
    sessions = found.sessions
    print(f"sessions: AUC of the mean total {sessions.auc} ({sessions.high} of high quality among {sessions.n})")
    if found.unscored:
        print(f"{found.unscored} utterances are unscored and left out")
    for run in report.runs:
        for line in run.advice():
            print(f"  {line}")


def _code_row(one: CodeValidity) -> tuple[str, ...]:
    measured = (one.base_rate, one.kappa, one.precision, one.recall)
    ceiling = f"{one.ceiling} on {one.n_ceiling}"
    return (one.dimension, one.code, str(one.n), *map(str, measured), ceiling, _omega(one.stand_in))


def _row(one: DimensionValidity) -> tuple[str, ...]:
    measured = (one.ceiling, one.alpha, one.kappa, one.ac1, one.bias)
    return (one.dimension, str(one.n), *map(str, measured), _omega(one.stand_in))


def _omega(test: AlternativeTest | None) -> str:
    return "three people needed" if test is None else f"{test.winning_rate:.2f} {'passes' if test.passes else 'fails'}"


def _pairs(what: str, found: PairValidity) -> str:
    return f"{what}: people keep the direction of {found.keep} of {found.pairs}, {found.flip} flip, {found.tie} tie"
