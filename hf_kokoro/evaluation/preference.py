"""How often a model prefers the chosen answer of a held-out pair.

Three readings of "prefers", all from the same summed log-probabilities of the completion tokens:
the implicit DPO reward (policy minus reference log-prob; Rafailov et al. 2023, eq. 5 with beta = 1, which
does not change the order), the plain log-prob, and the log-prob per token. Beside them stands the trivial
baseline "the longer answer wins". An exact tie counts as half, the expectation of a coin, and is reported:
before training policy and reference are equal, every reward is a tie and the accuracy is 0.5 by definition.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..core.stats import wilson_interval
from ..errors import UsageError
from ..tokens.loading import context_length, load_tokenizer
from ..tokens.pairs import pair_ids
from .models import load_causal_lm
from .preference_scorers import Scorer
from .preference_strata import strata

Sides = tuple[list[float], list[float]]
"""One value for each chosen and for each rejected answer."""


@dataclass(frozen=True)
class Accuracy:
    """Share of `pairs` with chosen above rejected, ties as half; `low`/`high` are the 95 % Wilson interval."""

    value: float
    ties: int
    low: float
    high: float
    pairs: int


@dataclass(frozen=True)
class PairLogProbs:
    """Summed completion log-probs (nats) and token counts, one entry a pair, in the order of the pairs."""

    chosen: list[float]
    rejected: list[float]
    chosen_tokens: list[int]
    rejected_tokens: list[int]


@dataclass(frozen=True)
class PreferenceReport:
    """Accuracies over `pairs`; `skipped` pairs were longer than `max_length`. `reward` needs a reference."""

    pairs: int
    skipped: int
    reward: Accuracy | None
    reward_margin: float | None
    log_prob: Accuracy
    log_prob_per_token: Accuracy
    longer_wins: Accuracy
    others: dict[str, Accuracy] = field(default_factory=dict)
    """By name, of the scorers given beside the policy (`preference_scorers`)."""
    strata: dict[str, dict[str, dict[str, Accuracy]]] = field(default_factory=dict)
    """Kind of stratum, its name, then every accuracy above within it (`preference_strata`)."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def evaluate_preference(
    pairs: Iterable[Mapping[str, Any]],
    model: str | Path,
    reference: str | Path | None = None,
    *,
    batch_size: int = 8,
    max_length: int | None = None,
    scorers: Mapping[str, Scorer] | None = None,
    seen_therapists: Collection[str] | None = None,
) -> PreferenceReport:
    """Load `model` (and `reference`) from a folder or Hub id and measure on `pairs`.

    A folder that holds a LoRA adapter is compared with its own base model unless `reference` names another.
    """
    policy = load_causal_lm(model)
    tokenizer = load_tokenizer(model)
    other = None if reference is None else load_causal_lm(reference)
    return preference_accuracy(
        pairs,
        policy,
        tokenizer,
        other,
        batch_size=batch_size,
        max_length=max_length,
        scorers=scorers,
        seen_therapists=seen_therapists,
    )


def preference_accuracy(
    pairs: Iterable[Mapping[str, Any]],
    policy: Any,
    tokenizer: Any,
    reference: Any = None,
    *,
    batch_size: int = 8,
    max_length: int | None = None,
    scorers: Mapping[str, Scorer] | None = None,
    seen_therapists: Collection[str] | None = None,
) -> PreferenceReport:
    """Measure loaded models on pairs with `prompt`, `chosen`, `rejected` (messages or strings).

    Without `reference`, a PEFT policy is compared with itself, adapter off. Results do not depend on
    `batch_size` beyond float rounding. Raises UsageError if no pair is left to measure.
    """
    rows = list(pairs)
    limit = max_length or context_length(policy.config)
    tokens = [_pair_tokens(tokenizer, row) for row in rows]
    fits = [limit is None or max(len(p) + len(c), len(p) + len(r)) <= limit for p, c, r in tokens]
    kept = [pair for pair, ok in zip(tokens, fits, strict=True) if ok]
    measured = [row for row, ok in zip(rows, fits, strict=True) if ok]
    if not kept:
        raise UsageError(f"pairs: got {len(rows)}, none within {limit} tokens; allowed: at least one pair that fits")
    scored = score_pairs(policy, kept, tokenizer.pad_token_id or 0, batch_size)
    base = _reference_log_probs(policy, reference, kept, tokenizer.pad_token_id or 0, batch_size)
    readings: dict[str, Sides] = {
        "log_prob": (scored.chosen, scored.rejected),
        "log_prob_per_token": (
            _per_token(scored.chosen, scored.chosen_tokens),
            _per_token(scored.rejected, scored.rejected_tokens),
        ),
    }
    others = scorer_readings(measured, scorers or {})
    readings["longer_wins"] = others.pop("longer_wins")
    margin = None
    if base is not None:
        chosen, rejected = _difference(scored.chosen, base.chosen), _difference(scored.rejected, base.rejected)
        readings = {"reward": (chosen, rejected), **readings}
        margin = math.fsum(_difference(chosen, rejected)) / len(kept)
    return PreferenceReport(
        pairs=len(kept),
        skipped=len(rows) - len(kept),
        reward=accuracy(*readings["reward"]) if "reward" in readings else None,
        reward_margin=margin,
        log_prob=accuracy(*readings["log_prob"]),
        log_prob_per_token=accuracy(*readings["log_prob_per_token"]),
        longer_wins=accuracy(*readings["longer_wins"]),
        others={name: accuracy(*sides) for name, sides in others.items()},
        strata=stratum_accuracies(measured, {**readings, **others}, seen_therapists),
    )


def scorer_readings(pairs: Sequence[Mapping[str, Any]], scorers: Mapping[str, Scorer]) -> dict[str, Sides]:
    """What scorers say of each side of each pair, and its length in characters as `longer_wins`."""

    def length(pair: Mapping[str, Any], side: str) -> float:
        return float(_characters(pair[side]))

    return {
        name: ([score(pair, "chosen") for pair in pairs], [score(pair, "rejected") for pair in pairs])
        for name, score in {"longer_wins": length, **scorers}.items()
    }


def stratum_accuracies(
    pairs: Sequence[Mapping[str, Any]], readings: Mapping[str, Sides], seen_therapists: Collection[str] | None
) -> dict[str, dict[str, dict[str, Accuracy]]]:
    """Every reading's accuracy within every stratum."""
    return {
        kind: {
            name: {
                reading: accuracy([chosen[i] for i in places], [rejected[i] for i in places])
                for reading, (chosen, rejected) in readings.items()
            }
            for name, places in groups.items()
        }
        for kind, groups in strata(pairs, seen_therapists).items()
    }


def accuracy(chosen: Sequence[float], rejected: Sequence[float]) -> Accuracy:
    """Share of positions with `chosen` above `rejected`, exact ties as half; 95 % Wilson interval."""
    wins = sum(c > r for c, r in zip(chosen, rejected, strict=True))
    ties = sum(c == r for c, r in zip(chosen, rejected, strict=True))
    total = len(chosen)
    share = (wins + ties / 2) / total
    low, high = wilson_interval(wins + ties / 2, total)
    return Accuracy(share, ties, low, high, total)


def score_pairs(
    model: Any, pairs: Sequence[tuple[list[int], list[int], list[int]]], pad_token_id: int, batch_size: int
) -> PairLogProbs:
    """Summed log-probs of the completions of (prompt, chosen, rejected) token lists; eval mode."""
    sequences = [(prompt, side) for prompt, chosen, rejected in pairs for side in (chosen, rejected)]
    # long sequences together: padding is work, and the order of the results does not depend on it
    by_length = sorted(range(len(sequences)), key=lambda i: -len(sequences[i][0]) - len(sequences[i][1]))
    sums = [0.0] * len(sequences)
    was_training = model.training
    model.eval()
    try:
        for start in range(0, len(by_length), batch_size):
            chunk = by_length[start : start + batch_size]
            for index, value in zip(
                chunk, _batch_log_probs(model, [sequences[i] for i in chunk], pad_token_id), strict=True
            ):
                sums[index] = value
    finally:
        model.train(was_training)
    return PairLogProbs(
        sums[::2],
        sums[1::2],
        [len(chosen) for _, chosen, _ in pairs],
        [len(rejected) for _, _, rejected in pairs],
    )


def _batch_log_probs(model: Any, sequences: Sequence[tuple[list[int], list[int]]], pad_token_id: int) -> list[float]:
    import torch

    width = max(len(prompt) + len(completion) for prompt, completion in sequences)
    ids = torch.full((len(sequences), width), pad_token_id, dtype=torch.long)
    attention = torch.zeros_like(ids)
    for row, (prompt, completion) in enumerate(sequences):
        length = len(prompt) + len(completion)
        ids[row, :length] = torch.tensor(prompt + completion)
        attention[row, :length] = 1
    device = next(model.parameters()).device
    with torch.no_grad():
        logits = model(input_ids=ids.to(device), attention_mask=attention.to(device), use_cache=False).logits
    sums = []
    for row, (prompt, completion) in enumerate(sequences):
        # the logits at t predict token t + 1
        span = logits[row, len(prompt) - 1 : len(prompt) + len(completion) - 1].float()
        wanted = torch.tensor(completion, device=device).unsqueeze(1)
        log_probs = torch.log_softmax(span, dim=-1).gather(1, wanted)
        sums.append(float(log_probs.double().sum()))
    return sums


def _reference_log_probs(
    policy: Any,
    reference: Any,
    pairs: Sequence[tuple[list[int], list[int], list[int]]],
    pad: int,
    batch_size: int,
) -> PairLogProbs | None:
    if reference is not None:
        return score_pairs(reference, pairs, pad, batch_size)
    if hasattr(policy, "disable_adapter"):
        with policy.disable_adapter():
            return score_pairs(policy, pairs, pad, batch_size)
    return None


def _pair_tokens(tokenizer: Any, row: Mapping[str, Any]) -> tuple[list[int], list[int], list[int]]:
    prompt, (chosen, rejected) = pair_ids(tokenizer, row["prompt"], [row["chosen"], row["rejected"]])
    return prompt, chosen, rejected


def _characters(text: Any) -> int:
    return len(text) if isinstance(text, str) else sum(len(turn["content"]) for turn in text)


def _difference(first: Sequence[float], second: Sequence[float]) -> list[float]:
    return [a - b for a, b in zip(first, second, strict=True)]


def _per_token(sums: Sequence[float], tokens: Sequence[int]) -> list[float]:
    return [total / max(count, 1) for total, count in zip(sums, tokens, strict=True)]
