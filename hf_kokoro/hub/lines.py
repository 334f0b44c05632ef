"""Reading JSON Lines as bytes: where each line starts, what it holds, and whether the last one is torn.

Existing lines are never judged by our schema here: any JSON object is a row, and is left as it is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Protocol

from ..miti.contract import LINE_LIMIT, canonical_json
from .errors import BaseFormatError

CHUNK = 1 << 20
MAX_LINE = LINE_LIMIT

WAYS_OUT = (
    "nothing was written; ways out: put back the last good copy of the file, repair that place by hand, "
    "or append to another file with --path"
)


class Readable(Protocol):
    """What is read here: files, responses, anything with `read(n)`."""

    def read(self, size: int, /) -> bytes: ...


def iter_lines(stream: Readable, offset: int = 0) -> Iterator[tuple[int, bytes]]:
    r"""(byte offset, line) of each line from the stream's position on, with its `\n` if it has one."""
    parts: list[bytes] = []
    held = 0
    while chunk := stream.read(CHUNK):
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            _check_length(held + end + 1 - start, offset)
            line = b"".join((*parts, chunk[start : end + 1]))
            yield offset, line
            offset += len(line)
            parts, held, start = [], 0, end + 1
        if start < len(chunk):
            parts.append(chunk[start:])
            held += len(chunk) - start
        _check_length(held, offset)
    if parts:
        yield offset, b"".join(parts)


def _check_length(size: int, offset: int) -> None:
    if size > MAX_LINE:
        raise BaseFormatError(
            f"byte {offset}: a line of more than {MAX_LINE} bytes; allowed: JSON Lines; {WAYS_OUT}", offset
        )


def parse_object(line: bytes) -> dict[str, Any]:
    """The JSON object on a line. Raises ValueError (of which UnicodeDecodeError is one) if it holds none."""
    try:
        value = json.loads(line.decode("utf-8"))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError(f"a JSON {type(value).__name__} instead of an object")
    return value


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
