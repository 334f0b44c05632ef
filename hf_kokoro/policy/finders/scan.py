"""One pass over a text: every finder in turn sees what the ones before it left."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from ..help_lines import help_line_numbers, is_help_host, is_help_line
from .addresses import addresses
from .dates import birth_dates, harmless_numbers
from .folding import Span, fold, without
from .id_numbers import company_numbers, id_numbers, long_numbers
from .names import names
from .telephone import phones
from .web import emails, handles, urls

_Finder = Callable[[str], Iterable[Span]]

KINDS = ("email", "phone", "url", "digits", "name", "handle", "address", "birth_date", "id_number")
"""Kinds of private data, as `--allow` and `[kind]` spell them."""
HELP_LINE = "help line"
_HARMLESS = ""

_SEVEN_DIGITS = re.compile(r"\d(?:[^\w\n]{0,3}[\dA-Z]){6}", re.ASCII)
_REPLACED = re.compile(rf"\[(?:{'|'.join(KINDS)})\]")


def _if(hint: re.Pattern[str], finder: _Finder) -> _Finder:
    """The finder for texts that have the hint; most have none, and nearly all of the time goes into texts."""
    return lambda text: finder(text) if hint.search(text) else ()


_FINDERS: tuple[tuple[str, _Finder], ...] = (
    ("email", emails),
    ("url", urls),
    (HELP_LINE, help_line_numbers),
    ("handle", handles),
    ("id_number", id_numbers),
    ("birth_date", birth_dates),
    ("address", addresses),
    (_HARMLESS, _if(_SEVEN_DIGITS, company_numbers)),
    (_HARMLESS, _if(_SEVEN_DIGITS, harmless_numbers)),
    ("phone", _if(_SEVEN_DIGITS, phones)),
    ("digits", _if(_SEVEN_DIGITS, long_numbers)),
    ("name", names),
)
"""In the order in which they have a claim on a piece of the text; what is harmless is taken and not told."""


def scan_text(text: str) -> Iterator[tuple[str, int, int]]:
    """(kind, start, end) of each finding, none overlapping; public help lines come as kind `help line`."""
    folded = fold(text)
    rest = without(folded.text, [match.span() for match in _REPLACED.finditer(folded.text)])
    for kind, finder in _FINDERS:
        taken = list(_apart(finder(rest)))
        for start, end in taken if kind else ():
            found = HELP_LINE if _is_public(kind, rest[start:end]) else kind
            yield found, *folded.span(start, end)
        rest = without(rest, taken)


def _apart(spans: Iterable[Span]) -> Iterator[Span]:
    """In order, the first and then the longest of those that overlap."""
    last = 0
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= last and end > start:
            yield start, end
            last = end


def _is_public(kind: str, found: str) -> bool:
    if kind == "url":
        return is_help_host(found.partition("://")[2].partition("/")[0] or found.partition("/")[0])
    if kind == "email":
        return is_help_host(found.rpartition("@")[2].strip())
    return kind == HELP_LINE or (kind in ("phone", "digits") and is_help_line(found))
