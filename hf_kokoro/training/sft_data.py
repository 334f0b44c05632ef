"""SFT rows to token ids and labels: a dialogue in one pass, or a prompt with its completion.

One pass over a dialogue with loss on every counsellor turn gives the same loss and gradient as one example
per turn (the `next_turn` config, the paper's way), because each turn is conditioned on the same tokens
either way; over KokoroChat it reads 18.8 times fewer tokens. Labels are -100 where nothing is learnt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .cached_maps import Versioned
from .dialogues import Window, cut_windows, fit_roles, template_rules
from .turns import cut_prompt, render, turn_offsets

IGNORED = -100


STATUSES = ("whole", "cut", "too_long", "no_answer")
"""What became of a row: trained whole, cut between turns, or left out because nothing fits or answers."""


def tokenize_sft(rows: Any, tokenizer: Any, limit: int, *, overlap: int = 0, system_prompt: str | None = None) -> Any:
    """Rows of `messages` or `prompt`/`completion` as a Dataset of `input_ids`, `labels`, `source`, `status`.

    Sequences have at most `limit` tokens. `source` is the number of the row that a sequence comes from (a
    long dialogue gives several windows); rows that can't be trained on are there with no tokens, so that
    they can be counted and named: drop them by `status`.
    """
    options = {"tokenizer": tokenizer, "limit": limit, "overlap": overlap, "system_prompt": system_prompt}
    make = _dialogue_batch if "messages" in rows.column_names else _completion_batch
    return rows.map(
        Versioned(make),
        with_indices=True,
        batched=True,
        batch_size=64,
        fn_kwargs=options,
        remove_columns=rows.column_names,
        desc="Tokenizing",
    )


def _dialogue_batch(
    batch: Mapping[str, Any],
    indices: list[int],
    *,
    tokenizer: Any,
    limit: int,
    overlap: int,
    system_prompt: str | None,
) -> dict[str, list[Any]]:
    rules = template_rules(tokenizer)
    made: list[tuple[list[int], list[int], int, str]] = []
    for number, messages in zip(indices, batch["messages"], strict=True):
        windows = cut_windows(tokenizer, with_system(messages, system_prompt), rules, limit, overlap)
        if not windows:
            made.append(([], [], number, "too_long" if windows is None else "no_answer"))
            continue
        for window in windows:
            ids, labels = window_tokens(tokenizer, window)
            made.append((ids, labels, number, "cut" if len(windows) > 1 else "whole"))
    return _columns(made)


def _completion_batch(
    batch: Mapping[str, Any],
    indices: list[int],
    *,
    tokenizer: Any,
    limit: int,
    overlap: int,
    system_prompt: str | None,
) -> dict[str, list[Any]]:
    made: list[tuple[list[int], list[int], int, str]] = []
    for number, prompt, completion in zip(indices, batch["prompt"], batch["completion"], strict=True):
        ids, answer, turns = completion_tokens(tokenizer, prompt, completion, system_prompt, limit)
        fitted = cut_prompt(ids, turns, limit - len(answer)) if answer else None
        if fitted is None:
            made.append(([], [], number, "too_long" if answer else "no_answer"))
        else:
            status = "cut" if len(fitted) < len(ids) else "whole"
            made.append((fitted + answer, [IGNORED] * len(fitted) + answer, number, status))
    return _columns(made)


def _columns(made: list[tuple[list[int], list[int], int, str]]) -> dict[str, list[Any]]:
    names = ("input_ids", "labels", "source", "status")
    return {name: [row[at] for row in made] for at, name in enumerate(names)}


def window_tokens(tokenizer: Any, window: Window) -> tuple[list[int], list[int]]:
    """`input_ids` and `labels` of a window: loss on assistant turns (with end token) from `loss_from` on."""
    encoded = tokenizer.apply_chat_template(
        window.messages, tokenize=True, return_dict=True, return_assistant_tokens_mask=True
    )
    ids, mask = list(encoded["input_ids"]), list(encoded["assistant_masks"])
    first = _offset_of(tokenizer, window) if window.loss_from else 0
    labels = [
        token if kept and at >= first else IGNORED for at, (token, kept) in enumerate(zip(ids, mask, strict=True))
    ]
    return ids, labels


def _offset_of(tokenizer: Any, window: Window) -> int:
    """Token offset of the first message that carries loss."""
    # up to there the window is context: whatever it renders to alone, and a token that reaches over, is no loss
    context = render(tokenizer, window.messages[: window.loss_from], False)
    text = render(tokenizer, window.messages, False)
    shared = next((at for at, (a, b) in enumerate(zip(context, text, strict=False)) if a != b), len(context))
    offsets = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    return next((at for at, (start, _) in enumerate(offsets) if start >= shared), len(offsets))


def completion_tokens(
    tokenizer: Any, prompt: Any, completion: Any, system_prompt: str | None, limit: int
) -> tuple[list[int], list[int], list[int]]:
    """(prompt ids, completion ids, turn offsets if the prompt is too long) of one row, messages or text."""
    if isinstance(prompt, str):
        end = tokenizer.eos_token or ""
        ids = list(tokenizer(prompt)["input_ids"])
        whole = list(tokenizer(prompt + completion.removesuffix(end) + end)["input_ids"]) if completion else ids
        split = _common_prefix(ids, whole)
        return whole[:split], whole[split:], []
    rules = template_rules(tokenizer)
    messages = fit_roles(with_system(prompt, system_prompt), rules)
    ids = _render_ids(tokenizer, messages, True)
    if not any(turn["content"].strip() for turn in completion):
        return ids, [], []
    whole = _render_ids(tokenizer, [*messages, *completion], False)
    split = _common_prefix(ids, whole)
    turns = turn_offsets(tokenizer, messages) if len(whole) > limit else []
    return whole[:split], whole[split:], turns


def with_system(messages: Sequence[Mapping[str, Any]], system_prompt: str | None) -> list[Any]:
    """The messages, opened by the recipe's system prompt unless they have one of their own."""
    if system_prompt is None or (messages and messages[0]["role"] == "system"):
        return list(messages)
    return [{"role": "system", "content": system_prompt}, *messages]


def _render_ids(tokenizer: Any, messages: Sequence[Mapping[str, Any]], prompt: bool) -> list[int]:
    encoded = tokenizer.apply_chat_template(
        list(messages), tokenize=True, return_dict=True, add_generation_prompt=prompt
    )
    return list(encoded["input_ids"])


def _common_prefix(first: Sequence[int], second: Sequence[int]) -> int:
    pairs = zip(first, second, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))
