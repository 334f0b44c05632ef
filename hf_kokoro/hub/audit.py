"""audit: prove from the history that a target only ever grew, and that what it holds is right.

Growth is proven with the newest bytes alone: if every former revision's size and digest are those of a prefix
of them, every revision started with the one before it. Only where that fails is an older revision read, to
name the first one that broke.

A revision that took rows over from files of another layout begins a history of its own: growth is proven from there,
and the report says so. On the Hub what such a revision claims is proven too, from the revision before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import closing
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory

from ..core.reports import Report
from ..core.series import Series
from ..errors import FAULTS_SHOWN, Fault, Faults, KokoroError
from ..miti.contract import DATA_PATH
from ..miti.spelling import OURS
from .card import SplitCount, split_counts
from .errors import HistoryError, TargetError
from .former import read_former
from .lines import NO_ROW, told_spellings
from .prove import FileProof, prove_file
from .provenance import LedgerCheck
from .resolve import resolve_target
from .rows import RowCheck
from .target import CARD_PATH, LEDGER, FileInfo, Revision, Target

_RENEW = "`hf-kokoro card` writes it anew"


@dataclass(frozen=True)
class RevisionReport:
    """One line of the audit's table: what a revision added to the data files, and whether it only added
    (and its card, where there is one, counts right).

    Row counts are None where the bytes of that revision can't be had any more.
    """

    revision: str
    time: str
    author: str
    rows_added: int | None
    rows: int | None
    bytes: int
    ok: bool
    adopted: int | None = None
    """Rows that it took over: what was before is another history."""


@dataclass(frozen=True)
class AdoptionReport:
    """A revision from which on the history is proven, and how many rows it took over. `proven` if those were read again
    from the revision before and are all there; a folder keeps no former files, so there its record is all there is."""

    revision: str
    rows: int
    proven: bool

    def __str__(self) -> str:
        how = "read again and all there" if self.proven else "on record only: a folder keeps no former files"
        rows = f"{self.rows} row{'s' if self.rows != 1 else ''}"
        return f"adopted at revision {self.revision[:12]} from {rows} ({how}); the history is proven from there"


@dataclass(frozen=True)
class AuditReport(Report):
    """The verdict.

    `ok` if every revision only grew, every row is valid and unique and every card's counts are right. `faults`
    are the first ones found, those of the history before those of rows and cards; `fault_count` is all of them;
    `rows` are those of the newest revision and `spelling` is how they are spelled. `adopted`: where histories begin
    that came from another layout; what was before the last of them is no part of the proof.
    """

    ok: bool
    revisions: Sequence[RevisionReport]
    rows: int
    faults: Sequence[Fault]
    fault_count: int = 0
    target: str = ""
    path: str = DATA_PATH
    spelling: str = ""
    adopted: Sequence[AdoptionReport] = field(default_factory=tuple)
    own_names: bool = True
    """Whether all rows have the schema's own names."""


def audit(target: str | PathLike[str] | Target, path: str = DATA_PATH) -> AuditReport:
    """Walk the target's history and check every revision of the data files under `path`.

    The ledger beside them has to grow as they do, and each of its lines to be about a row that is there; rows without a
    line are older than it.

    Memory doesn't grow with the files: they are streamed. Raises TargetError if the history can't be read.
    """
    place, series = resolve_target(target), Series(path)
    history, rows, cards = Faults(), Faults(), Faults()
    revisions: list[Revision] = []
    try:
        revisions.extend(place.history(series))
    except HistoryError as error:
        history.add(Fault(place.name, "history", str(error), "the history as it was written"))
    names = series.ordered({name for revision in revisions for name in revision.files})
    if revisions:
        series.warn_of_strays(revisions[-1].strays, place.name)
    if not names and not history:
        raise TargetError(f"{place.name}: no {path} in any revision; name the file with --path")
    check = RowCheck()
    adopted = [
        found for found in (_adoption(place, series, revisions, n, history) for n in range(len(revisions))) if found
    ]
    begins = [0, *(n for n, revision in enumerate(revisions) if revision.id in {found.revision for found in adopted})]
    proofs = _prove(place, names, revisions, begins, check, history=history, rows=rows)
    rows.extend(check.duplicate_faults())
    _check_spellings(path, check, rows)
    broken = _check_ledger(place, series, revisions, check, history=history, rows=rows)
    wrong_cards = _check_cards(place, series, revisions, proofs, cards)
    table = _table(revisions, proofs, wrong_cards | broken, {found.revision: found.rows for found in adopted})
    kept = [*history, *rows, *cards][:FAULTS_SHOWN]
    count = history.count + rows.count + cards.count
    total = (table[-1].rows or 0) if table else 0
    spelling = told_spellings(check.spellings)
    return AuditReport(
        not count, table, total, kept, count, place.name, path, spelling, adopted, set(check.spellings) <= {OURS.code}
    )


def _prove(
    place: Target,
    names: Sequence[str],
    revisions: Sequence[Revision],
    begins: Sequence[int],
    check: RowCheck,
    *,
    history: Faults,
    rows: Faults,
) -> dict[str, FileProof]:
    """Each file's proof through all revisions; where a history begins, nothing is asked of what was before."""
    proofs = {name: FileProof([]) for name in names}
    ends = [*begins[1:], len(revisions)]
    for begin, end in zip(begins, ends, strict=True):
        part = revisions[begin:end]
        for name, whole in proofs.items():
            proof = FileProof([0] * len(part))
            if any(name in revision.files for revision in part):
                newest = check if end == len(revisions) else RowCheck()
                proof = prove_file(
                    place, name, part, newest, faults=history, row_faults=rows if newest is check else Faults()
                )
            whole.broken |= {begin + number for number in proof.broken}
            whole.rows.extend(proof.rows)
    return proofs


def _adoption(
    place: Target, series: Series, revisions: Sequence[Revision], number: int, faults: Faults
) -> AdoptionReport | None:
    """What a revision took over; None, and a fault, if the revision before it says otherwise."""
    revision = revisions[number]
    if revision.adopted is None:
        return None
    if not place.remote:
        return AdoptionReport(revision.id, revision.adopted, proven=False)
    before = revisions[number - 1].id if number else ""
    try:
        with TemporaryDirectory() as work:
            former = Counter(
                row.id for row in read_former(place, before, series, Path(work, "1"), whole_floats=True).rows
            )
            now = Counter(row.id for row in read_former(place, revision.id, series, Path(work, "2")).rows)
    except KokoroError as error:
        got = f"{revision.adopted} adopted rows that can't be read again ({type(error).__name__})"
    else:
        if former.total() == revision.adopted and former <= now:
            return AdoptionReport(revision.id, revision.adopted, proven=True)
        got = (
            f"{revision.adopted} adopted rows, of {former.total()} that were there {(former - now).total()} are missing"
        )
    faults.add(Fault(f"revision {revision.id[:12]}", series.path, got, "all rows of the revision before it"))
    return None


def _check_spellings(path: str, check: RowCheck, faults: Faults) -> None:
    """One spelling a file, or a loader gives rows of two kinds."""
    ways = {code: count for code, count in check.spellings.items() if code != NO_ROW}
    if len(ways) > 1:
        step = "append with --adopt (adopt=True) writes all rows anew in the schema's own names"
        faults.add(Fault(path, "", f"rows spelled in {len(ways)} ways ({told_spellings(ways)})", "one spelling", step))


def _check_ledger(
    place: Target, series: Series, revisions: Sequence[Revision], check: RowCheck, *, history: Faults, rows: Faults
) -> set[int]:
    """Numbers of the revisions in which the ledger did more than grow; its lines are checked against the rows."""
    ledger = LedgerCheck(series)
    broken: set[int] = set()
    for name in LEDGER.ordered({name for revision in revisions for name in revision.files}):
        broken |= prove_file(place, name, revisions, ledger, faults=history, row_faults=rows).broken
    rows.extend(ledger.faults(check))
    return broken


def _table(
    revisions: Sequence[Revision],
    proofs: Mapping[str, FileProof],
    wrong_cards: Set[int],
    adopted: Mapping[str, int],
) -> list[RevisionReport]:
    table: list[RevisionReport] = []
    before: int | None = 0
    for number, revision in enumerate(revisions):
        counts = [proof.rows[number] for proof in proofs.values()]
        rows = None if None in counts else sum(count for count in counts if count is not None)
        added = None if rows is None or before is None else rows - before
        size = sum(revision.files[path].size for path in proofs if path in revision.files)
        ok = number not in wrong_cards and all(number not in proof.broken for proof in proofs.values())
        taken = adopted.get(revision.id)
        table.append(RevisionReport(revision.id, revision.time, revision.author, added, rows, size, ok, taken))
        before = rows
    return table


def _check_cards(
    target: Target, series: Series, revisions: Sequence[Revision], proofs: Mapping[str, FileProof], faults: Faults
) -> set[int]:
    """Numbers of the revisions whose card states a wrong number of rows; a card that stays is read once."""
    wrong: set[int] = set()
    read: dict[FileInfo, list[SplitCount]] = {}
    for number, revision in enumerate(revisions):
        info = revision.files.get(CARD_PATH)
        if info is None:
            continue
        if info not in read:
            with closing(target.open(revision, CARD_PATH)) as stream:
                read[info] = split_counts(stream.read())
        for fault in _card_faults(read[info], series, number, revision, proofs):
            faults.add(fault)
            wrong.add(number)
    return wrong


def _card_faults(
    counts: Sequence[SplitCount],
    series: Series,
    number: int,
    revision: Revision,
    proofs: Mapping[str, FileProof],
) -> Iterator[Fault]:
    where = f"revision {revision.id[:12]}"
    for count in counts:
        if strays := [path for path in revision.strays if count.only_of(series) and count.takes(path)]:
            what = f"{CARD_PATH} data_files {count.config}/{count.split}"
            yield Fault(
                where, what, f"patterns that take in {', '.join(strays)}", f"{', '.join(series.patterns)}", _RENEW
            )
            continue
        rows = [proof.rows[number] for path, proof in proofs.items() if count.takes(path)]
        there = sum(row for row in rows if row is not None)
        if not count.only_of(series) or None in rows or there == count.num_examples:
            continue
        yield Fault(
            where,
            f"{CARD_PATH} dataset_info {count.config}/{count.split} num_examples",
            str(count.num_examples),
            f"{there}, the rows of the data files",
            _RENEW,
        )
