"""Where the texts of a folder come from: what its card says, and what its names and columns give away."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..hub.target import CARD_PATH
from ..policy.claims import origins_of
from ..policy.licences import (
    TELLING_COLUMNS,
    Licence,
    check_card_licence,
    licences_of,
    refuse_not_stated,
    row_licences,
    sources_named_in,
    sources_with_columns,
)
from .check import card_problems, raise_problems
from .check_files import folder_files
from .front_matter import split_card
from .hub_terms import LICENCE_IDS

_TITLE = re.compile(r"(?m)^# +(.*)$")


def folder_sources(source: Path, rows: Iterable[Mapping[str, Any]]) -> dict[str, Licence]:
    """Ids of the sources of a folder with their licences; `rows` are its MITI-ST rows, if it holds such.

    What a row says of its source and licence counts, and the strictest of all that is said.
    Raises CardError, with all problems of the card, if its YAML or licence can't be read, LicenceError if rows state
    no source or licence, or the card a licence that is looser than its sources'.
    """
    card = source / CARD_PATH
    content = card.read_bytes() if card.is_file() else b""
    text = content.decode("utf-8-sig", "replace")
    data, _ = split_card(text) if text else ({}, "")
    stated = data.get("license")
    card_licences = [name for name in (stated if isinstance(stated, list) else [stated]) if isinstance(name, str)]
    if not set(card_licences) <= LICENCE_IDS:
        raise_problems(card_problems(content))
    named_there = data.get("source_datasets")
    sources = {n for n in (named_there if isinstance(named_there, list) else [named_there]) if isinstance(n, str)}
    sources -= {"original"}
    names = (source.resolve().name, str(data.get("pretty_name", "")), *_TITLE.findall(text)[:1])
    sources |= sources_named_in(text, names) | {*sources_with_columns(_columns(source))}
    stated_by_rows = origins_of(rows)
    refuse_not_stated(stated_by_rows)
    licences = {**licences_of(sorted(sources)), **row_licences((origin[0], origin[1]) for origin in stated_by_rows)}
    check_card_licence(card_licences, licences)
    return licences or licences_of(["a source that the card does not name"])


def _columns(source: Path) -> Iterator[str]:
    """Columns of the data files, as far as they can tell whose they are, whatever the card claims."""
    for path in folder_files(source):
        if path.endswith(".parquet"):
            # the check of the files says what is wrong with one that can't be read
            with suppress(pa.ArrowException, OSError):
                yield from pq.read_schema(source / path).names
        elif path.endswith((".jsonl", ".json")) and not path.startswith("data/pilot"):
            with (source / path).open("rb") as stream:
                head = stream.read(1 << 16)
            yield from (key for key in TELLING_COLUMNS if key.encode() in head)
