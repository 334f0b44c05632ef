"""A prompt as a model reads it: through its chat template, within its context, cut only where a turn starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Message = Mapping[str, Any]


class Window(NamedTuple):
    """Prompt ids, and how many of the oldest turns were left out; `ids` is None if not even the last turn fits."""

    ids: list[int] | None
    dropped_turns: int


def prompt_window(tokenizer: Any, prompt: str | Sequence[Message], budget: int | None) -> Window:
    """The newest turns of `prompt` that fit into `budget` tokens, behind the system message if there is one.

    A plain string has no turns and is kept whole or not at all. A chat template that wants the user to speak
    first gets no opening assistant turn; that turn counts as dropped.
    """
    if isinstance(prompt, str):
        ids = list(tokenizer(prompt)["input_ids"])
        return Window(ids if budget is None or len(ids) <= budget else None, 0)
    first = 1 if prompt and prompt[0]["role"] == "system" else 0
    head, turns = list(prompt[:first]), list(prompt[first:])
    start = 0 if budget is None else _start_guess(tokenizer, turns, budget)
    error: Exception | None = None
    while start < len(turns):
        try:
            ids = _render(tokenizer, head + turns[start:])
        except Exception as refused:  # templates raise jinja's errors, their own, and Python's
            error = refused
            if turns[start]["role"] != "assistant":
                raise
        else:
            error = None
            if budget is None or len(ids) <= budget:
                return Window(ids, start)
        start += 1
    if error is not None:
        raise error
    return Window(None, len(turns))


def _start_guess(tokenizer: Any, turns: Sequence[Message], budget: int) -> int:
    """The first turn from which the texts alone would fit: nothing before it can, for templates only add."""
    lengths = [
        len(ids) for ids in tokenizer([turn["content"] for turn in turns], add_special_tokens=False)["input_ids"]
    ]
    total, start = sum(lengths), 0
    while start < len(turns) - 1 and total > budget:
        total -= lengths[start]
        start += 1
    return start


def _render(tokenizer: Any, messages: Sequence[Message]) -> list[int]:
    ids: list[int] = tokenizer.apply_chat_template(
        list(messages), add_generation_prompt=True, tokenize=True, return_dict=True
    )["input_ids"]
    return ids
