"""Rows of an XLSX workbook as text cells (openpyxl, extra `xlsx`); see `tables` for the rules."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time
from typing import Any

from ..errors import Fault, Faults, MissingExtraError, SourceError
from .cells import TableRow, header_of, number_text, record

UNPACKED_LIMIT = 2 * 1024**3
"""Bytes: a workbook that unpacks to more is refused before it is read."""

_OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def read_workbook(name: str, data: bytes, faults: Faults) -> Iterator[TableRow]:
    """Yield the records of every visible sheet that is not empty; each sheet has its own header row.

    Numbers become their digits, zero-padded where the cell's format is only zeros (`000`). A formula
    counts as the value stored with it; one without, and an error value such as #N/A, is a fault.
    """
    if data.startswith(_OLE_MAGIC):
        got, step = "an old .xls or a password-protected workbook", "save it as .xlsx without a password"
        faults.add(Fault(name, "", got, "an .xlsx workbook", step))
        return
    if _too_large(name, data, faults):
        return
    load = _openpyxl(name)
    try:
        values = load(io.BytesIO(data), read_only=True, data_only=True)
        formulas = load(io.BytesIO(data), read_only=True, data_only=False)
        visible = [title for title in values.sheetnames if values[title].sheet_state == "visible"]
        for position, title in enumerate(visible, 1):
            label = name if len(visible) == 1 else f"{name} sheet {position}"
            yield from _read_sheet(label, values[title], formulas[title], faults)
    # openpyxl lets whatever its XML and zip readers raise through, so no shorter list is safe
    except (SourceError, MissingExtraError):
        raise
    except Exception as error:
        got = f"a workbook that can't be read ({type(error).__name__})"
        faults.add(Fault(name, "", got, "an .xlsx workbook", "open it and save it again as .xlsx"))


def _openpyxl(name: str) -> Any:
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise MissingExtraError("openpyxl", "xlsx", f"reading {name}") from None
    return load_workbook


def _too_large(name: str, data: bytes, faults: Faults) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(info.file_size for info in archive.infolist())
    except zipfile.BadZipFile:
        faults.add(Fault(name, "", "bytes that are not a workbook", "an .xlsx workbook", "get the file again"))
        return True
    if size > UNPACKED_LIMIT:
        faults.add(Fault(name, "", f"{size} bytes after unpacking", f"at most {UNPACKED_LIMIT}"))
    return size > UNPACKED_LIMIT


def _read_sheet(label: str, values: Any, formulas: Any, faults: Faults) -> Iterator[TableRow]:
    header: list[str] | None = None
    # the stored dimension of a sheet is often wrong; without it the reader takes the rows that are there
    values.reset_dimensions()
    formulas.reset_dimensions()
    rows = zip(values.iter_rows(), formulas.iter_rows(), strict=True)
    for number, (row, sources) in enumerate(rows, 1):
        where = f"{label} row {number}"
        before = faults.count
        cells = [_text(where, c, s, faults) for c, s in zip(row, sources, strict=True)]
        while cells and not cells[-1]:
            cells.pop()
        if not cells or faults.count > before:
            continue
        if header is None:
            header = header_of(where, cells, faults)
            if header is None:
                return
            continue
        cells += [""] * (len(header) - len(cells))
        if found := record(where, header, cells, faults):
            yield found


def _text(where: str, cell: Any, source: Any, faults: Faults) -> str:
    value = cell.value
    column = f"column {getattr(cell, 'column_letter', '')}".strip()
    if value is None:
        if source.value is not None:
            got, step = "a formula without a stored value", "paste the values over the formulas"
            faults.add(Fault(where, column, got, "text or a number", step))
        return ""
    if cell.data_type == "e":
        faults.add(Fault(where, column, f"the error value {value}", "text or a number", "repair the formula"))
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        digits = number_text(value)
        zeros = str(cell.number_format)
        return digits.zfill(len(zeros)) if zeros.strip("0") == "" and digits.isdigit() else digits
    return value.isoformat() if isinstance(value, datetime | date | time) else str(value)
