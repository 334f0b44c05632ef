"""Prediction files: JSON Lines of what a system wrote, read as a stream, written so that a run can go on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.encoding import has_lone_surrogate
from ..core.jsonl import NoObject, numbered_lines, parse_object
from ..errors import Fault, Faults, InputError, SourceError, describe

FILE_NAME = "predictions.jsonl"
"""The predictions inside a run folder."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """One reply and the reply it is measured against. `group` (a dialogue) is what intervals resample."""

    prediction: str
    reference: str
    id: str
    group: str


def predictions_path(path: str | Path) -> Path:
    """The file itself, or the predictions inside a run folder. Raises SourceError if neither is there."""
    given = Path(path)
    found = given / FILE_NAME if given.is_dir() else given
    if not found.is_file():
        raise SourceError(f"predictions {given.name!r}: no such file; allowed: a JSONL file or a folder of a run")
    return found


def read_rows(path: str | Path, *, may_be_empty: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """(where, object) for every line, as a stream. Faulty lines are reported together at the end.

    Raises SourceError if there is no such file, InputError for lines that are no JSON objects, and for no row at all.
    """
    file, faults, where = predictions_path(path), Faults(), ""
    with open(file, "rb") as stream:
        for where, line in numbered_lines(stream, file.name):
            try:
                yield where, parse_object(line)
            except ValueError as error:
                faults.add(Fault(where, "", _what_it_is(error), "a JSON object in UTF-8"))
    faults.raise_if_any(f"predictions {file.name}")
    if not where and not may_be_empty:
        raise InputError("predictions", [Fault(file.name, "", "no row", "one or more")])


def read_predictions(path: str | Path) -> Iterator[Prediction]:
    """Rows with `prediction` and `reference`; `id` (default: the line) and `dialogue_id` are optional.

    A prediction may be empty (a model may say nothing); a reference may not. Faults are reported together when
    the last row has been read: nothing made of the rows counts before that. Raises SourceError, InputError.
    """
    faults = Faults()
    for where, row in read_rows(path):
        found = list(_text_faults(where, row))
        faults.extend(found)
        if not found:
            identity = str(row.get("id", where))
            yield Prediction(row["prediction"], row["reference"], identity, str(row.get("dialogue_id", identity)))
    faults.raise_if_any("predictions")


def in_step(first: Iterable[Prediction], second: Iterable[Prediction]) -> Iterator[tuple[Prediction, Prediction]]:
    """Pair up two systems' rows. Raises InputError where they do not answer the same references in one order."""
    left, right, number = iter(first), iter(second), 0
    while True:
        one, other = next(left, None), next(right, None)
        if one is None and other is None:
            return
        number += 1
        if one is None or other is None or one.reference != other.reference:
            got = "more rows in one file" if one is None or other is None else "different references"
            raise InputError(
                "two systems can't be compared",
                [Fault(f"row {number}", "", got, "the same references in the same order in both files")],
            )
        yield one, other


def finished_ids(path: Path) -> dict[str, dict[str, Any]]:
    """Rows that an earlier run finished, by id. A line that a kill tore is removed from the file's end."""
    if not path.exists():
        return {}
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        with open(path, "r+b") as file:
            file.truncate(whole)
    return {str(row["id"]): row for _, row in read_rows(path, may_be_empty=True) if "id" in row}


def row_line(row: Mapping[str, Any]) -> str:
    """The row as one line of JSON. ASCII: no text can break the line or the encoding."""
    return json.dumps(row, allow_nan=False) + "\n"


def _what_it_is(error: ValueError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "bytes that are not UTF-8"
    return describe(error.value) if isinstance(error, NoObject) else "no JSON"


def _text_faults(where: str, row: Mapping[str, Any]) -> Iterator[Fault]:
    for name, allowed in (("prediction", "text"), ("reference", "text that is not blank")):
        value = row.get(name)
        if not isinstance(value, str):
            yield Fault(where, name, "nothing" if name not in row else describe(value), allowed)
        elif has_lone_surrogate(value):
            yield Fault(where, name, "text with a lone surrogate", "text that UTF-8 can hold")
        elif name == "reference" and not value.strip():
            yield Fault(where, name, "blank text", allowed)
