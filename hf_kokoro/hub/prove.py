"""Proof that one file only ever grew: every former version is a prefix of the newest."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field

from ..errors import Fault, Faults
from .errors import NotKept
from .lines import iter_lines
from .prefixes import PrefixWatch
from .rows_check import RowCheck
from .target import FileInfo, Revision, Target


@dataclass
class FileProof:
    """Rows of the file at each revision (None: its bytes can't be had), and the revisions that broke it."""

    rows: list[int | None]
    broken: set[int] = field(default_factory=set)


def prove_file(
    target: Target,
    path: str,
    revisions: Sequence[Revision],
    check: RowCheck,
    *,
    faults: Faults,
    row_faults: Faults,
) -> FileProof:
    """Check one file through all revisions, and each of its newest lines with `check`."""
    versions = [revision.files.get(path) for revision in revisions]
    proof = FileProof([0 if version is None else None for version in versions])
    _note_removals(path, revisions, versions, proof, faults)
    anchor = max(number for number, version in enumerate(versions) if version is not None)
    newest = True
    while True:
        until = versions[: anchor + 1]
        watch = _watch(target, path, revisions[anchor], until, check=check if newest else None, faults=row_faults)
        if watch is None:
            return proof
        bad = _compare(watch, until, proof)
        _note_torn(path, watch, revisions, until, bad=bad, proof=proof, faults=faults)
        if not bad:
            return proof
        if bad[-1] == anchor:
            # the bytes served are not even those on record for this revision
            proof.broken.update(bad)
            faults.add(_changed(path, revisions[bad[0]], versions[bad[0]]))
            return proof
        breaker = next(n for n in range(bad[-1] + 1, len(versions)) if versions[n] is not None)
        proof.broken.add(breaker)
        faults.add(_rewritten(path, revisions[breaker], revisions[bad[-1]], versions[bad[-1]]))
        anchor, newest = bad[-1], False


def _watch(
    target: Target,
    path: str,
    revision: Revision,
    versions: Sequence[FileInfo | None],
    *,
    check: RowCheck | None,
    faults: Faults,
) -> PrefixWatch | None:
    """Stream one version; None if it can't be had any more."""
    try:
        stream = target.open(revision, path)
    except NotKept:
        return None
    with closing(stream):
        watch = PrefixWatch(stream, [version for version in versions if version is not None])
        if check is not None:
            check.start_file(path)
            for number, (offset, line) in enumerate(iter_lines(watch), 1):
                check.line(number, offset, line, faults)
        watch.drain()
    return watch


def _compare(watch: PrefixWatch, versions: Sequence[FileInfo | None], proof: FileProof) -> list[int]:
    """Numbers of the versions that the stream did not start with; the others get their row counts."""
    bad = []
    for number, version in enumerate(versions):
        if version is None:
            continue
        if watch.matches(version):
            proof.rows[number] = watch.rows(version.size)
        else:
            bad.append(number)
    return bad


def _note_removals(
    path: str,
    revisions: Sequence[Revision],
    versions: Sequence[FileInfo | None],
    proof: FileProof,
    faults: Faults,
) -> None:
    for number in range(1, len(versions)):
        before = versions[number - 1]
        if versions[number] is None and before is not None:
            proof.broken.add(number)
            allowed = f"its {before.size} bytes and more"
            faults.add(Fault(f"revision {revisions[number].id[:12]}", path, "no file", allowed))


def _note_torn(
    path: str,
    watch: PrefixWatch,
    revisions: Sequence[Revision],
    versions: Sequence[FileInfo | None],
    *,
    bad: Sequence[int],
    proof: FileProof,
    faults: Faults,
) -> None:
    seen: set[int] = set()
    for number, version in enumerate(versions):
        if version is None or number in bad or version.size in seen or not watch.torn(version.size):
            continue
        seen.add(version.size)
        proof.broken.add(number)
        where = f"revision {revisions[number].id[:12]}"
        faults.add(Fault(where, path, f"an end inside a line (byte {version.size})", "whole lines"))


def _rewritten(path: str, breaker: Revision, before: Revision, version: FileInfo | None) -> Fault:
    size = version.size if version else 0
    return Fault(
        f"revision {breaker.id[:12]}",
        path,
        f"bytes that don't start with the {size} bytes of revision {before.id[:12]}",
        "the former bytes and more",
        "compare the two revisions and put the former bytes back",
    )


def _changed(path: str, revision: Revision, version: FileInfo | None) -> Fault:
    size = version.size if version else 0
    return Fault(
        f"revision {revision.id[:12]}",
        path,
        "other bytes than those on record",
        f"the {size} bytes of that revision, unchanged",
        "put the file back from a copy",
    )
