"""Rows as people have them, as plain mappings: lists, JSON Lines, tables on disk, DataFrames, Arrow, `datasets`.

Nothing is judged here: what is no row stays for the check that names it. A file that can't hold rows at all is one
error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from ..core import jsonl, tables
from ..core.encoding import reject_other_content
from ..core.jsonl import parse_object
from ..errors import Fault, Faults, RowError, SourceError, UsageError, describe

Rows = Iterable[Any] | str | PathLike[str] | Any
Incoming = tuple[str, bytes | None, Any]
"""(place, raw line if there is one, row or Fault)."""

_JSON_LINES = (".jsonl", ".ndjson")
_KINDS = f"a file of rows: {', '.join(tables.SUFFIXES)}"
ROWS_ALLOWED = (
    "a list or another iterable of rows (mappings of the MITI-ST schema), a DataFrame, an Arrow table, one split of a "
    "dataset, or the path of a file of rows"
)
_NESTED = "all_answers"
_NUMBERS = ("chosen_score", "rejected_score")
_WHOLE = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?[0-9]+\.[0-9]*")
_PANDAS_INDEX = re.compile(r"__index_level_[0-9]+__")
_HEAD = 1 << 16


def incoming(rows: Rows) -> Iterator[Incoming]:
    """Every row with its place. Raises SourceError for a file that can't be read or holds no row, RowError with all
    faults of a table that can't be taken apart, UsageError for what is no batch."""
    if isinstance(rows, str | PathLike):
        yield from _from_file(Path(rows).expanduser())
        return
    arrow = hasattr(rows, "__arrow_c_stream__") or hasattr(rows, "__arrow_c_array__")
    if isinstance(rows, Mapping | bytes | bytearray) or not (arrow or hasattr(rows, "__iter__")):
        raise UsageError(f"rows: got {_given(rows)}; allowed: {ROWS_ALLOWED}")
    yield from _numbered(_records(rows))


def _given(rows: Any) -> str:
    """What was given instead of rows; for a DatasetDict with its splits, one of which is meant."""
    splits = (
        [str(name) for name, value in rows.items() if hasattr(value, "column_names")] if hasattr(rows, "items") else []
    )
    if splits:
        return f"a {type(rows).__name__} of the splits {', '.join(splits)} (give one of them: rows[{splits[0]!r}])"
    return "one mapping" if isinstance(rows, Mapping) else describe(rows)


def _numbered(rows: Iterable[Any]) -> Iterator[Incoming]:
    for number, row in enumerate(rows, 1):
        yield f"row {number}", None, row


def _records(rows: Any) -> Iterable[Any]:
    """The rows of an object in Python's own types."""
    if _of(rows, "pandas") and hasattr(rows, "to_dict"):
        return (_filled(_plain(row)) for row in rows.to_dict("records"))
    if _of(rows, "datasets"):
        return (_filled(_plain(row)) for row in rows)
    if hasattr(rows, "__arrow_c_stream__") or hasattr(rows, "__arrow_c_array__"):
        import pyarrow as pa

        return map(_filled, pa.table(rows).to_pylist())
    return map(_plain, rows)


def _of(value: Any, package: str) -> bool:
    """Whether a value is of a package, which need not be loaded to know it."""
    return type(value).__module__.partition(".")[0] == package


def _plain(value: Any) -> Any:
    """numpy's numbers, booleans and arrays, and tuples, as Python's own."""
    if type(value) in (str, int):
        return value
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value


def _filled(value: Any) -> Any:
    """Without the None that a table has where a row has no value of a column, and without pandas' own index."""
    if isinstance(value, dict):
        return {
            key: _filled(part)
            for key, part in value.items()
            if part is not None and not (isinstance(key, str) and _PANDAS_INDEX.fullmatch(key))
        }
    return [_filled(part) for part in value] if isinstance(value, list) else value


table_row = _filled
"""A row of an Arrow table as a mapping of what it holds."""


def whole(value: Any) -> Any:
    """Floats without a fraction as integers, at any depth."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: whole(part) for key, part in value.items()}
    return [whole(part) for part in value] if isinstance(value, list) else value


def _from_file(path: Path) -> Iterator[Incoming]:
    suffix = path.suffix.lower()
    try:
        if path.is_file() and suffix not in tables.SUFFIXES:
            raise SourceError(f"{path.name}: a file of type {suffix or 'no type'!r}; allowed: {_KINDS}")
        if path.is_file() and not path.stat().st_size:
            raise _no_rows(path)
        found = _from_lines(path) if suffix in _JSON_LINES or not path.is_file() else _from_table(path)
        count = 0
        for item in found:
            count += 1
            yield item
    except OSError as error:
        raise SourceError(f"{path}: can't be read ({error.strerror}); allowed: {_KINDS}") from None
    if not count:
        raise _no_rows(path)


def _no_rows(path: Path) -> SourceError:
    return SourceError(f"{path.name}: there are no rows in it; nothing was written")


def _from_lines(path: Path) -> Iterator[Incoming]:
    with path.open("rb") as stream:
        _refuse_other_content(path, stream.read(_HEAD))
        stream.seek(0)
        for where, line in jsonl.numbered_lines(stream, path.name):
            if line.strip():  # the first one may have been a byte order mark alone
                yield where, line, _parsed(where, line)


def _parsed(where: str, line: bytes) -> Any:
    try:
        return parse_object(line)
    except UnicodeDecodeError as error:
        return Fault(where, "", f"bytes that are not UTF-8 (at {error.start})", "UTF-8")
    except ValueError:
        return Fault(where, "", f"{len(line)} bytes that are no JSON object", "one JSON object a line")


def _refuse_other_content(path: Path, head: bytes) -> None:
    """Raise SourceError for a file that is named like JSON Lines and is something else."""
    faults = Faults()
    if not head.strip():
        return  # blank so far: the lines tell
    if reject_other_content(path.name, head, faults):
        raise SourceError(str(next(iter(faults))))
    kinds = {b"PAR1": "Parquet (name it .parquet)", b"PK\x03\x04": "a zip archive or a workbook", b"\x1f\x8b": "gzip"}
    other = next((kind for mark, kind in kinds.items() if head.startswith(mark)), "")
    if head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"["):
        other = "a JSON array (name it .json)"
    if other:
        raise SourceError(f"{path.name}: holds {other}, so its lines are no JSON objects; allowed: {_KINDS}")


def _from_table(path: Path) -> Iterator[Incoming]:
    faults = Faults()
    records = list(tables.read_records(path.name, path.read_bytes(), faults))
    faults.raise_if_any(f"{path.name} can't be read as a table", RowError, "nothing was written")
    text_only = path.suffix.lower() not in (".parquet", ".json")
    for where, record in records:
        yield where, None, _from_cells(where, record) if text_only else _filled(record)


def _from_cells(where: str, cells: dict[str, Any]) -> Any:
    """A row out of text cells: the two scores are numbers, and all_answers is JSON in a cell."""
    row = {key: value for key, value in cells.items() if value != ""}
    for key in _NUMBERS:
        row[key] = _number(row[key]) if key in row else None
    if isinstance(row.get(_NESTED), str):
        try:
            row[_NESTED] = json.loads(row[_NESTED])
        except (ValueError, RecursionError):
            step = "write that column with json.dumps; pandas' to_csv writes Python's own spelling of a list"
            return Fault(where, _NESTED, "text that is no JSON", "a JSON list of answers in the cell", step)
    return _filled(row)


def _number(text: Any) -> Any:
    if isinstance(text, str) and _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if isinstance(text, str) and _DECIMAL.fullmatch(text) else text
