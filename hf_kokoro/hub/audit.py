"""audit: prove from the history that a target only ever grew, and that what it holds is right.

Growth is proven with the newest bytes alone: if every former revision's size and digest are those of a prefix
of them, every revision started with the one before it. Only where that fails is an older revision read, to
name the first one that broke.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from os import PathLike

from ..core.series import Series
from ..errors import FAULTS_SHOWN, Fault, Faults
from ..miti.contract import DATA_PATH
from .card_check import check_cards
from .errors import HistoryError, TargetError
from .prove import FileProof, prove_file
from .resolve import resolve_target
from .rows_check import RowCheck
from .target import Revision, Target


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


@dataclass(frozen=True)
class AuditReport:
    """The verdict.

    `ok` if every revision only grew, every row is valid and unique and every card's counts are right. `faults`
    are the first ones found, those of the history before those of rows and cards; `fault_count` is all of them;
    `rows` are those of the newest revision; `strays` are files in it that only look like segments, and don't count.
    """

    ok: bool
    revisions: Sequence[RevisionReport]
    rows: int
    faults: Sequence[Fault]
    fault_count: int = 0
    target: str = ""
    path: str = DATA_PATH
    strays: Sequence[str] = ()


def audit(target: str | PathLike[str] | Target, path: str = DATA_PATH) -> AuditReport:
    """Walk the target's history and check every revision of the data files under `path`.

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
    if not names and not history:
        raise TargetError(f"{place.name}: no {path} in any revision; name the file with --path")
    check = RowCheck()
    proofs = {name: prove_file(place, name, revisions, check, faults=history, row_faults=rows) for name in names}
    rows.extend(check.duplicate_faults())
    wrong_cards = check_cards(place, series, revisions, proofs, cards)
    table = _table(revisions, proofs, wrong_cards)
    kept = [*history, *rows, *cards][:FAULTS_SHOWN]
    count = history.count + rows.count + cards.count
    total = (table[-1].rows or 0) if table else 0
    strays = revisions[-1].strays if revisions else ()
    return AuditReport(not count, table, total, kept, count, place.name, path, strays)


def _table(
    revisions: Sequence[Revision], proofs: Mapping[str, FileProof], wrong_cards: Set[int]
) -> list[RevisionReport]:
    table: list[RevisionReport] = []
    before: int | None = 0
    for number, revision in enumerate(revisions):
        counts = [proof.rows[number] for proof in proofs.values()]
        rows = None if None in counts else sum(count for count in counts if count is not None)
        added = None if rows is None or before is None else rows - before
        size = sum(revision.files[path].size for path in proofs if path in revision.files)
        ok = number not in wrong_cards and all(number not in proof.broken for proof in proofs.values())
        table.append(RevisionReport(revision.id, revision.time, revision.author, added, rows, size, ok))
        before = rows
    return table
