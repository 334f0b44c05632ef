"""What judging would cost: tokens as the service counts them, on all answers or on an even sample of many."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import partial
from statistics import fmean, linear_regression
from typing import Any

from ..errors import UsageError
from ..miti.no_answers import no_answer
from .claude import ClaudeJudge, Failure, StopRun, calling
from .claude_prompt import request_parameters
from .journal import Journal
from .scoring import missing_items
from .verdicts import Item

COUNTED = 100
"""Answers whose tokens are counted; with more, every n-th one is, and the rest follow by their length."""

REPLY_TOKENS = 120
"""A reason of 40 words and five scores take about so much."""


@dataclass(frozen=True)
class Estimate:
    """Tokens and dollars for the answers that the journal lacks, without any saving by caching."""

    model: str
    answers: int
    counted: int
    input_tokens: int
    output_tokens: int
    output_tokens_at_most: int
    usd: float
    usd_at_most: float
    batch: bool

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return asdict(self)

    def rows(self) -> list[tuple[str, str]]:
        """The table's lines."""
        counted = "all" if self.counted == self.answers else f"by {self.counted} counted answers"
        return [
            ("answers to judge", f"{self.answers}"),
            (f"input tokens ({counted})", f"{self.input_tokens}"),
            ("output tokens, about", f"{self.output_tokens}"),
            ("output tokens, at most", f"{self.output_tokens_at_most}"),
            ("mode", "batch" if self.batch else "single requests"),
            ("price, about ($)", f"{self.usd:.2f}"),
            ("price, at most, all replies at full length ($)", f"{self.usd_at_most:.2f}"),
        ]


def estimate_cost(items: Iterable[Item], judge: ClaudeJudge, journal: Journal, batch: bool = False) -> Estimate:
    """Count tokens through the API (free of charge) and price them. Judges nothing.

    Raises UsageError if the model has no price, StopRun if the service can't be asked.
    """
    work = [item for item in missing_items(items, judge, journal) if no_answer(item.answer) is None]
    if not judge.priced:
        raise UsageError(f"no price of model {judge.judge_model!r}; give one with --prices FILE")
    sample = work[:: max(1, -(-len(work) // COUNTED))]
    tokens = asyncio.run(_count(sample, judge)) if sample else []
    return _priced(judge, len(work), len(sample), _total(work, sample, tokens), batch)


def _total(work: list[Item], sample: list[Item], tokens: list[int]) -> int:
    """The sample's own count if it is everything, else a straight line through tokens by length."""
    if len(sample) == len(work):
        return sum(tokens)
    lengths = [_length(item) for item in sample]
    slope, base = linear_regression(lengths, tokens) if len({*lengths}) > 1 else (0.0, fmean(tokens))
    return round(sum(base + slope * _length(item) for item in work))


def _priced(judge: ClaudeJudge, answers: int, counted: int, tokens: int, batch: bool) -> Estimate:
    about, most = answers * REPLY_TOKENS, answers * judge.max_tokens
    usd = [judge.price.cost({"input_tokens": tokens, "output_tokens": out}, batch) for out in (about, most)]
    return Estimate(judge.judge_model, answers, counted, tokens, about, most, usd[0], usd[1], batch)


def _length(item: Item) -> int:
    return len(item.question) + len(item.answer)


async def _count(items: list[Item], judge: ClaudeJudge) -> list[int]:
    gate = asyncio.Semaphore(judge.concurrency)

    async def one(item: Item) -> int:
        parameters = request_parameters(judge.judge_model, item.question, item.answer, judge.max_tokens)
        del parameters["max_tokens"]
        last = ""
        for failures in range(judge.backoff.attempts):
            async with gate:
                try:
                    count = await calling(partial(judge.client().messages.count_tokens, **parameters))
                    return int(count.input_tokens)
                except Failure as failure:
                    if not (failure.again or failure.busy):
                        raise StopRun(f"counting tokens: {failure}") from None
                    last = str(failure)
            await judge.backoff.sleep(judge.backoff.delay(failures))
        raise StopRun(f"counting tokens: {last}")

    try:
        return list(await asyncio.gather(*(one(item) for item in items)))
    finally:
        await judge.aclose()
