"""What a card says of where the texts come from and who wrote them: what the rows state, and nothing beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..miti.contract import LICENSE, NOT_STATED, SAMPLE_DATASET, SOURCE_DATASET
from ..policy.licences import DECLARING, Origins

NAME_SHOWN = 80
_COUNSEL, _SAMPLE, _DECLARED, _NOWHERE = "counsel-chat", "sample", "declared", "not stated"
_UNKNOWN = "who wrote the answers is not stated"
_CITATION = """@misc{bertagnolli2020counsel,
  title  = {Counsel Chat: Bootstrapping High-Quality Therapy Data},
  author = {Bertagnolli, Nicolas},
  year   = {2020}
}
"""


@dataclass(frozen=True)
class Wording:
    """The parts of a card's prose and metadata that are claims about the texts."""

    title: str
    writers: str
    licence: str
    taken_from: str
    writer: str
    """What the people behind the column `therapist` are called."""
    citation: str
    license_id: str
    source_datasets: tuple[str, ...]
    language_creators: str
    language: tuple[str, ...]

    def values(self) -> dict[str, str]:
        """For the places of that name in a template."""
        names = ("title", "writers", "licence", "taken_from", "writer", "citation")
        return {name: getattr(self, name) for name in names}

    def metadata(self) -> dict[str, Any]:
        """The front matter's keys; a value of None means that the key is not there."""
        return {
            "license": self.license_id,
            "source_datasets": list(self.source_datasets) or None,
            "language": list(self.language) or None,
            "language_creators": [self.language_creators],
        }


def wording_of(origins: Origins) -> Wording:
    """The claims that rows of these origins bear out; of no rows at all nothing is stated."""
    counts = Counter[tuple[str, str]]()
    for (source, licence), rows in origins.items():
        counts[_origin(source, licence)] += rows
    kinds = {_kind(*origin) for origin in counts} or {_NOWHERE}
    only_counsel, known = kinds == {_COUNSEL}, kinds <= {_COUNSEL, _SAMPLE}
    names = [source for source, _ in sorted(counts) if source != NOT_STATED]
    return Wording(
        title=f"{'Counsel-chat ' if only_counsel else ''}MITI-ST preference pairs",
        writers=_each(counts, _writers),
        licence=_each(counts, _licence),
        taken_from=" and ".join(_place(source) for source, _ in sorted(counts)) or _place(NOT_STATED),
        writer="therapist" if only_counsel else "writer",
        citation=_CITATION if _COUNSEL in kinds else "",
        license_id="unknown" if _NOWHERE in kinds else LICENSE.lower(),
        source_datasets=tuple(dict.fromkeys(names)),
        language_creators="found" if only_counsel else "other",
        language=("en",) if known else (),
    )


def _origin(source: str, licence: str) -> tuple[str, str]:
    """The two in one spelling, so that what is the same counts as the same."""
    known = {name.casefold(): name for name in (SOURCE_DATASET, SAMPLE_DATASET, NOT_STATED)}
    licences = {LICENSE.casefold(): LICENSE, NOT_STATED: NOT_STATED}
    return known.get(source.casefold(), source), licences.get(licence.casefold(), licence)


def _kind(source: str, licence: str) -> str:
    if NOT_STATED in (source, licence):
        return _NOWHERE
    return {SOURCE_DATASET: _COUNSEL, SAMPLE_DATASET: _SAMPLE}.get(source, _DECLARED)


def _each(counts: Mapping[tuple[str, str], int], sentence: Any) -> str:
    """One sentence, or with several origins one each with its number of rows."""
    if len(counts) < 2:
        return str(sentence(*next(iter(counts), (NOT_STATED, NOT_STATED))))
    return "\n".join(
        f"- {count:,} {'pair' if count == 1 else 'pairs'}: {sentence(*origin)}"
        for origin, count in sorted(counts.items())
    )


def _writers(source: str, licence: str) -> str:
    kind = _kind(source, licence)
    if kind == _COUNSEL:
        return (
            "Both sides of every pair were written by therapists who answered the same public question on "
            "counsel-chat; no answer was written by a model."
        )
    if kind == _SAMPLE:
        return (
            "**The texts are fictional.** Questions and answers were written for the package hf-kokoro, as a sample to "
            "try it with; the people named in them and in the columns are made up."
        )
    if kind == _DECLARED:
        named = _shown(source)
        return f"The texts come, as their owner declared, from {named}, licence {licence}; {_UNKNOWN}."
    if source != NOT_STATED:
        named = _shown(source)
        return f"The texts come, as their owner declared, from {named}; the licence is not stated, and {_UNKNOWN}."
    if licence != NOT_STATED:
        return f"Where the texts come from is not stated, and {_UNKNOWN}; the licence was declared as {licence}."
    return "Where the texts come from, under which licence, and who wrote the answers is not stated."


def _licence(source: str, licence: str) -> str:
    kind = _kind(source, licence)
    if kind == _COUNSEL:
        return (
            f"MIT, inherited from counsel-chat ([{SOURCE_DATASET}](https://huggingface.co/datasets/{SOURCE_DATASET})), "
            "with attribution to its authors and to the therapists who wrote the answers."
        )
    if kind == _SAMPLE:
        return "MIT, the licence of the package hf-kokoro, whose fictional sample these texts are."
    if kind == _DECLARED:
        return f"{licence}, as the owner of the texts declared ({_shown(source)})."
    missing = " and ".join(name for name, value in (("source", source), ("licence", licence)) if value == NOT_STATED)
    return (
        f"Not stated ({missing}), so these rows can't be published. To declare it, make them again with "
        f"`hf-kokoro pair {DECLARING}`."
    )


def _place(source: str) -> str:
    names = {SOURCE_DATASET: "counsel-chat", SAMPLE_DATASET: "hf-kokoro's fictional sample"}
    return "a source that is not stated" if source == NOT_STATED else names.get(source, _shown(source))


def _shown(source: str) -> str:
    """A declared name as one harmless word or phrase of Markdown."""
    plain = "".join(char for char in " ".join(source.split()) if char.isprintable() and char not in "`<>[]|*_{}\\")
    return plain[:NAME_SHOWN].strip() or "a name that can't be shown"
