"""`validate --experts`: a judge over AnnoMI's therapist utterances, compared with what the experts coded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.reports import Report, flat_estimates
from ..errors import UsageError
from ..judging import Item, Journal, Judge, Verdict, read_journal
from ..judging.alternative import EPSILON
from ..judging.experts import Coded, ExpertValidity, validate_against_experts
from . import joining as join
from .judges import ClaudeSettings, run_judges
from .progress import Progress

if TYPE_CHECKING:
    from ..corpora.annomi.reader import Record
    from ..judging import JudgeReport

LEAST_WORDS = 5
"""Shorter utterances ("Mm-hm. Go on.") are not compared."""
ADVICE = "advice"
"""The kind of therapist input that is advice."""


@dataclass(frozen=True)
class ExpertReport(Report):
    """A judge against the experts; `runs` says what was judged for it, empty if a journal held all of it."""

    found: ExpertValidity
    rubric_sha256: str
    least_words: int
    runs: tuple[JudgeReport, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as `--json` prints it: figures as numbers (None: not defined), their intervals beside them."""
        found = self.found
        return {
            "kind": "experts",
            "judge": found.judge,
            "judge_model": found.judge,
            "rubric_sha256": self.rubric_sha256,
            "utterances": found.utterances,
            "unscored": found.unscored,
            "least_words": self.least_words,
            "epsilon": EPSILON["expert"],
            "dimensions": {name: _plain(one) for name, one in found.dimensions.items()},
            "sessions": flat_estimates(found.sessions)
            | {"by_dimension": {name: asdict(one) for name, one in found.sessions.by_dimension.items()}},
            "judges": [run.as_dict() for run in self.runs],
        }


def _plain(one: Any) -> dict[str, Any]:
    return flat_estimates(one) | {"by_annotator": {name: flat_estimates(o) for name, o in one.by_annotator.items()}}


class Utterance(NamedTuple):
    """What a therapist said, as a judge gets it, and what is known of it."""

    item: Item
    session: str
    high: bool
    codes: Mapping[str, Mapping[str, bool]]


def validate_experts(
    experts: str | PathLike[str],
    journal: str | PathLike[str] | None = None,
    *,
    judge: str | Judge | None = None,
    judge_model: str | None = None,
    limit: int | None = None,
    least_words: int = LEAST_WORDS,
    model: str = "claude-opus-4-7",
    concurrency: int = 16,
    max_usd: float | None = None,
    prices: Path | None = None,
    progress: Progress | None = None,
) -> ExpertReport:
    """Compare a judge with the experts' codes of AnnoMI, the user's copy of which is `experts`.

    Every utterance of a therapist of `least_words` words or more is an answer, the client's utterance before it the
    question. `judge` (as of `judge`, "rule" if there is no journal) scores what the `journal` lacks; without it the
    journal's own verdicts are compared, of `judge_model` if it holds several judges'. Without a journal no verdict is
    kept, so a judge that costs money needs one. A dimension is compared with the code of `judging.experts.CODES`; the
    mean total of a session with its quality. Raises UsageError, SourceError, InputError, JournalError,
    MissingExtraError.
    """
    if journal is None and judge is None:
        judge = "rule"
    if judge is None and (limit is not None or max_usd is not None):
        raise UsageError("--limit and --max-usd are for --judge: without it the journal's own verdicts are compared")
    if journal is None and isinstance(judge, str) and judge.partition(":")[0] == "claude":
        raise UsageError(f"--judge {judge} without a JOURNAL: name one, so that what is paid for is kept")
    for name, number in (("least-words", least_words), ("limit", limit)):
        if number is not None and number < 1:
            raise UsageError(f"--{name} {number}: allowed: 1 or more")
    said = list(utterances(_records(experts), least_words))
    if not said:
        raise UsageError(f"{experts}: no utterance of a therapist with {least_words} words or more")
    runs: tuple[JudgeReport, ...] = ()
    with ExitStack() as stack:
        if judge is None:
            assert journal is not None
            verdicts = join.one_judge(_of(said, read_journal(Path(journal))), judge_model, str(journal))
        else:
            settings = ClaudeSettings(model, concurrency, False, 0.0, max_usd, prices)
            [made] = settings.judges([judge], 1)
            kept = Path(journal) if journal else Path(stack.enter_context(TemporaryDirectory())) / "verdicts.jsonl"
            with Journal(kept) as book:
                items = [one.item for one in said]
                runs = tuple(
                    run_judges(
                        [made], items, book, settings=settings, limit=limit, retry=(), repeat=1, progress=progress
                    )
                )
            verdicts = join.one_judge(_of(said, read_journal(kept)), join.judge_tag(made), str(kept))
    coded = list(_joined(said, verdicts))
    found = validate_against_experts(verdicts[0].judge_model, coded, len(said) - len(coded))
    return ExpertReport(found, verdicts[0].rubric_sha256, least_words, runs)


def utterances(records: Iterable[Record], least_words: int = LEAST_WORDS) -> Iterator[Utterance]:
    """The therapists' utterances that are long enough, in order; `records` stand session by session."""
    session, question = "", ""
    for record in records:
        if record["dialogue_id"] != session:
            session, question = record["dialogue_id"], ""
        if record["speaker"] == "client":
            question = record["text"]
        elif len(record["text"].split()) >= least_words:
            item = Item(f"{session}/{record['utterance']}", question, f"transcript {session}", record["text"])
            yield Utterance(item, session, record["quality"] == "high", _codes(record))


def _codes(record: Record) -> dict[str, dict[str, bool]]:
    from ..corpora.annomi.schema import ABSENT

    return {
        "reflection": {codes["annotator"]: codes["reflection"] != ABSENT for codes in record["codes"]},
        "advice": {codes["annotator"]: codes["therapist_input"] == ADVICE for codes in record["codes"]},
    }


def _records(experts: str | PathLike[str]) -> list[Record]:
    from ..core.archives import open_source
    from ..corpora.annomi.reader import read_annomi

    files = open_source(Path(experts))
    return read_annomi(files.members(), files)


def _of(said: Sequence[Utterance], verdicts: Iterable[Verdict]) -> list[Verdict]:
    """The verdicts on these utterances; a journal may hold others."""
    keys = {(one.item.question_sha256, one.item.answer_sha256) for one in said}
    found = [verdict for verdict in verdicts if (verdict.question_sha256, verdict.answer_sha256) in keys]
    if not found:
        raise UsageError("the journal holds no verdict on these utterances; name a judge that scores them: --judge")
    return found


def _joined(said: Sequence[Utterance], verdicts: Iterable[Verdict]) -> Iterator[Coded]:
    scores = {
        (v.question_sha256, v.answer_sha256): {**v.scores, "total": v.total or 0}
        for v in verdicts
        if v.scores is not None
    }
    for one in said:
        key = (one.item.question_sha256, one.item.answer_sha256)
        if key in scores:
            yield Coded(one.session, one.high, scores[key], one.codes)
