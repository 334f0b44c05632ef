"""Ways to choose pairs among one question's scored answers.

Every strategy yields pairs whose chosen answer ranks highest and whose rejected answer has the lowest total
among the answers considered for that pair, which is what the row's invariants ask for. Equal totals never
make a pair. Choices that need chance are ranked by digests, so they are the same on every machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, count
from math import comb

from ...errors import UsageError
from .candidates import Candidate, CandidateSet, Pair


@dataclass(frozen=True)
class Options:
    """Settings of all strategies. `seed` matters to resample and to the cap, the rest as named."""

    seed: int = 42
    top_k: int = 2
    subsets: int = 3
    subset_size: int = 3

    def __post_init__(self) -> None:
        for name, least in (("top_k", 1), ("subsets", 1), ("subset_size", 2)):
            value = getattr(self, name)
            if value < least:
                raise UsageError(f"--{name.replace('_', '-')} {value}: allowed: {least} or more")


def best_worst(source: CandidateSet, scored: Sequence[Candidate], options: Options) -> Iterator[Pair]:
    """One pair: the highest rank against the lowest (total, then empathy, then the source's order)."""
    pair = _extremes(source, scored)
    if pair is not None:
        yield pair


def all_pairs(source: CandidateSet, scored: Sequence[Candidate], options: Options) -> Iterator[Pair]:
    """Every two answers with different totals and texts; a row holds just the two."""
    for first, second in combinations(scored, 2):
        pair = _extremes(source, (first, second))
        if pair is not None:
            yield pair


def top_bottom(source: CandidateSet, scored: Sequence[Candidate], options: Options) -> Iterator[Pair]:
    """Each of the top k against each of the bottom k (no answer on both sides); a row holds just the two."""
    order = sorted(range(len(scored)), key=lambda i: (-scored[i].rank[0], -scored[i].rank[1], i))
    k = min(options.top_k, len(scored) // 2)
    for high in order[:k]:
        for low in order[len(order) - k :]:
            two = sorted((high, low))
            pair = _extremes(source, [scored[i] for i in two])
            if pair is not None:
                yield pair


def resample(source: CandidateSet, scored: Sequence[Candidate], options: Options) -> Iterator[Pair]:
    """Best-worst in `subsets` random subsets of `subset_size` answers; a pair found before is not repeated.

    With no more answers than the size asks for there is one subset, all of them.
    """
    size = min(options.subset_size, len(scored))
    found: set[tuple[str, str, str, str]] = set()
    for chosen in _subsets(source.key, scored, size, options):
        pair = _extremes(source, [scored[i] for i in chosen])
        if pair is None:
            continue
        identity = (pair.chosen.therapist, pair.chosen.text, pair.rejected.therapist, pair.rejected.text)
        if identity not in found:
            found.add(identity)
            yield pair


Strategy = Callable[[CandidateSet, Sequence[Candidate], Options], Iterator[Pair]]

STRATEGIES: dict[str, Strategy] = {
    "best-worst": best_worst,
    "all-pairs": all_pairs,
    "resample": resample,
    "top-bottom": top_bottom,
}


def order_digest(seed: int, *parts: str) -> str:
    """A digest to sort by: pseudo-random in the seed, the same on every machine."""
    return hashlib.sha256("\0".join([str(seed), *parts]).encode("utf-8", "surrogatepass")).hexdigest()


def _extremes(source: CandidateSet, considered: Sequence[Candidate]) -> Pair | None:
    """Highest against lowest, the first among equals. None if totals or texts are equal."""
    chosen = max(considered, key=lambda candidate: candidate.rank)
    rejected = min(considered, key=lambda candidate: candidate.rank)
    if chosen.total == rejected.total or chosen.text == rejected.text:
        return None
    return Pair(source, chosen, rejected, tuple(considered))


def _subsets(key: str, scored: Sequence[Candidate], size: int, options: Options) -> Iterator[tuple[int, ...]]:
    """Up to `subsets` different index tuples: draw n takes the answers whose digests for n come first."""
    wanted = min(options.subsets, comb(len(scored), size))
    # an answer that stands twice is told apart by its number, or some of the subsets could never be drawn
    names = [(c.therapist, c.text) for c in scored]
    parts = [[*name, str(again)] if (again := names[:i].count(name)) else [*name] for i, name in enumerate(names)]
    seen: set[tuple[int, ...]] = set()
    for draw in count():
        if len(seen) == wanted:
            return
        digests = [order_digest(options.seed, key, str(draw), *part) for part in parts]
        order = sorted(range(len(scored)), key=digests.__getitem__)
        subset = tuple(sorted(order[:size]))
        if subset not in seen:
            seen.add(subset)
            yield subset
