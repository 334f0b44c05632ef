"""What rows state of their origin, row by row: upstream's claim for upstream's answers, else what is declared."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import UsageError

if TYPE_CHECKING:
    from ..corpora.counsel_chat import CounselChat, Question
    from ..policy import Policy
    from ..policy.claims import Claim
    from ..policy.notes import Notes

Row = dict[str, Any]


@dataclass(frozen=True)
class Stamps:
    """Claims of rows made from one source. `declared` is of those with an answer that no known edition holds."""

    declared: Claim
    fetched: bool = False
    """Is the source upstream's own repo, read from the Hub?"""

    def claim(self, texts: Iterable[str]) -> Claim:
        """The claim of a row with these answers."""
        from ..miti.contract import LICENSE, SOURCE_DATASET
        from ..policy.claims import FETCHED, Claim, known_claim

        if known := known_claim(texts):
            return known
        return Claim(SOURCE_DATASET, LICENSE, "people", FETCHED) if self.fetched else self.declared

    def stamped(self, rows: Iterable[Mapping[str, Any]]) -> list[Row]:
        """The rows, each with its own `source_dataset` and `license`."""
        from ..policy.claims import answers_of

        claims = ((row, self.claim(answers_of(row))) for row in rows)
        return [{**row, "source_dataset": claim.source_dataset, "license": claim.license} for row, claim in claims]

    def notes(self, rows: Iterable[Mapping[str, Any]], rubric_sha256: str) -> Notes:
        """What is known of stamped rows beside their keys; it goes with them to `append`."""
        from ..miti.contract import row_id
        from ..policy.claims import answers_of
        from ..policy.notes import Note, Notes

        return Notes(
            {row_id(row): Note(self.claim(answers_of(row)), str(row["judge_model"]), rubric_sha256) for row in rows}
        )

    def unstated(self, questions: Iterable[Question]) -> int:
        """How many of the questions would make rows that do not state what publishing asks for."""
        from ..miti.no_answers import no_answer

        answers = ([a.text for a in question.answers if no_answer(a.text) is None] for question in questions)
        return sum(not self.claim(texts).stated for texts in answers)


def declared_by(
    policy: Policy, source_dataset: str | None, license_name: str | None, written_by: str | None
) -> tuple[str | None, str | None, str | None]:
    """What the call declares of the rows, else the policy."""
    given = {"source_dataset": source_dataset, "license": license_name, "written_by": written_by}
    source, licence, writer = (policy.or_given(name, value) for name, value in given.items())
    return source, licence, writer


def told_of(
    policy: Policy, source_dataset: str | None, license_name: str | None, written_by: str | None
) -> tuple[str, ...]:
    """What the policy declares because the call does not, for reports."""
    given = {"source_dataset": source_dataset, "license": license_name, "written_by": written_by}
    return policy.told(*(name for name, value in given.items() if value is None))


def stamps_of(
    chat: CounselChat,
    source_dataset: str | None = None,
    license_name: str | None = None,
    written_by: str | None = None,
) -> Stamps:
    """The stamps of rows from this source; the three names are what the caller declares of what is not known.

    Raises UsageError for no SPDX licence or an unknown writer, or where upstream's name (or the sample's) is declared
    for answers that are not its own.
    """
    from ..policy.claims import declared_claim

    stamps = Stamps(declared_claim(source_dataset, license_name, written_by), chat.fetched)
    if source_dataset is not None:
        _check_name(source_dataset, stamps, chat)
    return stamps


def advice(rows: int, unstated: int, what: str = "rows") -> str:
    """What is not stated and how to state it; empty if everything is."""
    if not unstated:
        return ""
    return (
        f"source and licence are not stated in {unstated} of {rows} {what}: not all of their answers are in an "
        "edition of counsel-chat that is known here; to publish them, declare both: --source-dataset NAME --license "
        "MIT (any SPDX id), and --written-by people, model or fictional if you know it"
    )


def claims_of(rows: Sequence[Mapping[str, Any]], notes: Notes) -> list[dict[str, Any]]:
    """For reports: each claim of the rows and how many have it."""
    from ..miti.contract import row_id

    counts = Counter(notes.of_rows[row_id(row)].claim for row in rows)
    return [{**claim._asdict(), "rows": count} for claim, count in sorted(counts.items())]


def _check_name(name: str, stamps: Stamps, chat: CounselChat) -> None:
    from ..miti.contract import SAMPLE_DATASET, SOURCE_DATASET

    folded = unicodedata.normalize("NFKC", name).casefold()
    named = [
        taken
        for taken in (SOURCE_DATASET, SAMPLE_DATASET)
        if re.search(rf"(?<![\w.-]){re.escape(taken)}(?![\w.-])", folded)
    ]
    for taken in named:
        answers = (answer.text for question in chat.questions for answer in question.answers if answer.text.strip())
        if any(stamps.claim([text]).source_dataset != taken or not stamps.claim([text]).proven for text in answers):
            raise UsageError(
                f"--source-dataset {taken}: not all of these answers are {taken}'s; name a dataset of your own "
                "(upstream's own answers need no name: they are known by their digests)"
            )
