"""The counts that cards state, checked against the rows there were at each revision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

from ..core.series import Series
from ..errors import Fault, Faults
from .card_counts import SplitCount, split_counts
from .prove import FileProof
from .target import CARD_PATH, FileInfo, Revision, Target

_RENEW = "`hf-kokoro card` writes it anew"


def check_cards(
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
        for fault in _faults(read[info], series, number, revision, proofs):
            faults.add(fault)
            wrong.add(number)
    return wrong


def _faults(
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
