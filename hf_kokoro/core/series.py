"""A growing file and its segments: `pilot.jsonl`, then `pilot-00001.jsonl`, `pilot-00002.jsonl`, ...

Segments keep the price of an append flat: a sealed one is never read or sent again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from ..errors import UsageError


@dataclass(frozen=True)
class Series:
    """All segments of one growing file, named after the first one, such as `data/pilot.jsonl`."""

    path: str

    def __post_init__(self) -> None:
        pure = PurePosixPath(self.path)
        if pure.is_absolute() or ".." in pure.parts or str(pure) != self.path or not pure.name.endswith(".jsonl"):
            raise UsageError(
                f"path {self.path!r} can't be used; allowed: a relative path with / between folders that ends in .jsonl"
            )
        if any(part.startswith(".") for part in pure.parts):
            raise UsageError(f"path {self.path!r} is hidden, so datasets would not load it; use a name without a dot")

    @property
    def stem(self) -> str:
        return self.path[: -len(".jsonl")]

    def name(self, number: int) -> str:
        """Path of the segment with that number; 0 is the first file."""
        return self.path if number == 0 else f"{self.stem}-{number:05d}.jsonl"

    def number(self, path: str) -> int | None:
        """The segment's number, or None if `path` doesn't belong to this series."""
        if path == self.path:
            return 0
        match = re.fullmatch(re.escape(self.stem) + r"-(\d{5,})\.jsonl", path)
        return int(match[1]) if match and int(match[1]) > 0 else None

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self.number(path) is not None

    @property
    def glob(self) -> str:
        """One pattern for a card's `data_files` that takes in every segment, but the first one last."""
        return f"{self.stem}*.jsonl"

    @property
    def patterns(self) -> tuple[str, str]:
        """Two patterns that take in every segment in order (`-` sorts before `.`, so one would mix it up)."""
        return self.path, f"{self.stem}-*.jsonl"

    def ordered(self, paths: Iterable[str]) -> list[str]:
        """The segments among `paths`, oldest first."""
        return sorted((p for p in paths if p in self), key=lambda p: self.number(p) or 0)


def split_lines(
    series: Series, active: str | None, active_size: int, lines: Iterable[bytes], limit: int | None
) -> dict[str, list[bytes]]:
    """Decide which segment each new line goes to: path to lines, in order.

    A segment is sealed when the next line would take it past `limit` bytes; a line that is longer than the
    limit gets a segment of its own. Without a limit everything goes to the active (last) segment.
    """
    path, size = active or series.path, active_size
    placed: dict[str, list[bytes]] = {}
    for line in lines:
        if limit is not None and size and size + len(line) > limit:
            path, size = series.name((series.number(path) or 0) + 1), 0
        placed.setdefault(path, []).append(line)
        size += len(line)
    return placed
