"""Addresses of mail and of pages, and names of accounts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .folding import Span

# bounded by what addresses may be long (RFC 5321: 64 before the @), so that no text costs more than its length
_LABELS = r"[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63}){1,6}"
_EMAIL = re.compile(rf"[A-Za-z0-9_.+-]{{1,64}}(?:@ ?| @ ){_LABELS}")
_AT = r"(?:\s?[(\[<{](?:at|@|アット(?:マーク)?)[)\]>}]\s?| at )"
_DOT = r"(?:\s?[(\[<{](?:dot|\.|ドット)[)\]>}]\s?| dot )"
_WRITTEN_OUT = re.compile(
    rf"\b[A-Za-z0-9_+-]{{1,64}}(?:(?:\.|{_DOT})[A-Za-z0-9_+-]{{1,64}}){{0,3}}"
    rf"(?:{_AT.replace('| at ', '')}[A-Za-z0-9-]{{1,63}}(?:(?:\.|{_DOT})[A-Za-z0-9-]{{1,63}}){{1,3}}"
    rf"|{_AT}[A-Za-z0-9-]{{1,63}}(?:{_DOT}[A-Za-z0-9-]{{1,63}}){{1,3}})",
    re.IGNORECASE | re.ASCII,
)

_END = r"[!-;=?-Z\[\]_a-z~]"  # ASCII that may stand in an address, without " < > \ ^ ` { | }
_WITH_SCHEME = re.compile(rf"(?:\b(?:https?|ftp)://|(?<![A-Za-z0-9@.-])www\.){_END}+", re.IGNORECASE | re.ASCII)
# names that end in one of these are addresses; of others (it, is, so, me, in, to) a missing space after a full stop
# makes too many, so they count with a path alone
_TOP = (
    "com|org|net|edu|gov|info|biz|io|dev|app|blog|site|online|shop|club|live|example|"
    "jp|uk|ca|au|nz|ie|de|fr|eu|ch|nl|se|us|cn|kr|tw"
)
_TOP_WITH_PATH = "me|ly|gg|be|tv|co|gl|it|in|to|la|so|st|sh|page|link"
_HOST = r"(?<![A-Za-z0-9_@.-])(?:[A-Za-z0-9][A-Za-z0-9-]{0,62}\.){1,5}"
_BARE = re.compile(
    rf"{_HOST}(?:(?:{_TOP})(?![A-Za-z0-9_@-]|\.[A-Za-z0-9])(?::\d{{1,5}})?(?:[/?#]{_END}*)?"
    rf"|(?:{_TOP_WITH_PATH})/[A-Za-z0-9]{_END}*)"
    rf"|{_HOST.replace('A-Za-z', 'A-Z')}(?:{_TOP.upper()})(?![A-Za-z0-9_@-])(?:/{_END}*)?",
    re.ASCII,
)
_URL_HINT = re.compile(rf"://|www\.|\.(?:{_TOP})(?![A-Za-z0-9])|\.(?:{_TOP_WITH_PATH})/", re.IGNORECASE | re.ASCII)
_CLOSED = {")": "(", "]": "["}

_WORD = r"[A-Za-z_][A-Za-z0-9_.:-]{2,30}[A-Za-z0-9_](?:#\d{4})?"
_AT_NAME = re.compile(r"(?<![A-Za-z0-9_.@/+-])@[A-Za-z_][A-Za-z0-9_.-]{1,28}[A-Za-z0-9_](?![A-Za-z0-9_@])", re.ASCII)
_NO_NAME = frozenset(
    "home work school college university church everyone everybody everything here there channel all noon midnight "
    "night least last most once first the this that my our his her their your times any each param media".split()
)
_TAG = re.compile(
    r"(?<![A-Za-z0-9_.@#])[A-Za-z0-9_][A-Za-z0-9_.]{1,31}#\d{4}(?!\d)|(?<![A-Za-z0-9_/])/?u/[\w-]{3,20}", re.A
)
_SERVICE = (
    r"(?:instagram|insta|ig|twitter|tiktok|tik tok|snapchat|snap|discord|telegram|skype|we\s?chat|kik|line|"
    r"facebook|fb|threads|bluesky|mastodon|tumblr|youtube|reddit|viber|kakao(?:talk)?|signal|psn|steam|xbox|"
    r"paypal|venmo|"
    r"cash\s?app|インスタ(?:グラム)?|ツイッター|ティックトック|ディスコード|テレグラム|スカイプ|ライン|"
    r"カカオ(?:トーク)?|フェイスブック)"
)
_ACCOUNT = r"(?:\s?の)?\s?(?:id|ID|handle|user\s?name|account|name|アカウント(?:名)?|ユーザー名|アイディー|アイディ)"
_OF_SERVICE = re.compile(
    rf"(?<![A-Za-z0-9])(?P<service>{_SERVICE})(?P<cue>{_ACCOUNT}\s?(?:is|は|が|[:=])?|\s?[:=])?\s?(?:is|at|は|が)?\s?"
    rf"(?P<name>@?{_WORD})(?![A-Za-z0-9@/])(?P<last>\s*(?:[\n,.;)。、]|$))?",
    re.IGNORECASE,
)
_LOOKS_MADE_UP = re.compile(r"[\d_#@]|[a-z][.:][a-z]", re.IGNORECASE)
_STEMS = tuple(
    "insta| ig |ig:|snap|twitter|tik|discord|telegram|skype|chat|kik|line id|line:|lineの|lineは|line |facebook|"
    " fb |fb:|"
    "threads|bluesky|mastodon|tumblr|youtube|reddit|viber|kakao|signal|psn|steam|xbox|paypal|venmo|cash|"
    "インスタ|ツイ|ティック|ディス|テレ|スカイプ|ライン|カカオ|フェイス".split("|")
)
_ALSO_WORDS = ("line", "signal", "steam", "threads")


def emails(text: str) -> Iterator[Span]:
    """Addresses of mail, also with `(at)` and `dot` written out."""
    if "@" in text:
        yield from (match.span() for match in _EMAIL.finditer(text))
    folded = text.casefold()
    if "dot" in folded or "at)" in folded or "at]" in folded or "アット" in text or "@)" in text:
        yield from (match.span() for match in _WRITTEN_OUT.finditer(text))


def urls(text: str) -> Iterator[Span]:
    """Addresses of pages, with a scheme, `www.` or a host name alone, without the sentence's own marks at the end."""
    if not _URL_HINT.search(text):
        return
    for pattern in (_WITH_SCHEME, _BARE):
        for match in pattern.finditer(text):
            yield match.start(), match.start() + _length_without_end_marks(match[0])


def _length_without_end_marks(url: str) -> int:
    """Marks at the end belong to the sentence, and so do brackets that open before the address."""
    length = len(url)
    unopened = {close: url.count(close) - url.count(begin) for close, begin in _CLOSED.items()}
    while length and (url[length - 1] in ".,;:!?'*" or unopened.get(url[length - 1], 0) > 0):
        length -= 1
        if url[length] in unopened:
            unopened[url[length]] -= 1
    return length


def handles(text: str) -> Iterator[Span]:
    """`@name`, `name#1234`, `u/name`, and what is said to be somebody's name at a service."""
    if "@" in text:
        yield from (match.span() for match in _AT_NAME.finditer(text) if match[0][1:].casefold() not in _NO_NAME)
    if "#" in text or "u/" in text:
        yield from (match.span() for match in _TAG.finditer(text))
    folded = f" {text.casefold()}"
    if not any(stem in folded for stem in _STEMS):
        return
    for match in _OF_SERVICE.finditer(text):
        if _is_account(match):
            yield match.span("name")


def _is_account(match: re.Match[str]) -> bool:
    """A name that no word looks like, or a word that is plainly said to be one."""
    name, service, cue = match["name"], match["service"], match["cue"]
    if not cue and service.casefold() in _ALSO_WORDS and service != "LINE":
        return False
    told = cue and (cue.strip() not in (":", "=") or match["last"] is not None)
    return bool(_LOOKS_MADE_UP.search(name) or (told and name.islower() and name not in _NO_NAME))
