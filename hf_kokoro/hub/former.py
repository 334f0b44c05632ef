"""The rows of a place as they are, whatever their layout: what a plain loader gives of one revision."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core.jsonl import parse_object
from ..core.series import Series
from ..errors import Fault, Faults, RowError
from .card import declared_configs, matches, unreadable
from .errors import ForeignData, UnreadableCard
from .lines import iter_lines
from .loading import Loaded, NotLoaded, load_plainly
from .rows import NewRow, checked, new_row
from .target import CARD_PATH, FileInfo, Revision, Target

FORMATS = {"parquet": (".parquet",), "json": (".jsonl", ".json", ".ndjson")}
"""Builders of `datasets` whose rows keep their types, and the files that they read."""
UNCHANGED = "nothing was changed"


@dataclass(frozen=True)
class Former:
    """The rows of a place as they are: those that a plain loader gives, and `beside` them those of the growing file
    that it doesn't. `copied` maps the files that were read to what they were."""

    config: str
    split: str
    copied: Mapping[str, FileInfo]
    loaded: Sequence[NewRow]
    beside: Sequence[NewRow] = ()
    plain: bool = True
    card: bytes = b""
    there: Sequence[str] = ()
    """All paths of the place."""

    @property
    def rows(self) -> list[NewRow]:
        """All of them; one that stands in both is one row."""
        both = Counter(row.id for row in self.beside)
        more = []
        for row in self.loaded:
            if both[row.id]:
                both[row.id] -= 1
            else:
                more.append(row)
        return [*self.beside, *more]


def read_former(target: Target, revision: str, series: Series, work: Path, *, whole_floats: bool = False) -> Former:
    """What the target holds at a revision, whatever its layout. Raises ForeignData, RowError."""
    copies = _Copies(target, Revision(revision, "", "", target.everything(revision)), work / "before")
    card = copies.content(CARD_PATH)
    if fault := unreadable(card):
        raise UnreadableCard(f"{target.name}: {fault}; {UNCHANGED}; mend the card's YAML")
    declared = declared_configs(card)
    patterns = () if declared.default is None or declared.inferred else declared.configs[declared.default]
    for path in copies.there.files:
        if path != CARD_PATH and (not patterns or any(matches(pattern, path) for pattern in patterns)):
            copies.take(path)
    own = series.ordered(copies.there.files)
    try:
        loaded = load_plainly(copies.root, work / "cache")
    except NotLoaded as error:
        # rows of several spellings may be more than a loader can take, and are what adoption is for
        if not own or any(path not in series for path in copies.taken if _is_read(path)):
            raise ForeignData(f"{target.name}: {error}, so its rows can't be taken over; {UNCHANGED}") from None
        split = "train"
        rows = rows_of(target.name, _lines(copies, own), whole_floats=whole_floats)
        return Former(
            declared.default or "default",
            split,
            copies.infos(own),
            rows,
            plain=False,
            card=card,
            there=tuple(copies.there.files),
        )
    if loaded.format not in FORMATS:
        raise ForeignData(
            f"{target.name}: its default config is read as {loaded.format}; {UNCHANGED}; allowed: {', '.join(FORMATS)}"
        )
    rows = rows_of(target.name, numbered(loaded), whole_floats=whole_floats)
    beside = [path for path in own if path not in loaded.files]
    if beside and len(beside) < len(own):
        raise ForeignData(
            f"{target.name}: a loader takes in some segments of {series.path} and not {beside[0]}; {UNCHANGED}"
        )
    for path in beside:
        copies.take(path)
    others = rows_of(target.name, _lines(copies, beside), whole_floats=whole_floats)
    return Former(
        loaded.config,
        loaded.split,
        copies.infos(loaded.files),
        rows,
        others,
        card=card,
        there=tuple(copies.there.files),
    )


@dataclass(frozen=True)
class _Copies:
    """Copies of a revision's files in a folder, each with the digest of what was copied."""

    target: Target
    there: Revision
    root: Path
    taken: dict[str, FileInfo] = field(default_factory=dict)

    def content(self, path: str) -> bytes:
        """A small file, copied too; empty if there is none."""
        if path not in self.there.files:
            return b""
        self.take(path)
        return (self.root / path).read_bytes()

    def take(self, path: str) -> None:
        """Copy a file; of one that no loader reads as rows only the name counts."""
        if path in self.taken:
            return
        copy, digest, size = self.root / path, hashlib.sha256(), 0
        copy.parent.mkdir(parents=True, exist_ok=True)
        with copy.open("wb") as out:
            if path == CARD_PATH or _is_read(path):
                with closing(self.target.open(self.there, path)) as stream:
                    while chunk := stream.read(1 << 20):
                        size += out.write(chunk)
                        digest.update(chunk)
        self.taken[path] = FileInfo(size, sha256=digest.hexdigest())

    def infos(self, paths: Iterable[str]) -> dict[str, FileInfo]:
        return {path: self.taken[path] for path in paths}


def _is_read(path: str) -> bool:
    return path.endswith(tuple(suffix for suffixes in FORMATS.values() for suffix in suffixes))


def numbered(loaded: Loaded) -> Iterator[tuple[str, Any]]:
    for number, row in enumerate(loaded, 1):
        yield f"{loaded.config}/{loaded.split} row {number}", row


def _lines(copies: _Copies, paths: Iterable[str]) -> Iterator[tuple[str, Any]]:
    for path in paths:
        with (copies.root / path).open("rb") as stream:
            for number, (_, line) in enumerate(iter_lines(stream), 1):
                if line.strip():
                    yield f"{path} line {number}", _parsed(f"{path} line {number}", line)


def _parsed(where: str, line: bytes) -> Any:
    try:
        return parse_object(line)
    except ValueError:
        return Fault(where, "", f"{len(line)} bytes that are no JSON object", "one row a line")


def rows_of(place: str, values: Iterable[tuple[str, Any]], *, whole_floats: bool) -> list[NewRow]:
    """The rows that these values are, or RowError with the faults of all."""
    faults, rows, bad = Faults(), [], 0
    for where, value in values:
        row, found = checked(value, where, whole_floats=whole_floats)
        new = found or new_row(row, where)
        if isinstance(new, NewRow):
            rows.append(new)
        else:
            bad += 1
            faults.extend(new)
    what = f"{place}: {bad} of {bad + len(rows)} rows there are no MITI-ST rows, so they can't be taken over"
    faults.raise_if_any(what, RowError, f"{UNCHANGED}; correct them there, or append to another place")
    return rows
