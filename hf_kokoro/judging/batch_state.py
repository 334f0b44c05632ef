"""What a batch run must know after a crash: which rows are in which batch, on disk before anything is sent."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..core.atomic import write_atomically
from ..core.disk import disk_errors
from ..errors import KokoroError
from .verdicts import Item


class BatchStateError(KokoroError):
    """The note of open batches can't be used."""


@dataclass
class BatchRow:
    """One answer in a batch, by its digests; `attempt` 2 is the one retry of a reply that was no verdict."""

    question_id: str
    therapist: str
    question_sha256: str
    answer_sha256: str
    attempt: int
    max_tokens: int


@dataclass
class OpenBatch:
    """A batch that was, or was about to be, created. `id` is None until the service has told it.

    `newest_before` is the newest batch of the account just before; a batch behind it with as many rows, and
    with our custom ids in its results, is the one whose id never arrived.
    """

    rows: dict[str, BatchRow]
    newest_before: str | None
    id: str | None = None
    foreign: list[str] = field(default_factory=list)


@dataclass
class BatchState:
    """The open batches of one journal, in `<journal>.batch.json`; the file goes when none is open."""

    path: Path
    model: str
    prompt_sha256: str
    open: list[OpenBatch] = field(default_factory=list)

    def save(self) -> None:
        """Write the whole note in one step, and make sure that it is on the disk."""
        after = "the verdicts so far are in the journal; batches that are under way stay with the service"
        with disk_errors(self.path, after, BatchStateError):
            self._save()

    def _save(self) -> None:
        if not self.open:
            self.path.unlink(missing_ok=True)
            return
        note = {"model": self.model, "prompt_sha256": self.prompt_sha256, "open": [asdict(b) for b in self.open]}
        write_atomically(self.path, json.dumps(note).encode())


def state_path(journal: Path) -> Path:
    """Where the open batches of a journal are noted."""
    return journal.with_name(journal.name + ".batch.json")


def load_state(journal: Path, model: str, prompt_sha256: str) -> BatchState:
    """The note, or a fresh one. Raises BatchStateError for one of another model or prompt, or a damaged one."""
    path = state_path(journal)
    fresh = BatchState(path, model, prompt_sha256)
    if not path.exists():
        return fresh
    try:
        note: dict[str, Any] = json.loads(path.read_text("utf-8"))
        fresh.open = [
            OpenBatch(
                {name: BatchRow(**row) for name, row in batch["rows"].items()},
                batch["newest_before"],
                batch["id"],
                batch["foreign"],
            )
            for batch in note["open"]
        ]
        theirs = (note["model"], note["prompt_sha256"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise BatchStateError(
            f"{path}: damaged; look for open batches in the console before you delete it, they are paid for"
        ) from None
    if theirs != (model, prompt_sha256):
        raise BatchStateError(
            f"{path}: has open batches of {theirs[0]} or of another rubric; finish them with that --model and "
            "version, or delete the file to give them up"
        )
    return fresh


def batch_row(item: Item, attempt: int, max_tokens: int) -> BatchRow:
    """The row of an item."""
    return BatchRow(item.question_id, item.therapist, item.question_sha256, item.answer_sha256, attempt, max_tokens)
