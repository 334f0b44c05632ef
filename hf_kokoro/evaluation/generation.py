"""The response-generation table: BLEU-1 to 4, ROUGE-1/2/L, Distinct-1/2, with intervals and a paired test.

Intervals resample whole groups (dialogues): turns of one dialogue are not independent. Distinct-n has none: a
sample drawn twice brings no new n-gram, so resampling would always say less than was measured.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from itertools import chain, islice
from multiprocessing import get_context
from typing import Any

import numpy as np

from ..core.resampling import DRAWS, SEED, bootstrap_sums, interval, paired_difference
from ..core.stats import Estimate, rounded
from .distinct import DISTINCT_ORDERS, DistinctCounter, Keys, ngram_keys
from .overlap import (
    COLUMNS,
    EMPTY,
    PREDICTED,
    REFERENCE,
    SAMPLES,
    TOTALS,
    WITH_BIGRAM,
    Counts,
    measure_texts,
    overlap_metrics,
)
from .predictions import Prediction
from .tokenizers import text_tokenizer

_CHUNK = 1000
_Measured = tuple[Counts, list[Keys]]


@dataclass(frozen=True)
class Difference:
    """First system minus second: paired bootstrap interval, and p of approximate randomisation."""

    value: float
    low: float
    high: float
    p: float


@dataclass(frozen=True)
class GenerationReport:
    """The table's row of one system, and everything that its numbers depend on."""

    samples: int
    groups: int
    empty_predictions: int
    without_bigram: int
    """Samples of one word against one word: not in the mean of ROUGE-2."""
    tokens_per_prediction: float
    tokens_per_reference: float
    metrics: dict[str, Estimate]
    tokenizer: dict[str, str]
    libraries: dict[str, str]
    draws: int
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return asdict(self)


@dataclass
class SystemCounts:
    """Everything kept of one system: summed counts by group, and its different n-grams."""

    tokenizer: dict[str, str]
    sums: dict[str, Counts] = field(default_factory=dict)
    distinct: DistinctCounter = field(default_factory=DistinctCounter)

    @property
    def table(self) -> Counts:
        """(groups, COLUMNS), groups in the order in which they appeared."""
        return np.stack(list(self.sums.values())) if self.sums else np.zeros((0, COLUMNS), dtype=np.int64)

    def add(self, group: str, counts: Counts) -> None:
        """Add one sample's counts."""
        if group in self.sums:
            self.sums[group] += counts
        else:
            self.sums[group] = counts.copy()


def count_system(
    predictions: Iterable[Prediction],
    tokenizer: str = "mecab",
    normalize: str = "none",
    *,
    workers: int = 1,
    on_sample: Callable[[Prediction, Counts], None] | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> SystemCounts:
    """Tokenise and count every sample, once, as a stream; `workers` processes share the work.

    `on_sample` gets each sample with its counts, in order. The result does not depend on `workers`.
    """
    system = SystemCounts(text_tokenizer(tokenizer, normalize).identity)
    done = 0
    for chunk, (counts, keys) in _measured(predictions, tokenizer, normalize, workers):
        for sample, row in zip(chunk, counts, strict=True):
            system.add(sample.group, row)
            if on_sample is not None:
                on_sample(sample, row)
        for order, found in zip(DISTINCT_ORDERS, keys, strict=True):
            system.distinct.add(order, found)
        done += len(chunk)
        progress(done)
    return system


def generation_report(system: SystemCounts, draws: int = DRAWS, seed: int = SEED) -> GenerationReport:
    """The figures of a counted system. `draws=0` leaves the intervals out, and so does a single group."""
    table = system.table
    sums = table.sum(axis=0)
    resampled = [overlap_metrics(row) for row in bootstrap_sums(table, draws, seed)] if len(table) > 1 else []
    metrics = {
        name: _figure(value, [draw[name] for draw in resampled]) for name, value in overlap_metrics(sums).items()
    }
    for order in DISTINCT_ORDERS:
        total = int(sums[TOTALS][order - 1])
        metrics[f"distinct{order}"] = _figure(system.distinct.different(order) / total if total else 0.0, [])
    samples = int(sums[SAMPLES])
    return GenerationReport(
        samples=samples,
        groups=len(table),
        empty_predictions=int(sums[EMPTY]),
        without_bigram=samples - int(sums[WITH_BIGRAM]),
        tokens_per_prediction=rounded(int(sums[PREDICTED]) / samples),
        tokens_per_reference=rounded(int(sums[REFERENCE]) / samples),
        metrics=metrics,
        tokenizer=system.tokenizer,
        libraries={name: version(name) for name in ("sacrebleu", "rouge-score")},
        draws=draws,
        seed=seed,
    )


def compare_generation(
    first: SystemCounts, second: SystemCounts, draws: int = DRAWS, seed: int = SEED
) -> dict[str, Difference]:
    """BLEU and ROUGE of two systems on the same references (see `predictions.in_step`), group by group."""
    order = list(first.sums)
    other = np.stack([second.sums[group] for group in order])
    found = paired_difference(first.table, other, overlap_metrics, draws, seed)
    return {name: Difference(*map(rounded, values)) for name, values in found.items()}


def sample_metrics(counts: Counts) -> dict[str, float]:
    """BLEU-1 to 4 and ROUGE of one sample, for reading, not for averaging."""
    return {name: rounded(value) for name, value in overlap_metrics(counts).items()}


def _figure(value: float, resampled: list[float]) -> Estimate:
    low, high = interval(resampled) if resampled else (None, None)
    return Estimate(rounded(value), rounded(low), rounded(high))


def _measured(
    predictions: Iterable[Prediction], tokenizer: str, normalize: str, workers: int
) -> Iterator[tuple[list[Prediction], _Measured]]:
    """Each chunk with its counts, in order; at most two chunks a worker are in memory."""
    chunks = _chunks(predictions)
    start = list(islice(chunks, 3))
    if workers < 2 or len(start) < 3:
        # starting processes takes longer than so few samples
        for chunk in chain(start, chunks):
            yield chunk, _measure(tokenizer, normalize, [(p.prediction, p.reference) for p in chunk])
        return
    running: deque[tuple[list[Prediction], Future[_Measured]]] = deque()
    # not forked: the caller may have threads (torch, pyarrow), which a fork leaves half alive
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for chunk in chain(start, chunks):
            texts = [(p.prediction, p.reference) for p in chunk]
            running.append((chunk, pool.submit(_measure, tokenizer, normalize, texts)))
            if len(running) > 2 * workers:
                oldest, future = running.popleft()
                yield oldest, future.result()
        while running:
            oldest, future = running.popleft()
            yield oldest, future.result()


def _measure(tokenizer: str, normalize: str, texts: list[tuple[str, str]]) -> _Measured:
    counts, tokens = measure_texts(text_tokenizer(tokenizer, normalize), texts)
    return counts, [ngram_keys(tokens, order) for order in DISTINCT_ORDERS]


def _chunks(predictions: Iterable[Prediction]) -> Iterator[list[Prediction]]:
    rows = iter(predictions)
    while chunk := list(islice(rows, _CHUNK)):
        yield chunk
