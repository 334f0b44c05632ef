"""What is judged, what a judge says, and the verdict that the journal keeps.

Nothing unscored ever becomes a number: `scores` is set exactly when `status` is "scored".
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property
from typing import Any, NamedTuple, Protocol

from ..core.jsonl import NoObject, parse_object
from ..errors import KokoroError, describe
from ..miti.contract import DIMENSIONS, RUBRIC, scores_fault
from ..miti.no_answers import NO_ANSWERS, no_answer, usual_spellings

STATUSES = ("scored", "refused", "incomplete", "invalid", *NO_ANSWERS)
"""scored: five scores. refused: the judge declined. incomplete: its reply was cut off. invalid: its reply
could not be read as five scores in range. blank, placeholder: there was no answer to judge (`schema.no_answers`)."""


class VerdictError(KokoroError):
    """A verdict contradicts itself, or a journal line is no verdict."""


class VerdictKey(NamedTuple):
    """What makes two verdicts the same piece of work; `repeat` is 0 except in retests."""

    answer_sha256: str
    question_sha256: str
    rubric_sha256: str
    judge_model: str
    repeat: int = 0


class Judged(Protocol):
    """What identifies one judged answer."""

    @property
    def question_id(self) -> str: ...
    @property
    def therapist(self) -> str: ...
    @property
    def question_sha256(self) -> str: ...
    @property
    def answer_sha256(self) -> str: ...


@dataclass(frozen=True)
class Item:
    """One answer to be scored alone, with the question as its context."""

    question_id: str
    question: str
    therapist: str
    answer: str

    @cached_property
    def question_sha256(self) -> str:
        return text_sha256(self.question)

    @cached_property
    def answer_sha256(self) -> str:
        return text_sha256(self.answer)


@dataclass(frozen=True)
class Opinion:
    """What a judge says about one answer. `raw` is its reply as received, `reason` one short sentence."""

    status: str
    scores: Mapping[str, int] | None = None
    reason: str = ""
    raw: str = ""

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise VerdictError(f"status {describe(self.status, show=True)}; allowed: {', '.join(STATUSES)}")
        if (self.scores is not None) != (self.status == "scored"):
            raise VerdictError(f"status {self.status!r} with{'' if self.scores else 'out'} scores")
        if self.scores is not None and (fault := scores_fault(self.scores)):
            raise VerdictError(fault)


@dataclass(frozen=True)
class Verdict:
    """One journal line: what was judged (by digest, never by text), by whom, when, and the outcome."""

    question_id: str
    question_sha256: str
    answer_sha256: str
    therapist: str
    judge_model: str
    rubric_sha256: str
    status: str
    scores: Mapping[str, int] | None
    reason: str
    raw: str
    created_at: str
    repeat: int = 0

    @property
    def key(self) -> VerdictKey:
        return VerdictKey(self.answer_sha256, self.question_sha256, self.rubric_sha256, self.judge_model, self.repeat)

    @property
    def total(self) -> int | None:
        """Sum of the five scores, or None if unscored."""
        return None if self.scores is None else sum(self.scores.values())

    def line(self) -> str:
        """The verdict as one line of JSON; scores and total only when scored, `repeat` only in retests."""
        fields: dict[str, Any] = {
            "question_id": self.question_id,
            "question_sha256": self.question_sha256,
            "answer_sha256": self.answer_sha256,
            "therapist": self.therapist,
            "judge_model": self.judge_model,
            "rubric": RUBRIC,
            "rubric_sha256": self.rubric_sha256,
            "status": self.status,
        }
        if self.scores is not None:
            fields |= {name: self.scores[name] for name in DIMENSIONS} | {"total": self.total}
        fields |= {"reason": self.reason, "raw": self.raw, "created_at": self.created_at}
        if self.repeat:
            fields["repeat"] = self.repeat
        # ASCII on purpose: a reply may hold lone surrogates or U+2028, and the line must stay one valid line
        return json.dumps(fields, allow_nan=False) + "\n"


def make_verdict(item: Judged, opinion: Opinion, judge_model: str, rubric_sha256: str, repeat: int = 0) -> Verdict:
    """Sign an opinion: with what was judged, by whom, and when (UTC, to the second)."""
    return Verdict(
        question_id=item.question_id,
        question_sha256=item.question_sha256,
        answer_sha256=item.answer_sha256,
        therapist=item.therapist,
        judge_model=judge_model,
        rubric_sha256=rubric_sha256,
        status=opinion.status,
        scores=opinion.scores,
        reason=opinion.reason,
        raw=opinion.raw,
        created_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        repeat=repeat,
    )


def parse_verdict(text: str, where: str) -> Verdict:
    """Read one journal line. Raises VerdictError naming `where` and the field."""
    try:
        fields = parse_object(text)
    except NoObject as error:
        raise VerdictError(f"{where}: {describe(error.value)}; allowed: one verdict a line") from None
    except ValueError:
        raise VerdictError(f"{where}: no JSON object; allowed: one verdict a line; is it a journal?") from None
    for name in _TEXT_FIELDS:
        if not isinstance(fields.get(name), str):
            raise VerdictError(f"{where} {name}: {describe(fields.get(name))}; allowed: text; is it a journal?")
    if fields["rubric"] != RUBRIC:
        raise VerdictError(f"{where} rubric: {describe(fields['rubric'])}; allowed: {RUBRIC!r}")
    scores = {name: fields[name] for name in DIMENSIONS if name in fields}
    repeat = fields.get("repeat", 0)
    if not isinstance(repeat, int) or isinstance(repeat, bool) or repeat < 0:
        raise VerdictError(f"{where} repeat: {describe(repeat)}; allowed: a whole number, 0 or more")
    try:
        # Opinion holds the one rule about status and scores
        opinion = Opinion(fields["status"], scores or None, fields["reason"], fields["raw"])
    except VerdictError as error:
        raise VerdictError(f"{where}: {error}") from None
    if opinion.scores is not None and fields.get("total") != sum(scores.values()):
        raise VerdictError(f"{where} total: {describe(fields.get('total'))}; allowed: {sum(scores.values())}")
    signed = {name: fields[name] for name in _SIGNATURE}
    return Verdict(
        **signed,
        status=opinion.status,
        scores=opinion.scores,
        reason=opinion.reason,
        raw=opinion.raw,
        repeat=repeat,
    )


_SIGNATURE = (
    "question_id",
    "question_sha256",
    "answer_sha256",
    "therapist",
    "judge_model",
    "rubric_sha256",
    "created_at",
)
_TEXT_FIELDS = (*_SIGNATURE, "rubric", "status", "reason", "raw")


def text_sha256(text: str) -> str:
    """Digest of a text as stored, in hex; no folding, so any change of the text is a new piece of work."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@cache
def placeholder_digests() -> frozenset[str]:
    """Digests of the usual placeholder texts: a journal holds no texts to ask `no_answer` about."""
    return frozenset(map(text_sha256, usual_spellings()))


def unjudged(answer: str) -> Opinion | None:
    """The opinion on a text that is no answer, which no judge is asked for; None for an answer."""
    status = no_answer(answer)
    return None if status is None else Opinion(status)
