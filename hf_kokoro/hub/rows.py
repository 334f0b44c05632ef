"""Rows on their way in, all faults of all at once, each once; and rows that are there, line by line for the audit."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..core import jsonl
from ..core.atomic import write_atomically
from ..core.disk import disk_errors
from ..core.jsonl import parse_object
from ..errors import Fault, Faults, RowError, SourceError, describe
from ..miti.contract import DATA_PATH, row_faults, row_id, row_line
from ..miti.no_answers import answer_faults
from ..miti.spelling import canonical_row, read_spelled
from ..policy import Gate
from ..policy.notes import REDACTED, Note, Notes
from .incoming import Rows, incoming, whole
from .lines import codes_of, line_id

_KEPT = 16
"""Bytes of the row id that are kept: enough that two different rows never look the same by chance."""
_WHOLE_FLOAT = re.compile(r"-?[0-9]+\.0|[0-9.]+e\+[0-9]+")
_WHOLE_STEP = "--whole-floats (whole_floats=True) takes floats without a fraction as whole numbers"


@dataclass(frozen=True)
class NewRow:
    """A valid row: its identity, and its line as it will stand in the file."""

    id: bytes
    line: bytes
    note: bytes = b""
    """Its line in the ledger."""


@dataclass
class Batch:
    """What came in: the distinct valid rows, the number of repeats, and the refused ones as they came."""

    rows: list[NewRow] = field(default_factory=list)
    repeats: int = 0
    rejects: list[bytes] = field(default_factory=list)
    faults: Faults = field(default_factory=Faults)


def read_batch(
    rows: Rows, gate: Gate, notes: Notes | None = None, path: str = DATA_PATH, *, whole_floats: bool = False
) -> Batch:
    """Check rows in any form that `incoming` reads and any spelling; valid ones pass the gate, each once.

    What the gate replaced is checked again, and its row id is that of the row as it is sent. `notes` say what is known
    of rows beside their keys, and so does the file beside a rows file; `path` is the growing file that they are for.
    """
    batch = Batch()
    notes = notes or Notes()
    if isinstance(rows, str | PathLike):
        notes = notes.beside(Path(rows))
    came: set[str] = set()
    sent: set[bytes] = set()
    for where, raw, came_as in incoming(rows):
        value, faults = checked(came_as, where, whole_floats=whole_floats)
        new: NewRow | list[Fault] = faults
        if not faults:
            identity = row_id(value)
            if identity in came:
                batch.repeats += 1
                continue
            came.add(identity)
            new = _gated(value, where, gate, notes.of(value, identity), path)
        if isinstance(new, list):
            batch.faults.extend(new)
            batch.rejects.append(raw if raw is not None else _as_line(came_as))
        elif new.id in sent:
            batch.repeats += 1
        else:
            sent.add(new.id)
            batch.rows.append(new)
    return batch


def checked(value: Any, where: str, *, whole_floats: bool) -> tuple[Any, list[Fault]]:
    """A value in the canonical spelling, and what keeps it from being a row."""
    if isinstance(value, Fault):
        return value, [value]
    row = canonical_row(whole(value) if whole_floats else value)
    faults = row_faults(row, where) or list(answer_faults(row, where))
    return row, [replace(f, next_step=_WHOLE_STEP) if _WHOLE_FLOAT.fullmatch(f.got) else f for f in faults]


def _gated(value: dict[str, Any], where: str, gate: Gate, note: Note, path: str) -> NewRow | list[Fault]:
    """A valid row as it leaves the gate, or what is wrong with it then."""
    row = gate.row(value)
    if row is not value:
        if faults := row_faults(row, where):
            return faults
        note = replace(note, text=REDACTED)
    return new_row(row, where, note, path)


def new_row(row: dict[str, Any], where: str, note: Note | None = None, path: str = DATA_PATH) -> NewRow | list[Fault]:
    """A valid row as it is written; a fault if its line would be too long to be read again."""
    line = row_line(row).encode()
    if len(line) > jsonl.LINE_LIMIT:
        return [Fault(where, "", f"a row of {len(line)} bytes", f"at most {jsonl.LINE_LIMIT} bytes")]
    identity = row_id(row)
    return NewRow(bytes.fromhex(identity), line, note.line(identity, path) if note else b"")


def refuse_if_faulty(batch: Batch) -> None:
    """Raise RowError with every fault, so that a batch goes in as a whole or not at all."""
    hint = "nothing was written; correct the rows, or leave the faulty ones out with --skip-invalid (skip_invalid=True)"
    batch.faults.raise_if_any("the batch is refused", RowError, hint)


def write_rejects(batch: Batch, file: Path) -> Path:
    """Keep the refused rows, one a line, in `file`, or in a numbered one beside it if that holds others.

    Raises SourceError where that can't be, before anything is sent.
    """
    after = f"the {len(batch.rejects)} faulty rows have no place, so nothing was sent; name another file (--rejects)"
    with disk_errors(file, after, SourceError):
        return _write_rejects(batch, file)


def _write_rejects(batch: Batch, file: Path) -> Path:
    content = b"".join(line.rstrip(b"\n") + b"\n" for line in batch.rejects)
    number, free = 1, file
    while free.exists() and free.read_bytes() != content:
        number += 1
        free = file.with_name(f"{file.stem}-{number}{file.suffix}")
    write_atomically(free, content, 0o600)
    return free


def _as_line(value: Any) -> bytes:
    try:
        return (json.dumps(value, ensure_ascii=True) + "\n").encode()
    except (TypeError, ValueError):
        return (json.dumps({"not_json": describe(value)}) + "\n").encode()


@dataclass
class RowCheck:
    """Every line a valid row, every row once, with memory that hardly grows: feed lines in file order, then ask for
    the duplicates."""

    spellings: Counter[str] = field(default_factory=Counter)
    """Rows of each spelling, by its code."""
    _ids: bytearray = field(default_factory=bytearray)
    _files: list[tuple[str, int]] = field(default_factory=list)
    _invalid: int = 0

    def start_file(self, path: str) -> None:
        self._files.append((path, len(self._ids) // _KEPT))

    def line(self, number: int, offset: int, line: bytes, faults: Faults) -> None:
        """Check one line; `number` counts from 1 within the file."""
        where = f"{self._files[-1][0]} line {number} (byte {offset})"
        try:
            read = read_spelled(parse_object(line))
        except ValueError:
            # an append passes blank lines over, and so do the counts; but none of ours is ever written
            got = f"{len(line)} bytes that are no JSON object" if line.strip() else "a blank line"
            faults.add(Fault(where, "", got, "one row a line"))
            # a place is kept so that line numbers of later rows stay right
            self._invalid += 1
            self._ids += b"\xff" + self._invalid.to_bytes(_KEPT - 1, "big")
            return
        faults.extend(row_faults(read.row, where))
        self.spellings.update(codes_of(read))
        self._ids += line_id(line, read)[:_KEPT]

    def heads(self) -> np.ndarray[Any, np.dtype[np.uint64]]:
        """The first eight bytes of every row's id, as numbers."""
        return np.frombuffer(bytes(self._ids), dtype=">u8")[:: _KEPT // 8]

    def duplicate_faults(self) -> Iterator[Fault]:
        """One fault for every row that was there before."""
        ids = np.frombuffer(self._ids, dtype=f"V{_KEPT}").view([("high", ">u8"), ("low", ">u8")])
        order = np.lexsort((ids["low"], ids["high"]))
        ordered = ids[order]
        for position in np.flatnonzero(ordered[1:] == ordered[:-1]):
            first, again = int(order[position]), int(order[position + 1])
            yield Fault(self._place(again), "", f"the row of {self._place(first)} again", "every row once")

    def _place(self, index: int) -> str:
        path, start = next(item for item in reversed(self._files) if item[1] <= index)
        return f"{path} line {index - start + 1}"
