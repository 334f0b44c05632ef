"""The derived configs of a published MITI-ST repo, as JSON Lines beside the rows.

One file format a repo: `datasets` takes the reader of the default config for all configs. Every line follows
from one row, so these files grow at the end too, and a Hub upload sends only what is new.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from ..errors import Fault, RowError
from ..miti.spelling import read_spelled
from ..miti.views import pair_view, unpaired_view
from ..policy.notes import Note
from .facts import MitiFacts

PAIRS_PATH = "pairs/train.jsonl"
UNPAIRED_PATH = "unpaired/train.jsonl"

Lines = Iterable[tuple[str, bytes]]
"""(where, line) of each line of the data files, oldest first; `where` names file and line."""


def derive(lines: Lines, work: Path, notes: Mapping[str, Note] | None = None) -> tuple[MitiFacts, dict[str, Path]]:
    """Read every row once: the facts of all, and the derived files (path in the repo to a file in `work`).

    `notes` are those of the dataset's ledger, by row id. Raises RowError naming the first line that is no row of the
    schema.
    """
    facts = MitiFacts()
    files = {PAIRS_PATH: work / "pairs.jsonl", UNPAIRED_PATH: work / "unpaired.jsonl"}
    with files[PAIRS_PATH].open("wb") as pairs, files[UNPAIRED_PATH].open("wb") as unpaired:
        for where, row in parse_rows(lines):
            try:
                identity = fast_row_id(row)
                new_answers = facts.add(row, notes.get(identity) if notes else None)
                pairs.write(_line(pair_view(row, identity=identity)))
                unpaired.writelines(_line(unpaired_view(row, answer)) for answer in new_answers)
            except (KeyError, TypeError, AttributeError) as error:
                raise RowError("data", [_schema_fault(where, error)]) from None
    return facts, files


def fast_row_id(row: Mapping[str, Any]) -> str:
    """`schema.miti_st.row_id` for rows of the schema, ten times as fast: their canonical JSON by orjson."""
    return hashlib.sha256(orjson.dumps(row, option=orjson.OPT_SORT_KEYS)).hexdigest()


def parse_rows(lines: Lines) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(where, row) of every line that is not blank, whatever its spelling. Raises RowError for what is no object."""
    for where, line in lines:
        if not line.strip():
            continue
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError:
            row = None
        if not isinstance(row, dict):
            got = f"{len(line)} bytes that are no JSON object"
            raise RowError("data", [Fault(where, "", got, "one row a line")])
        read = read_spelled(row)
        yield where, read.known if read.spellings else read.row


def _schema_fault(where: str, error: Exception) -> Fault:
    got = f"a row without the key {error}" if isinstance(error, KeyError) else "a value of another type"
    return Fault(where, "", got, "the MITI-ST row schema", "see what `hf-kokoro audit` says about the file")


def _line(row: dict[str, Any]) -> bytes:
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
