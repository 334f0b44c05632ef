"""Running a judge over answers: only what is missing is scored, blank and placeholder texts never reach the judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field

from ..errors import FAULTS_SHOWN
from ..miti.no_answers import NO_ANSWERS, no_answer
from .concurrent import NOT_SENT, STOPPED, ask_concurrently
from .journal import Journal
from .judge import AsyncJudge, Judge
from .verdicts import STATUSES, Item, Opinion, VerdictKey, make_verdict, unjudged


@dataclass
class JudgeReport:
    """What a run did. `statuses` counts every answer asked for, those judged before included."""

    judge_model: str
    given: int = 0
    asked: int = 0
    """Different answers to different questions among those given: a text that stands twice is judged once."""
    judged: int = 0
    already: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    unanswered: list[tuple[str, str, str]] = field(default_factory=list)
    """(question id, start of the answer's digest, reason) of what was tried in vain or not sent any more."""
    stopped: str = ""
    """Why the run ended early, if it did."""
    spent_usd: float | None = None

    @property
    def unscored(self) -> int:
        """Answers without five scores: refused, incomplete, invalid. A blank or placeholder text is no answer."""
        return sum(self.statuses[status] for status in STATUSES if status not in ("scored", *NO_ANSWERS))

    @property
    def missing(self) -> int:
        """Answers without any verdict: not asked for yet, or nobody answered."""
        return self.statuses["missing"]

    def advice(self) -> list[str]:
        """What is unscored and how to go on, a line each; empty if everything is scored."""
        counts = self.statuses
        lines = [f"stopped: {self.stopped}"] if self.stopped else []
        failed = [entry for entry in self.unanswered if entry[2] not in (NOT_SENT, STOPPED)]
        for question_id, digest, reason in failed[:FAULTS_SHOWN]:
            lines.append(f"unscored: question {question_id} answer {digest}: {reason}")
        if len(failed) > FAULTS_SHOWN:
            lines.append(f"... and {len(failed) - FAULTS_SHOWN} more that failed (--json lists them all)")
        if self.missing:
            lines.append(f"{self.missing} not judged yet: run the same command again, only they are judged")
        for status in ("incomplete", "invalid"):
            if counts[status]:
                lines.append(f"{counts[status]} {status}: judge them again with --retry {status}")
        if counts["refused"]:
            lines.append(f"{counts['refused']} refused by the judge: they stay unscored; see `reason` in the journal")
        return lines

    def as_dict(self) -> dict[str, object]:
        """For `--json`."""
        return {
            "judge_model": self.judge_model,
            "given": self.given,
            "asked": self.asked,
            "judged": self.judged,
            "already": self.already,
            "statuses": {status: self.statuses[status] for status in STATUSES},
            "missing": self.missing,
            "unscored": self.unscored,
            "unanswered": [list(entry) for entry in self.unanswered],
            "stopped": self.stopped,
            "spent_usd": self.spent_usd,
        }


def missing_items(
    items: Iterable[Item],
    judge: Judge | AsyncJudge,
    journal: Journal,
    retry: Collection[str] = (),
    repeat: int = 0,
) -> Iterator[Item]:
    """Items without a verdict of this judge in the journal, each piece of work once.

    Verdicts whose status is in `retry` count as missing.
    """
    seen: set[VerdictKey] = set()
    for item in items:
        key = item_key(item, judge, repeat)
        if key in seen or journal.statuses.get(key, "") in {*STATUSES} - {*retry}:
            continue
        seen.add(key)
        yield item


def item_key(item: Item, judge: Judge | AsyncJudge, repeat: int = 0) -> VerdictKey:
    """The identity of the verdict that `judge` would give on `item`."""
    return VerdictKey(item.answer_sha256, item.question_sha256, judge.rubric_sha256, judge.judge_model, repeat)


def score_items(
    items: Iterable[Item],
    judge: Judge | AsyncJudge,
    journal: Journal,
    *,
    limit: int | None = None,
    retry: Collection[str] = (),
    repeat: int = 0,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> JudgeReport:
    """Score what is missing, at most `limit` answers; every verdict is journaled at once.

    A judge whose `score` is a coroutine gets many answers at a time (this call runs the event loop), any
    other one after another.
    """
    wanted = list(items)
    work = list(missing_items(wanted, judge, journal, retry, repeat))[:limit]

    def keep(item: Item, opinion: Opinion) -> None:
        journal.append(make_verdict(item, opinion, judge.judge_model, judge.rubric_sha256, repeat))

    if isinstance(judge, AsyncJudge):
        import asyncio

        waiting = judge

        async def ask(item: Item) -> Opinion:
            return unjudged(item.answer) or await waiting.score(item.question, item.answer)

        outcome = asyncio.run(ask_concurrently(work, judge, ask, keep, progress))
        report = report_on(wanted, judge, journal, outcome.judged, repeat)
        report.stopped = outcome.stopped
        report.unanswered = [(item.question_id, item.answer_sha256[:12], reason) for item, reason in outcome.unanswered]
        return report
    for done, item in enumerate(work, start=1):
        keep(item, unjudged(item.answer) or judge.score(item.question, item.answer))
        progress(done, len(work))
    return report_on(wanted, judge, journal, len(work), repeat)


def report_on(
    wanted: list[Item], judge: Judge | AsyncJudge, journal: Journal, judged: int, repeat: int = 0
) -> JudgeReport:
    """Count where every wanted answer stands now; the same answer to the same question counts once.

    A placeholder counts as one, also where the journal holds scores of it from before placeholders were known.
    """
    items = {item_key(item, judge, repeat): item for item in wanted}
    keys = {key: journal.statuses.get(key, "missing") for key in items}
    found = {
        key: status if status == "missing" else no_answer(items[key].answer) or status for key, status in keys.items()
    }
    statuses = Counter(found.values())
    done = len(keys) - statuses["missing"]
    return JudgeReport(judge.judge_model, len(wanted), len(keys), judged, done - judged, statuses)
