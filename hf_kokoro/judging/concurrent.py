"""Running a judge that waits for others: many answers in flight, every verdict journaled as it comes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..errors import KokoroError
from .journal import Journal
from .judge import AsyncJudge
from .verdicts import Item, make_verdict, unjudged

NOT_SENT = "not sent"
"""The reason of items that were still waiting when the run stopped."""

STOPPED = "the run stopped"
"""The reason of items in flight that met with what stopped the run: it is said once, as the run's reason."""


@dataclass
class Outcome:
    """`unanswered` items with the reason, and what stopped the run early, if something did."""

    judged: int = 0
    unanswered: list[tuple[Item, str]] = field(default_factory=list)
    stopped: str = ""


async def score_concurrently(
    work: list[Item],
    judge: AsyncJudge,
    journal: Journal,
    repeat: int,
    progress: Callable[[int, int], None],
) -> Outcome:
    """Keep `judge.concurrency` answers in flight until all are judged or the run has to stop.

    A retryable error leaves its item unanswered; as many of them in a row as there are workers stop the run,
    for then nobody is there. Any other error of ours stops it at once; what is in flight still ends.
    """
    import asyncio

    outcome, rest = Outcome(), iter(work)
    in_a_row = 0

    async def worker() -> None:
        nonlocal in_a_row
        for item in rest:
            if outcome.stopped:
                outcome.unanswered.append((item, NOT_SENT))
                continue
            try:
                opinion = unjudged(item.answer) or await judge.score(item.question, item.answer)
            except KokoroError as error:
                outcome.unanswered.append((item, str(error) if error.retryable else STOPPED))
                in_a_row += 1
                if not error.retryable or in_a_row >= judge.concurrency:
                    outcome.stopped = outcome.stopped or str(error)
                continue
            in_a_row = 0
            journal.append(make_verdict(item, opinion, judge.judge_model, judge.rubric_sha256, repeat))
            outcome.judged += 1
            progress(outcome.judged, len(work))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(judge.concurrency, len(work))):
                group.create_task(worker())
    except BaseExceptionGroup as errors:
        # one clear error instead of a group of the same
        raise errors.exceptions[0] from None
    finally:
        await judge.aclose()
    return outcome
