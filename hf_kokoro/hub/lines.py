"""The file that grows, read as bytes: its rows' identities and spellings, and whether its last line is torn.

Existing lines are never judged by our schema here: any JSON object is read, and is left as it is. One that is a row in
any spelling has the identity of that row; whether the file may grow is decided by who wants it to.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ..core import jsonl
from ..core.jsonl import LineTooLong, Readable, canonical_json, parse_object
from ..miti.spelling import OURS, Spelled, Spelling, read_spelled, spelling_of_code
from .errors import BaseFormatError, SpellingError

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


NO_ROW = ""
"""Stands among the codes of spellings for lines that are no row in any."""


@dataclass
class Lines:
    """What lines hold: the row id of each in file order, and how many there are of each spelling (by its code)."""

    ids: list[bytes] = field(default_factory=list)
    spellings: Counter[str] = field(default_factory=Counter)


def line_id(line: bytes, read: Spelled) -> bytes:
    """Identity of a line in the file: the row id of the row that it is in any spelling; else sha256 of its canonical
    JSON, or of the line if it has none (NaN)."""
    try:
        text = canonical_json(read.known if read.spellings else read.row).encode("utf-8", "surrogatepass")
    except ValueError:
        text = line.strip()
    return hashlib.sha256(text).digest()


def read_lines(stream: Readable, path: str, offset: int = 0) -> Lines:
    """Every line from the stream's position on; blank ones are passed over.

    Raises BaseFormatError with the byte offset of a torn last line, another format, or bytes not in UTF-8.
    """
    found = Lines()
    for start, line in iter_lines(stream, offset):
        if not line.strip():
            continue
        try:
            read = read_spelled(parse_object(line))
        except ValueError as error:
            raise BaseFormatError(_what_is_wrong(path, start, line, error), _fault_offset(start, error)) from None
        found.ids.append(line_id(line, read))
        found.spellings.update(codes_of(read))
    return found


def codes_of(read: Spelled) -> list[str]:
    """The codes of a line's spellings, to count them."""
    return [spelling.code for spelling in read.spellings] or [NO_ROW]


def one_spelling(path: str, spellings: Mapping[str, int]) -> Spelling:
    """The spelling in which a file may grow: its own, or ours if it has no rows. Raises SpellingError if it has two."""
    if spellings.get(NO_ROW):
        raise SpellingError(
            f"{path}: {spellings[NO_ROW]} of its {sum(spellings.values())} lines can't be read as a row: no "
            "MITI-ST row in any spelling (the audit names the keys that are missing), so no loader would give rows of "
            "one kind; nothing was written; take those lines out, or append to another file with --path"
        )
    if len(spellings) > 1:
        raise SpellingError(
            f"{path}: its rows are spelled in {len(spellings)} ways ({told_spellings(spellings)}), so new ones can't "
            "follow the file; nothing was written; --adopt (adopt=True) writes all rows anew in the schema's own names"
        )
    return spelling_of_code(next(iter(spellings))) if spellings else OURS


def told_spellings(spellings: Mapping[str, int]) -> str:
    """`12 rows: answer for text | 3 rows: the schema's own names`, the most frequent first."""
    ordered = sorted(spellings.items(), key=lambda item: -item[1])
    return " | ".join(
        f"{count} row{'s' if count != 1 else ''}: {spelling_of_code(code) if code else 'no row in any spelling'}"
        for code, count in ordered
    )


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
