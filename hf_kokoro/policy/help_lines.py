"""Public help lines by country: numbers that an answer may name without pointing to a person."""

from __future__ import annotations

import re

_KEYPAD = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "22233344455566677778889999")

HELP_LINES: dict[str, dict[str, str]] = {
    "US": {
        "988": "Suicide & Crisis Lifeline",
        "18002738255": "Suicide & Crisis Lifeline (former number)",
        "741741": "Crisis Text Line",
        "18007997233": "National Domestic Violence Hotline",
        "18006564673": "RAINN",
        "18006624357": "SAMHSA National Helpline",
        "18664887386": "The Trevor Project",
        "18004224453": "Childhelp",
        "18009506264": "NAMI HelpLine",
        "18007842433": "suicide line 1-800-SUICIDE",
        "911": "emergency",
        "211": "community services",
    },
    "CA": {"18334564566": "Talk Suicide Canada", "18006686868": "Kids Help Phone", "911": "emergency"},
    "GB": {
        "116123": "Samaritans",
        "08001111": "Childline",
        "08082000247": "National Domestic Abuse Helpline",
        "999": "emergency",
        "111": "NHS",
    },
    "IE": {"116123": "Samaritans", "112": "emergency"},
    "AU": {"131114": "Lifeline", "1300224636": "Beyond Blue", "1800551800": "Kids Helpline", "000": "emergency"},
    "NZ": {"1737": "Need to talk?", "111": "emergency"},
    "EU": {"112": "emergency", "116111": "child helpline", "116123": "emotional support"},
    "JP": {
        "0120279338": "Yorisoi Hotline",
        "0570064556": "mental health consultation (prefectures)",
        "0120783556": "Inochi no Denwa",
        "0120061338": "#Inochi SOS",
        "0120007110": "children's rights line",
        "0120078310": "24-hour children's SOS",
        "0570070810": "women's rights line",
        "119": "emergency",
        "110": "police",
    },
}

_NUMBERS = {number for numbers in HELP_LINES.values() for number in numbers}


def is_help_line(text: str) -> bool:
    """Is the number, with or without country code, separators or letters for digits, a public help line?"""
    digits = re.sub(r"\D", "", text.upper().translate(_KEYPAD))
    return bool(_spellings(digits) & _NUMBERS)


def _spellings(digits: str) -> set[str]:
    """The number as given, with and without the leading 1 of North America, and with 0 for a country code."""
    found = {digits, f"1{digits}", digits.removeprefix("1")}
    for code in ("81", "44", "61", "64", "353"):
        if digits.startswith(code):
            found |= {digits.removeprefix(code), f"0{digits.removeprefix(code)}"}
    return found
