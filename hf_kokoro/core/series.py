"""A growing file and its segments: `pilot.jsonl`, then `pilot-00001.jsonl`, `pilot-00002.jsonl`, ...

Segments keep the price of an append flat: a sealed one is never read or sent again. What is a segment is said here
alone: appends, audits, cards and readers ask a Series, and the patterns in a card take in exactly the same files.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from ..errors import UsageError

logger = logging.getLogger(__name__)

_NUMBERS = ("[0-9]" * 5, "[1-9]" + "[0-9]" * 5)
"""What follows `pilot-` in a segment's name: five digits, from 100000 on six. A regular expression and a glob both."""
LAST_NUMBER = 999_999
_SEGMENT = re.compile(rf"(.+?)(?:-({'|'.join(_NUMBERS)}))?\.jsonl")


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
        """Path of the segment with that number; 0 is the first file. Raises UsageError past the last one."""
        if number > LAST_NUMBER:
            raise UsageError(
                f"{self.path}: has all {LAST_NUMBER} segments that there can be, and a further one would be seen by no "
                "loader; nothing was written; begin another file (--path), or allow larger segments (--segment-bytes)"
            )
        return self.path if number == 0 else f"{self.stem}-{number:05d}.jsonl"

    def number(self, path: str) -> int | None:
        """The segment's number, or None if `path` doesn't belong to this series."""
        if path == self.path:
            return 0
        match = _SEGMENT.fullmatch(path)
        return int(match[2]) if match and match[1] == self.stem and match[2] else None

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self.number(path) is not None

    @property
    def patterns(self) -> tuple[str, ...]:
        """Patterns for a card's `data_files` that take in every segment and nothing else, in the order they grew.

        `datasets` sorts by name what one pattern takes in, so one for all would put `pilot-00001` before `pilot.` and
        `pilot-100000` before `pilot-99999`. Without a card there are no patterns: then it does put them so.
        """
        return self.path, *(f"{self.stem}-{number}.jsonl" for number in _NUMBERS)

    @property
    def former_patterns(self) -> tuple[str, ...]:
        """Those of cards from before: they take in strays as well, and the first one mixes up the order."""
        return f"{self.stem}*.jsonl", f"{self.stem}-*.jsonl"

    def ordered(self, paths: Iterable[str]) -> list[str]:
        """The segments among `paths`, oldest first."""
        return sorted((path for path in paths if path in self), key=grown_order)

    def strays(self, paths: Iterable[str]) -> list[str]:
        """Those of `paths` that look like segments and are none (`pilot2.jsonl`, `pilot-backup.jsonl`)."""
        alike = re.compile(rf"{re.escape(self.stem)}[^/]*\.jsonl")
        return sorted(path for path in paths if alike.fullmatch(path) and path not in self)

    def warn_of_strays(self, paths: Iterable[str], place: str) -> None:
        """Log a warning that names the strays among the `paths` of a place, if there are any."""
        if strays := self.strays(paths):
            logger.warning(
                "%s: left out %s: not named as segments of %s are (%s, ...)",
                place,
                ", ".join(strays),
                self.path,
                PurePosixPath(self.name(1)).name,
            )


def grown_order(path: str) -> tuple[str, int, str]:
    """Sorts JSON Lines files by the growing file they belong to, each with its segments in the order they grew."""
    match = _SEGMENT.fullmatch(path)
    return (match[1], int(match[2] or -1), path) if match else (path, -1, path)


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
