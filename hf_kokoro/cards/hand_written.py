"""Which text of a card people wrote: a card lists digests of the paragraphs it was rendered with; others are theirs.

The list is a comment at the card's end, so a paragraph of an earlier rendering is known whatever numbers, templates
or versions have changed since.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator

NAME = re.compile(r"\{\{ (\w+) \}\}")
"""A place in a template for a value."""
BLOCK = re.compile(r"<!-- yours: (?P<name>[\w-]+) -->[ \t]*\n(?P<text>.*?)<!-- /yours -->[ \t]*(?:\n|\Z)", re.DOTALL)
"""A marked block that belongs to people."""

_LIST = re.compile(r"\n?<!-- generated: (?P<digests>[0-9a-f ]*) -->[ \t]*(?:\n|\Z)")
_STRAY_MARK = re.compile(r"(?m)^<!-- (?:yours: [\w-]+|/yours) -->[ \t]*(?:\n|\Z)")
_REPORT = re.compile(r"<!-- (?P<name>agreement|validity) -->\n(?P<text>.*?)\n?<!-- /(?P=name) -->", re.DOTALL)
"""A block that a report fills, kept from card to card."""
_GROWTH = re.compile(r"<!-- growth -->\n(?P<text>.*?)<!-- /growth -->", re.DOTALL)
_FENCE = re.compile(r" {0,3}(?:```|~~~)")


def is_rendered(body: str) -> bool:
    """Was this body rendered once, or written by hand as a whole?"""
    return bool(BLOCK.search(body) or _LIST.search(body))


def kept_report(body: str, name: str, otherwise: str) -> str:
    """What an existing body says in the block `name`; `otherwise`, if it has none."""
    return next((found["text"] for found in _REPORT.finditer(body) if found["name"] == name), otherwise)


def with_digests(body: str, generated: str) -> str:
    """The body with the list of the generated paragraphs at its end."""
    digests = " ".join(_digest(paragraph) for paragraph in _paragraphs(_outside(generated)))
    return f"{body}\n<!-- generated: {digests} -->\n"


def own_text(existing: str, generated: str, template: str) -> str:
    """What people wrote outside the marked blocks of an existing body, paragraph by paragraph.

    `generated` and `template` tell it apart in a card that has no list yet: there a paragraph is generated if each
    of its lines is, apart from numbers and values.
    """
    lists = list(_LIST.finditer(existing))
    known = Counter(digest for found in lists for digest in found["digests"].split())
    is_generated_line = None if lists else _line_check(generated, template)
    found = []
    for paragraph in _paragraphs(_STRAY_MARK.sub("", _outside(existing))):
        if is_generated_line is None:
            found.append("\n".join(_without_known(paragraph.split("\n"), known)))
        elif not all(map(is_generated_line, paragraph.split("\n"))):
            found.append(paragraph)
    return "\n\n".join(filter(None, found))


def _outside(body: str) -> str:
    """The body without what is kept in another way: marked blocks, tables of reports, lines of growth."""
    text = BLOCK.sub("\n\n", _LIST.sub("\n\n", body))
    text = _REPORT.sub("", text)
    return _GROWTH.sub(lambda match: re.sub(r"(?m)^\|.*$", "", match["text"]), text)


def _paragraphs(text: str) -> Iterator[str]:
    """What blank lines separate; a fenced block is one piece, whatever it holds."""
    lines: list[str] = []
    fenced = False
    for line in map(str.rstrip, text.split("\n")):
        fenced ^= bool(_FENCE.match(line))
        if line or fenced:
            lines.append(line)
        elif lines:
            yield "\n".join(lines)
            lines = []
    if lines:
        yield "\n".join(lines).rstrip()


def _digest(paragraph: str) -> str:
    return hashlib.sha256(paragraph.encode()).hexdigest()[:8]


def _without_known(lines: list[str], known: Counter[str]) -> list[str]:
    """The lines without the generated paragraphs at either end: an own line may stand right above or below one."""
    for count in range(len(lines), 0, -1):
        for part, rest in ((lines[:count], lines[count:]), (lines[-count:], lines[:-count])):
            digest = _digest("\n".join(part))
            if known[digest] > 0:
                known[digest] -= 1
                return _without_known(rest, known) if rest else []
    return lines


def _line_check(generated: str, template: str) -> Callable[[str], bool]:
    """Is a line one that this template gives, for any numbers and values?"""
    same = {_masked(line) for line in generated.split("\n")}
    patterns = [
        re.compile(".*".join(map(re.escape, NAME.split(line)[::2])))
        for line in template.split("\n")
        if NAME.sub("", line).strip()
    ]
    return lambda line: _masked(line) in same or any(pattern.fullmatch(line) for pattern in patterns)


def _masked(line: str) -> str:
    return re.sub(r"\d[\d.,]*", "0", line.rstrip())
