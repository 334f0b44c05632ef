"""What a dataset's ledger says of its rows, for whoever counts or sends them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..hub.provenance import folder_ledger, ledger_notes
from ..policy.notes import Note, Notes


def notes_in(ledger: Mapping[str, Sequence[Path | bytes]]) -> dict[str, Note]:
    """Notes by row id (hex). Equal ones are one object: a dataset has few. Raises SourceError."""
    known: dict[Note, Note] = {}
    return {row_id: known.setdefault(note, note) for row_id, note in ledger_notes(ledger)}


def folder_notes(folder: Path) -> Notes:
    """The notes of the dataset in a folder; they go along when its rows are sent. Raises SourceError."""
    return Notes(dict(ledger_notes(folder_ledger(folder))))
