"""SFT rows to token ids and labels: a dialogue in one pass, or a prompt with its completion.

One pass over a dialogue with loss on every counsellor turn gives the same loss and gradient as one example
per turn (the `next_turn` config, the paper's way), because each turn is conditioned on the same tokens
either way; over KokoroChat it reads 18.8 times fewer tokens. Labels are -100 where nothing is learnt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..tokens.message_weights import is_unlearnt, learnt_text, unlearnt_completion, unlearnt_tokens
from ..tokens.pairs import fit_pair
from ..tokens.turns import render
from ..tokens.windows import TemplateRules, Window, cut_windows, fit_roles, template_rules
from .cached_maps import Versioned
from .messages import check_keys

IGNORED = -100
COLUMNS = ("input_ids", "labels", "source", "status", "masked", "unended")
Tokens = tuple[list[int], list[int], str, int]
"""ids, labels, status, answers whose end is not learnt."""

STATUSES = ("whole", "cut", "too_long", "no_answer")
"""What became of a row: trained whole, cut between turns, or left out because nothing fits or answers."""


def tokenize_sft(rows: Any, tokenizer: Any, limit: int, *, overlap: int = 0, system_prompt: str | None = None) -> Any:
    """Rows of `messages` or `prompt`/`completion` as a Dataset of `input_ids`, `labels`, `source`, `status`.

    Sequences have at most `limit` tokens. `source` is the number of the row that a sequence comes from (a
    long dialogue gives several windows); rows that can't be trained on are there with no tokens, so that
    they can be counted and named: drop them by `status`. Assistant messages of `weight: 0` are context without
    loss: `masked` counts them (at a row's first sequence), `unended` the answers whose end is not learnt for
    their sake. Raises RowError for other keys and weights in messages.
    """
    check_keys(rows, "rows", weights=True)
    options = {"tokenizer": tokenizer, "limit": limit, "overlap": overlap, "system_prompt": system_prompt}
    return rows.map(
        Versioned(_tokenize_batch),
        with_indices=True,
        batched=True,
        batch_size=64,
        fn_kwargs=options,
        remove_columns=rows.column_names,
        desc="Tokenizing",
    )


def _tokenize_batch(
    batch: Mapping[str, Any],
    indices: list[int],
    *,
    tokenizer: Any,
    limit: int,
    overlap: int,
    system_prompt: str | None,
) -> dict[str, list[Any]]:
    rules = template_rules(tokenizer)
    made: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for at, number in enumerate(indices):
        if "messages" in batch:
            answers = batch["messages"][at]
            found = _dialogue(tokenizer, with_system(answers, system_prompt), rules, limit, overlap)
        else:
            prompt, answers = batch["prompt"][at], batch["completion"][at]
            if not isinstance(prompt, str):
                prompt = fit_roles(with_system(prompt, system_prompt), rules)
            found = _completion(tokenizer, prompt, answers, limit)
        masked = 0 if isinstance(answers, str) else sum(map(is_unlearnt, answers))
        for part, (ids, labels, status, unended) in enumerate(found):
            values = (ids, labels, number, status, 0 if part else masked, unended)
            for name, value in zip(COLUMNS, values, strict=True):
                made[name].append(value)
    return made


def _dialogue(
    tokenizer: Any, messages: Sequence[Mapping[str, Any]], rules: TemplateRules, limit: int, overlap: int
) -> list[Tokens]:
    windows = cut_windows(tokenizer, messages, rules, limit, overlap)
    if not windows:
        return [([], [], "too_long" if windows is None else "no_answer", 0)]
    status = "cut" if len(windows) > 1 else "whole"
    found = [window_tokens(tokenizer, window) for window in windows]
    return [(ids, labels, status, unended) for ids, labels, unended in found]


def _completion(tokenizer: Any, prompt: Any, completion: Any, limit: int) -> list[Tokens]:
    """A prompt (text, or messages that fit the template) with its completion; the prompt is cut between turns."""
    is_text = isinstance(prompt, str)
    if not (completion if is_text else any(learnt_text(turn).strip() for turn in completion)):
        return [([], [], "no_answer", 0)]
    fitted, ids, (answer,) = fit_pair(tokenizer, prompt, [completion], limit)
    if fitted is None or not answer:
        return [([], [], "too_long" if answer else "no_answer", 0)]
    unlearnt = set() if is_text else unlearnt_completion(tokenizer, fitted, completion)
    labels = [IGNORED if at in unlearnt else token for at, token in enumerate(answer, len(ids))]
    return [(ids + answer, [IGNORED] * len(ids) + labels, "whole" if fitted == prompt else "cut", 0)]


def window_tokens(tokenizer: Any, window: Window) -> tuple[list[int], list[int], int]:
    """`input_ids` and `labels` of a window, and in how many places a weight of 0 cuts the end off an answer.

    Loss is on assistant turns (with end token) from `loss_from` on, except for turns of weight 0.
    """
    encoded = tokenizer.apply_chat_template(
        window.messages, tokenize=True, return_dict=True, return_assistant_tokens_mask=True
    )
    ids, mask = list(encoded["input_ids"]), list(encoded["assistant_masks"])
    first = _offset_of(tokenizer, window) if window.loss_from else 0
    unlearnt = unlearnt_tokens(tokenizer, window.messages, mask)
    learnt = [bool(kept) and at >= first and at not in unlearnt for at, kept in enumerate(mask)]
    labels = [token if kept else IGNORED for token, kept in zip(ids, learnt, strict=True)]
    unended = sum(at in unlearnt and bool(mask[at]) and learnt[at - 1] for at in range(1, len(ids)))
    return ids, labels, unended


def _offset_of(tokenizer: Any, window: Window) -> int:
    """Token offset of the first message that carries loss."""
    # up to there the window is context: whatever it renders to alone, and a token that reaches over, is no loss
    context = render(tokenizer, window.messages[: window.loss_from], False)
    text = render(tokenizer, window.messages, False)
    shared = next((at for at, (a, b) in enumerate(zip(context, text, strict=False)) if a != b), len(context))
    offsets = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    return next((at for at, (start, _) in enumerate(offsets) if start >= shared), len(offsets))


def with_system(messages: Sequence[Mapping[str, Any]], system_prompt: str | None) -> list[Any]:
    """The messages, opened by the recipe's system prompt unless they have one of their own."""
    if system_prompt is None or (messages and messages[0]["role"] == "system"):
        return list(messages)
    return [{"role": "system", "content": system_prompt}, *messages]
