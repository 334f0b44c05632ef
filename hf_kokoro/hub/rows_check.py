"""Every line a valid row, every row once: checked line by line, with memory that hardly grows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ..core.jsonl import parse_object
from ..errors import Fault, Faults
from ..miti.contract import row_faults
from .lines import line_id

_KEPT = 16
"""Bytes of the row id that are kept: enough that two different rows never look the same by chance."""


@dataclass
class RowCheck:
    """Feed lines in file order, then ask for the duplicates."""

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
