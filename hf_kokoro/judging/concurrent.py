"""Many questions to a service in flight at once, every answer kept as it comes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from ..errors import KokoroError

NOT_SENT = "not sent"
"""The reason of items that were still waiting when the run stopped."""

STOPPED = "the run stopped"
"""The reason of items in flight that met with what stopped the run: it is said once, as the run's reason."""

_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")


class Service(Protocol):
    """Who is asked: at most `concurrency` answers are in flight."""

    concurrency: int

    async def aclose(self) -> None: ...


@dataclass
class Outcome(Generic[_Item]):
    """`unanswered` items with the reason, and what stopped the run early, if something did."""

    judged: int = 0
    unanswered: list[tuple[_Item, str]] = field(default_factory=list)
    stopped: str = ""


async def ask_concurrently(
    work: Sequence[_Item],
    service: Service,
    ask: Callable[[_Item], Awaitable[_Answer]],
    keep: Callable[[_Item, _Answer], None],
    progress: Callable[[int, int], None],
) -> Outcome[_Item]:
    """Keep `service.concurrency` answers in flight until all are kept or the run has to stop; then close the service.

    A retryable error leaves its item unanswered; as many of them in a row as there are workers stop the run,
    for then nobody is there. Any other error of ours stops it at once; what is in flight still ends.
    """
    import asyncio

    outcome, rest = Outcome[_Item](), iter(work)
    in_a_row = 0

    async def worker() -> None:
        nonlocal in_a_row
        for item in rest:
            if outcome.stopped:
                outcome.unanswered.append((item, NOT_SENT))
                continue
            try:
                answer = await ask(item)
            except KokoroError as error:
                outcome.unanswered.append((item, str(error) if error.retryable else STOPPED))
                in_a_row += 1
                if not error.retryable or in_a_row >= service.concurrency:
                    outcome.stopped = outcome.stopped or str(error)
                continue
            in_a_row = 0
            keep(item, answer)
            outcome.judged += 1
            progress(outcome.judged, len(work))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(service.concurrency, len(work))):
                group.create_task(worker())
    except BaseExceptionGroup as errors:
        # one clear error instead of a group of the same
        raise errors.exceptions[0] from None
    finally:
        await service.aclose()
    return outcome
