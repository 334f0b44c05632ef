"""Names of people in English, where the words around them say that a name stands there.

A capital letter alone is none: names are found after "my name is", a relation ("my husband Mark"), a greeting, a
closing, and before the letters of a degree. Common given names are also found in small letters after "my name is".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from .folding import Span
from .known_names import ENGLISH_GIVEN

_CAPITAL, _ANY = "A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĘĚĞĢĪİĶĹĻŁŃŅŇŌŐŘŚŞŠŢŤŪŮŰŹŻŽ", r"A-Za-zÀ-ÖØ-öø-ſ"
_NAME = rf"[{_CAPITAL}](?:[{_ANY}]|['-](?=[{_ANY}])){{1,29}}"
_NAMES = rf"{_NAME}(?: (?:{_NAME}|[{_CAPITAL}]\.(?!\w))){{0,3}}"
_FULL = rf"(?:{_NAME}|[{_CAPITAL}]\.)(?: (?:{_NAME}|[{_CAPITAL}]\.?(?!\w))){{1,3}}"
_TITLE = r"(?:(?:Dr|Mr|Mrs|Ms|Miss|Prof|Rev|Pastor|Father|Sister|Coach|Officer|Judge)\.? )?"
_RELATION = (
    r"(?:husband|wife|spouse|partner|fianc[eé]e?|boyfriend|girlfriend|bf|gf|ex|ex[- ](?:husband|wife|boyfriend|"
    r"girlfriend|partner)|"
    r"son|daughter|kid|child|baby|toddler|stepson|stepdaughter|stepson|stepdad|stepmom|stepfather|stepmother|"
    r"mom|mum|mother|"
    r"dad|father|brother|sister|twin|uncle|aunt|cousin|niece|nephew|grandma|grandmother|grandpa|grandfather|grandson|"
    r"granddaughter|(?:mother|father|brother|sister|son|daughter)-in-law|friend|best friend|bestie|roommate|"
    r"housemate|flatmate|"
    r"neighbou?r|co-?worker|colleague|boss|manager|supervisor|teacher|professor|coach|therapist|counsell?or|"
    r"psychologist|"
    r"psychiatrist|doctor|pastor|priest|lawyer|landlord|landlady|client|patient|girl|boy|man|woman|guy|lady|"
    r"person|someone|"
    r"somebody|classmate|student|crush|nurse|social worker)"
)
_DEGREE = (
    r"(?:Ph\. ?D\.?|PhD|Psy\. ?D\.?|PsyD|Ed\. ?D\.?|EdD|M\.D\.|MD|D\.O\.|R\.?N\.?|M\.?S\.?W\.?|L\.?M\.?F\.?T\.?|"
    r"MFT|L\.?C\.?S\.?W\.?(?:-[A-Z])?|"
    r"LICSW|LISW|LMSW|LSW|L\.?P\.?C\.?(?:-?[A-Z]{1,3})?|LPCC|LCPC|LMHC|L\.?M\.?H\.?C\.?|LCMHC|LMHCA|LAMFT|LADC|"
    r"LCADC|LCDC|CADC|NCC|CCTP|"
    r"ACSW|CSW|BCD|M\.?A\.?|M\.?S\.?|M\.?Ed\.?|B\.?A\.?|RCC|RSW|CCC|RP|CHT|CST|ATR|RPT(?:-S)?|LCMFT|DBH|LSCSW|"
    r"LPCMH|LMAC|CASAC|LPCS|LCAS|CAC|RYT|BCBA|RDT|DSW|LGSW|LBSW|BSW|CCC|IMFT?|AMFT|APCC|DMin|D\.Min\.?|JD|MDiv)"
)
_CLOSING = (
    r"(?:sincerely(?: yours)?|best|best wishes|best regards|all the best|all my best|warmly|"
    r"warm(?:est)? (?:wishes|regards)|"
    r"kind(?:est)? regards|regards|respectfully|yours(?: truly| sincerely)?|love|cheers|blessings|"
    r"many blessings|be well|take care|"
    r"with (?:care|love|warmth|hope)|in peace|namaste|peace|many thanks|thanks|thank you|(?:best of |"
    r"good )luck(?: to you)?|"
    r"(?:i )?hope (?:this|that|it) helps|my best(?: to you)?|cheering you on|signed|from)"
)
_STOP = frozenset(
    """
    a an the and or but if so because when while where what why how who which that this these those there here it
    its i i'm i've i'll i'd me my mine we we're us our you you're your he he's him his she she's her they they're
    them their is isn't are aren't was wasn't were be been being am do does did don't doesn't didn't has have had
    can can't could will won't would should may might must shall not no never always often sometimes usually only
    just also even still already again now then later soon today tomorrow yesterday very too really please yes ok
    okay well maybe perhaps says say said tells told thinks wants calls keeps makes gets goes went left gave takes
    took found finally in on at by for from of off to up with without about after before since until over under
    into as than like god lord jesus christ allah buddha mud monday tuesday wednesday thursday friday saturday
    sunday january february march april june july august september october november december christmas easter
    thanksgiving english american british irish canadian australian mexican indian chinese japanese german french
    spanish italian african asian european hispanic latino latina black white christian catholic jewish muslim
    hindu buddhist mormon bipolar depressed anonymous confused worried hopeless lonely tired sad lost anxious hurt
    angry desperate everyone everybody all crazy stop friend friends reader readers world sir madam folks guys team
    community mom dad mum mother father diary abby prudence santa self life past depression anxiety people someone
    somebody anyone client user thank thanks hello hi hey dear good great nice sorry welcome greetings best regards
    love sincerely dr mr mrs ms miss prof doctor professor names home asher first last full given facebook
    instagram google skype zoom online adhd ptsd ocd dbt cbt emdr therapy therapist counseling counselor
    counselling counsellor psychologist psychology psychotherapist psychiatrist psychotherapy clinical licensed
    registered certified professional family marriage mental health social worker coach coaching center clinic
    institute university college associates services private practice supervisor master masters doctorate bachelor
    degree relationship relationships couples trauma addiction child adult group crisis hotline lifeline line
    national american association school high dept department street avenue road
    """.split()
)


_IS = r"(?: is|'s| was|:)"
_AFTER = r"(?![\w'@-])"
_END = r"(?=\s*(?:[\n,;|(~]|$)|[.!~]?\s*(?:\n|$))"
_GREETING = r"(?m:^|(?<=[.!?]))\s{0,3}(?i:dear|hi|hello|hey|greetings|good (?:morning|evening|day))(?i: there)?,? "
_SHORT = rf"{_NAME}(?: (?:{_NAME}|[{_CAPITAL}]\.?(?!\w))){{0,2}}"


class _Cue(NamedTuple):
    """Words that stand before or after a name; `hints`: one of them is in every text that has the cue, in "
    "small letters."""

    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    common: bool = False
    """Only common given names: other words stand there as often."""


_CUES = (
    # my name is, his full name was, the name's; Name: ...
    _Cue(("name",), re.compile(rf"(?i:\bname{_IS}) {{1,2}}(?P<name>{_NAMES}){_AFTER}")),
    _Cue(
        ("name:", "name =", "name :"),
        re.compile(rf"(?m:^|[\n,(])\s?(?:(?i:full |first |last |sur)?[Nn]ame|NAME) ?[:=] ?(?P<name>{_NAMES}){_AFTER}"),
    ),
    _Cue(
        ("call", "go by", "named"),
        re.compile(
            r"\b(?i:i am called|i'm called|people call me|everyone calls me|they call me|i go by|"
            rf"named (?:me|him|her|it)|we named (?:him|her|our \w{{1,20}}))(?: as)? (?P<name>{_NAMES}){_AFTER}"
        ),
    ),
    _Cue(("call me",), re.compile(rf"(?i:\bcall me) (?P<name>{_NAMES}){_AFTER}"), common=True),
    _Cue(
        ("my ", "our ", "his ", "her ", "your ", "their "),
        re.compile(
            rf"\b(?i:my|our|his|her|your|"
            rf"their)(?: (?!own\b)[a-z]{{2,12}})? {_RELATION},? {_TITLE}(?P<name>{_NAMES}){_AFTER}"
        ),
    ),
    _Cue(
        (" guy", " girl", " boy", " man", " woman", " lady", " kid", " friend"),
        re.compile(
            rf"\b(?i:this|that|a|the|an) (?:guy|girl|boy|man|woman|lady|kid|friend),? (?P<name>{_NAMES}){_AFTER}"
        ),
        common=True,
    ),
    # a greeting at the start of a line or sentence; many greet a town
    _Cue(
        ("dear", "hi", "hello", "hey", "greetings", "good "),
        re.compile(rf"{_GREETING}(?i:(?:Dr|Mr|Mrs|Ms|Miss|Prof)\.? )(?P<name>{_NAME}(?: {_NAME})?)(?=\s?[,!.:;\n-]|$)"),
    ),
    _Cue(
        ("dear", "hi", "hello", "hey", "greetings", "good "),
        re.compile(rf"{_GREETING}(?P<name>{_NAME}(?: {_NAME})?)(?=\s?[,!.:;\n-]|$)"),
        common=True,
    ),
    # a closing, then a name and nothing more
    _Cue(
        ("",),
        re.compile(
            rf"(?:^|(?<=[\n.!?,;]))[ \t]{{0,3}}(?i:{_CLOSING})(?:[,.!:]{{0,2}}\s{{0,3}}\n\s{{0,3}}|"
            rf"[,!:] {{0,2}})(?:[-~] ?)?{_TITLE}"
            rf"(?P<name>{_SHORT}){_END}"
        ),
    ),
    # a signature after the last sentence; after a quotation it is the author's name
    _Cue(
        ("-", "~"),
        re.compile(rf"(?<=[.!?])\s{{0,3}}[-~]{{1,2}} ?{_TITLE}(?P<name>{_SHORT})(?=\s{{0,3}}(?:\n|\(|~|\Z))"),
    ),
    _Cue(("dr",), re.compile(rf"(?<=[.!?])\s{{0,3}}Dr\.? (?P<name>{_SHORT})(?=\.?\s{{0,3}}\Z)")),
    _Cue(
        ("",),
        re.compile(rf"(?<=[.!?])(?<!Dr\.)(?<!Mr\.)(?<!Ms\.)(?<!Mrs\.)\s{{1,3}}(?P<name>{_NAME})(?=[.~]?\s{{0,3}}\Z)"),
        common=True,
    ),
    _Cue(("\n",), re.compile(rf"\n\s{{0,5}}[-~]{{1,2}} ?{_TITLE}(?P<name>{_SHORT})(?=\s*(?:\n|$))")),
)
_BEFORE_DEGREE = re.compile(rf"(?<![\w'@-])(?<!\bby )(?P<name>{_FULL}),? (?=\(?{_DEGREE}(?![\w'-]))")
_IS_DEGREE = re.compile(rf"{_DEGREE}\Z")
_CALLED = re.compile(rf"\b(?i:named|called),? {_TITLE}(?P<name>{_NAMES}){_AFTER}")
_A_PERSON = re.compile(rf"\b{_RELATION},?(?: is| was)? \Z", re.IGNORECASE)
_SMALL = re.compile(r"(?i:\bmy (?:first |full |real )?name(?: is|'s)) (?P<name>[a-z]{2,15})(?![\w'-])")
_I_AM = re.compile(
    rf"\b(?:I am|I'm|i'm|i am|[Tt]his is|[Ii]t's|it is) {_TITLE}(?P<name>{_NAME}(?: (?:{_NAME}|"
    rf"[{_CAPITAL}]\.))?){_AFTER}"
)


def english_names(text: str) -> Iterator[Span]:
    """Names in English, without titles and degrees."""
    folded = text.casefold()
    for cue in _CUES:
        if any(hint in folded for hint in cue.hints):
            yield from _names(cue.pattern, text, common=cue.common)
    yield from _names(_I_AM, text, common=True)
    for match in _CALLED.finditer(text) if "called" in folded or "named" in folded else ():
        if _A_PERSON.search(text, max(match.start() - 40, 0), match.start()):
            yield from _name(match)
    for match in _BEFORE_DEGREE.finditer(text):
        if " " in _without_other_words(match["name"]):
            yield from _name(match)
    for match in _SMALL.finditer(text) if "name" in folded else ():
        if match["name"] in ENGLISH_GIVEN:
            yield match.span("name")


def _names(pattern: re.Pattern[str], text: str, *, common: bool) -> Iterator[Span]:
    for match in pattern.finditer(text):
        if not common or match["name"].split(" ")[0].casefold() in ENGLISH_GIVEN:
            yield from _name(match)


def _name(match: re.Match[str]) -> Iterator[Span]:
    name = _without_other_words(match["name"])
    if name:
        yield match.start("name"), match.start("name") + len(name)


def _without_other_words(name: str) -> str:
    """What stands before the first word that is no name, or the letters of a degree."""
    words = name.split(" ")
    end = next((n for n, word in enumerate(words) if word.casefold() in _STOP or _IS_DEGREE.match(word)), len(words))
    return " ".join(words[:end])
