"""The error for a source without a single row: what was looked for, what is there instead, and what to do."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from ..core.archives import FolderFiles, SingleFile, SourceFiles
from ..errors import SourceError, describe
from .fetch import origin

NAMES_SHOWN = 5
_LOOKED_AT = 32 * 2**20
"""A larger file is not read again only to say what it is."""


def no_rows(files: SourceFiles, looked_for: str, next_step: str) -> SourceError:
    """The error to raise for `files`, none of whose members gave a row. `looked_for` says what would have."""
    found = _found(files, files.names())
    return SourceError(f"{origin(files.path)}: not one row; looked for {looked_for}; found {found}; {next_step}")


def named(names: Sequence[str]) -> str:
    """Up to five names, and how many more there are."""
    shown = ", ".join(name if name.isprintable() else repr(name) for name in names[:NAMES_SHOWN])
    return f"{shown} and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else shown


def _found(files: SourceFiles, names: Sequence[str]) -> str:
    if not names:
        return "an empty folder" if isinstance(files, FolderFiles) else "an archive without a file"
    if len(names) > 1:
        return f"{len(names)} files that hold none: {named(names)}"
    what = _content(files, names[0])
    return what if isinstance(files, SingleFile) else f"one file, {named(names)}, {what}"


def _content(files: SourceFiles, name: str) -> str:
    """What a file is, without a word of its text; keys are shown where they look like names."""
    try:
        if isinstance(files, SingleFile) and files.path.stat().st_size > _LOOKED_AT:
            return "a large file of another kind"
        data = next(data for _, data in files.members(lambda member: member == name))
        document = orjson.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except (orjson.JSONDecodeError, StopIteration, SourceError):
        known = name.lower().endswith((".json", ".jsonl", ".csv", ".tsv"))
        return "a file without a row" if known else "a file of another kind"
    if not isinstance(document, list):
        return f"a JSON file with {describe(document)}{_keys(document)}"
    first = document[0] if document else None
    kind = "object" if isinstance(first, dict) else "value"
    return f"one JSON list of {len(document)} {kind}{'' if len(document) == 1 else 's'}{_keys(first)}"


def _keys(value: object) -> str:
    if not isinstance(value, dict) or not value:
        return ""
    keys = [describe(key, show=True) for key in value][:NAMES_SHOWN]
    return f" (keys {', '.join(keys)}{', ...' if len(value) > NAMES_SHOWN else ''})"
