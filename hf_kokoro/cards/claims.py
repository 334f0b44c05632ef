"""The claims of a dataset's ledger, by row, for whoever counts or sends its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..hub.provenance import folder_ledger, ledger_notes
from ..policy.claims import Claim
from ..policy.notes import Notes


def claims_in(ledger: Mapping[str, Sequence[Path | bytes]]) -> dict[str, Claim]:
    """Claims by row id (hex). Equal ones are one object: a dataset has few. Raises SourceError."""
    known: dict[Claim, Claim] = {}
    return {row_id: known.setdefault(note.claim, note.claim) for row_id, note in ledger_notes(ledger)}


def folder_notes(folder: Path) -> Notes:
    """The notes of the dataset in a folder; they go along when its rows are sent. Raises SourceError."""
    return Notes(dict(ledger_notes(folder_ledger(folder))))
