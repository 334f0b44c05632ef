"""`.hf_kokoro/commit.json`: what a commit to a folder is about to do, so that the next process can finish it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import HistoryError


@dataclass(frozen=True)
class Declared:
    """`files`: path in the dataset to the name of its staged version. `entries`: the history lines that follow.

    `ledger_size` is the byte at which those lines begin in the history file.
    """

    files: Mapping[str, str]
    ledger_size: int
    entries: Sequence[str]

    def content(self) -> bytes:
        """As it stands in the file."""
        fields = {"files": dict(self.files), "ledger_size": self.ledger_size, "entries": list(self.entries)}
        return json.dumps(fields).encode()


def read_declared(file: Path) -> Declared:
    """Raises HistoryError, with the way out, if the file is not one that we wrote."""
    try:
        fields = json.loads(file.read_bytes())
        files, size, entries = fields["files"], fields["ledger_size"], fields["entries"]
        texts = [*files, *files.values(), *entries]
        if not entries or not all(isinstance(text, str) for text in texts) or type(size) is not int or size < 0:
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise HistoryError(
            f"{file}: the note of an append that was interrupted, and it can't be read; put it back from a copy, or "
            "delete it (the data files stay as they are) and append those rows again",
            0,
        ) from None
    return Declared(files, size, entries)
