"""Tables of text cells from the files people save: CSV, TSV, JSON, JSON Lines, XLSX, Parquet.

Every cell is text as it was written: `NA`, `None` and `007` stay what they are, a blank cell is `""`, a
whole number is its digits. Nested lists and objects of JSON and Parquet keep their shape, with text leaves.
One rule for line breaks in every format: CR LF, a lone CR and the `_x000D_` that spreadsheets leave
behind become one `\\n`. Rows without any filled cell are skipped. Every fault is collected, and none is
fatal to the rows around it.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from datetime import date, datetime, time
from pathlib import PurePosixPath
from typing import Any

from ..errors import Fault, Faults, describe
from .cells import Cell, TableRow, header_of, normalise_line_breaks, number_text, record
from .encoding import decode, has_lone_surrogate, reject_other_content
from .jsonl import Refused, distinct_pairs, no_constant

SUFFIXES = (".csv", ".tsv", ".tab", ".json", ".jsonl", ".ndjson", ".xlsx", ".parquet")
_JSON_LINES = (".jsonl", ".ndjson")
_DELIMITERS = ",\t;"


def is_table(name: str) -> bool:
    """Does the name end like a table that `read_table` reads? Lock and system files do not count."""
    path = PurePosixPath(name)
    hidden = path.name.startswith((".", "~$")) or "__MACOSX" in path.parts
    return path.suffix.lower() in SUFFIXES and not hidden


def read_table(name: str, data: bytes, faults: Faults, *, fallback: str | None = "cp932") -> Iterator[TableRow]:
    """Yield the records of one file in order; whatever is wrong goes to `faults`.

    Rows are counted as a spreadsheet shows them (the header is row 1); JSON Lines by line, JSON and
    Parquet by record from 1. Records with an uneven number of cells are faults and are not yielded.
    Raises MissingExtraError for XLSX without openpyxl.
    """
    if reject_other_content(name, data, faults):
        return
    suffix = PurePosixPath(name).suffix.lower()
    if suffix == ".xlsx":
        from .workbook import read_workbook

        yield from read_workbook(name, data, faults)
    elif suffix == ".parquet":
        yield from _read_parquet(name, data, faults)
    elif suffix not in SUFFIXES:
        faults.add(Fault(name, "", f"a file of type '{suffix}'", ", ".join(SUFFIXES), "save it as one of these"))
    else:
        text = decode(name, data, faults, fallback=fallback)
        if text is None:
            return
        if suffix in (".json", *_JSON_LINES):
            for where, item in _json_items(name, text, faults):
                if row := _object_row(where, item, faults):
                    yield row
        else:
            yield from _read_csv(name, text, suffix in (".tsv", ".tab"), faults)


def read_records(name: str, data: bytes, faults: Faults) -> Iterator[tuple[str, dict[str, Any]]]:
    """As `read_table`, but JSON and Parquet keep the types and texts that they have: (where, record).

    Cells of the other formats are text, as ever.
    """
    if reject_other_content(name, data, faults):
        return
    suffix = PurePosixPath(name).suffix.lower()
    if suffix == ".parquet":
        yield from _parquet_items(name, data, faults)
    elif suffix in (".json", *_JSON_LINES):
        text = decode(name, data, faults, fallback=None)
        for where, item in _json_items(name, text or "", faults, typed=True):
            if isinstance(item, dict):
                yield where, item
            else:
                faults.add(Fault(where, "", describe(item), "an object", "one object a record, keys as column names"))
    else:
        for row in read_table(name, data, faults, fallback=None):
            yield row.where, row.cells


def _read_csv(name: str, text: str, tabs: bool, faults: Faults) -> Iterator[TableRow]:
    delimiter = "\t" if tabs else _delimiter(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: list[str] | None = None
    number = 0
    try:
        for number, cells in enumerate(reader, 1):
            where = f"{name} row {number}"
            if header is None:
                if any(cell.strip() for cell in cells) and (header := header_of(where, cells, faults)) is None:
                    return
            elif row := record(where, header, cells, faults):
                yield row
    except csv.Error as error:
        got = f"CSV that breaks off after row {number} ({error})"
        step = "close the quotes; double a quote inside a quoted cell"
        faults.add(Fault(f"{name} line {reader.line_num}", "", got, "quoted cells that end", step))


def _delimiter(text: str) -> str:
    """The delimiter that the header line uses most, outside quotes; a comma in doubt."""
    line = re.sub(r'"[^"]*"', "", text.lstrip().split("\n", 1)[0])
    return max(_DELIMITERS, key=line.count)


def _json_items(name: str, text: str, faults: Faults, *, typed: bool = False) -> Iterator[tuple[str, Any]]:
    """(where, record) of JSON Lines or of one array, numbers as text unless `typed`."""
    if PurePosixPath(name).suffix.lower() in _JSON_LINES or text.lstrip().startswith("{"):
        # not splitlines(): U+2028 and its kin are text, only a line feed ends a record
        for number, line in enumerate(text.split("\n"), 1):
            item = _parse(name, number, line, faults, typed=typed) if line.strip() else None
            if item is not None:
                yield f"{name} line {number}", item
        return
    items = _parse(name, 1, text, faults, typed=typed) if text.strip() else None
    if isinstance(items, list):
        for number, item in enumerate(items, 1):
            yield f"{name} record {number}", item
    elif items is not None:
        faults.add(Fault(name, "", describe(items), "an array of objects", "wrap the records in [ ]"))


def _parse(name: str, first_line: int, text: str, faults: Faults, *, typed: bool) -> Any:
    # numbers stay the text they were, so 1.10 and an id of 40 digits survive
    numbers: dict[str, Any] = {} if typed else {"parse_int": str, "parse_float": _float_text}
    try:
        return json.loads(text, parse_constant=no_constant, object_pairs_hook=distinct_pairs, **numbers)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        got = f"JSON that breaks at column {error.colno} ({error.msg})"
        where, allowed = f"{name} line {line}", "an array of objects, or one object a line"
        faults.add(Fault(where, "", got, allowed, "the file may be cut off; get it again"))
    except (Refused, RecursionError) as error:
        got = str(error) if isinstance(error, Refused) else "objects nested too deeply"
        faults.add(Fault(f"{name} line {first_line}", "", got, "plain JSON objects"))
    return None


def _float_text(digits: str) -> str:
    whole, point, fraction = digits.partition(".")
    return whole if point and fraction.strip("0") == "" else digits


def _object_row(where: str, item: Any, faults: Faults) -> TableRow | None:
    if not isinstance(item, dict):
        faults.add(Fault(where, "", describe(item), "an object", "one object a record, keys as column names"))
        return None
    cells = {key.strip(): _cell(value) for key, value in item.items()}
    bad = next((key for key, value in cells.items() if _has_bad_text(value)), None)
    if bad is not None:
        got, allowed = "text with a lone surrogate, or raw bytes", "text that UTF-8 can hold"
        faults.add(Fault(where, describe(bad, show=True), got, allowed))
        return None
    return TableRow(where, cells) if any(cells.values()) else None


def _cell(value: Any) -> Cell:
    if isinstance(value, dict):
        return {key: _cell(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cell(item) for item in value]
    if isinstance(value, str):
        return normalise_line_breaks(value)
    return value if isinstance(value, bytes) else _leaf_text(value)


def _leaf_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return number_text(value)
    return value.isoformat() if isinstance(value, datetime | date | time) else str(value)


def _has_bad_text(value: Cell) -> bool:
    if isinstance(value, list):
        return any(map(_has_bad_text, value))
    if isinstance(value, dict):
        return any(map(_has_bad_text, value.values()))
    return isinstance(value, bytes) or has_lone_surrogate(value)


def _read_parquet(name: str, data: bytes, faults: Faults) -> Iterator[TableRow]:
    for where, item in _parquet_items(name, data, faults):
        if row := _object_row(where, item, faults):
            yield row


def _parquet_items(name: str, data: bytes, faults: Faults) -> Iterator[tuple[str, dict[str, Any]]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        for batch in pq.ParquetFile(io.BytesIO(data)).iter_batches(batch_size=500):
            for item in batch.to_pylist():
                number += 1
                yield f"{name} record {number}", item
    except (pa.ArrowException, OSError) as error:
        got = f"Parquet that can't be read after record {number} ({type(error).__name__})"
        faults.add(Fault(name, "", got, "a whole Parquet file", "get the file again"))
