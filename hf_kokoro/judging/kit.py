"""Who rates what: a blind sample of whole questions, drawn over topics, with stated overlap and hidden repeats."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..errors import UsageError
from .verdicts import Item

NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"
"""What a rater may be called: it becomes a file name and part of `judge_model`."""


@dataclass(frozen=True)
class AskedQuestion:
    """A whole question: its answers are rated by the same people. `topic` is the stratum that it is drawn from."""

    topic: str
    items: tuple[Item, ...]

    @property
    def digest(self) -> str:
        return self.items[0].question_sha256


@dataclass(frozen=True)
class KitItem:
    """One answer in one rater's list. `id` says nothing of what it stands for; `repeat` is 1 for a repeat."""

    id: str
    answered: Item
    repeat: int = 0


def draw_questions(questions: Iterable[AskedQuestion], count: int, seed: int) -> list[AskedQuestion]:
    """`count` questions, each topic with its share of them (largest remainders), by seeded digest.

    Neither the source's order nor its format changes the draw. Raises UsageError for more than there are.
    """
    topics: dict[str, list[AskedQuestion]] = defaultdict(list)
    seen: set[str] = set()
    for question in questions:
        if question.digest not in seen:
            seen.add(question.digest)
            topics[question.topic].append(question)
    if not 1 <= count <= len(seen):
        raise UsageError(f"--questions {count}: allowed: from 1 to {len(seen)}, as many as the source has")
    shares = {topic: count * len(found) / len(seen) for topic, found in topics.items()}
    quotas = {topic: int(share) for topic, share in shares.items()}
    by_rest = sorted(topics, key=lambda topic: (quotas[topic] - shares[topic], topic))
    for topic in by_rest[: count - sum(quotas.values())]:
        quotas[topic] += 1
    drawn = [q for topic in sorted(topics) for q in _by_chance(topics[topic], "draw", seed)[: quotas[topic]]]
    return _by_chance(drawn, "order", seed)


def assign(
    questions: Sequence[AskedQuestion], raters: Sequence[str], *, overlap: float, repeats: float, seed: int
) -> Mapping[str, list[KitItem]]:
    """Rater to list: the first `overlap` share of the questions goes to all, the others to one each in turn.

    Each rater has an order of questions, and of answers within them, of their own. A `repeats` share of the list comes
    again behind it, as items of other ids. Raises UsageError for shares outside 0 to 1.
    """
    for name, share in (("--overlap", overlap), ("--repeats", repeats)):
        if not 0 <= share <= 1:
            raise UsageError(f"{name} {share}: allowed: a share from 0 to 1")
    shared = round(overlap * len(questions))
    lists = {}
    for number, rater in enumerate(raters):
        mine = [*questions[:shared], *questions[shared + number :: len(raters)]]
        order = [item for question in _by_chance(mine, rater, seed) for item in _shuffled(question.items, rater, seed)]
        again = _shuffled(order, f"{rater} again", seed)[: round(repeats * len(order))]
        lists[rater] = [
            *(KitItem(_id(item, rater, 0, seed), item) for item in order),
            *(KitItem(_id(item, rater, 1, seed), item, 1) for item in again),
        ]
    return lists


def _by_chance(questions: Iterable[AskedQuestion], what: str, seed: int) -> list[AskedQuestion]:
    return sorted(questions, key=lambda question: _digest(seed, what, question.digest))


def _shuffled(items: Iterable[Item], what: str, seed: int) -> list[Item]:
    return sorted(items, key=lambda item: _digest(seed, what, item.question_sha256, item.answer_sha256))


def _id(item: Item, rater: str, repeat: int, seed: int) -> str:
    return _digest(seed, "id", rater, repeat, item.question_sha256, item.answer_sha256)[:12]


def _digest(*parts: object) -> str:
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()
