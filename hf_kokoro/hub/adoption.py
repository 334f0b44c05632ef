"""What an adoption says of itself: in the report, in a dry run, in the commit's message, and to the audit."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_DIGEST = 16


@dataclass(frozen=True)
class Adoption:
    """Rows that were taken over, and the proof that none was lost.

    `before` rows were read at the former revision, by `datasets.load_dataset` (`plain`) or, where it can't read them,
    line by line: `config`, `split` and `files` say where; `beside` of them stood in the growing file, where nobody saw
    them, and `repeats` repeat an earlier row. `after` rows are read from what is written, the `new` ones among them;
    the others are exactly those from before, as a multiset of row ids, whose sha256 (sorted, first 16 digits) is `ids`.
    """

    path: str
    before: int
    after: int
    new: int
    ids: str
    config: str
    split: str
    files: Sequence[str]
    deleted: Sequence[str]
    plain: bool = True
    beside: int = 0
    repeats: int = 0

    @property
    def title(self) -> str:
        """The commit's first line."""
        more = f" and add {self.new}" if self.new else ""
        return f"Adopt {_rows(self.before)} into {self.path}{more}"

    def lines(self) -> list[str]:
        """The proof in words; the first line is what `adopted_rows` finds."""
        how = "datasets.load_dataset" if self.plain else "reading line by line (datasets can't)"
        shown = ", ".join(self.files[:3]) + (f" and {len(self.files) - 3} more" if len(self.files) > 3 else "")
        lines = [
            f"adopted {_rows(self.before)} into {self.path}",
            f"before: {_rows(self.before - self.beside)} by {how}, config {self.config}, split {self.split}: {shown}",
        ]
        if self.beside:
            lines.append(f"before: {_rows(self.beside)} in {self.path}, which no loader took in")
        if self.repeats:
            lines.append(f"before: {_rows(self.repeats)} of these repeat an earlier one; they stay")
        lines.append(f"after: {_rows(self.after)} by datasets.load_dataset: {self.before} from before, {self.new} new")
        lines.append(f"none was lost: the row ids from before are all there, each as often (sha256 {self.ids})")
        return lines

    def message(self, title: str | None = None) -> str:
        """Of the commit: a title and the proof."""
        return "\n\n".join((title or self.title, "\n".join(self.lines())))


def adopted_rows(message: str, path: str) -> int | None:
    """How many rows a commit says it took over into a file; None if it says nothing of that."""
    found = re.search(rf"(?m)^adopted ([0-9]+) rows? into {re.escape(path)}$", message)
    return int(found[1]) if found else None


def ids_digest(ids: Iterable[bytes]) -> str:
    """sha256 of the sorted row ids, its first 16 hex digits: equal for the same rows in any order."""
    return hashlib.sha256(b"".join(sorted(ids))).hexdigest()[:_DIGEST]


def _rows(count: int) -> str:
    return f"{count} row{'s' if count != 1 else ''}"
