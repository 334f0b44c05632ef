"""Text of others in a card: shown as it is, and nothing but text."""

from __future__ import annotations

import re

_LONGEST = 80
_MARKS = re.compile(r"[\\`*_{}\[\]<>|#!~$]")


def as_text(text: str) -> str:
    """One line in which nothing is Markdown or HTML, 80 characters of the text at most.

    A backslash takes a mark's meaning away (CommonMark 2.4), tables' included; `&` would begin an entity. Control and
    format characters (line ends, direction marks) become blanks.
    """
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    shown = line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
    return _MARKS.sub(r"\\\g<0>", shown).replace("&", "&amp;")


def as_code(name: str) -> str:
    """A name between backticks if it is made of a name's characters, else as text."""
    return f"`{name}`" if re.fullmatch(r"[\w.:/@+-]{1,80}", name) else as_text(name)
