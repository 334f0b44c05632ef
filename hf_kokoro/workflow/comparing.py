"""`agree` and `bias`: how far judges agree, and what their scores follow besides the rubric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from ..core.reports import Report
from ..judging import read_journal
from ..judging.agreement import Agreement, Ratings, compare_all, joint_alpha, ratings_of
from ..judging.bias import Balanced, BiasReport, PairSides, balanced, measure_bias
from ..miti.no_answers import NO_ANSWERS
from ..miti.pairing import CandidateSet, make_rows, pair_key, pair_weights
from . import joining as join


@dataclass(frozen=True)
class AgreeReport(Report):
    """The judges, every two of them compared, and alpha of all together by dimension."""

    judges: tuple[Ratings, ...]
    agreements: tuple[Agreement, ...]
    joint_alpha: dict[str, float | None]

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as `--json` prints it."""
        return {
            "judges": [
                {"name": one.name, "scored": len(one.scores), "unscored": one.unscored, "not_used": one.not_used}
                for one in self.judges
            ],
            "agreements": [agreement.as_dict() for agreement in self.agreements],
            "joint_alpha": self.joint_alpha,
        }


@dataclass(frozen=True)
class BiasRun(Report):
    """What one judge's scores follow, what balancing therapists would change, and the figures that were drawn."""

    measured: BiasReport
    verdicts_not_used: int
    balancing: tuple[Balanced, ...]
    figures: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as `--json` prints it."""
        return self.measured.as_dict() | {
            "verdicts_not_used": self.verdicts_not_used,
            "balancing": [asdict(way) for way in self.balancing],
            "figures": list(self.figures),
        }


def agree(journals: str | PathLike[str] | Sequence[str | PathLike[str]]) -> AgreeReport:
    """Compare judges on the answers that both scored; one journal is enough if it holds two judges or a retest.

    Raises UsageError for a single judge or the same one twice, JournalError.
    """
    given = [journals] if isinstance(journals, str | PathLike) else journals
    books = [Path(journal) for journal in given]
    verdicts = [verdict for book in books for verdict in read_journal(book)]
    judges = ratings_of(verdicts, join.placeholders_beside(books))
    return AgreeReport(tuple(judges), tuple(compare_all(judges)), joint_alpha(judges))


def bias(
    journal: str | PathLike[str],
    *,
    source: str | None = None,
    judge_model: str | None = None,
    max_per_therapist: int = 10,
    plots: str | PathLike[str] | None = None,
) -> BiasRun:
    """Measure surface bias, what each dimension decides, and how far a few therapists dominate.

    `max_per_therapist` is the cap that is tried out; `plots` is a folder for figures (extra `plots`). Raises
    UsageError, SourceError, JournalError, MissingExtraError.
    """
    book = Path(journal)
    verdicts = join.one_judge(read_journal(book), judge_model, str(book))
    _, chat = join.source_of_journal(book, source)
    joined = join.candidate_sets(chat.questions, verdicts, verdicts[0].judge_model)
    placeholders, answers = join.placeholders_of(chat), join.scored_answers(joined.sets)
    unscored = sum(
        v.scores is None and v.status not in NO_ANSWERS and v.answer_sha256 not in placeholders for v in verdicts
    )
    measured = measure_bias(verdicts[0].judge_model, answers, unscored)
    ways = _balanced(joined.sets, max_per_therapist, [entry.therapist for entry in measured.prolific])
    figures: tuple[str, ...] = ()
    if plots is not None:
        from .bias_plots import draw_bias

        figures = tuple(str(path) for path in draw_bias(measured, answers, Path(plots)))
    return BiasRun(measured, joined.not_used, tuple(ways), figures)


def _balanced(sets: list[CandidateSet], cap: int, prolific: list[str]) -> list[Balanced]:
    """Best-worst pairs as they are, with the cap, and with weights."""

    def sides(rows: list[dict[str, Any]], weighting: str) -> list[PairSides]:
        weights = pair_weights([pair_key(row) for row in rows], weighting)
        return [
            PairSides(r["chosen_therapist"], r["rejected_therapist"], w) for r, w in zip(rows, weights, strict=True)
        ]

    rows, _ = make_rows(sets, allow_partial=True)
    capped, _ = make_rows(sets, allow_partial=True, max_per_therapist=cap)
    return [
        balanced("pair sides", sides(rows, "uniform"), prolific),
        balanced(f"pair sides, --max-per-therapist {cap}", sides(capped, "uniform"), prolific),
        balanced("pair sides, weights=inverse-frequency", sides(rows, "inverse-frequency"), prolific),
    ]
