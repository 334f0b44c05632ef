"""Where the texts of a folder come from: what its card says, and what its names and columns give away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ..hub.target import CARD_PATH
from ..schema.miti_st import SOURCE_DATASET
from .check_files import folder_files
from .front_matter import split_card
from .licences import LicenceError, licence_of, looser_than, sources_named_in


def folder_sources(source: Path, has_rows: bool) -> list[str]:
    """Ids of the sources of a folder; `has_rows` says that it holds MITI-ST rows.

    Raises LicenceError if the card states a licence that is looser than its sources', CardError if its YAML
    can't be read.
    """
    card = source / CARD_PATH
    content = card.read_bytes() if card.is_file() else b""
    text = content.decode("utf-8-sig", "replace")
    data, _ = split_card(text) if text else ({}, "")
    stated = data.get("source_datasets")
    sources = {name for name in (stated if isinstance(stated, list) else [stated]) if isinstance(name, str)}
    sources -= {"original"}
    sources |= set(sources_named_in(text, source.resolve().name, *_column_names(source)))
    if has_rows:
        sources.add(SOURCE_DATASET)
    licence = data.get("license")
    if isinstance(licence, str) and (tighter := looser_than(licence, sources)):
        named = ", ".join(f"{name} ({licence_of(name).name})" for name in tighter)
        raise LicenceError(
            f"publishing refused: the card says {licence[:40]}, which is looser than the licence of what it is made "
            f"from: {named}; nothing was sent. A derived dataset can't be freer than its sources"
        )
    return sorted(sources) or ["a source that the card does not name"]


_KOKOROCHAT_COLUMNS = {"counselor_id", "review_by_client_en", "review_by_client_jp", "review_by_client"}


def _column_names(source: Path) -> Iterator[str]:
    """A word for the corpus whose columns the data files have, whatever the card claims."""
    for path in folder_files(source):
        names: set[str] = set()
        if path.endswith(".parquet"):
            try:
                names = set(pq.read_schema(source / path).names)
            except (pa.ArrowException, OSError):
                names = set()  # the check of the files says what is wrong with it
        elif path.endswith((".jsonl", ".json")) and not path.startswith("data/pilot"):
            with (source / path).open("rb") as stream:
                names = {key for key in _KOKOROCHAT_COLUMNS if key.encode() in stream.read(1 << 16)}
        if names & _KOKOROCHAT_COLUMNS:
            yield "kokorochat"
