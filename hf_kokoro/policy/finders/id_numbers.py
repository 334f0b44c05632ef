"""Numbers that a state, a bank or an insurer gives to one person, and long numbers of which nothing is known.

Check digits and shapes are python-stdnum's. A shape that says what it is (an IBAN, a card's four fours, `123-45-6789`)
or a number whose check digit is right counts as it stands; others count after the words for them ("passport number").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from .folding import Span

_IBAN = re.compile(
    r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?(?![A-Za-z0-9])", re.ASCII
)
_CARD = re.compile(
    r"(?<![A-Za-z0-9.-])(?:\d{4}([ -]?)\d{4}\1\d{4}\1\d{1,7}|3\d{3}([ -]?)\d{6}\2\d{4,5})(?![A-Za-z0-9-])(?!\.\d)",
    re.ASCII,
)
_FOUR_FOURS = re.compile(r"\d{4}([ -])\d{4}\1\d{4}\1\d{4}\Z")
_SSN = re.compile(r"(?<![A-Za-z0-9-])\d{3}-\d{2}-\d{4}(?![A-Za-z0-9-])", re.ASCII)
_NINO = re.compile(r"(?<![A-Za-z0-9])[A-CEGHJ-PQR-TW-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D](?![A-Za-z0-9])", re.ASCII)
_TWELVE = re.compile(r"(?<![A-Za-z0-9.-])(?:\d{12}|\d{4}([ -])\d{4}\1\d{4})(?![A-Za-z0-9-])(?!\.\d)", re.ASCII)
_TOKEN = r"(?P<id>(?=[A-Z0-9 /-]{0,24}\d{2})[A-Z0-9](?:[ /-]?[A-Z0-9]){4,23})(?![A-Za-z0-9])"
_NUMBER_WORD = r"(?:numbers?|nos?|nr|num|id|file number|#)(?![A-Za-z])\.?"
_ENGLISH_WORDS = re.compile(
    r"\b(?i:(?:passport|ssn|social security|social insurance|nhs|national insurance|driver'?s?'? ?licen[cs]e|"
    r"driving licen[cs]e|medicare|medicaid|mrn|itin|tfn|iban)"
    rf"(?:[ .]{{0,2}}{_NUMBER_WORD})?|(?:insurance|member(?:ship)?|policy|health card|patient|medical record|"
    rf"tax|tax file|"
    r"national|resident|green card|visa|credit card|debit card|card)(?: (?:id|member|card))?"
    rf"[ .]{{0,2}}{_NUMBER_WORD})[ ,:;=(#]{{0,3}}(?i:(?:is|was)\b[ :]{{0,2}})?" + _TOKEN,
    re.ASCII,
)
_JAPANESE_WORDS = re.compile(
    r"(?:マイナンバー(?:カード)?|個人番号|パスポート|旅券|(?:運転)?免許証?|(?:健康)?保険証?|被保険者証?|年金|"
    r"基礎年金|在留カード|"
    r"クレジットカード|キャッシュカード|カード|住民票コード|身分証)(?:の)?(?:番号|ナンバー|記号|No\.?|"
    r"ID)?\s?(?:[はがを]|[::=(]){0,2}\s?" + _TOKEN,
    re.ASCII,
)
_CARD_NUMBER_OF_A_COMPANY = re.compile(r"法人番号\s?(?:[はが]|[::=(]){0,2}\s?(\d{13}|\d{1}-\d{4}-\d{4}-\d{4})(?!\d)")
_DIGITS = re.compile(r"(?<![A-Za-z0-9_.])\d{7,}+(?![A-Za-z0-9_.]*[A-Za-z0-9_])", re.ASCII)
_ROUND = re.compile(r"\d+0{5}\Z|\d{1,3}0{4}\Z")


def id_numbers(text: str) -> Iterator[Span]:
    """IBANs, cards, social security, insurance, passport and licence numbers, My Number."""
    if not re.search(r"\d", text):
        return
    for pattern, is_one in _CHECKED:
        for match in pattern.finditer(text):
            end = is_one(match)
            if end:
                yield match.start(), end
    for pattern in (_ENGLISH_WORDS, _JAPANESE_WORDS):
        yield from (match.span("id") for match in pattern.finditer(text))


def company_numbers(text: str) -> Iterator[Span]:
    """Japanese corporate numbers, which are public: no private data."""
    from stdnum.jp import cn

    for match in _CARD_NUMBER_OF_A_COMPANY.finditer(text) if "法人番号" in text else ():
        if cn.is_valid(match[1]):
            yield match.span(1)


def long_numbers(text: str) -> Iterator[Span]:
    """Seven digits or more in a row that nothing else explains; no round sums, no books (ISBN)."""
    from stdnum import isbn

    for match in _DIGITS.finditer(text):
        if not _ROUND.match(match[0]) and not (len(match[0]) == 13 and isbn.is_valid(match[0])):
            yield match.span()


def _iban_end(match: re.Match[str]) -> int:
    """Words in capitals may follow an IBAN, so the end is where the check digits are right; 0 if nowhere."""
    from stdnum import iban

    text = match[0]
    for length in range(len(text), 14, -1):
        if text[length - 1].isalnum() and iban.is_valid(text[:length]):
            return match.start() + length
    return 0


def _card_end(match: re.Match[str]) -> int:
    from stdnum import luhn

    grouped = _FOUR_FOURS.match(match[0])
    digits = re.sub(r"\D", "", match[0])
    return match.end() if grouped or (digits[0] in "23456" and len(digits) > 12 and luhn.is_valid(digits)) else 0


def _my_number_end(match: re.Match[str]) -> int:
    from stdnum.jp import in_

    return match.end() if in_.is_valid(re.sub(r"\D", "", match[0])) else 0


_CHECKED: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], int]], ...] = (
    (_IBAN, _iban_end),
    (_CARD, _card_end),
    (_SSN, re.Match.end),
    (_NINO, re.Match.end),
    (_TWELVE, _my_number_end),
)
