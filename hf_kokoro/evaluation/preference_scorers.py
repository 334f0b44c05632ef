"""Scorers of single answers that preference accuracy is measured with beside a policy: a reward model, the rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..errors import MissingExtraError, SourceError, UsageError
from ..judging.rule import RuleJudge

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
    try:
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer
    except ImportError as error:
        raise MissingExtraError(error.name or "transformers", "train", "a reward model") from None
    from ..tokens.pairs import pair_ids
    from .models import hide_bars_in_pipes

    hide_bars_in_pipes()
    try:
        if (Path(path) / "adapter_config.json").is_file():
            from peft import AutoPeftModelForSequenceClassification

            model = AutoPeftModelForSequenceClassification.from_pretrained(str(path), num_labels=1, dtype="float32")
        else:
            model = AutoModelForSequenceClassification.from_pretrained(str(path), dtype="float32")
        tokenizer = AutoTokenizer.from_pretrained(str(path))
    except OSError as error:
        raise SourceError(
            f"reward model {str(path)!r} can't be loaded ({type(error).__name__}); allowed: a model or adapter folder, "
            "or a Hub id"
        ) from error
    if model.config.num_labels != 1:
        raise UsageError(f"reward model {str(path)!r}: has {model.config.num_labels} outputs; allowed: one")
    model.eval()

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
