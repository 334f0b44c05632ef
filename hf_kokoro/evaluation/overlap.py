"""What every overlap metric is computed from: one row of integers a sample, so that sums are exact in any order.

BLEU's counts come from sacrebleu on our tokens, ROUGE's F1 from rouge-score on the same tokens (its own
tokenizer drops everything that is not ASCII).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import MissingExtraError
from .tokenizers import Tokenizer

Counts = npt.NDArray[np.int64]

ORDERS = 4
ROUGES = ("rouge1", "rouge2", "rougeL")
MATCHES, TOTALS = slice(0, ORDERS), slice(ORDERS, 2 * ORDERS)
PREDICTED, REFERENCE, ROUGE, SAMPLES, WITH_BIGRAM, EMPTY = 8, 9, slice(10, 13), 13, 14, 15
COLUMNS = 16
"""Columns: matching n-grams of order 1-4, n-grams of the prediction, its length, the reference's, three F1, 1,
1 if either side has two tokens, 1 if the prediction has none."""

ROUGE_SCALE = 10**9
"""F1 is kept in billionths: integer sums do not depend on their order, so neither does a report's last digit."""


def overlap_counts(samples: Sequence[tuple[list[str], list[str]]]) -> Counts:
    """(n, COLUMNS) for n (prediction tokens, reference tokens). Needs sacrebleu and rouge-score."""
    bleu, rouge = _scorers()
    counts = np.zeros((len(samples), COLUMNS), dtype=np.int64)
    for row, (predicted, reference) in zip(counts, samples, strict=True):
        said, wanted = " ".join(predicted), " ".join(reference)
        found = bleu.sentence_score(said, [wanted])
        row[MATCHES], row[TOTALS] = found.counts, found.totals
        row[PREDICTED], row[REFERENCE] = found.sys_len, found.ref_len
        scores = rouge.score(wanted, said)
        row[ROUGE] = [round(scores[name].fmeasure * ROUGE_SCALE) for name in ROUGES]
        row[SAMPLES], row[EMPTY] = 1, not predicted
        row[WITH_BIGRAM] = max(len(predicted), len(reference)) > 1
    return counts


def overlap_metrics(sums: Sequence[int] | npt.NDArray[Any]) -> dict[str, float]:
    """BLEU-1 to BLEU-4 (cumulative, corpus-level) and the mean ROUGE F1 of summed counts, from 0 to 1.

    Papineni et al. 2002; an order with no match is smoothed as in mteval-v13a (sacrebleu's default), an order
    that no sentence is long enough for is left out. Lin 2004 for ROUGE; ROUGE-2 is a mean over the samples where
    either side has a bigram, for between two single words it is nothing over nothing.
    """
    from sacrebleu.metrics.bleu import BLEU

    values = {}
    for order in range(1, ORDERS + 1):
        matches = [int(value) for value in sums[MATCHES][:order]]
        totals = [int(value) for value in sums[TOTALS][:order]]
        score = BLEU.compute_bleu(
            matches,
            totals,
            int(sums[PREDICTED]),
            int(sums[REFERENCE]),
            smooth_method="exp",
            effective_order=True,
            max_ngram_order=order,
        ).score
        values[f"bleu{order}"] = min(float(score) / 100, 1.0)
    for name, total in zip(ROUGES, sums[ROUGE], strict=True):
        samples = float(sums[WITH_BIGRAM if name == "rouge2" else SAMPLES])
        values[name] = float(total) / ROUGE_SCALE / samples if samples else 0.0
    return values


def measure_texts(tokenizer: Tokenizer, texts: Sequence[tuple[str, str]]) -> tuple[Counts, list[list[str]]]:
    """Counts of (prediction, reference) texts, and the predictions' tokens."""
    samples = [(tokenizer.tokenize(said), tokenizer.tokenize(wanted)) for said, wanted in texts]
    return overlap_counts(samples), [said for said, _ in samples]


class _Spaces:
    """rouge-score's tokenizer interface for tokens that are joined by spaces already."""

    def tokenize(self, text: str) -> list[str]:
        return text.split()


@cache
def _scorers() -> tuple[Any, Any]:
    try:
        from rouge_score.rouge_scorer import RougeScorer
        from sacrebleu.metrics.bleu import BLEU
    except ImportError as error:
        raise MissingExtraError(error.name or "sacrebleu", "eval", "BLEU and ROUGE") from None
    # effective_order changes only the score, which is not used here, and keeps the library from warning
    return BLEU(tokenize="none", force=True, effective_order=True), RougeScorer(list(ROUGES), tokenizer=_Spaces())
