"""`hf-kokoro pair`: verdicts to preference rows."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import SourceError, UsageError
from .console import print_json
from .gate_options import LICENSE_HELP, SOURCE_DATASET_HELP

if TYPE_CHECKING:
    from ..workflow.joining import Joined
    from ..workflow.stamps import Stamp


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
    json_: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Turn a journal's verdicts into rows of the published schema, one preference pair each.

    Equal totals make no pair, and a question with an unscored answer waits; everything left out is counted.
    The journal holds digests only: the texts are read again from the source that `judge` noted beside it.

    Example: hf-kokoro pair --journal verdicts.jsonl --out rows.jsonl --min-margin 2
    """
    from ..judging import read_journal
    from ..miti.contract import row_line
    from ..miti.pairing import Options, make_rows
    from ..workflow import joining as join
    from ..workflow.stamps import stamp_of

    _refuse_growing_file(out)
    _refuse_input(out, (journal, join.origin_path(journal), *(consensus or ())), "a file that these rows are made from")
    verdicts = join.one_judge(read_journal(journal), judge_model, str(journal))
    model = verdicts[0].judge_model
    found, chat = join.source_of_journal(journal, source)
    _refuse_input(out, _files_of(Path(found).expanduser(), chat.ignored_files), "the source of the texts")
    stamp = stamp_of(chat, source_dataset, license_)
    joined = join.candidate_sets(chat.questions, verdicts, model)
    rows, report = make_rows(
        joined.sets,
        strategy,
        options=Options(seed, top_k, subsets, subset_size),
        min_answers=min_answers,
        min_margin=min_margin,
        max_per_therapist=max_per_therapist,
        allow_partial=allow_partial,
        agreed=join.consensus_of(consensus, verdicts[0]) if consensus else None,
        source_dataset=stamp.source_dataset,
        license_name=stamp.license,
    )
    _write(out, "".join(map(row_line, rows)))
    summary = report.as_dict() | {
        "judge_model": model,
        "source": found,
        "verdicts_without_text": joined.without_text,
        "verdicts_not_used": joined.not_used,
        "source_dataset": stamp.source_dataset,
        "license": stamp.license,
    }
    if json_:
        print_json(summary | {"out": str(out)})
        return
    _print(report, model, joined, stamp, out)


def _print(report: Any, model: str, joined: Joined, stamp: Stamp, out: Path) -> None:
    from ..workflow.joining import say_not_used
    from ..workflow.stamps import advice
    from .console import print_table

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
    if joined.not_used:
        print(f"  {say_not_used(joined.not_used)}")
    if joined.without_text:
        print(f"  {joined.without_text} verdicts are about texts that the source does not hold")
    if report.rows:
        print_table(("margin", "rows"), list(report.margins.items()))
    print(f"judge: {model}")
    if not stamp.stated:
        print(advice(stamp))
    print(f"written: {out}; next: hf-kokoro append {out} --to ./my-dataset")


def _refuse_growing_file(out: Path) -> None:
    """Raise UsageError if `out` lies in a folder that `append` grows: replacing it would break its history."""
    from ..core.series import Series
    from ..hub.local import FOLDER
    from ..miti.contract import DATA_PATH

    place = out.expanduser().resolve()
    grown = "/".join(place.parts[-2:]) in Series(DATA_PATH)
    if grown or any((folder / FOLDER).is_dir() for folder in place.parents):
        raise UsageError(
            f"--out {out}: a growing dataset's place, which only `hf-kokoro append` may change; "
            "name another file, then append it"
        )


def _refuse_input(out: Path, inputs: Iterable[Path], what: str) -> None:
    """Raise UsageError if `out` is one of the files that are read."""
    for file in inputs:
        if out.exists() and file.exists() and out.samefile(file):
            raise UsageError(f"--out {out}: {what}, which would be lost; name another file")


def _files_of(source: Path, ignored: Iterable[str]) -> list[Path]:
    """The files of a source (a file, or a folder less what is ignored there); none for a Hub id."""
    if not source.is_dir():
        return [source]
    others = {source / name for name in ignored}
    return [file for file in source.rglob("*") if file.is_file() and file not in others]


def _write(out: Path, text: str) -> None:
    """Whole or not at all: an interrupted run leaves the old file as it was."""
    from ..core.atomic import make_folders, write_atomically

    try:
        make_folders(out.parent)
        write_atomically(out, text.encode())
    except OSError as error:
        raise SourceError(f"{out}: can't be written ({error.strerror})") from error
