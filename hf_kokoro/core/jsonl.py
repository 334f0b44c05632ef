r"""JSON Lines as bytes: where each line starts, what it holds, how long it may be.

Only `\n` ends a line: U+2028 and its kin are text. Files are never decoded as a whole, so that a fault has its place.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from ..errors import SourceError, describe

CHUNK = 1 << 20
LINE_LIMIT = 256 << 20
"""Longest line, in bytes with its end, to write and to read. A MITI-ST row with a thousand answers has about 1 MB."""

_MARK = b"\xef\xbb\xbf"
_SPACED = (b" :", b"\t:", b"\n:", b"\r:")


class LineTooLong(SourceError):
    """A line of more than LINE_LIMIT bytes; `offset` is where it starts."""

    def __init__(self, offset: int, where: str = "") -> None:
        self.offset = offset
        super().__init__(f"{where or f'byte {offset}'}: longer than {LINE_LIMIT:,} bytes; this is no JSON Lines file")


class NoObject(ValueError):
    """JSON that is no object; `value` is what it is."""

    def __init__(self, value: object) -> None:
        self.value = value
        super().__init__(f"{describe(value)}, no object")


class Refused(ValueError):
    """JSON that parses but can't be kept as it is: a repeated key, NaN. The message quotes no text."""


class Readable(Protocol):
    """What is read here: files, responses, anything with `read(n)`."""

    def read(self, size: int, /) -> bytes: ...


def iter_lines(stream: Readable, offset: int = 0) -> Iterator[tuple[int, bytes]]:
    r"""(byte offset, line) of each line from the stream's position on, with its `\n` if it has one.

    Raises LineTooLong before more than the limit and a chunk is held.
    """
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
    if size > LINE_LIMIT:
        raise LineTooLong(offset)


def numbered_lines(stream: Readable, name: str) -> Iterator[tuple[str, bytes]]:
    """("NAME line 3", line) of each line that is not blank, without a byte order mark before the first."""
    number = 0
    try:
        for number, (_, line) in enumerate(iter_lines(stream), 1):
            if line.strip():
                yield f"{name} line {number}", line.removeprefix(_MARK) if number == 1 else line
    except LineTooLong as error:
        raise LineTooLong(error.offset, f"{name} line {number + 1}") from None


def parse_object(line: bytes | str, *, strict: bool = False) -> dict[str, Any]:
    """The JSON object that is all of a line or text. `strict` refuses repeated keys and NaN.

    Raises a ValueError if it holds none: UnicodeDecodeError, NoObject, Refused or another.
    """
    text = line.decode("utf-8") if isinstance(line, bytes) else line
    hooks: dict[str, Any] = {"object_pairs_hook": distinct_pairs, "parse_constant": no_constant} if strict else {}
    try:
        value = json.loads(text, **hooks)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(value, dict):
        raise NoObject(value)
    return value


def distinct_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """`object_pairs_hook` that refuses a repeated key."""
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise Refused(f"the key {describe(twice, show=True)} twice in one object")
    return found


def refuse_repeated_keys(data: bytes, value: Any) -> None:
    """Raise Refused if an object in `data`, UTF-8 that a fast reader made `value` of, has a key twice.

    Such a reader keeps the last of them and says nothing. Counting nearly always clears a document: it is parsed again
    only where the ends of keys are not as many as the keys, or may be spelled with a space before the colon.
    """
    if data.count(b'":') == _keys_in(value) and not any(mark in data for mark in _SPACED):
        return
    try:
        json.loads(data, object_pairs_hook=distinct_pairs)
    except RecursionError:
        raise Refused("nested too deeply") from None


def _keys_in(value: Any) -> int:
    count, rest = 0, [value]
    while rest:
        found = rest.pop()
        if isinstance(found, dict):
            count += len(found)
            found = found.values()
        elif not isinstance(found, list):
            continue
        rest.extend(part for part in found if isinstance(part, dict | list))
    return count


def no_constant(name: str) -> Any:
    """`parse_constant` that refuses NaN and Infinity."""
    raise Refused(f"the constant {name}")


def canonical_json(value: Mapping[str, Any]) -> str:
    """One spelling a value: sorted keys, no spaces, characters as they are. Raises ValueError for NaN."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
