"""Card templates: prose with `{{ names }}` for what is measured, and marked blocks that belong to people.

Everything between `<!-- yours: NAME -->` and `<!-- /yours -->` is kept when a card is rendered again; text that people
added elsewhere is moved into a block at the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from .front_matter import CardError
from .hand_written import BLOCK, NAME, is_rendered, own_text, with_digests

FIRST_BLOCK = "notes"
LAST_BLOCK = "added"


def template(name: str) -> str:
    """The template of a dataset: from the installed package, or `dataset_cards/` in a checkout."""
    packaged = files("hf_kokoro.cards").joinpath("prose", f"{name}.md")
    if packaged.is_file():
        return packaged.read_text("utf-8")
    return (Path(__file__).parents[2] / "dataset_cards" / f"{name}.md").read_text("utf-8")


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put the values in; a name without a value, or a value without its name, is a CardError."""
    names = set(NAME.findall(text))
    if unmatched := sorted(names ^ set(values)):
        raise CardError(f"card template: no match between template and facts for {', '.join(unmatched)}")
    return NAME.sub(lambda match: values[match[1]], text)


def keep_hand_written(generated: str, existing: str | None, template: str) -> str:
    """Put what people wrote into the existing body into the generated one, which was filled from `template`.

    A body that was never rendered was written by hand as a whole and goes into the first block. Text outside the
    blocks goes into a block at the end, as do blocks that the template does not have.
    """
    kept = _kept(generated, existing, template) if existing and existing.strip() else {}
    own = {match["name"] for match in BLOCK.finditer(generated)}
    merged = BLOCK.sub(lambda m: _block(m["name"], kept.get(m["name"], m["text"])), generated)
    others = [_block(name, text) for name, text in kept.items() if name not in own]
    return with_digests("\n".join([merged, *others]), generated)


def _kept(generated: str, existing: str, template: str) -> dict[str, str]:
    """Block to its text."""
    if not is_rendered(existing):
        return {FIRST_BLOCK: existing.strip() + "\n"}
    kept: dict[str, str] = {}
    for match in BLOCK.finditer(existing):
        kept[match["name"]] = kept.get(match["name"], "") + match["text"]
    if added := own_text(existing, generated, template):
        before = kept.get(LAST_BLOCK, "").strip("\n")
        kept[LAST_BLOCK] = f"{before}\n\n{added}\n".lstrip("\n")
    return kept


def _block(name: str, text: str) -> str:
    return f"<!-- yours: {name} -->\n{text}<!-- /yours -->\n"
