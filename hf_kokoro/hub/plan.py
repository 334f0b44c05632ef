"""What an append would change, worked out against one revision without touching it, and told for a dry run."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from ..core.jsonl import parse_object
from ..core.series import Series, split_lines
from ..miti.contract import json_line
from ..miti.spelling import OURS, NotSpellable, respelled
from .adoption import Adoption
from .card import grown_card
from .errors import SpellingError
from .files import index_file
from .lines import one_spelling
from .provenance import ledger_parts, ledger_tails
from .rows import NewRow
from .target import CARD_PATH, Change, ExtraFiles, Grow, Growth, Put, Remove, Snapshot

_SHOWN = 20


@dataclass(frozen=True)
class Plan:
    """The changes of a commit (none if every row is there) and what a report needs; `new` are row ids."""

    changes: Sequence[Change]
    new: frozenset[bytes]
    duplicates: int
    rows_total: int
    grown: Mapping[str, int]
    rows: Sequence[NewRow] = ()
    adoption: Adoption | None = None

    @property
    def added(self) -> int:
        return len(self.new)


def plan_append(
    base: Snapshot,
    series: Series,
    rows: Sequence[NewRow],
    *,
    index_dir: Path | None,
    segment_bytes: int | None,
    extra: ExtraFiles | None,
) -> Plan:
    """Leave out the rows that `base` holds, place the others, spelled as those there are.

    Raises BaseFormatError if a file can't grow, SpellingError if rows can't follow its spelling.
    """
    indexes = {
        path: index_file(base.local[path], path, index_dir / f"{quote(path, safe='')}.ids" if index_dir else None)
        for path in series.ordered(base.files)
    }
    new = [row for row in rows if not any(row.id in index for index in indexes.values())]
    counts = {path: index.rows for path, index in indexes.items()}
    duplicates, total = len(rows) - len(new), sum(counts.values())
    if not new:
        return Plan([], frozenset(), duplicates, total, {})
    noted = ledger_tails(base, new, segment_bytes)
    spellings = sum((Counter(index.spellings) for index in indexes.values()), Counter[str]())
    lines = spelled_lines(series.path, new, spellings)
    growth = replace(_place(base, series, lines, counts, segment_bytes), ledger=ledger_parts(base, noted))
    changes: list[Change] = [Grow(path, tail) for path, tail in {**growth.tails, **noted}.items()]
    files = {**_renewed_card(growth), **(extra(growth) if extra else {})}
    changes += [Put(path, content) for path, content in files.items()]
    grown = {path: len(tail) for path, tail in growth.tails.items()}
    return Plan(changes, frozenset(row.id for row in new), duplicates, growth.rows_total, grown, new)


def spelled_lines(path: str, rows: Sequence[NewRow], spellings: Mapping[str, int]) -> list[bytes]:
    """The lines of new rows as a file with rows of those spellings has them. Raises SpellingError."""
    spelling = one_spelling(path, spellings)
    if spelling == OURS:
        return [row.line for row in rows]
    lines = []
    for row in rows:
        try:
            lines.append(json_line(respelled(parse_object(row.line), spelling)).encode())
        except NotSpellable as error:
            raise SpellingError(
                f"{path}: its rows have {spelling}, and row {row.id.hex()[:12]} has {error}; nothing was written; "
                "--adopt (adopt=True) writes all rows anew in the schema's own names"
            ) from None
    return lines


def _renewed_card(growth: Growth) -> dict[str, bytes]:
    """The card, where there is one and it has to change."""
    if growth.card is None:
        return {}
    card = grown_card(growth, growth.card)
    return {} if card == growth.card else {CARD_PATH: card}


def _place(
    base: Snapshot,
    series: Series,
    new: Sequence[bytes],
    counts: Mapping[str, int],
    segment_bytes: int | None,
) -> Growth:
    paths = series.ordered(base.files)
    active = paths[-1] if paths else None
    size = base.files[active].size if active else 0
    placed = split_lines(series, active, size, new, segment_bytes)
    tails, sizes, rows = {}, {path: base.files[path].size for path in paths}, dict(counts)
    for path, lines in placed.items():
        needs_line_end = path in base.local and _ends_without_newline(base.local[path])
        tails[path] = (b"\n" if needs_line_end else b"") + b"".join(lines)
        sizes[path] = sizes.get(path, 0) + len(tails[path])
        rows[path] = rows.get(path, 0) + len(lines)
    return Growth(series, len(new), sum(rows.values()), tails, sizes, rows, base.local, base.card)


def _ends_without_newline(file: Path) -> bool:
    with file.open("rb") as stream:
        if not stream.seek(0, 2):
            return False
        stream.seek(-1, 2)
        return stream.read(1) != b"\n"


def describe_changes(base: Snapshot, changes: Sequence[Change], rows: Sequence[NewRow]) -> list[str]:
    """Lines for people; rows by id and question, never by their text."""
    lines: list[str] = []
    for change in changes:
        if isinstance(change, Grow):
            before = base.files[change.path].size if change.path in base.files else 0
            after = len(change.tail) + (0 if change.anew else before)
            lines.append(
                f"{change.path}: {before} -> {after} bytes{' (written anew)' if change.anew and before else ''}"
            )
        elif isinstance(change, Remove):
            lines.append(f"{change.path}: deleted")
        elif isinstance(change, Put):
            lines += _small_file(base, change)
    lines += [f"  + row {row.id.hex()[:12]}, question {parse_object(row.line)['question_id']}" for row in rows[:_SHOWN]]
    if len(rows) > _SHOWN:
        lines.append(f"  + {len(rows) - _SHOWN} more rows")
    return lines


def _small_file(base: Snapshot, change: Put) -> Iterator[str]:
    """Size of a file that is written whole; for the card the lines that change."""
    size = change.content.stat().st_size if isinstance(change.content, Path) else len(change.content)
    former = base.card if change.path == CARD_PATH else None
    yield f"{change.path}: {'written' if former is None else f'{len(former)} -> {size} bytes'}"
    if former is None or isinstance(change.content, Path):
        return
    old, new = (text.decode("utf-8", "replace").splitlines() for text in (former, change.content))
    for line in list(difflib.unified_diff(old, new, lineterm="", n=0))[2:]:
        if not line.startswith("@@"):
            yield f"  {line}"
