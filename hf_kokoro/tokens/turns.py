"""Where turns start, in tokens, and how a prompt is cut there.

A prompt that is too long loses its oldest turns, whole; what stands before the first turn (bos, system
message) stays, and so do the latest turn and the opening of the answer. Nothing is cut inside a turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Message = Mapping[str, Any]


def turn_offsets(tokenizer: Any, messages: Sequence[Message], *, generation_prompt: bool = True) -> list[int]:
    """Token offset at which every message after the system message starts, in the rendered conversation.

    As `turn_starts`, without the turns whose start is no token boundary: there the prompt is not cut.
    """
    return [
        start for start in turn_starts(tokenizer, messages, generation_prompt=generation_prompt) if start is not None
    ]


def turn_starts(tokenizer: Any, messages: Sequence[Message], *, generation_prompt: bool = True) -> list[int | None]:
    """One entry a turn after the system message: the token at which it starts, or None inside a token.

    Rendered as text first and mapped to tokens by one tokenization, so a dialogue of n turns costs n
    renderings but a single pass of the tokenizer. A turn whose prefix renders differently alone is None too.
    """
    text = render(tokenizer, messages, generation_prompt)
    first = 1 if messages and messages[0]["role"] == "system" else 0
    chars: list[int | None] = []
    for count in range(first, len(messages)):
        prefix = render(tokenizer, messages[:count], False) if count else ""
        if not text.startswith(prefix):
            chars.append(None)
            continue
        chars.append(len(prefix) if count else _opening(tokenizer, text, messages))
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    starts = {
        start: token for token, (start, end) in reversed(list(enumerate(encoded["offset_mapping"]))) if end > start
    }
    return [None if char is None else starts.get(char) for char in chars]


def cut_prompt(prompt_ids: list[int], turns: Sequence[int], budget: int) -> list[int] | None:
    """The prompt within `budget` tokens, or None if even its latest turn does not fit.

    `turns` are offsets from `turn_offsets`; the tokens before the first of them are always kept.
    """
    if len(prompt_ids) <= budget:
        return prompt_ids
    if not turns:
        return None
    head = prompt_ids[: turns[0]]
    for start in turns[1:]:
        if len(head) + len(prompt_ids) - start <= budget:
            return head + prompt_ids[start:]
    return None


def render(tokenizer: Any, messages: Sequence[Message], generation_prompt: bool) -> str:
    """The conversation as the tokenizer's chat template writes it."""
    text: str = tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=generation_prompt)
    return text


def _opening(tokenizer: Any, text: str, messages: Sequence[Message]) -> int:
    """Characters of bos that a template writes before the first turn (part of no turn)."""
    bos = tokenizer.bos_token
    if not bos or not text.startswith(bos):
        return 0
    # ChatML models may use the turn opener itself as bos; then it belongs to the turn
    return 0 if text.count(bos) >= len(messages) > 1 else len(bos)
