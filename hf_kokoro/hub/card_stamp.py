"""The stamp of a folder's card: a digest of the rows, renewed in the commit that adds rows.

`datasets` keys its cache for a local folder by the card's `configs` and `dataset_info`, never by the files
that a pattern matches, so without a stamp it would serve the rows of yesterday after an append.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..core.jsonl import CHUNK

if TYPE_CHECKING:
    from .growth import Growth

_STAMP = re.compile(rb"(?m)^(\s+description: )data-[0-9a-f]{16}(?=\r?$)")


def data_stamp(lines: Iterable[bytes]) -> str:
    """`data-` and 16 hex digits of sha256 over the bytes of all data files, oldest first."""
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line)
    return f"data-{digest.hexdigest()[:16]}"


def restamped_card(growth: Growth, card: bytes) -> bytes:
    """The card with the stamp of the grown data; as it is if it has none."""
    if not _STAMP.search(card):
        return card
    stamp = data_stamp(_grown_bytes(growth)).encode()
    return _STAMP.sub(lambda match: match[1] + stamp, card)


def _grown_bytes(growth: Growth) -> Iterable[bytes]:
    for path in growth.series.ordered(growth.sizes):
        if path in growth.local:
            with growth.local[path].open("rb") as stream:
                while chunk := stream.read(CHUNK):
                    yield chunk
        yield growth.tails.get(path, b"")
