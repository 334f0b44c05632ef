"""What rows state of their origin: upstream's name and licence for upstream's own bytes, else what is declared."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from ..errors import UsageError, describe

if TYPE_CHECKING:
    from ..corpora.counsel_chat import CounselChat
    from ..policy import Policy


class Stamp(NamedTuple):
    """The values of `source_dataset` and `license` in rows."""

    source_dataset: str
    license: str

    @property
    def stated(self) -> bool:
        """Is everything said that publishing asks for?"""
        from ..miti.contract import NOT_STATED

        return NOT_STATED not in self


def stamp_of(chat: CounselChat, source_dataset: str | None = None, license_name: str | None = None) -> Stamp:
    """The stamp of rows from this source; the two names are what the caller declares.

    Raises UsageError for a licence that rows can't have, or where upstream's name (or the sample's) is declared
    for other bytes.
    """
    from ..miti.contract import LICENSE, NOT_STATED

    known = chat.edition or None
    if source_dataset is not None:
        _check_name(source_dataset, known)
    if license_name is not None and license_name.casefold() not in (LICENSE.casefold(), NOT_STATED):
        raise UsageError(
            f"--license {describe(license_name, show=True)}: allowed: {LICENSE}; rows are {LICENSE} or not"
        )
    return Stamp(
        source_dataset or known or NOT_STATED,
        license_name or (LICENSE if known else NOT_STATED),
    )


def declared_by(
    policy: Policy, source_dataset: str | None = None, license_name: str | None = None
) -> tuple[str | None, str | None]:
    """What the call declares of the rows, else the policy."""
    return policy.or_given("source_dataset", source_dataset), policy.or_given("license", license_name)


def told_of(policy: Policy, source_dataset: str | None, license_name: str | None) -> tuple[str, ...]:
    """What the policy declares because the call does not, for reports."""
    given = {"source_dataset": source_dataset, "license": license_name}
    return policy.told(*(name for name, value in given.items() if value is None))


def advice(stamp: Stamp) -> str:
    """What is not stated and how to state it; empty if everything is."""
    from ..miti.contract import LICENSE

    if stamp.stated:
        return ""
    return (
        "rows say that their source and licence are not stated: these bytes are no known edition of counsel-chat; "
        f"to publish them, declare both: --source-dataset NAME --license {LICENSE}"
    )


def _check_name(name: str, known: str | None) -> None:
    from ..miti.contract import SAMPLE_DATASET, SOURCE_DATASET

    if not name.strip():
        raise UsageError("--source-dataset: got a blank name; allowed: the name of the dataset that the texts are from")
    folded = unicodedata.normalize("NFKC", name).casefold()
    for taken in (SOURCE_DATASET, SAMPLE_DATASET):
        if taken != known and re.search(rf"(?<![\w.-]){re.escape(taken)}(?![\w.-])", folded):
            raise UsageError(
                f"--source-dataset {taken}: these bytes are not {taken}'s; name a dataset of your own "
                "(upstream's own file needs no name: it is known by its bytes)"
            )
