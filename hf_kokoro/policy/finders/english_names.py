"""Names of people in English, where the words around them say that a name stands there.

A capital letter alone is none: names are found after "my name is", a relation ("my husband Mark"), a greeting, a closing,
and before the letters of a degree. Common given names are also found in small letters after "my name is".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from .known_names import ENGLISH_GIVEN

Span = tuple[int, int]

_CAPITAL, _ANY = "A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĘĚĞĢĪİĶĹĻŁŃŅŇŌŐŘŚŞŠŢŤŪŮŰŹŻŽ", r"A-Za-zÀ-ÖØ-öø-ſ"
_NAME = rf"[{_CAPITAL}](?:[{_ANY}]|['-](?=[{_ANY}])){{1,29}}"
_NAMES = rf"{_NAME}(?: (?:{_NAME}|[{_CAPITAL}]\.(?!\w))){{0,3}}"
_FULL = rf"(?:{_NAME}|[{_CAPITAL}]\.)(?: (?:{_NAME}|[{_CAPITAL}]\.?(?!\w))){{1,3}}"
_TITLE = r"(?:(?:Dr|Mr|Mrs|Ms|Miss|Prof|Rev|Pastor|Father|Sister|Coach|Officer|Judge)\.? )?"
_RELATION = (
    r"(?:husband|wife|spouse|partner|fianc[eé]e?|boyfriend|girlfriend|bf|gf|ex|ex[- ](?:husband|wife|boyfriend|girlfriend|partner)|"
    r"son|daughter|kid|child|baby|toddler|stepson|stepdaughter|stepson|stepdad|stepmom|stepfather|stepmother|mom|mum|mother|"
    r"dad|father|brother|sister|twin|uncle|aunt|cousin|niece|nephew|grandma|grandmother|grandpa|grandfather|grandson|"
    r"granddaughter|(?:mother|father|brother|sister|son|daughter)-in-law|friend|best friend|bestie|roommate|housemate|flatmate|"
    r"neighbou?r|co-?worker|colleague|boss|manager|supervisor|teacher|professor|coach|therapist|counsell?or|psychologist|"
    r"psychiatrist|doctor|pastor|priest|lawyer|landlord|landlady|client|patient|girl|boy|man|woman|guy|lady|person|someone|"
    r"somebody|classmate|student|crush|nurse|social worker)"
)
_DEGREE = (
    r"(?:Ph\. ?D\.?|PhD|Psy\. ?D\.?|PsyD|Ed\. ?D\.?|EdD|M\.D\.|MD|D\.O\.|R\.?N\.?|M\.?S\.?W\.?|L\.?M\.?F\.?T\.?|MFT|L\.?C\.?S\.?W\.?(?:-[A-Z])?|"
    r"LICSW|LISW|LMSW|LSW|L\.?P\.?C\.?(?:-?[A-Z]{1,3})?|LPCC|LCPC|LMHC|L\.?M\.?H\.?C\.?|LCMHC|LMHCA|LAMFT|LADC|LCADC|LCDC|CADC|NCC|CCTP|"
    r"ACSW|CSW|BCD|M\.?A\.?|M\.?S\.?|M\.?Ed\.?|B\.?A\.?|RCC|RSW|CCC|RP|CHT|CST|ATR|RPT(?:-S)?|LCMFT|IMFT?|AMFT|APCC|DMin|D\.Min\.?|JD|MDiv)"
)
_CLOSING = (
    r"(?:sincerely(?: yours)?|best|best wishes|best regards|all the best|all my best|warmly|warm(?:est)? (?:wishes|regards)|"
    r"kind(?:est)? regards|regards|respectfully|yours(?: truly| sincerely)?|love|cheers|blessings|many blessings|be well|take care|"
    r"with (?:care|love|warmth|hope)|in peace|namaste|peace|many thanks|thanks|thank you|good luck|hope (?:this|that|it) helps|"
    r"signed|from)"
)
_STOP = frozenset(
    """
    a an the and or but if so because when while where what why how who which that this these those there here it its
    i i'm i've i'll i'd me my mine we we're us our you you're your he he's him his she she's her they they're them their
    is isn't are aren't was wasn't were be been being am do does did don't doesn't didn't has have had can can't could
    will won't would should may might must shall not no never always often sometimes usually only just also even still
    already again now then later soon today tomorrow yesterday very too really please yes ok okay well maybe perhaps
    says say said tells told thinks wants calls keeps makes gets goes went left gave takes took found finally
    in on at by for from of off to up with without about after before since until over under into as than like
    god lord jesus christ allah buddha mud monday tuesday wednesday thursday friday saturday sunday january february
    march april june july august september october november december christmas easter thanksgiving
    english american british irish canadian australian mexican indian chinese japanese german french spanish italian
    african asian european hispanic latino latina black white christian catholic jewish muslim hindu buddhist mormon
    bipolar depressed anonymous confused worried hopeless lonely tired sad lost anxious hurt angry desperate
    everyone everybody all friend friends reader readers world sir madam folks guys team community mom dad mum mother
    father diary abby prudence santa self life past depression anxiety people someone somebody anyone client user
    thank thanks hello hi hey dear good great nice sorry welcome greetings best regards love sincerely
    dr mr mrs ms miss prof doctor professor names home asher first last full given
    facebook instagram google skype zoom online adhd ptsd ocd dbt cbt emdr
    therapy therapist counseling counselor counselling counsellor psychologist psychology psychotherapist psychiatrist
    psychotherapy clinical licensed registered certified professional family marriage mental health social worker
    coach coaching center clinic institute university college associates services private practice supervisor
    master masters doctorate bachelor degree relationship relationships couples trauma addiction child adult group
    crisis hotline lifeline line national american association school high dept department street avenue road
    """.split()
)


def _find(pattern: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(pattern, flags)


_IS = r"(?: is|'s| was|:)"
_AFTER = r"(?![\w'@-])"
_END = r"(?=\s*(?:[\n,;|(]|$)|[.!]?\s*(?:\n|$))"
_CUES: tuple[re.Pattern[str], ...] = (
    # my name is, his full name was, the name's; Name: ...
    _find(rf"(?i:\bname{_IS}) {{1,2}}(?P<name>{_NAMES}){_AFTER}"),
    _find(rf"(?im:^|[\n,(])\s?(?:(?i:full |first |last |sur)?[Nn]ame|NAME) ?[:=] ?(?P<name>{_NAMES}){_AFTER}"),
    _find(rf"\b(?i:i am called|i'm called|people call me|everyone calls me|they call me|call me|i go by|named (?:me|him|her|it)|"
          rf"we named (?:him|her|our \w+)|known as)(?: as)? (?P<name>{_NAMES}){_AFTER}"),
    _find(rf"\b(?i:{_RELATION}),? (?i:(?:is |was )?(?:named|called)),? {_TITLE}(?P<name>{_NAMES}){_AFTER}"),
    _find(rf"\b(?i:my|our|his|her|your|their)(?: (?!own\b)[a-z]{{2,12}})? (?i:{_RELATION}),? {_TITLE}(?P<name>{_NAMES}){_AFTER}"),
    # a greeting at the start of a line, and a name after it
    _find(rf"(?m:^|(?<=[.!?]))\s{{0,3}}(?i:dear|hi|hello|hey|greetings|good (?:morning|evening|day))(?i: there)?,? {_TITLE}"
          rf"(?P<name>{_NAME}(?: {_NAME})?)(?=\s?[,!.:;\n—-]|$)"),
    # a closing, then a name and nothing more
    _find(rf"(?:^|(?<=[\n.!?,;]))[ \t]{{0,3}}(?i:{_CLOSING})(?:[,.!:]{{0,2}}\s*\n\s*|[,!:] {{0,2}})(?:[-–—~] ?)?{_TITLE}"
          rf"(?P<name>{_NAME}(?: (?:{_NAME}|[{_CAPITAL}]\.?(?!\w))){{0,2}}){_END}"),
    _find(rf"\n\s{{0,5}}[-~]{{1,2}} ?{_TITLE}(?P<name>{_NAME}(?: (?:{_NAME}|[{_CAPITAL}]\.?(?!\w))){{0,2}})(?=\s*(?:\n|$))"),
    # before the letters of a degree
    _find(rf"(?<![\w'@-])(?P<name>{_FULL}),? (?=\(?{_DEGREE}(?![\w'-]))"),
)
_SMALL = _find(r"(?i:\bmy (?:first |full |real )?name(?: is|'s)) (?P<name>[a-z]{2,15}(?: [a-z]{2,15})?)(?![\w'-])")
_I_AM = _find(rf"\b(?:I am|I'm|i'm|i am|[Tt]his is|[Ii]t's|it is) {_TITLE}(?P<name>{_NAME}(?: (?:{_NAME}|[{_CAPITAL}]\.))?){_AFTER}")


def english_names(text: str) -> Iterator[Span]:
    """Names in English, without titles and degrees."""
    for cue in _CUES:
        for match in cue.finditer(text):
            yield from _span(match)
    for match in _I_AM.finditer(text):
        if match["name"].split()[0].casefold() in ENGLISH_GIVEN:
            yield from _span(match)
    for match in _SMALL.finditer(text):
        yield from _known(match)


def _span(match: re.Match[str]) -> Iterator[Span]:
    """The name without words that are none at its end; nothing if its first word is none."""
    words = match["name"].split(" ")
    kept = next((n for n, word in enumerate(words) if word.casefold() in _STOP), len(words))
    if kept and not (len(words) > kept and kept < 2 and _degree_follows(match)):
        yield match.start("name"), match.start("name") + len(" ".join(words[:kept]))


def _degree_follows(match: re.Match[str]) -> bool:
    return match.re is _CUES[-1]


def _known(match: re.Match[str]) -> Iterator[Span]:
    first, *rest = match["name"].split(" ")
    if first in ENGLISH_GIVEN:
        yield match.start("name"), match.start("name") + len(first)
