"""Days of birth, and other numbers that only count, measure, date or cite something."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .folding import Span

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY, _YEAR = r"\d{1,2}(?:st|nd|rd|th)?", r"(?:1[89]|20)\d{2}"
_ENGLISH = (
    rf"(?:{_MONTH} {_DAY}(?:,? {{0,2}}{_YEAR})?|(?:the )?{_DAY} (?:of )?{_MONTH}(?:,? {{0,2}}{_YEAR})?"
    rf"|\d{{1,2}}[/.-]\d{{1,2}}[/.-](?:{_YEAR}|\d{{2}})|{_YEAR}[/.-]\d{{1,2}}[/.-]\d{{1,2}})(?![\w-])"
)
_NUMBER_JA = r"(?:\d{1,2}|[一二三四五六七八九十]{1,3})"
_ERA = (
    rf"(?:(?:明治|大正|昭和|平成|令和)(?:元|{_NUMBER_JA})年|(?:1[89]|20)\d{{2}}年|"
    r"[二一][〇零一二三四五六七八九千百十]{2,6}年)"
)
_JAPANESE = (
    rf"(?:{_ERA}\s?)?{_NUMBER_JA}月\s?{_NUMBER_JA}日"
    rf"|{_YEAR}[/.-]\d{{1,2}}[/.-]\d{{1,2}}(?!\d)|[MTSHR]\d{{1,2}}[/.-]\d{{1,2}}[/.-]\d{{1,2}}(?!\d)"
)
_BORN_ENGLISH = re.compile(
    rf"\b(?:born(?: on)?|d\.?o\.?b\.?|date of birth|birth ?date|birth ?day)\b(?: ?(?:is|was|'s|on|:|=|"
    rf"-)){{0,2}}[\s,:]{{0,3}}"
    rf"(?P<date>{_ENGLISH})",
    re.IGNORECASE,
)
_BORN_JAPANESE = re.compile(
    rf"(?:生年月日|誕生日|生まれた日|バースデー)(?:[はが]|[::=]){{0,2}}[\s、]{{0,2}}(?P<date>{_JAPANESE}|{_ENGLISH})"
    rf"|(?<!\d)(?P<before>{_JAPANESE})\s?(?:に|の)?(?:生まれ|誕生|生れ)",
    re.IGNORECASE,
)

# what is counted, priced, measured, dated, versioned or cited: taken out before numbers are looked at
_UNIT = (
    r"(?:people|persons|users|men|women|dollars|usd|eur|euros?|pounds?|gbp|yen|jpy|bucks|miles?|km|kg|mg|lbs?|"
    r"steps|words|"
    r"views|followers|times|years|days|hours|percent|%)(?![A-Za-z])|"
    r"[円人名回件枚本個歳年月日分秒時歩字位万億千百%％]|ドル|ユーロ|ポンド|キロ"
)
_HARMLESS = re.compile(
    rf"(?<![\w.])(?:{_YEAR}[/.-](?:0?[1-9]|1[0-2])[/.-](?:[0-2]?\d|3[01])|\d{{1,2}}[/.-]\d{{1,2}}[/.-]{_YEAR})(?![\w-])"
    rf"|(?<![\w.])(?:19|20)\d{{2}}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?!\w*\d)"
    rf"|(?<![\w.-]){_YEAR}\s?[-~/]\s?{_YEAR}(?![\w-])"
    r"|(?<![\w.])\d{5}-\d{4}(?![\w-])"
    r"|\d{1,2}:\d{2}(?::\d{2})?(?:\s?-\s?\d{1,2}:\d{2})?"
    r"|[$€£¥]\s?\d[\d,.]{0,20}(?:\s?-\s?[$€£¥]?\d[\d,.]{0,20})?"
    rf"|(?<![\w.+(-])\d{{1,3}}(?:[ ,]\d{{3}}){{1,4}}(?=\s?(?:{_UNIT}))"
    rf"|(?<![\w.+(-])\d{{1,3}}(?:[ ,]000){{1,4}}(?![\w-])"
    rf"|(?<![\w.+(-])\d{{1,15}}(?:[.,]\d{{1,9}}){{0,4}}(?=\s?(?:{_UNIT}))"
    r"|(?<![\w.+(-])\d{1,3}\.\d{1,3}\.\d{1,5}(?:\.\d{1,5})?(?=[\s,;)]|\.?$|\.\s)(?<!\d{3}\.\d{4})"
    r"|\bdoi:?\s?\S{1,80}|\b10\.\d{4,9}/\S{1,80}|\b(?:pmid|arxiv|issn|isbn)[:\s-]{0,2}[\dXx][\dXx. -]{4,20}[\dXx]"
    r"|\b(?:pp?|pages?)\.?\s?\d{1,5}\s?-\s?\d{1,5}|\(\d{1,4}\)[,:]\s?\d{1,5}-\d{1,5}",
    re.IGNORECASE | re.ASCII,
)


def birth_dates(text: str) -> Iterator[Span]:
    """Days that are said to be somebody's day of birth; a year alone is none."""
    folded = text.casefold()
    if any(word in folded for word in ("born", "birth", "b.", "dob")):
        yield from (match.span("date") for match in _BORN_ENGLISH.finditer(text))
    if any(word in text for word in ("生", "誕", "バースデー")):
        yield from (match.span(match.lastgroup or 0) for match in _BORN_JAPANESE.finditer(text))


def harmless_numbers(text: str) -> Iterator[Span]:
    """Dates, times, years, money, counts, versions and citations."""
    for match in _HARMLESS.finditer(text):
        yield match.span()
