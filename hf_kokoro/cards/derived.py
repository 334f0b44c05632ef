"""The derived configs of a published MITI-ST repo, as JSON Lines beside the rows.

One file format a repo: `datasets` takes the reader of the default config for all configs. Every line follows
from one row, so these files grow at the end too, and a Hub upload sends only what is new.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from ..errors import Fault, RowError
from ..schema.miti_st_views import pair_view, unpaired_view
from .facts import MitiFacts

PAIRS_PATH = "pairs/train.jsonl"
UNPAIRED_PATH = "unpaired/train.jsonl"

Lines = Iterable[tuple[str, bytes]]
"""(where, line) of each line of the data files, oldest first; `where` names file and line."""


def derive(lines: Lines) -> tuple[MitiFacts, dict[str, bytes]]:
    """Read every row once: the facts of all, and the derived files (path in the repo to content).

    Raises RowError naming the first line that is no row of the schema.
    """
    facts = MitiFacts()
    pairs, unpaired = bytearray(), bytearray()
    for where, row in parse_rows(lines):
        try:
            new_answers = facts.add(row)
            pairs += _line(pair_view(row))
            for answer in new_answers:
                unpaired += _line(unpaired_view(row, answer))
        except (KeyError, TypeError, AttributeError) as error:
            raise RowError("data", [_schema_fault(where, error)]) from None
    return facts, {PAIRS_PATH: bytes(pairs), UNPAIRED_PATH: bytes(unpaired)}


def parse_rows(lines: Lines) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(where, row) of every line that is not blank. Raises RowError for a line that is no JSON object."""
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
        yield where, row


def _schema_fault(where: str, error: Exception) -> Fault:
    got = f"a row without the key {error}" if isinstance(error, KeyError) else "a value of another type"
    return Fault(where, "", got, "the MITI-ST row schema", "see what `hf-kokoro audit` says about the file")


def _line(row: dict[str, Any]) -> bytes:
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
