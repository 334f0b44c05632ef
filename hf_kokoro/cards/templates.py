"""Card templates: prose with `{{ names }}` for what is measured, and marked blocks that belong to people.

Everything between `<!-- yours: NAME -->` and `<!-- /yours -->` is kept when a card is rendered again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from .front_matter import CardError

_NAME = re.compile(r"\{\{ (\w+) \}\}")
_BLOCK = re.compile(r"<!-- yours: (?P<name>[\w-]+) -->\n(?P<text>.*?)<!-- /yours -->\n?", re.DOTALL)
FIRST_BLOCK = "notes"


def template(name: str) -> str:
    """The template of a dataset: from the installed package, or `dataset_cards/` in a checkout."""
    packaged = files("hf_kokoro.cards").joinpath("prose", f"{name}.md")
    if packaged.is_file():
        return packaged.read_text("utf-8")
    return (Path(__file__).parents[2] / "dataset_cards" / f"{name}.md").read_text("utf-8")


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put the values in; a name without a value, or a value without its name, is a CardError."""
    names = set(_NAME.findall(text))
    if unmatched := sorted(names ^ set(values)):
        raise CardError(f"card template: no match between template and facts for {', '.join(unmatched)}")
    return _NAME.sub(lambda match: values[match[1]], text)


def keep_hand_written(generated: str, existing: str | None) -> str:
    """Put the hand-written blocks of the existing body into the generated one.

    A body without any block was written by hand as a whole and goes into the first block; a block that
    the template does not have is put at the end.
    """
    if existing is None or not existing.strip():
        return generated
    kept = {match["name"]: match["text"] for match in _BLOCK.finditer(existing)}
    if not kept:
        kept = {FIRST_BLOCK: existing.strip() + "\n"}
    own = {match["name"] for match in _BLOCK.finditer(generated)}
    merged = _BLOCK.sub(lambda m: _block(m["name"], kept.get(m["name"], m["text"])), generated)
    others = [_block(name, text) for name, text in kept.items() if name not in own]
    return "\n".join([merged, *others]) if others else merged


def _block(name: str, text: str) -> str:
    return f"<!-- yours: {name} -->\n{text}<!-- /yours -->\n"
