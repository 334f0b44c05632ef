"""Scorers of single answers that preference accuracy is measured with beside a policy: a reward model, the rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..judging.rule import RuleJudge
from ..tokens.loading import load_tokenizer
from ..tokens.pairs import pair_ids
from .models import load_reward_model

Scorer = Callable[[Mapping[str, Any], str], float]
"""(pair, "chosen" or "rejected") to a score; the higher one is preferred."""


def rule_scorer() -> Scorer:
    """The rule judge's MITI-ST total: an offline baseline that reads cues and no meaning."""
    judge = RuleJudge()

    def score(pair: Mapping[str, Any], side: str) -> float:
        opinion = judge.score(plain_text(pair["prompt"]), plain_text(pair[side]))
        return float(sum((opinion.scores or {}).values()))

    return score


def reward_scorer(path: str | Path) -> Scorer:
    """A sequence-classification model with one output, as TRL's reward trainer saves it (or its LoRA adapter).

    Raises SourceError if it can't be loaded, UsageError if it has another number of outputs.
    """
    model, tokenizer = load_reward_model(path), load_tokenizer(path)
    import torch

    def score(pair: Mapping[str, Any], side: str) -> float:
        prompt, (chosen, rejected) = pair_ids(tokenizer, pair["prompt"], [pair["chosen"], pair["rejected"]])
        # one answer a pass: nothing is padded, so the score can't depend on where a model looks for its last token
        ids = torch.tensor([prompt + (chosen if side == "chosen" else rejected)], device=model.device)
        with torch.no_grad():
            logits = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits
        return float(logits[0, 0])

    return score


def plain_text(text: Any) -> str:
    """A string as it is, messages as their contents."""
    return text if isinstance(text, str) else "\n".join(turn["content"] for turn in text)
