"""`validate`: may this judge stand in for people?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from ..core.reports import Report, flat_estimates
from ..core.suggest import allowed
from ..errors import KokoroError, UsageError
from ..judging import read_journal
from ..judging.agreement import AnswerKey, Ratings, ratings_of
from ..judging.alternative import EPSILON
from ..judging.bias import words
from ..judging.validity import Validity, people_in, validate_against
from ..judging.verdicts import text_sha256
from . import joining as join


@dataclass(frozen=True)
class ValidityReport(Report):
    """A judge against people: `kind` of raters decides epsilon of the alternative annotator test."""

    found: Validity
    kind: str
    judge_model: str
    rubric_sha256: str

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as `--json` prints it: figures as numbers (None: not defined), their intervals beside them."""
        found = self.found
        return {
            **asdict(found),
            "kind": "people",
            "judge_model": self.judge_model,
            "rubric_sha256": self.rubric_sha256,
            "raters": self.kind,
            "epsilon": EPSILON[self.kind],
            "dimensions": {name: flat_estimates(one) for name, one in found.dimensions.items()},
            "pairs": flat_estimates(found.pairs),
            "matched_pairs": None if found.matched_pairs is None else flat_estimates(found.matched_pairs),
        }


def validate(
    journal: str | PathLike[str],
    people: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
    *,
    judge_model: str | None = None,
    raters: str = "expert",
    source: str | None = None,
) -> ValidityReport:
    """Compare one judge with people's ratings of the same answers.

    `people` are journals whose `judge_model` is `human/<rater>`, as `annotate import` makes them (the same journal may
    hold judge and people). `raters` is their kind: expert, skilled or crowd. Pairs of matched length need the texts:
    `source`, or the one noted beside the journal, if it is still there. Raises UsageError, JournalError,
    MissingExtraError (the alternative annotator test needs scipy).
    """
    if raters not in EPSILON:
        raise UsageError(f"--raters: got {raters!r}; {allowed(raters, EPSILON)}")
    book = Path(journal)
    given = [people] if isinstance(people, str | PathLike) else people
    books = [book, *(Path(other) for other in given if Path(other) != book)]
    verdicts = [verdict for one in books for verdict in read_journal(one) if not verdict.repeat]
    persons, judges = people_in(ratings_of(verdicts, join.placeholders_beside(books)))
    judge = _one(judges, judge_model, str(book))
    found = validate_against(judge, persons, epsilon=EPSILON[raters], lengths=_lengths(book, source))
    return ValidityReport(found, raters, judge.judge_model, judge.rubric_sha256)


def _one(judges: Sequence[Ratings], judge_model: str | None, where: str) -> Ratings:
    mine = [
        one
        for one in judges
        if judge_model is None or one.name.partition("@")[0] == judge_model or one.name == judge_model
    ]
    if len(mine) == 1:
        return mine[0]
    known = ", ".join(one.name for one in judges) or "no judge but people"
    if not mine:
        raise UsageError(f"{where}: no judge {judge_model!r}; it holds {known}" if judge_model else f"{where}: {known}")
    raise UsageError(f"{where}: {len(mine)} judges ({known}); choose one with --judge-model")


def _lengths(journal: Path, source: str | None) -> dict[AnswerKey, int] | None:
    """Words of every answer, or None if the texts are not there and nobody named them."""
    try:
        _, chat = join.source_of_journal(journal, source)
    except KokoroError:
        if source is not None:
            raise
        return None
    return {
        AnswerKey(text_sha256(question.prompt), text_sha256(answer.text)): words(answer.text)
        for question in chat.questions
        for answer in question.answers
    }
