"""Names of people in either language, and every other place where a name that was found stands again."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .english_names import english_names
from .folding import Span
from .japanese_names import japanese_names

_JAPANESE = re.compile("[ぁ-んァ-ヶ一-龥]")
_WORD = re.compile(r"[^\W\d_]{3,}")
_MOST_AGAIN = 50
"""Names of a text that are looked for again."""


def names(text: str) -> Iterator[Span]:
    """Names with a cue, and the same names without one."""
    english = list(english_names(text))
    yield from english
    yield from japanese_names(text) if _JAPANESE.search(text) else ()
    # whoever is introduced once is spoken of later; in Japanese nothing says where a word ends, so not there
    words = sorted({word for start, end in english for word in _WORD.findall(text[start:end]) if word[0].isupper()})
    if words:
        again = re.compile(rf"(?<![\w@])(?:{'|'.join(map(re.escape, words[:_MOST_AGAIN]))})(?!\w)")
        yield from (match.span() for match in again.finditer(text))
