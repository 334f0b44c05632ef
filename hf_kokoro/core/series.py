"""A growing file and its segments: `pilot.jsonl`, then `pilot-00001.jsonl`, `pilot-00002.jsonl`, ...

Segments keep the price of an append flat: a sealed one is never read or sent again. A segment's number has five digits,
or more without leading zeros; what else begins like the series is a stray, which nobody reads and every verb names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from ..errors import UsageError

_DIGITS = 5
_SEGMENT = re.compile(rf"(.*)-(\d{{{_DIGITS}}}|[1-9]\d{{{_DIGITS},}})\.jsonl", re.DOTALL | re.ASCII)


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
        return self.path if number == 0 else f"{self.stem}-{number:0{_DIGITS}d}.jsonl"

    def number(self, path: str) -> int | None:
        """The segment's number, or None if `path` doesn't belong to this series."""
        if path == self.path:
            return 0
        first, number = segment_of(path)
        return number if first == self.path else None

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self.number(path) is not None

    def patterns(self, paths: Iterable[str] = ()) -> tuple[str, ...]:
        """Patterns for a card's `data_files` that take in the segments in order, those among `paths` and all of five
        digits, and no stray.

        A loader takes pattern after pattern and sorts within each by name: `-` comes before `.`, and 100000 before
        99999, so the first file and every number of digits have one of their own.
        """
        digits = {_DIGITS, *(len(str(number)) for path in paths if (number := self.number(path)))}
        return self.path, *(self._pattern(count) for count in sorted(digits) if count >= _DIGITS)

    def _pattern(self, digits: int) -> str:
        first = "[0-9]" if digits == _DIGITS else "[1-9]"
        return f"{self.stem}-{first}{'[0-9]' * (digits - 1)}.jsonl"

    def holds(self, pattern: str) -> bool:
        """Whether a pattern of a card is one that was written for this series, now or by older versions."""
        known = (f"{self.stem}*.jsonl", f"{self.stem}-*.jsonl", self._pattern(pattern.count("-9]")))
        return pattern in known or pattern in self

    def ordered(self, paths: Iterable[str]) -> list[str]:
        """The segments among `paths`, oldest first."""
        return sorted((path for path in paths if path in self), key=lambda path: (self.number(path), path != self.path))

    def strays(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Those of `paths` that could be taken for segments and are none: the same folder, the same beginning."""
        folder = PurePosixPath(self.path).parent
        alike = (p for p in paths if p.startswith(self.stem) and p.endswith(".jsonl") and p not in self)
        return tuple(sorted((p for p in alike if PurePosixPath(p).parent == folder), key=segment_of))


def told(strays: Collection[str]) -> str:
    """What every verb says of strays, in one line."""
    be, them = ("is no segment", "it") if len(strays) == 1 else ("are no segments", "them")
    return (
        f"{', '.join(strays)} {be} of the rows beside {them} and left alone; move {them} elsewhere (where an older "
        f"card's pattern takes {them} in, `hf-kokoro card` writes another)"
    )


def segment_of(path: str) -> tuple[str, int]:
    """The first file of the series that a name with a segment's number belongs to, and the number; else (path, 0).

    Sorts any .jsonl files series by series, each in the order it grew.
    """
    match = _SEGMENT.fullmatch(path)
    return (f"{match[1]}.jsonl", int(match[2])) if match else (path, 0)


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
