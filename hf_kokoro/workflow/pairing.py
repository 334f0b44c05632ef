"""`pair`: a journal's verdicts to rows of the published schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from ..core.reports import Report
from ..errors import SourceError, UsageError
from ..judging import read_journal
from ..miti.contract import NOT_STATED, row_line
from ..miti.pairing import Options, PairReport, make_rows
from ..policy import Policy, read_policy
from ..policy.notes import notes_file, notes_path
from . import joining as join
from .requiring import MIN_AGREEMENT, require_valid
from .stamps import advice, claims_of, declared_by, stamps_of, told_of


@dataclass(frozen=True)
class PairRun(Report):
    """What became of the questions, and what the rows state of their source."""

    made: PairReport
    judge_model: str
    source: str
    verdicts_without_text: int
    verdicts_not_used: int
    claims: Sequence[Mapping[str, Any]]
    """What is said of the rows, each claim with its number of rows."""
    out: str
    decided: tuple[str, ...] = ()
    """What a policy file decided, a line each."""
    not_validated: Mapping[str, str] = field(default_factory=dict)
    """Dimensions that don't pass the report of `require_validity`, and why (with `flag`; else pairing is refused)."""

    @property
    def advice(self) -> str:
        """What the rows do not state, and how to state it; empty if they state everything."""
        unstated = (claim["rows"] for claim in self.claims if NOT_STATED in (claim["source_dataset"], claim["license"]))
        return advice(self.made.rows, sum(unstated))

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as `--json` prints it."""
        return self.made.as_dict() | {
            "judge_model": self.judge_model,
            "source": self.source,
            "verdicts_without_text": self.verdicts_without_text,
            "verdicts_not_used": self.verdicts_not_used,
            "source_dataset": _one(claim["source_dataset"] for claim in self.claims),
            "license": _one(claim["license"] for claim in self.claims),
            "claims": list(self.claims),
            "out": self.out,
            "decided": self.decided,
            "not_validated": dict(self.not_validated),
        }


def pair(
    journal: str | PathLike[str],
    out: str | PathLike[str],
    *,
    source: str | None = None,
    strategy: str = "best-worst",
    min_margin: int = 1,
    min_answers: int = 3,
    max_per_therapist: int | None = None,
    seed: int = 42,
    top_k: int = 2,
    subsets: int = 3,
    subset_size: int = 3,
    allow_partial: bool = False,
    judge_model: str | None = None,
    consensus: Sequence[str | PathLike[str]] = (),
    source_dataset: str | None = None,
    license_name: str | None = None,
    written_by: str | None = None,
    policy: str | PathLike[str] | Policy | None = None,
    require_validity: str | PathLike[str] | None = None,
    min_agreement: float = MIN_AGREEMENT,
    flag: bool = False,
) -> PairRun:
    """Write the journal's pairs to the JSON Lines file `out`, one a row; an older file there is replaced.

    The texts are read again from the source that `judge` noted beside the journal, or from `source`. `consensus`
    are journals whose judges must agree on a pair's direction. Rows of upstream's answers say so themselves; of others
    `source_dataset`, `license_name` (an SPDX id) and `written_by` (people, model, fictional) are the caller's word, or
    that of the file `policy`. Who wrote what, and how it is known, is noted beside the rows (`rows.provenance`), where
    `append` finds it.

    `require_validity` is the file of a report of `validate` about this judge: every dimension must have a kappa of
    `min_agreement` or more with people and pass the alternative annotator test where it was made, or the pairing is
    refused (ValidityError); with `flag` it is done, and the report says which don't pass. The rows are the same either
    way: a total is the sum of all five.

    Raises UsageError (also for an `out` that is one of the files read, or lies in a growing dataset), SourceError,
    JournalError, RowError.
    """
    book, place, others = Path(journal), Path(out), [Path(other) for other in consensus]
    rules = read_policy(policy)
    _refuse_growing_file(place)
    _refuse_input(place, (book, join.origin_path(book), *others), "a file that these rows are made from")
    verdicts = join.one_judge(read_journal(book), judge_model, str(book))
    model = verdicts[0].judge_model
    not_validated = require_valid(require_validity, verdicts[0], min_agreement, flag=flag)
    found, chat = join.source_of_journal(book, source)
    _refuse_input(place, _files_of(Path(found).expanduser(), chat.ignored_files), "the source of the texts")
    _refuse_input(notes_path(place), (place, book, Path(found).expanduser()), "where the notes of these rows would go")
    stamps = stamps_of(chat, *declared_by(rules, source_dataset, license_name, written_by))
    joined = join.candidate_sets(chat.questions, verdicts, model)
    rows, made = make_rows(
        joined.sets,
        strategy,
        options=Options(seed, top_k, subsets, subset_size),
        min_answers=min_answers,
        min_margin=min_margin,
        max_per_therapist=max_per_therapist,
        allow_partial=allow_partial,
        agreed=join.consensus_of(others, verdicts[0]) if others else None,
    )
    rows = stamps.stamped(rows)
    notes = stamps.notes(rows, verdicts[0].rubric_sha256)
    _write_with_notes(place, "".join(map(row_line, rows)).encode(), notes_file(notes.of_rows.items()))
    claims = claims_of(rows, notes)
    decided = told_of(rules, source_dataset, license_name, written_by)
    return PairRun(made, model, found, joined.without_text, joined.not_used, claims, str(place), decided, not_validated)


def _one(values: Iterable[str]) -> str:
    """The value that all have, or all of them."""
    return " and ".join(dict.fromkeys(values)) or NOT_STATED


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


def _write_with_notes(out: Path, rows: bytes, notes: bytes) -> None:
    """The rows and, beside them, their notes; where the rows can't be written, the former notes stand."""
    beside = notes_path(out)
    former = beside.read_bytes() if beside.is_file() else None
    # the notes first: without its rows a file of notes says nothing
    _write(beside, notes)
    try:
        _write(out, rows)
    except SourceError:
        if former is None:
            beside.unlink()
        else:
            _write(beside, former)
        raise


def _write(out: Path, content: bytes) -> None:
    """Whole or not at all: an interrupted run leaves the old file as it was."""
    from ..core.atomic import make_folders, write_atomically
    from ..core.disk import disk_errors

    kept = "no row was written, and what stood there is as it was; the verdicts are in the journal: pair them again"
    with disk_errors(out, kept, SourceError):
        make_folders(out.parent)
        write_atomically(out, content)
