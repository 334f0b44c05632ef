"""Rows on their way in, all faults of all at once, each once; and rows that are there, line by line for the audit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..core import jsonl
from ..core.atomic import write_atomically
from ..core.disk import disk_errors
from ..core.jsonl import parse_object
from ..errors import Fault, Faults, RowError, SourceError, UsageError, describe
from ..miti.contract import DATA_PATH, row_faults, row_id, row_line
from ..miti.no_answers import answer_faults
from ..policy import Gate
from ..policy.notes import REDACTED, Note, Notes
from .lines import line_id

_KEPT = 16
"""Bytes of the row id that are kept: enough that two different rows never look the same by chance."""
Rows = Iterable[Mapping[str, Any]] | str | PathLike[str]
ROWS_ALLOWED = (
    "a list or another iterable of rows (mappings of the MITI-ST schema), a DataFrame, one split of a dataset, or the "
    "path of a .jsonl file"
)


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


def read_batch(rows: Rows, gate: Gate, notes: Notes | None = None, path: str = DATA_PATH) -> Batch:
    """Check rows given as mappings, or as the path of a JSON Lines file; valid ones pass the gate, each once.

    What the gate replaced is checked again, and its row id is that of the row as it is sent. `notes` say what is known
    of rows beside their keys, and so does the file beside a rows file; `path` is the growing file that they are for.
    """
    batch = Batch()
    notes = notes or Notes()
    if isinstance(rows, str | PathLike):
        notes = notes.beside(Path(rows))
    came: set[str] = set()
    sent: set[bytes] = set()
    for where, raw, value in _incoming(rows):
        new: NewRow | list[Fault] = [value] if isinstance(value, Fault) else _faults(value, where)
        if not new:
            identity = row_id(value)
            if identity in came:
                batch.repeats += 1
                continue
            came.add(identity)
            new = _gated(value, where, gate, notes.of(value, identity), path)
        if isinstance(new, list):
            batch.faults.extend(new)
            batch.rejects.append(raw if raw is not None else _as_line(value))
        elif new.id in sent:
            batch.repeats += 1
        else:
            sent.add(new.id)
            batch.rows.append(new)
    return batch


def _faults(row: Any, where: str) -> list[Fault]:
    return row_faults(row, where) or list(answer_faults(row, where))


def _gated(value: dict[str, Any], where: str, gate: Gate, note: Note, path: str) -> NewRow | list[Fault]:
    """A valid row as it leaves the gate, or what is wrong with it then."""
    row = gate.row(value)
    if row is not value:
        if faults := row_faults(row, where):
            return faults
        note = replace(note, text=REDACTED)
    line = row_line(row).encode()
    if len(line) > jsonl.LINE_LIMIT:
        return [Fault(where, "", f"a row of {len(line)} bytes", f"at most {jsonl.LINE_LIMIT} bytes")]
    identity = row_id(row)
    return NewRow(bytes.fromhex(identity), line, note.line(identity, path))


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


def _incoming(rows: Rows) -> Iterable[tuple[str, bytes | None, Any]]:
    """(place, raw line if there is one, row or Fault) of every row."""
    if isinstance(rows, str | PathLike):
        yield from _from_file(Path(rows))
        return
    if isinstance(rows, Mapping) or not isinstance(rows, Iterable):
        raise UsageError(f"rows: got {_given(rows)}; allowed: {ROWS_ALLOWED}")
    for number, row in enumerate(rows, 1):
        yield f"row {number}", None, dict(row) if isinstance(row, Mapping) else row


def _given(rows: Any) -> str:
    """What was given instead of rows; for a DatasetDict with its splits, one of which is meant."""
    splits = (
        [str(name) for name, value in rows.items() if hasattr(value, "column_names")] if hasattr(rows, "items") else []
    )
    if splits:
        return f"a {type(rows).__name__} of the splits {', '.join(splits)} (give one of them: rows[{splits[0]!r}])"
    return "one mapping" if isinstance(rows, Mapping) else describe(rows)


def _from_file(path: Path) -> Iterable[tuple[str, bytes | None, Any]]:
    try:
        with path.open("rb") as stream:
            for where, line in jsonl.numbered_lines(stream, path.name):
                try:
                    yield where, line, jsonl.parse_object(line)
                except UnicodeDecodeError as error:
                    got = f"bytes that are not UTF-8 (at {error.start})"
                    yield where, line, Fault(where, "", got, "UTF-8")
                except ValueError:
                    yield (
                        where,
                        line,
                        Fault(where, "", f"{len(line)} bytes that are no JSON object", "one JSON object a line"),
                    )
    except OSError as error:
        raise SourceError(f"{path}: can't be read ({error.strerror}); allowed: a JSON Lines file of rows") from None


def _as_line(value: Any) -> bytes:
    try:
        return (json.dumps(value, ensure_ascii=True) + "\n").encode()
    except (TypeError, ValueError):
        return (json.dumps({"not_json": describe(value)}) + "\n").encode()


@dataclass
class RowCheck:
    """Every line a valid row, every row once, with memory that hardly grows: feed lines in file order, then ask for
    the duplicates."""

    _ids: bytearray = field(default_factory=bytearray)
    _files: list[tuple[str, int]] = field(default_factory=list)
    _invalid: int = 0

    def start_file(self, path: str) -> None:
        self._files.append((path, len(self._ids) // _KEPT))

    def line(self, number: int, offset: int, line: bytes, faults: Faults) -> None:
        """Check one line; `number` counts from 1 within the file."""
        where = f"{self._files[-1][0]} line {number} (byte {offset})"
        try:
            value = parse_object(line)
        except ValueError:
            # an append passes blank lines over, and so do the counts; but none of ours is ever written
            got = f"{len(line)} bytes that are no JSON object" if line.strip() else "a blank line"
            faults.add(Fault(where, "", got, "one row a line"))
            # a place is kept so that line numbers of later rows stay right
            self._invalid += 1
            self._ids += b"\xff" + self._invalid.to_bytes(_KEPT - 1, "big")
            return
        faults.extend(row_faults(value, where))
        self._ids += line_id(line, value)[:_KEPT]

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
