"""Judging through the Message Batches API: half the price, results within a day, and safe to interrupt.

There is no idempotency key, so the order is: the map of custom ids on disk, then the creation, then the
batch's id on disk, then polling. If the reply to a creation is lost, the batch is looked up before another one
is made. Results are joined by custom id; rows that errored or expired are sent again, and only those.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from .batch_state import BatchRow, BatchState, OpenBatch, batch_row, load_state
from .budget import BudgetSpent
from .claude import ClaudeJudge, Failure, NobodyAnswered, StopRun, calling, unsendable
from .claude_prompt import read_message, request_bytes, request_parameters
from .journal import Journal
from .scoring import JudgeReport, missing_items, report_on
from .verdicts import Item, Opinion, VerdictKey, make_verdict, unjudged

MAX_ROWS = 10_000
MAX_BYTES = 100 * 2**20
"""Per batch; the service takes 100,000 rows and 256 MB."""

_TRIES = 3
_Result = TypeVar("_Result")


def score_in_batches(
    items: Iterable[Item],
    judge: ClaudeJudge,
    journal: Journal,
    *,
    limit: int | None = None,
    retry: Collection[str] = (),
    poll_seconds: float = 30.0,
    progress: Callable[[int, int], None] = lambda done, total: None,
    batch_done: Callable[[], None] = lambda: None,
) -> JudgeReport:
    """Finish open batches of this journal, then send what is missing; returns when all results are journaled.

    `batch_done` is called when a batch's results are journaled.

    Interrupt it at any time: the next call goes on with the same batches.
    """
    wanted = list(items)
    state = load_state(journal.path, judge.judge_model, judge.rubric_sha256)
    run = _Run(wanted, judge, journal, state, poll_seconds, progress, batch_done)
    asyncio.run(run.all(limit, retry))
    report = report_on(wanted, judge, journal, run.judged)
    report.stopped = run.stopped
    report.unanswered = [(row.question_id, row.answer_sha256[:12], reason) for row, reason in run.unanswered]
    return report


@dataclass
class _Run:
    wanted: list[Item]
    judge: ClaudeJudge
    journal: Journal
    state: BatchState
    poll_seconds: float
    progress: Callable[[int, int], None]
    batch_done: Callable[[], None]
    judged: int = 0
    stopped: str = ""
    unanswered: list[tuple[BatchRow, str]] = field(default_factory=list)
    again: list[tuple[Item, int, int]] = field(default_factory=list)
    """(item, attempt, max_tokens) to be sent in the next batch."""
    tries: dict[tuple[str, str], int] = field(default_factory=dict)

    async def all(self, limit: int | None, retry: Collection[str]) -> None:
        """Open batches first, then new ones until nothing is left to send."""
        self._items = {(item.question_sha256, item.answer_sha256): item for item in self.wanted}
        try:
            for batch in list(self.state.open):
                await self._finish(batch)
            again = {(item.question_sha256, item.answer_sha256) for item, _, _ in self.again}
            work = [
                item
                for item in missing_items(self.wanted, self.judge, self.journal, retry)
                if (item.question_sha256, item.answer_sha256) not in again
            ][:limit]
            for item in work:
                opinion = unjudged(item.answer) or unsendable(item.question, item.answer)
                if opinion is not None:
                    self._journal(batch_row(item, 1, 0), opinion)
                else:
                    self.again.append((item, 1, self.judge.max_tokens))
            while self.again:
                batch = await self._create()
                await self._finish(batch)
        except (StopRun, NobodyAnswered, BudgetSpent) as error:
            self.stopped = str(error)
        finally:
            await self.judge.aclose()

    async def _create(self) -> OpenBatch:
        """Send as much of `again` as a batch and the budget hold."""
        requests: list[dict[str, Any]] = []
        rows: dict[str, BatchRow] = {}
        room = 0.0
        token = secrets.token_hex(4)
        for item, attempt, max_tokens, parameters, size in self._parameters():
            most = self.judge.price.most(size, max_tokens, batch=True)
            if not self.judge.budget.has_room(room + most):
                break
            room += most
            custom_id = f"{token}-{len(rows):06d}"
            requests.append({"custom_id": custom_id, "params": parameters})
            rows[custom_id] = batch_row(item, attempt, max_tokens)
        if not rows:
            raise BudgetSpent(f"the budget of ${self.judge.budget.most or 0:.2f} leaves no room for another request")
        client = self.judge.client()
        newest = await self._call(lambda: client.messages.batches.list(limit=1))
        batch = OpenBatch(rows, newest.data[0].id if newest.data else None)
        self.state.open.append(batch)
        self.state.save()
        del self.again[: len(rows)]
        await self._send(batch, requests)
        return batch

    def _parameters(self) -> Iterator[tuple[Item, int, int, dict[str, Any], int]]:
        total = 0
        for item, attempt, max_tokens in self.again[:MAX_ROWS]:
            parameters = request_parameters(self.judge.judge_model, item.question, item.answer, max_tokens)
            size = request_bytes(item.question, item.answer)
            total += size
            if total > MAX_BYTES:
                return
            yield item, attempt, max_tokens, parameters, size

    async def _send(self, batch: OpenBatch, requests: list[dict[str, Any]]) -> None:
        """Create the batch exactly once, also if the reply gets lost on the way."""
        client = self.judge.client()
        for failures in range(self.judge.backoff.attempts):
            try:
                made = await calling(lambda: client.messages.batches.create(requests=requests))
                batch.id = made.id
            except Failure as failure:
                if not (failure.again or failure.busy):
                    self._forget(batch)
                    raise StopRun(f"the batch was refused: {failure}") from None
                await self.judge.backoff.sleep(failure.retry_after or self.judge.backoff.delay(failures))
                # the service may have made it all the same
                batch.id = await self._look_up(batch)
            if batch.id is not None:
                self.state.save()
                return
        self._forget(batch)
        raise NobodyAnswered("the batch could not be created")

    async def _look_up(self, batch: OpenBatch) -> str | None:
        """A batch newer than `newest_before` with as many rows as ours, if there is one."""
        known = {other.id for other in self.state.open} | {*batch.foreign}
        page = await self._call(lambda: self.judge.client().messages.batches.list(limit=100))
        for found in page.data:
            if found.id == batch.newest_before:
                return None
            counts = found.request_counts
            total = counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired
            if total == len(batch.rows) and found.id not in known:
                return str(found.id)
        return None

    async def _finish(self, batch: OpenBatch) -> None:
        """Wait for the batch and journal its results. Whatever it did not answer is sent again."""
        if batch.id is None:
            batch.id = await self._look_up(batch)
            self.state.save()
        while batch.id is not None:
            name = batch.id
            while (await self._call(partial(self._retrieve, name))).processing_status != "ended":
                await self.judge.backoff.sleep(self.poll_seconds)
            results = await self._call(partial(self._results, name))
            if results.keys() <= batch.rows.keys():
                self._take(batch, results)
                break
            # somebody else's batch, made at the same moment with as many rows as ours
            batch.foreign.append(name)
            batch.id = await self._look_up(batch)
            self.state.save()
        else:
            # it was never created
            for row in batch.rows.values():
                self._send_again(row, row.attempt, row.max_tokens)
        self._forget(batch)
        self.batch_done()

    async def _retrieve(self, name: str) -> Any:
        return await self.judge.client().messages.batches.retrieve(name)

    async def _results(self, name: str) -> dict[str, list[Any]]:
        """All results by custom id; read to the end before any is used, so that a cut stream is read again."""
        found: dict[str, list[Any]] = {}
        async for entry in await self.judge.client().messages.batches.results(name):
            found.setdefault(entry.custom_id, []).append(entry.result)
        return found

    def _take(self, batch: OpenBatch, results: dict[str, list[Any]]) -> None:
        for custom_id, row in batch.rows.items():
            given = results.get(custom_id, [])
            messages = [result.message.to_dict() for result in given if result.type == "succeeded"]
            for message in messages:
                self.judge.budget.spent += self.judge.price.cost(message.get("usage") or {}, batch=True)
            if len(given) > 1 and (len(messages) < len(given) or len({read_message(m).raw for m in messages}) > 1):
                # nobody knows which of them is meant
                self._journal(row, Opinion("invalid", reason=f"the batch holds {len(given)} different results of it"))
                continue
            result = given[0] if given else None
            status = getattr(result, "type", "missing")
            if messages:
                self._opinion(row, read_message(messages[0]))
            elif status == "canceled":
                self.unanswered.append((row, "its batch was canceled"))
            elif status == "errored" and _is_refused(result):
                self._journal(row, Opinion("invalid", reason="the request was refused: invalid_request_error"))
            else:
                self._send_again(row, row.attempt, row.max_tokens, why=status)

    def _opinion(self, row: BatchRow, opinion: Opinion) -> None:
        if opinion.status in ("incomplete", "invalid") and row.attempt == 1:
            more = 4 if opinion.status == "incomplete" else 1
            if self._send_again(row, 2, row.max_tokens * more):
                return
        self._journal(row, opinion)

    def _send_again(self, row: BatchRow, attempt: int, max_tokens: int, why: str = "") -> bool:
        """Queue the row for the next batch; False if its text is not at hand or it failed too often."""
        key = (row.question_sha256, row.answer_sha256)
        item = self._items.get(key)
        if item is not None and (opinion := unjudged(item.answer)) is not None:
            # from a batch that was sent before its text counted as no answer
            self._journal(row, opinion)
            return True
        self.tries[key] = self.tries.get(key, 0) + bool(why)
        if item is None or self.tries[key] >= _TRIES:
            if why:
                self.unanswered.append((row, f"{why} in the batch"))
            return False
        self.again.append((item, attempt, max_tokens))
        return True

    def _journal(self, row: BatchRow, opinion: Opinion) -> None:
        judge = self.judge
        key = VerdictKey(row.answer_sha256, row.question_sha256, judge.rubric_sha256, judge.judge_model)
        if self.journal.statuses.get(key) == "scored":
            # a run that died between journaling and forgetting the batch reads the same results again
            return
        self.journal.append(make_verdict(row, opinion, judge.judge_model, judge.rubric_sha256))
        self.judged += 1
        self.progress(self.judged, len(self.wanted))

    def _forget(self, batch: OpenBatch) -> None:
        self.state.open.remove(batch)
        self.state.save()

    async def _call(self, request: Callable[[], Awaitable[_Result]]) -> _Result:
        """A request that may be repeated, tried as often as an answer's is."""
        backoff, last = self.judge.backoff, ""
        for failures in range(backoff.attempts):
            try:
                return await calling(request)
            except Failure as failure:
                # a batch that was just made may not be found for a moment
                too_long = (failure.retry_after or 0) > backoff.longest
                if too_long or not (failure.again or failure.busy or failure.status == 404):
                    raise StopRun(str(failure)) from None
                last = str(failure)
                await backoff.sleep(failure.retry_after or backoff.delay(failures))
        raise NobodyAnswered(f"{last}, {backoff.attempts} times; the batch goes on, run the same command again")


def _is_refused(result: Any) -> bool:
    return getattr(getattr(result.error, "error", None), "type", "") == "invalid_request_error"
