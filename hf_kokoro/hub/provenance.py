"""The ledger of a dataset: who said what about which row, in a hidden folder that no loader reads as data.

`.hf_kokoro/provenance.jsonl` grows in the commit that adds the rows, one line a new row, and in segments where the rows
do. It is proven like the rows: the new file is the old one's bytes and more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..core.jsonl import parse_object
from ..core.series import Series, split_lines
from ..errors import Fault, Faults, SourceError
from ..policy.notes import Note, parse_note
from .errors import BaseFormatError, MixedRubrics
from .lines import iter_lines
from .rows import NewRow, RowCheck
from .target import LEDGER, Snapshot

_RUBRIC = re.compile(rb'"rubric_sha256": "([0-9a-f]{64})"')
"""As `Note.line` writes it; read without parsing every line of a long ledger."""
_COMPARED = 8
"""Bytes of a row id that are compared: two rows never share them by chance."""


def ledger_tails(base: Snapshot, rows: Sequence[NewRow], segment_bytes: int | None) -> dict[str, bytes]:
    """What the ledger gains: path to new lines. Raises BaseFormatError if its last line is torn."""
    paths = LEDGER.ordered(base.files)
    active = paths[-1] if paths else None
    size = base.files[active].size if active else 0
    if active and size and not _whole(base.local[active]):
        raise BaseFormatError(f"{active}: the last line is torn; nothing was written; put the file back", size)
    placed = split_lines(LEDGER, active, size, [row.note for row in rows if row.note], segment_bytes)
    return {path: b"".join(lines) for path, lines in placed.items()}


def refuse_second_rubric(base: Snapshot, rows: Sequence[NewRow], path: str) -> None:
    """Raise MixedRubrics if new rows were scored by other instructions than the rows that are there, or by several.

    Rows that nobody knows the instructions of count for nothing.
    """
    coming = {digest for row in rows for digest in rubrics_in([row.note])}
    if not coming:
        return
    there = {digest for file in LEDGER.ordered(base.files) for digest in rubrics_in(_lines(base.local[file]))}
    if len(coming) > 1 or (there and not coming <= there):
        mine, theirs = (", ".join(sorted(digest[:12] for digest in found)) for found in (coming, there))
        raise MixedRubrics(
            f"{path}: these rows were scored by the instructions {mine}, those there by {theirs or 'none yet'}; scores "
            "by two rubrics or two judges don't mean the same, so nothing was written; append them to a dataset of "
            "their own, or mix them on purpose with --mix-rubrics (mix_rubrics=True)"
        )


def rubrics_in(lines: Iterable[bytes]) -> set[str]:
    """Digests of the instructions that ledger lines name."""
    return {match[1].decode() for line in lines for match in _RUBRIC.finditer(line)}


def ledger_notes(files: Mapping[str, Sequence[Path | bytes]]) -> Iterator[tuple[str, Note]]:
    """(row id, note) of every line of ledger files, given as pieces, oldest first. Raises SourceError."""
    for path, pieces in files.items():
        number = 0
        for piece in pieces:
            for line in _lines(piece):
                number += 1
                yield parse_note(line, f"{path} line {number}")


def _lines(piece: Path | bytes) -> Iterator[bytes]:
    if isinstance(piece, bytes):
        yield from piece.splitlines(keepends=True)
        return
    with piece.open("rb") as stream:
        yield from (line for _, line in iter_lines(stream))


def ledger_parts(base: Snapshot, tails: Mapping[str, bytes]) -> dict[str, list[Path | bytes]]:
    """The ledger as it will be, each file in pieces."""
    return {
        path: [*([base.local[path]] if path in base.local else []), *([tails[path]] if path in tails else [])]
        for path in LEDGER.ordered({*base.files, *tails})
    }


def folder_ledger(folder: Path) -> dict[str, list[Path | bytes]]:
    """The ledger files of a dataset's folder."""
    hidden = folder / Path(LEDGER.path).parent
    found = {file.relative_to(folder).as_posix(): file for file in hidden.glob("*.jsonl")}
    return {path: [found[path]] for path in LEDGER.ordered(found)}


def _whole(file: Path) -> bool:
    with file.open("rb") as stream:
        stream.seek(-1, 2)
        return stream.read(1) == b"\n"


@dataclass
class LedgerCheck:
    """Every line a note, of a row that is there, and no row twice: feed lines in file order, then ask for the rest."""

    series: Series
    _ids: bytearray = field(default_factory=bytearray)
    _lines: list[str] = field(default_factory=list)
    _path: str = ""

    def start_file(self, path: str) -> None:
        self._path = path

    def line(self, number: int, offset: int, line: bytes, faults: Faults) -> None:
        """Check one line; of the lines about rows of another growing file only the form."""
        where = f"{self._path} line {number} (byte {offset})"
        try:
            identity = bytes.fromhex(parse_note(line, where)[0])
            path = parse_object(line).get("path")
        except (SourceError, ValueError):
            faults.add(Fault(where, "", f"{len(line)} bytes that are no note of a row", "one note a line"))
            return
        if path == self.series.path:
            self._ids += identity[:_COMPARED].ljust(_COMPARED, b"\0")
            self._lines.append(where)

    def faults(self, rows: RowCheck) -> Iterator[Fault]:
        """A fault for every line about a row that is not there, or that an earlier line is about."""
        ids = np.frombuffer(bytes(self._ids), dtype=">u8")
        there = np.isin(ids, rows.heads())
        again = np.ones(len(ids), dtype=bool)
        again[np.unique(ids, return_index=True)[1]] = False
        for position in np.flatnonzero(~there):
            yield Fault(self._lines[position], "row_id", "a row that is not there", f"a row of {self.series.path}")
        for position in np.flatnonzero(again & there):
            yield Fault(self._lines[position], "row_id", "a row that an earlier line is about", "one line a row")
