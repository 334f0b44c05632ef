"""A prompt and its completions as token ids, split as TRL's DPO does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .turns import render_ids


def pair_ids(tokenizer: Any, prompt: Any, completions: Sequence[Any]) -> tuple[list[int], list[list[int]]]:
    """(prompt ids, ids of every completion), split where the renderings stop agreeing, as TRL does."""
    if isinstance(prompt, str):
        end = tokenizer.eos_token or ""
        ids = list(tokenizer(prompt)["input_ids"])
        wholes = [list(tokenizer(prompt + text.removesuffix(end) + end)["input_ids"]) for text in completions]
    else:
        ids = render_ids(tokenizer, prompt, True)
        wholes = [render_ids(tokenizer, [*prompt, *completion], False) for completion in completions]
    split = min(_shared(ids, whole) for whole in wholes)
    return ids[:split], [whole[split:] for whole in wholes]


def _shared(first: Sequence[int], second: Sequence[int]) -> int:
    pairs = zip(first, second, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))
