"""The file that grows, read as bytes: its rows' identities, and whether its last line is torn.

Existing lines are never judged by our schema here: any JSON object is a row, and is left as it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from ..core import jsonl
from ..core.jsonl import LineTooLong, Readable, canonical_json, parse_object
from .errors import BaseFormatError

WAYS_OUT = (
    "nothing was written; ways out: put back the last good copy of the file, repair that place by hand, "
    "or append to another file with --path"
)


def iter_lines(stream: Readable, offset: int = 0) -> Iterator[tuple[int, bytes]]:
    """As `jsonl.iter_lines`. Raises BaseFormatError for a line that is too long."""
    try:
        yield from jsonl.iter_lines(stream, offset)
    except LineTooLong as error:
        got = f"a line of more than {jsonl.LINE_LIMIT} bytes"
        raise BaseFormatError(f"byte {error.offset}: {got}; allowed: JSON Lines; {WAYS_OUT}", error.offset) from None


def line_id(line: bytes, value: dict[str, Any]) -> bytes:
    """Identity of a row in the file: sha256 of its canonical JSON, or of the line if it has none (NaN)."""
    try:
        text = canonical_json(value).encode("utf-8", "surrogatepass")
    except ValueError:
        text = line.strip()
    return hashlib.sha256(text).digest()


def read_ids(stream: Readable, path: str, offset: int = 0) -> list[bytes]:
    """Row ids of every line from the stream's position on, in file order; blank lines are passed over.

    Raises BaseFormatError with the byte offset of a torn last line, another format, or bytes not in UTF-8.
    """
    ids = []
    for start, line in iter_lines(stream, offset):
        if not line.strip():
            continue
        try:
            value = parse_object(line)
        except ValueError as error:
            raise BaseFormatError(_what_is_wrong(path, start, line, error), _fault_offset(start, error)) from None
        ids.append(line_id(line, value))
    return ids


def _fault_offset(start: int, error: ValueError) -> int:
    return start + error.start if isinstance(error, UnicodeDecodeError) else start


def _what_is_wrong(path: str, start: int, line: bytes, error: ValueError) -> str:
    size = len(line)
    if start == 0 and line.startswith(b"\xef\xbb\xbf"):
        return f"{path} byte 0: a byte order mark; allowed: UTF-8 without one; {WAYS_OUT}"
    if not line.endswith(b"\n"):
        return (
            f"{path} byte {start}: the last line ({size} bytes) is torn: no line end, no whole JSON object; "
            f"`head -c {start} {path}` shows the file without it; {WAYS_OUT}"
        )
    if isinstance(error, UnicodeDecodeError):
        return f"{path} byte {start + error.start}: not UTF-8; allowed: JSON Lines in UTF-8; {WAYS_OUT}"
    return (
        f"{path} byte {start}: a line of {size} bytes that is not one JSON object; "
        f"allowed: JSON Lines, one object a line; {WAYS_OUT}"
    )
