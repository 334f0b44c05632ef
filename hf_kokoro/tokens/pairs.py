"""A prompt and its completions as token ids, split as TRL's DPO does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .turns import prompt_window, render_ids, without_oldest


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


def fit_pair(
    tokenizer: Any, prompt: Any, completions: Sequence[Any], limit: int | None
) -> tuple[Any, list[int], list[list[int]]]:
    """(prompt, its ids, ids of every completion) within `limit` tokens, the longest completion counted.

    The prompt is cut as `prompt_window` cuts it and rendered anew; it is None, beside the ids of all of it, if not even
    its latest turn fits. Completions are never cut.
    """
    ids, answers = pair_ids(tokenizer, prompt, completions)
    room = None if limit is None else limit - max(map(len, answers))
    if room is None or len(ids) <= room:
        return prompt, ids, answers
    window = prompt_window(tokenizer, prompt, room)
    if window.ids is None or isinstance(prompt, str):
        return None, ids, answers
    cut = without_oldest(prompt, window.dropped_turns)
    return cut, *pair_ids(tokenizer, cut, completions)


def _shared(first: Sequence[int], second: Sequence[int]) -> int:
    pairs = zip(first, second, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))
