"""What a dry run shows: the new rows by id, the sizes, and the lines of the card that would change."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..core.jsonl import parse_object
from .batch import NewRow
from .target import CARD_PATH, Change, Grow, Put, Snapshot

_SHOWN = 20


def describe_changes(base: Snapshot, changes: Sequence[Change], rows: Sequence[NewRow]) -> list[str]:
    """Lines for people; rows by id and question, never by their text."""
    lines: list[str] = []
    for change in changes:
        if isinstance(change, Grow):
            before = base.files[change.path].size if change.path in base.files else 0
            lines.append(f"{change.path}: {before} -> {before + len(change.tail)} bytes")
        else:
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
