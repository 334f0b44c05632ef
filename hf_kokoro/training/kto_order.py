"""The order of unpaired rows for KTO.

TRL's KTO reads rows in sequence and estimates its KL term by rotating completions by one inside every batch.
So the order decides whether a batch holds both classes and whether a "mismatched" completion really belongs
to another prompt. Everything here is pure and seeded.
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice


@dataclass(frozen=True)
class KtoOrder:
    """Row indices in training order, and what could not be had: counts of rows or batches."""

    indices: list[int]
    trimmed: int
    single_class_batches: int
    same_prompt_neighbours: int
    batch_size_for_both: int
    """The smallest batch size at which every batch can hold both classes."""


def order_rows(
    labels: Sequence[bool], prompts: Sequence[Hashable], batch_size: int, seed: int, *, trim: bool = True
) -> KtoOrder:
    """Spread the rarer class evenly, keep rows of one prompt apart, and fill every batch.

    `trim` drops the last `len % batch_size` rows, which would make a short batch whose KL pair may be the
    row itself. Needs both classes (the caller refuses anything else).
    """
    rng = random.Random(seed)
    by_class = {label: [i for i, other in enumerate(labels) if bool(other) == label] for label in (True, False)}
    for rows in by_class.values():
        rng.shuffle(rows)
    rare = min(by_class, key=lambda label: len(by_class[label]))
    total, rare_count = len(labels), len(by_class[rare])
    rare_slots = {math.floor((i + 0.5) * total / rare_count) for i in range(rare_count)}
    slots = [rare if i in rare_slots else not rare for i in range(total)]
    indices = _fill(slots, {label: deque(rows) for label, rows in by_class.items()}, prompts, batch_size)
    kept = total - total % batch_size if trim else total
    indices = _separate(indices[:kept], slots, prompts, batch_size)
    batches = [indices[i : i + batch_size] for i in range(0, kept, batch_size)]
    return KtoOrder(
        indices=indices,
        trimmed=total - kept,
        single_class_batches=sum(len({bool(labels[i]) for i in batch}) < 2 for batch in batches),
        same_prompt_neighbours=sum(_clash(indices, at, prompts, batch_size) for at in range(kept)),
        batch_size_for_both=math.ceil(total / rare_count),
    )


def class_weights(desirable: int, undesirable: int) -> tuple[float, float]:
    """(desirable_weight, undesirable_weight) with the ratio d*D : u*U at 1.15, inside KTO's range [1, 4/3].

    Ethayarajh et al. 2024, eq. 8. Equal counts need no correction and keep (1, 1).
    """
    if desirable == undesirable:
        return 1.0, 1.0
    return 1.0, desirable / undesirable / 1.15


def _fill(
    slots: Sequence[bool], queues: dict[bool, deque[int]], prompts: Sequence[Hashable], batch_size: int
) -> list[int]:
    """Take for every slot the first queued row of its class whose prompt differs from the row before."""
    order: list[int] = []
    for at, label in enumerate(slots):
        queue = queues[label]
        before = prompts[order[-1]] if at % batch_size else None
        for position, row in enumerate(queue):
            if at % batch_size == 0 or prompts[row] != before:
                del queue[position]
                order.append(row)
                break
        else:
            order.append(queue.popleft())
    return order


def _clash(order: Sequence[int], at: int, prompts: Sequence[Hashable], batch_size: int) -> bool:
    """Does the row at `at` share its prompt with the row that gives it its KL completion?"""
    start = at - at % batch_size
    end = min(start + batch_size, len(order))
    before = at - 1 if at > start else end - 1
    return before != at and prompts[order[at]] == prompts[order[before]]


def _separate(order: list[int], slots: Sequence[bool], prompts: Sequence[Hashable], batch_size: int) -> list[int]:
    """Swap rows of one class until no neighbours share a prompt, as far as that is possible."""

    def clashes(*positions: int) -> int:
        near = {p for at in positions for p in _ring(at, len(order), batch_size)}
        return sum(_clash(order, at, prompts, batch_size) for at in near)

    for at in range(len(order)):
        if not _clash(order, at, prompts, batch_size):
            continue
        # rows near by first; where a prompt fills the data there is nothing to find, however far one looks
        for other in islice(_near(at, len(order)), 512):
            if slots[other] != slots[at] or other == at:
                continue
            before = clashes(at, other)
            order[at], order[other] = order[other], order[at]
            if clashes(at, other) < before:
                break
            order[at], order[other] = order[other], order[at]
    return order


def _near(at: int, total: int) -> Iterator[int]:
    """The other positions, nearest first."""
    for distance in range(1, total):
        yield from (place for place in (at + distance, at - distance) if 0 <= place < total)


def _ring(at: int, total: int, batch_size: int) -> tuple[int, int]:
    """The position itself and the one that follows it in its batch's rotation."""
    start = at - at % batch_size
    end = min(start + batch_size, total)
    return at, at + 1 if at + 1 < end else start
