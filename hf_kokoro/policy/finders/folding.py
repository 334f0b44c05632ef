"""One spelling for what keyboards and phones write in many: width, dashes, spaces, marks that nobody sees."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

Span = tuple[int, int]
"""Begin and end of a piece of a text."""

_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043\u02d7\ufe58\ufe63"), "-")
_QUOTES = dict.fromkeys(map(ord, "\u2019\u2018\u02bc"), "'")
_MARK_BETWEEN_DIGITS = re.compile(r"(?<=\d)[ー‐]|[ー‐](?=\d)")
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060\ufeff]")


class _Plain(dict[int, str]):
    """For `str.translate`: NFKC of a character, where that is one character too, so that positions stay."""

    def __missing__(self, code: int) -> str:
        plain = unicodedata.normalize("NFKC", chr(code))
        self[code] = plain if len(plain) == 1 else chr(code)
        return self[code]


_PLAIN = _Plain(_DASHES | _QUOTES)


class Folded(NamedTuple):
    """The plain spelling, and for each of its characters the position in the text; None where they are the same."""

    text: str
    positions: list[int] | None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a non-empty piece of the plain spelling stands in the text."""
        if self.positions is None:
            return start, end
        return self.positions[start], self.positions[end - 1] + 1


def fold(text: str) -> Folded:
    """Full-width, half-width and styled characters, dashes and spaces become plain; unseen marks are left out."""
    if text.isascii():
        return Folded(text, None)
    positions = None
    if _UNSEEN.search(text):
        positions = [place for place, char in enumerate(text) if not _UNSEEN.match(char)]
        text = "".join(text[place] for place in positions)
    return Folded(_MARK_BETWEEN_DIGITS.sub("-", text.translate(_PLAIN)), positions)


def without(text: str, taken: Sequence[Span]) -> str:
    """The text with pieces blanked, all positions as they were."""
    pieces, last = [], 0
    for start, end in taken:
        pieces += [text[last:start], "\0" * (end - start)]
        last = end
    return "".join([*pieces, text[last:]]) if taken else text
