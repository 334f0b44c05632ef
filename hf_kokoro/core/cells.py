"""One record of a table: header, text cells, and the rules that every format shares (see `tables`)."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..errors import Fault, Faults, describe

_LINE_BREAK = re.compile(r"(?:\r|_x000D_)+\n|\r|_x000D_", re.IGNORECASE)

Cell = Any
"""str, or (JSON and Parquet only) a list or dict of cells."""


class TableRow(NamedTuple):
    """One record: `where` names file (and sheet) and row for messages, `cells` maps header to cell."""

    where: str
    cells: dict[str, Cell]


def normalise_line_breaks(text: str) -> str:
    """The one rule: CR LF, lone CR and `_x000D_` become `\\n`."""
    return _LINE_BREAK.sub("\n", text)


def header_of(where: str, names: Sequence[str], faults: Faults) -> list[str] | None:
    """Column names of a header row: outer space stripped, a nameless one called `column N`.

    None, and a fault, if a name stands twice.
    """
    header = [normalise_line_breaks(n).strip() or f"column {i}" for i, n in enumerate(names, 1)]
    for position, column in enumerate(header, 1):
        first = header.index(column) + 1
        if first != position:
            got = f"column {position} has the name of column {first} ({describe(column, show=True)})"
            faults.add(Fault(where, "", got, "different column names", "rename one of them"))
            return None
    return header


def record(where: str, header: Sequence[str], cells: Sequence[str], faults: Faults) -> TableRow | None:
    """Join one row of cells with its header; None if it is blank or (a fault) has another number of cells."""
    if not any(cell.strip() for cell in cells):
        return None
    if len(cells) != len(header):
        step = "look for a missing quote or a stray delimiter"
        faults.add(Fault(where, "", f"{len(cells)} cells", f"{len(header)}, as in the header", step))
        return None
    return TableRow(where, {h: normalise_line_breaks(c) for h, c in zip(header, cells, strict=True)})


def number_text(value: int | float) -> str:
    """Digits of a whole number, the shortest exact spelling of any other."""
    if isinstance(value, float) and math.isfinite(value) and value.is_integer() and abs(value) < 1e16:
        return str(int(value))
    return repr(value)
