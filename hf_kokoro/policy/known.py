"""Answers of known editions, by digest: whose text is this, and who wrote it?

Claims follow bytes: an answer is upstream's if its text is in one of the lists under `known_answers/`, wherever it was
found, and not otherwise, whatever a file or its columns are called. The lists hold digests alone, no text; they are
made by `scripts/record_counsel_chat.py`.

A list is one line of JSON (edition, source, licence, who wrote it, the file's size and sha256, the commit it was taken
from, how many digests) and then the sorted digests, eight bytes each: the first of the sha256 of a text's normal form.
A text that somebody wrote by chance has such a digest once in 10^15.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

BYTES = 8


@dataclass(frozen=True)
class Edition:
    """One file of answers: the Hub id (or name) of its dataset, its licence, who wrote it, and what pins the file."""

    name: str
    source_dataset: str
    license: str
    written_by: str
    size: int
    sha256: str
    commit: str
    digests: frozenset[bytes]


def normal_form(text: str) -> str:
    """What of a text counts: NFKC, without controls and marks of no width, every run of white space one space.

    So line ends, tabs, no-break spaces, full-width forms and a byte order mark, which spreadsheets and CSV tools
    change, make no difference; a letter, its case, a stop or a tag of HTML does.
    """
    spaced = " ".join(unicodedata.normalize("NFKC", text).split())
    if spaced.isascii() and spaced.isprintable():
        return spaced
    kept = "".join(char for char in spaced if unicodedata.category(char) not in ("Cc", "Cf"))
    return " ".join(kept.split())


def answer_digest(text: str) -> bytes:
    """The first BYTES of the sha256 of the text's normal form in UTF-8."""
    # surrogatepass: a broken text is refused elsewhere, with a better message
    return hashlib.sha256(normal_form(text).encode("utf-8", "surrogatepass")).digest()[:BYTES]


def edition_of_answers(texts: Iterable[str]) -> Edition | None:
    """An edition of the one dataset that all of these texts are known from; None if there is none."""
    found = [_edition_of(answer_digest(text)) for text in texts]
    sources = {edition and edition.source_dataset for edition in found}
    return found[0] if len(sources) == 1 else None


def _edition_of(digest: bytes) -> Edition | None:
    return next((edition for edition in editions() if digest in edition.digests), None)


@cache
def editions() -> tuple[Edition, ...]:
    """Every packaged list, in the order of their files' names."""
    return tuple(read_edition(data) for data in _packaged())


def read_edition(data: bytes) -> Edition:
    """A list as `edition_file` wrote it."""
    head, _, digests = data.partition(b"\n")
    fields: dict[str, Any] = json.loads(head)
    if len(digests) != fields.pop("answers") * BYTES:
        raise ValueError(f"the list of {fields['name']} is torn")
    each = (digests[start : start + BYTES] for start in range(0, len(digests), BYTES))
    return Edition(**fields, digests=frozenset(each))


def edition_file(texts: Iterable[str], **facts: Any) -> bytes:
    """A list of these answers; `facts` are the fields of an Edition beside its digests. A blank text is none."""
    digests = sorted({answer_digest(text) for text in texts if normal_form(text)})
    head = json.dumps({**facts, "answers": len(digests)}, sort_keys=True)
    return head.encode() + b"\n" + b"".join(digests)


def _packaged() -> Iterator[bytes]:
    folder = files(__package__).joinpath("known_answers")
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".digests"):
            yield file.read_bytes()
