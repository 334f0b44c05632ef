"""Telephone numbers: in the shapes in which people group them, and what `phonenumbers` knows of numbering plans.

Shapes count whether or not the number is in service, since a slip of one digit does not make a number public. Beside
them `phonenumbers` reads the text as from the countries of its language with `Leniency.VALID`: the number exists there,
grouped in any way; and as from some others with `STRICT_GROUPING`: it exists there and is grouped as people there do,
which counts and sums are not. After a word for a telephone seven digits in any grouping are enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .folding import Span, without

_JAPANESE = re.compile(r"[ぁ-んァ-ヶ一-龥]")
_AT_HOME = {"ja": ("JP",), "en": ("US", "GB", "AU", "IE", "NZ")}
_ABROAD = {"ja": ("US", "GB"), "en": ("JP", "FR", "DE", "IN")}
_MOST_TRIES = 1000
"""Candidates of one text; a text with more is a table, whose numbers the shapes and the kind `digits` still find."""

_BEGIN, _NO_MORE = r"(?<![A-Za-z0-9_+#/])(?<!\d[.,:-])", r"(?![A-Za-z0-9_]|-\d|[.,:/]\d)"
_GAP = r"(?: ?[-./] ?| )"
_EXTENSION = r"(?:,? ?(?:ext|extension|x)\.? ?\d{1,5})?"
_SHAPES = re.compile(
    rf"\+ ?\d(?:[ .()/-]{{0,3}}\d){{6,14}}{_EXTENSION}(?!\d)"  # with the country's code
    rf"|{_BEGIN}(?:1{_GAP})?(?:\(\d{{3}}\) ?[-.]? ?|\d{{3}}{_GAP})\d{{3}}{_GAP}\d{{4,6}}{_EXTENSION}{_NO_MORE}"  # 3-3-4
    rf"|{_BEGIN}\(?0\d{{1,4}}\)?(?:[ ./()-]{{1,2}}\d{{2,8}}){{1,4}}{_NO_MORE}"  # a trunk 0, then groups
    rf"|{_BEGIN}0[5-9]0\d{{8}}{_NO_MORE}"  # Japan, not fixed lines
    rf"|{_BEGIN}[2-9]\d{{2}}-\d{{4}}{_NO_MORE}"  # 555-0142
    rf"|{_BEGIN}(?:1-)?\d{{3}}-\d{{3}}-[A-Z]{{4}}(?![A-Za-z0-9_-])",
    re.ASCII,
)
_TOLD = re.compile(
    r"(?:(?i:\b(?:phone|tele?phone|tel|cell|mobile|fax|whatsapp|call|text|ring|dial|reach|contact)\b[^\d\n.!?;]{0,25})"
    r"|(?:電話|携帯|(?<![一-龥])番号|ケータイ|スマホ|連絡先|ファックス|FAX|TEL|℡|☎)[^\d\n。]{0,6})"
    rf"(?P<number>\+?\(?\d(?:[ ./()-]{{0,2}}\d){{6,13}}){_EXTENSION}{_NO_MORE}",
    re.ASCII,
)


def phones(text: str) -> Iterator[Span]:
    """Telephone numbers, without regard to whether they are a help line's."""
    yield from (match.span("number") for match in _TOLD.finditer(text))
    shaped = [match.span() for match in _SHAPES.finditer(text) if _is_long_enough(match[0])]
    yield from shaped
    yield from _numbers_in_service(without(text, shaped))


def _is_long_enough(text: str) -> bool:
    """Nine digits with a trunk 0 (seven elsewhere), and no more than a number can have (ITU-T E.164: 15)."""
    digits = sum(char.isalnum() for char in text)
    least = 9 if text.lstrip("(").startswith("0") else 7
    return least <= digits <= 20


def _numbers_in_service(text: str) -> Iterator[Span]:
    from phonenumbers import Leniency, PhoneNumberMatcher

    language = "ja" if _JAPANESE.search(text) else "en"
    tried = [(region, Leniency.VALID) for region in _AT_HOME[language]]
    tried += [(region, Leniency.STRICT_GROUPING) for region in _ABROAD[language]]
    for region, leniency in tried:
        for match in PhoneNumberMatcher(text, region, leniency=leniency, max_tries=_MOST_TRIES):
            if sum(char.isdigit() for char in match.raw_string) >= 9:
                yield match.start, match.end
