"""Postal addresses: street and house, post office boxes, postal codes; a town or a prefecture alone is none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .folding import Span

_STATE = (
    r"(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|P[AR]|RI|S[CD]|T[NX]|UT|"
    r"V[AT]|W[AIVY]|"
    r"Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|Hawaii|Idaho|Illinois|"
    r"Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|Michigan|Minnesota|Mississippi|"
    r"Missouri|Montana|"
    r"Nebraska|Nevada|New (?:Hampshire|Jersey|Mexico|York)|(?:North|South) (?:Carolina|Dakota)|Ohio|Oklahoma|Oregon|"
    r"Pennsylvania|Rhode Island|Tennessee|Texas|Utah|Vermont|Virginia|Washington|West Virginia|Wisconsin|Wyoming)"
)
_ZIP = r"\d{5}(?:-\d{4})?(?!\d)"
_UK_CODE = r"(?:[A-Z]{1,2}\d[A-Z\d]? ?\d[ABD-HJLNP-UW-Z]{2})(?![A-Za-z0-9])"
_CA_CODE = r"[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z][ -]?\d[ABCEGHJ-NPRSTV-Z]\d(?![A-Za-z0-9])"
_CODE = rf"(?:{_UK_CODE}|{_CA_CODE})"
_WORD = r"[A-Z][A-Za-z'.]{0,24}"
_CITY = rf"{_WORD}(?: {_WORD}){{0,2}}"
_STREET = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Place|Pl|Way|Terrace|Close|"
    r"Crescent|Square|"
    r"Sq|Parkway|Pkwy|Highway|Hwy|Circle|Cir|Trail|Row|Gardens|Grove|Mews|Hill|Alley|Broadway)\b\.?"
)
_UNIT = r"(?:(?:Apt|Apartment|Suite|Ste|Unit|Flat|Room|Rm|Floor|Fl)\.? ?[A-Z]?\d{0,5}[A-Z]?|#\s?\w{1,6})"
_STATE_AND_ZIP = rf"{_STATE},? {_ZIP}"
_PLACE = rf"(?:,? {_STATE_AND_ZIP}|, {_CITY}(?:,? (?:{_STATE_AND_ZIP}|{_CODE})|, {_STATE}\b)|,? {_CODE})"
_ENGLISH = re.compile(
    rf"(?<![A-Za-z0-9.$-])\d{{1,5}}[A-Za-z]?(?:-\d{{1,5}})?(?: (?:[NSEW]\.?|[NS][EW]|North|South|East|West))?"
    rf"(?! (?:Step|Star|Day|Year|Hour|Minute|Week|Month|Point|Part|Love|Man|Woman|Time|Mile)s?\b)"
    rf"(?: (?:{_WORD}|\d{{1,3}}(?:st|nd|rd|th))){{1,3}}? {_STREET}(?: (?:[NSEW]\.?|[NS][EW])(?![A-Za-z]))?"
    rf"(?:,? {_UNIT})?(?:{_PLACE})?"
    rf"|\bP\.? ?O\.? ?Box \d{{1,6}}(?:, {_CITY}(?:,? (?:{_STATE_AND_ZIP}|{_CODE})|, {_STATE}\b)?)?"
    rf"|(?<![A-Za-z0-9]){_CODE}"
)
_CITY_AND_ZIP = re.compile(rf"(?<![A-Za-z]){_CITY}, {_STATE_AND_ZIP}")
_ZIP_HINT = re.compile(rf"[A-Za-z],? {_ZIP}")

_PREFECTURE = (
    r"(?:北海道|東京都|(?:大阪|京都)府|(?:青森|岩手|宮城|秋田|山形|福島|茨城|栃木|群馬|埼玉|千葉|神奈川|新潟|"
    r"富山|石川|福井|山梨|長野|岐阜|静岡|愛知|"
    r"三重|滋賀|兵庫|奈良|和歌山|鳥取|島根|岡山|広島|山口|徳島|香川|愛媛|高知|福岡|佐賀|長崎|熊本|大分|宮崎|"
    r"鹿児島|沖縄)県)"
)
_KANJI = r"一-龥々ヶケノ"
_TOWN = rf"(?:[{_KANJI}]{{1,6}}?|さいたま|つくば|いわき|うるま|たつの|みどり|ひたちなか|[ァ-ヶー]{{2,6}})[市区郡町村]"
_NUMBER = r"(?:\d{1,4}|[二三四五六七八九十百一]{1,4})"
_BLOCK = rf"{_NUMBER}(?:(?:丁目|条|番地の?|番|号|線|[-の])(?:[東西南北]?{_NUMBER})?){{1,4}}"
_BUILDING = (
    r"(?:\s?[一-龥ァ-ヶーA-Za-z]{1,14}(?:マンション|アパート|ハイツ|コーポ|メゾン|ビル|タワー|ハウス|荘|"
    r"レジデンス|パレス|団地|寮|棟)\s?"
    r"(?:\d{1,2}階)?\d{0,4}(?:号室|号)?)"
)
_JAPANESE = re.compile(
    rf"〒\s?\d{{3}}-?\d{{4}}(?:\s{{0,2}}{_PREFECTURE}?(?:{_TOWN}){{1,3}}[{_KANJI}ァ-ー]{{0,8}}(?:{_BLOCK}{_BUILDING}?)?)?"
    rf"|(?:{_PREFECTURE}(?:{_TOWN}){{1,3}}|"
    rf"(?<![{_KANJI}])(?:{_TOWN}){{1,3}})[{_KANJI}ァ-ー]{{0,8}}?{_BLOCK}{_BUILDING}?"
)
_HINT = re.compile(r"〒|[市区町村郡]")


def addresses(text: str) -> Iterator[Span]:
    """Postal addresses in English and Japanese, each as one piece."""
    yield from (match.span() for match in _ENGLISH.finditer(text))
    if _ZIP_HINT.search(text):
        yield from (match.span() for match in _CITY_AND_ZIP.finditer(text))
    if _HINT.search(text):
        yield from (match.span() for match in _JAPANESE.finditer(text))
