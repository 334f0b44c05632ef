"""`hf-kokoro pair`: verdicts to preference rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import print_json, print_table
from .gate_options import LICENSE_HELP, SOURCE_DATASET_HELP, WRITTEN_BY_HELP, PolicyFile

if TYPE_CHECKING:
    from ..workflow.pairing import PairRun


def pair(
    journal: Annotated[Path, typer.Option(help="Verdict journal, as written by `judge`.")],
    out: Annotated[Path, typer.Option(help="JSON Lines file to write.")],
    source: Annotated[str | None, typer.Option(help="Where the texts are, if not where `judge` found them.")] = None,
    strategy: Annotated[str, typer.Option(help="best-worst, all-pairs, resample or top-bottom.")] = "best-worst",
    min_margin: Annotated[int, typer.Option(help="Least difference of the totals, in points.")] = 1,
    min_answers: Annotated[int, typer.Option(help="Least number of answers to a question.")] = 3,
    max_per_therapist: Annotated[
        int | None, typer.Option(help="At most so many pairs in which a therapist appears.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides resample's subsets and what a cap keeps.")] = 42,
    top_k: Annotated[int, typer.Option(help="top-bottom: answers at each end.")] = 2,
    subsets: Annotated[int, typer.Option(help="resample: subsets a question.")] = 3,
    subset_size: Annotated[int, typer.Option(help="resample: answers a subset.")] = 3,
    allow_partial: Annotated[
        bool, typer.Option("--allow-partial", help="Pair the scored answers where others are unscored.")
    ] = False,
    judge_model: Annotated[
        str | None, typer.Option(help="Whose verdicts, if the journal holds several judges'.")
    ] = None,
    consensus: Annotated[
        list[Path] | None,
        typer.Option(help="Keep pairs on whose direction this journal's judges agree too; repeatable."),
    ] = None,
    source_dataset: Annotated[str | None, typer.Option(help=SOURCE_DATASET_HELP)] = None,
    license_: Annotated[str | None, typer.Option("--license", help=LICENSE_HELP)] = None,
    written_by: Annotated[str | None, typer.Option(help=WRITTEN_BY_HELP)] = None,
    policy: PolicyFile = None,
    require_validity: Annotated[
        Path | None, typer.Option(help="Report of `validate --json`: every dimension must pass it.")
    ] = None,
    min_agreement: Annotated[float, typer.Option(help="--require-validity: least kappa with people.")] = 0.4,
    flag: Annotated[
        bool, typer.Option("--flag", help="--require-validity: pair all the same, and say what does not pass.")
    ] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Turn a journal's verdicts into rows of the published schema, one preference pair each.

    Equal totals make no pair, and a question with an unscored answer waits; everything left out is counted.
    The journal holds digests only: the texts are read again from the source that `judge` noted beside it.

    Example: hf-kokoro pair --journal verdicts.jsonl --out rows.jsonl --min-margin 2
    """
    from ..workflow import pair as run

    report = run(
        journal,
        out,
        source=source,
        strategy=strategy,
        min_margin=min_margin,
        min_answers=min_answers,
        max_per_therapist=max_per_therapist,
        seed=seed,
        top_k=top_k,
        subsets=subsets,
        subset_size=subset_size,
        allow_partial=allow_partial,
        judge_model=judge_model,
        consensus=consensus or (),
        source_dataset=source_dataset,
        license_name=license_,
        written_by=written_by,
        policy=policy,
        require_validity=require_validity,
        min_agreement=min_agreement,
        flag=flag,
    )
    if json_:
        print_json(report.as_dict())
    else:
        _print(report)


def _print(run: PairRun) -> None:
    from ..workflow.joining import say_not_used

    report = run.made
    print(f"{report.rows} rows by {report.strategy} from {report.with_rows} of {report.questions} questions")
    reasons = (
        (report.too_few, "have too few answers"),
        (
            report.waiting,
            "wait for answers that are unscored; see `hf-kokoro judge`, or give --allow-partial",
        ),
        (report.partial, "were paired without their unscored answers (--allow-partial)"),
        (report.tied, "have equal totals throughout"),
        (report.below_margin, "have no pair as far apart as --min-margin"),
        (report.disputed, "have no pair on whose direction all judges agree (--consensus)"),
        (report.capped_out, "lost their pairs to --max-per-therapist"),
    )
    for count, reason in reasons:
        if count:
            print(f"  {count} {reason}")
    if report.pairs_capped:
        print(f"  {report.pairs_capped} pairs left out by --max-per-therapist")
    if report.pairs_repeated:
        print(f"  {report.pairs_repeated} rows repeat another id's row: the source lists them twice")
    if report.blank_answers:
        print(f"  {report.blank_answers} blank answers are no answers")
    if report.placeholder_answers:
        print(f"  {report.placeholder_answers} placeholder texts (such as [removed]) are no answers")
    if run.verdicts_not_used:
        print(f"  {say_not_used(run.verdicts_not_used)}")
    if run.verdicts_without_text:
        print(f"  {run.verdicts_without_text} verdicts are about texts that the source does not hold")
    if report.rows:
        print_table(("margin", "rows"), list(report.margins.items()))
    print(f"judge: {run.judge_model}")
    for name, reason in run.not_validated.items():
        print(f"  not validated: {name}: {reason}")
    for line in run.decided:
        print(f"  {line}")
    if run.advice:
        print(run.advice)
    print(f"written: {run.out}; next: hf-kokoro append {run.out} --to ./my-dataset")
