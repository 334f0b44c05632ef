"""Claims: which dataset a row's answers are of, under which licence, who wrote them, and how that is known.

A claim is made of known bytes (every answer is in an edition's list of digests), of what upstream's own repo served, or
of what somebody declared; else it is not stated. Rows of the published schema hold the first two values of a claim. The
rest stands beside them: in a ledger in the dataset, and until it is appended in a file beside the rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..core import spdx
from ..core.suggest import allowed
from ..errors import UsageError, describe
from ..miti.contract import NOT_STATED
from .known import edition_of_answers

WRITERS = ("people", "model", "fictional")
"""Who may have written answers. `fictional`: made up by people or a model, for nobody who asked."""

DIGEST, FETCHED, DECLARED = "digest", "fetched", "declared"


class Claim(NamedTuple):
    """What is said of answers. `known_by`: `digest`, `fetched` (from upstream's repo), `declared`, or not stated."""

    source_dataset: str = NOT_STATED
    license: str = NOT_STATED
    written_by: str = NOT_STATED
    known_by: str = NOT_STATED

    @property
    def stated(self) -> bool:
        """Is everything said that publishing asks for?"""
        return NOT_STATED not in (self.source_dataset, self.license)

    @property
    def proven(self) -> bool:
        """Is it of upstream's (or the sample's) own texts, and not only somebody's word?"""
        return self.known_by in (DIGEST, FETCHED)


Origins = Mapping[tuple[str, ...], int]
"""Rows a claim; a claim may be cut after the source and the licence, if no more is known of it than rows state."""


def declared_claim(source_dataset: str | None, license_name: str | None, written_by: str | None) -> Claim:
    """What a caller declares. Raises UsageError for a blank source, no SPDX licence, or an unknown writer."""
    if source_dataset is not None and not source_dataset.strip():
        raise UsageError("--source-dataset: got a blank name; allowed: the name of the dataset that the texts are from")
    if written_by not in (None, NOT_STATED, *WRITERS):
        raise UsageError(f"--written-by {describe(written_by, show=True)}: {allowed(written_by, WRITERS)}")
    return _said(source_dataset or NOT_STATED, _licence(license_name), written_by or NOT_STATED)


def _said(source: str, licence: str, writer: str = NOT_STATED) -> Claim:
    """Somebody's word, or nobody's."""
    nothing = {source, licence, writer} == {NOT_STATED}
    return Claim(source, licence, writer, NOT_STATED if nothing else DECLARED)


def _licence(name: str | None) -> str:
    if name is None or name.casefold() == NOT_STATED:
        return NOT_STATED
    if found := spdx.licence_id(name):
        return found
    near = spdx.meant(name)
    hint = f"; did you mean {near}?" if near else ""
    raise UsageError(
        f"--license {describe(name, show=True)}: allowed: one id of the SPDX list, such as MIT or CC-BY-4.0{hint}"
    )


def known_claim(texts: Iterable[str]) -> Claim | None:
    """The claim that is proven by the answers' digests; None if one of them is in no known edition."""
    edition = edition_of_answers(texts)
    if edition is None:
        return None
    return Claim(edition.source_dataset, edition.license, edition.written_by, DIGEST)


def answers_of(row: Mapping[str, Any]) -> list[str]:
    """The texts of a row's answers."""
    return [answer["text"] for answer in row["all_answers"]]


def claim_of(row: Mapping[str, Any], noted: Claim | None = None, *, converted: bool = False) -> Claim:
    """What may be said of a row: by its answers' digests, else as it was noted, else what the row itself states.

    A noted digest counts only of texts that were `converted` since (redacted, say), so that it can't be taken again.
    """
    source, licence = str(row["source_dataset"]), str(row["license"])
    known = known_claim(answers_of(row))
    if known is not None and known.source_dataset.casefold() == source.casefold():
        return Claim(known.source_dataset, licence, known.written_by, DIGEST)
    if noted is None or (noted.known_by == DIGEST and not converted):
        return _said(source, licence)
    if noted.proven:
        return Claim(source, licence, noted.written_by, noted.known_by)
    return _said(source, licence, noted.written_by)


def origins_of(rows: Iterable[Mapping[str, Any]]) -> Origins:
    """Count the claims that rows bear out by themselves."""
    return Counter(map(claim_of, rows))
