"""audit: prove from the history that a target only ever grew, and that what it holds is right.

Growth is proven with the newest bytes alone: if every former revision's size and digest are those of a prefix
of them, every revision started with the one before it. Only where that fails is an older revision read, to
name the first one that broke.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

from ..errors import Fault, Faults
from ..schema.miti_st import DATA_PATH
from .errors import HistoryError, TargetError
from .growth import FileProof, prove_file
from .rows_check import RowCheck
from .segments import Series
from .target import Revision, Target, resolve_target


@dataclass(frozen=True)
class RevisionReport:
    """One line of the audit's table: what a revision added to the data files, and whether it only added.

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
    """`ok` if every revision only grew and every row is valid and unique; `faults` are the first ones found,
    `fault_count` is all of them; `rows` are those of the newest revision."""

    ok: bool
    revisions: Sequence[RevisionReport]
    rows: int
    faults: Sequence[Fault]
    fault_count: int = 0
    target: str = ""
    path: str = DATA_PATH


def audit(target: str | PathLike[str] | Target, path: str = DATA_PATH) -> AuditReport:
    """Walk the target's history and check every revision of the data files under `path`.

    Memory doesn't grow with the files: they are streamed. Raises TargetError if the history can't be read.
    """
    place, series = resolve_target(target), Series(path)
    faults = Faults()
    revisions: list[Revision] = []
    try:
        revisions.extend(place.history(series))
    except HistoryError as error:
        faults.add(Fault(place.name, "history", str(error), "the history as it was written"))
    if not revisions and not faults:
        raise TargetError(f"{place.name}: no {path} in any revision; name the file with --path")
    check = RowCheck()
    proofs: dict[str, FileProof] = {}
    for name in series.ordered({p for revision in revisions for p in revision.files}):
        proofs[name] = prove_file(place, name, revisions, check, faults)
    faults.extend(check.duplicate_faults())
    table = _table(revisions, proofs)
    rows = (table[-1].rows or 0) if table else 0
    return AuditReport(not faults, table, rows, faults.kept, faults.count, place.name, path)


def _table(revisions: Sequence[Revision], proofs: dict[str, FileProof]) -> list[RevisionReport]:
    table: list[RevisionReport] = []
    before: int | None = 0
    for number, revision in enumerate(revisions):
        counts = [proof.rows[number] for proof in proofs.values()]
        rows = None if None in counts else sum(count for count in counts if count is not None)
        added = None if rows is None or before is None else rows - before
        size = sum(revision.files[path].size for path in proofs if path in revision.files)
        ok = all(number not in proof.broken for proof in proofs.values())
        table.append(RevisionReport(revision.id, revision.time, revision.author, added, rows, size, ok))
        before = rows
    return table
