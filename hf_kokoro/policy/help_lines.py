"""Public help lines by country: numbers and pages that an answer may name without pointing to a person."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

_KEYPAD = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "22233344455566677778889999")

HELP_LINES: dict[str, dict[str, str]] = {
    "US": {
        "988": "Suicide & Crisis Lifeline",
        "18002738255": "Suicide & Crisis Lifeline (former number)",
        "741741": "Crisis Text Line",
        "838255": "Veterans Crisis Line (text)",
        "18007997233": "National Domestic Violence Hotline",
        "18007873224": "National Domestic Violence Hotline (TTY)",
        "18006564673": "RAINN",
        "18006624357": "SAMHSA National Helpline",
        "18009855990": "Disaster Distress Helpline",
        "18664887386": "The Trevor Project",
        "678678": "The Trevor Project (text)",
        "18775658860": "Trans Lifeline",
        "18004224453": "Childhelp",
        "18007862929": "National Runaway Safeline",
        "18663319474": "loveisrespect",
        "18883737888": "National Human Trafficking Hotline",
        "18009506264": "NAMI HelpLine",
        "18007842433": "suicide line 1-800-SUICIDE",
        "18009312237": "eating disorders helpline",
        "18338526262": "Maternal Mental Health Hotline",
        "18009444773": "Postpartum Support International",
        "18002221222": "Poison Help",
        "911": "emergency",
        "211": "community services",
    },
    "CA": {
        "18334564566": "Talk Suicide Canada",
        "18006686868": "Kids Help Phone",
        "18773306366": "Trans Lifeline",
        "686868": "Kids Help Phone (text)",
        "911": "emergency",
    },
    "GB": {
        "116123": "Samaritans",
        "08001111": "Childline",
        "08082000247": "National Domestic Abuse Helpline",
        "08088084994": "The Mix",
        "03001233393": "Mind Infoline",
        "08000684141": "Papyrus HOPELINE247",
        "08000585858": "CALM",
        "85258": "Shout (text)",
        "999": "emergency",
        "111": "NHS",
    },
    "IE": {"116123": "Samaritans", "1800247247": "Pieta House", "50808": "text line", "112": "emergency"},
    "AU": {
        "131114": "Lifeline",
        "1300224636": "Beyond Blue",
        "1800551800": "Kids Helpline",
        "1300659467": "Suicide Call Back Service",
        "1300789978": "MensLine Australia",
        "1800737732": "1800RESPECT",
        "000": "emergency",
    },
    "NZ": {"1737": "Need to talk?", "0800543354": "Lifeline", "0508828865": "suicide crisis line", "111": "emergency"},
    "EU": {"112": "emergency", "116111": "child helpline", "116123": "emotional support", "116006": "victims"},
    "DE": {"08001110111": "Telefonseelsorge", "08001110222": "Telefonseelsorge"},
    "FR": {"3114": "suicide prevention", "3919": "violence against women"},
    "JP": {
        "0120279338": "Yorisoi Hotline",
        "0120279226": "Yorisoi Hotline (Iwate, Miyagi, Fukushima)",
        "0570064556": "mental health consultation (prefectures)",
        "0120783556": "Inochi no Denwa",
        "0570783556": "Inochi no Denwa",
        "0352869090": "Befrienders Worldwide Tokyo",
        "0357740992": "TELL Lifeline",
        "0120061338": "#Inochi SOS",
        "0120565455": "Kokoro no Mimi",
        "0120997777": "Childline Japan",
        "0120007110": "children's rights line",
        "0120078310": "24-hour children's SOS",
        "0120189783": "child abuse consultation",
        "0120279889": "DV Consultation Plus",
        "0570070810": "women's rights line",
        "0570003110": "everyone's rights line",
        "0570090110": "foreign-language rights line",
        "0570055210": "domestic violence navigation",
        "119": "emergency",
        "110": "police",
        "189": "child abuse",
        "9110": "police consultation",
        "8008": "domestic violence consultation",
        "8891": "sexual violence support",
    },
}

HELP_HOSTS = frozenset(
    "988lifeline.org suicidepreventionlifeline.org crisistextline.org veteranscrisisline.net thehotline.org rainn.org "
    "samhsa.gov thetrevorproject.org translifeline.org childhelp.org loveisrespect.org nami.org afsp.org "
    "1800runaway.org humantraffickinghotline.org postpartum.net imalive.org "
    "talksuicide.ca kidshelpphone.ca samaritans.org childline.org.uk papyrus-uk.org thecalmzone.net giveusashout.org "
    "mind.org.uk themix.org.uk nationaldahelpline.org.uk pieta.ie lifeline.org.au beyondblue.org.au "
    "kidshelpline.com.au "
    "suicidecallbackservice.org.au mensline.org.au 1800respect.org.au 1737.org.nz lifeline.org.nz "
    "befrienders.org findahelpline.com iasp.info telefonseelsorge.de "
    "inochinodenwa.org since2011.net yorisoi-chat.jp lifelink.or.jp telljp.com childline.or.jp kokoro.mhlw.go.jp "
    "talkme.jp bondproject.jp soudanplus.jp npo-tms.or.jp".split()
)

_CODES = {"US": "1", "CA": "1", "GB": "44", "IE": "353", "AU": "61", "NZ": "64", "DE": "49", "FR": "33", "JP": "81"}
_NUMBERS = {number for numbers in HELP_LINES.values() for number in numbers}
_MOST_LABELS = max(host.count(".") for host in HELP_HOSTS) + 1
_SHORTEST_TO_FIND = 5
"""Shorter numbers look like nothing that is private."""


def is_help_line(text: str) -> bool:
    """Is the number, with or without country code, separators or letters for digits, a public help line?"""
    digits = re.sub(r"\D", "", text.upper().translate(_KEYPAD))
    return bool(_spellings(digits) & _NUMBERS)


def is_help_host(host: str) -> bool:
    """Is the host a public help line's, or under one?"""
    labels = host.casefold().rstrip(".").split(".")[-_MOST_LABELS:]
    return any(".".join(labels[first:]) in HELP_HOSTS for first in range(len(labels) - 1))


def help_line_numbers(text: str) -> Iterator[tuple[int, int]]:
    """Where help lines' numbers stand, however grouped; not those that are a piece of a longer number."""
    for match in _finder().finditer(text):
        before = _NUMBER_BEFORE.search(text, max(match.start() - 8, 0), match.start())
        if before is None or is_help_line(before[1]):
            yield match.span()


_GAP = r"[ ./()-]{0,2}"
_NUMBER_BEFORE = re.compile(r"(?<![A-Za-z0-9])(\d{1,6})[ ]\Z")


def _spellings(digits: str) -> set[str]:
    """The number as given, with and without the leading 1 of North America, and with 0 for a country code."""
    found = {digits, f"1{digits}", digits.removeprefix("1")}
    for code in _CODES.values():
        if code != "1" and digits.startswith(code):
            found |= {digits.removeprefix(code), f"0{digits.removeprefix(code)}"}
    return found


@cache
def _finder() -> re.Pattern[str]:
    numbers = [(code, number) for code, numbers in HELP_LINES.items() for number in numbers]
    found = [_pattern(_CODES.get(code, ""), number) for code, number in numbers if len(number) >= _SHORTEST_TO_FIND]
    alternatives = "|".join(sorted(set(found), key=len, reverse=True))
    return re.compile(
        r"(?<![A-Za-z0-9+])(?<!\d[-./])(?=[+(]{0,2}\d(?:[ ./()-]{0,2}[\dA-Z]){4})"
        rf"\(?(?:{alternatives})(?![-./]?\d| (?!24\b)\d|[A-Za-z])"
    )


def _pattern(code: str, number: str) -> str:
    """The digits with or without gaps, from North America also as letters, after an optional country code."""
    national = number.removeprefix("0")
    if code == "1" and len(number) == 11:
        digits = [*number[1:4], *(f"[{digit}{_letters(digit)}]" for digit in number[4:])]
        return rf"(?:\+?1{_GAP})?\(?" + _GAP.join(digits)
    if national != number:
        return rf"(?:\+?{code}{_GAP}(?:0{_GAP})?|0{_GAP})" + _GAP.join(national)
    return (rf"(?:\+?{code}{_GAP})?" if code else "") + _GAP.join(number)


def _letters(digit: str) -> str:
    return "".join(chr(letter) for letter, key in _KEYPAD.items() if key == ord(digit))
