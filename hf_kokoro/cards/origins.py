"""What a card says of where the texts come from and who wrote them: what is known or declared, and no more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..core import spdx
from ..miti.contract import LICENSE, NOT_STATED, SAMPLE_DATASET, SOURCE_DATASET
from ..policy.claims import Claim, Origins
from ..policy.licences import DECLARING, hub_id

NAME_SHOWN = 80
_COUNSEL, _SAMPLE, _DECLARED, _NOWHERE = "counsel-chat", "sample", "declared", "not stated"
_UNKNOWN = "who wrote the answers is not stated"
_DECLARED_WRITERS = {
    "people": "the answers were written by people, as their owner declared",
    "model": "the answers were written by a model, as their owner declared",
    "fictional": "the texts are fictional, as their owner declared",
    NOT_STATED: _UNKNOWN,
}
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
    license_ids: tuple[str, ...]
    """Hub ids of the rows' licences; `unknown` alone if a row states none."""
    licences: tuple[str, ...]
    """The same as the rows state them."""
    source_datasets: tuple[str, ...]
    language_creators: str
    language: tuple[str, ...]

    @property
    def license_id(self) -> str:
        """The one licence that all rows have; `unknown` if there is not exactly one."""
        return self.license_ids[0] if len(self.license_ids) == 1 else "unknown"

    def values(self) -> dict[str, str]:
        """For the places of that name in a template."""
        names = ("title", "writers", "licence", "taken_from", "writer", "citation")
        return {name: getattr(self, name) for name in names}

    def metadata(self) -> dict[str, Any]:
        """The front matter's keys; a value of None means that the key is not there."""
        return {
            "license": self.license_ids[0] if len(self.license_ids) == 1 else list(self.license_ids),
            "source_datasets": list(self.source_datasets) or None,
            "language": list(self.language) or None,
            "language_creators": [self.language_creators],
        }


def wording_of(origins: Origins) -> Wording:
    """The claims that rows of these origins bear out; of no rows at all nothing is stated."""
    counts = Counter[Claim]()
    for origin, rows in origins.items():
        counts[_claim(origin)] += rows
    kinds = {_kind(claim) for claim in counts} or {_NOWHERE}
    only_counsel, known = kinds == {_COUNSEL}, kinds <= {_COUNSEL, _SAMPLE}
    sources = [claim.source_dataset for claim in sorted(counts)]
    licences = tuple(dict.fromkeys(sorted(claim.license for claim in counts)))
    writers = {claim.written_by for claim in counts}
    ids = tuple(sorted({hub_id(licence) or "other" for licence in licences}))
    said = _each(counts, _writers)
    if writers == {"people"}:
        # said only where every answer is known or declared as written by people
        none = "o answer was written by a model."
        said = f"{said}\n\nN{none}" if "\n" in said else f"{said.removesuffix('.')}; n{none}"
    return Wording(
        title=f"{'Counsel-chat ' if only_counsel else ''}MITI-ST preference pairs",
        writers=said,
        licence=_each(counts, _licence),
        taken_from=" and ".join(dict.fromkeys(map(_place, sources))) or _place(NOT_STATED),
        writer="therapist" if only_counsel else "writer",
        citation=_CITATION if _COUNSEL in kinds else "",
        license_ids=("unknown",) if _NOWHERE in kinds else ids,
        licences=(NOT_STATED,) if _NOWHERE in kinds else licences,
        source_datasets=tuple(dict.fromkeys(name for name in sources if name != NOT_STATED)),
        language_creators="found" if only_counsel else "machine-generated" if writers == {"model"} else "other",
        language=("en",) if known else (),
    )


def _claim(origin: tuple[str, ...]) -> Claim:
    """A claim in one spelling, so that what is the same counts as the same."""
    claim = Claim(*origin)
    known = {name.casefold(): name for name in (SOURCE_DATASET, SAMPLE_DATASET, NOT_STATED)}
    source = known.get(claim.source_dataset.casefold(), claim.source_dataset)
    licence = NOT_STATED if claim.license == NOT_STATED else spdx.licence_id(claim.license) or claim.license
    return claim._replace(source_dataset=source, license=licence)


def _kind(claim: Claim) -> str:
    if not claim.stated:
        return _NOWHERE
    if not claim.proven:
        return _DECLARED
    return {SOURCE_DATASET: _COUNSEL, SAMPLE_DATASET: _SAMPLE}.get(claim.source_dataset, _DECLARED)


def _each(counts: Mapping[Claim, int], sentence: Callable[[Claim], str]) -> str:
    """One sentence, or with several claims one each with its number of rows."""
    told: dict[str, int] = {}
    for claim, count in sorted(counts.items()):
        told[sentence(claim)] = told.get(sentence(claim), 0) + count
    if len(told) < 2:
        return next(iter(told), sentence(Claim()))
    return "\n".join(f"- {count:,} {'pair' if count == 1 else 'pairs'}: {text}" for text, count in told.items())


def _writers(claim: Claim) -> str:
    kind = _kind(claim)
    if kind == _COUNSEL:
        return "Both sides of every pair were written by therapists who answered public questions on counsel-chat."
    if kind == _SAMPLE:
        return (
            "**The texts are fictional.** Questions and answers were written for the package hf-kokoro, as a sample to "
            "try it with; the people named in them and in the columns are made up."
        )
    source, licence, writers = _shown(claim.source_dataset), claim.license, _DECLARED_WRITERS[claim.written_by]
    if kind == _DECLARED and claim.source_dataset in (SOURCE_DATASET, SAMPLE_DATASET):
        return (
            f"The rows name {source} as their source, licence {licence}, but not all of their answers are in an "
            f"edition of it that is known here; {writers}."
        )
    if kind == _DECLARED:
        return f"The texts come, as their owner declared, from {source}, licence {licence}; {writers}."
    if claim.source_dataset != NOT_STATED:
        return f"The texts come, as their owner declared, from {source}; the licence is not stated, and {writers}."
    if licence != NOT_STATED:
        return f"Where the texts come from is not stated, and {writers}; the licence was declared as {licence}."
    if claim.written_by != NOT_STATED:
        return f"Where the texts come from and under which licence is not stated; {writers}."
    return "Where the texts come from, under which licence, and who wrote the answers is not stated."


def _licence(claim: Claim) -> str:
    kind = _kind(claim)
    if kind == _COUNSEL and claim.license == LICENSE:
        return (
            f"MIT, inherited from counsel-chat ([{SOURCE_DATASET}](https://huggingface.co/datasets/{SOURCE_DATASET})), "
            "with attribution to its authors and to the therapists who wrote the answers."
        )
    if kind == _SAMPLE and claim.license == LICENSE:
        return "MIT, the licence of the package hf-kokoro, whose fictional sample these texts are."
    if kind != _NOWHERE:
        return f"{claim.license}, as the owner of the texts declared ({_shown(claim.source_dataset)})."
    values = (("source", claim.source_dataset), ("licence", claim.license))
    missing = " and ".join(name for name, value in values if value == NOT_STATED)
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
