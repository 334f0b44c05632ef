"""Where turns start, and the one rule by which a prompt that is too long is cut there.

It loses its oldest turns, whole, and no more of them than it must; what stands before the first turn (bos, system
message) stays, and so do the latest turn and the opening of the answer. Nothing is cut inside a turn. The edges:

- Even the latest turn does not fit: there is no prompt.
- Plain text has no turns: it is kept whole or not at all.
- A template that wants the user first: an assistant's turn does not open what is left, even if it would fit.
- A collator has ids alone (`cut_prompt`): it can't cut at a turn that starts inside a token, nor ask the template, so
  system text that a template writes into the first turn goes with it. What has messages (recipes, generation) has them
  rendered anew (`prompt_window`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import Any, NamedTuple

Message = Mapping[str, Any]


class CutPrompt(NamedTuple):
    """Prompt ids, and how many of the oldest turns were left out; `ids` is None if not even the last turn fits."""

    ids: list[int] | None
    dropped_turns: int


def cut_prompt(prompt_ids: list[int], turns: Sequence[int], budget: int) -> list[int] | None:
    """The ids of a rendered prompt within `budget` tokens, or None if even its latest turn does not fit.

    `turns` are offsets from `turn_offsets`; the tokens before the first of them are always kept.
    """
    head = prompt_ids[: turns[0]] if turns else []
    return _longest(chain([prompt_ids], (head + prompt_ids[start:] for start in turns[1:])), budget).ids


def prompt_window(tokenizer: Any, prompt: str | Sequence[Message], budget: int | None) -> CutPrompt:
    """The newest turns of `prompt` within `budget` tokens (None: no limit), rendered as a prompt of their own."""
    if isinstance(prompt, str):
        return _longest([list(tokenizer(prompt)["input_ids"])], budget)._replace(dropped_turns=0)
    turns = prompt[_head(prompt) :]
    skipped = 0 if budget is None else _surely_too_many(tokenizer, turns, budget)
    rests = (_render_rest(tokenizer, without_oldest(prompt, count)) for count in range(skipped, len(turns)))
    return _longest(chain(repeat(None, skipped), rests), budget)


def without_oldest(messages: Sequence[Message], count: int) -> list[Message]:
    """The messages less their `count` oldest turns; a system message stays."""
    head = _head(messages)
    return [*messages[:head], *messages[head + count :]]


def turn_offsets(tokenizer: Any, messages: Sequence[Message]) -> list[int]:
    """As `turn_starts`, without the turns whose start is no token boundary: there the prompt is not cut."""
    return [start for start in turn_starts(tokenizer, messages) if start is not None]


def turn_starts(tokenizer: Any, messages: Sequence[Message]) -> list[int | None]:
    """The token at which every turn after the system message starts, in the rendered prompt; None inside a token.

    Rendered as text first and mapped to tokens by one tokenization, so a dialogue of n turns costs n
    renderings but a single pass of the tokenizer. A turn whose prefix renders differently alone is None too.
    """
    text = render(tokenizer, messages, True)
    chars: list[int | None] = []
    for count in range(_head(messages), len(messages)):
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


def render(tokenizer: Any, messages: Sequence[Message], generation_prompt: bool) -> str:
    """The conversation as the tokenizer's chat template writes it."""
    text: str = tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=generation_prompt)
    return text


def render_ids(tokenizer: Any, messages: Sequence[Message], generation_prompt: bool) -> list[int]:
    """As `render`, as token ids."""
    encoded = tokenizer.apply_chat_template(
        list(messages), tokenize=True, return_dict=True, add_generation_prompt=generation_prompt
    )
    return list(encoded["input_ids"])


def _longest(prompts: Iterable[list[int] | None], budget: int | None) -> CutPrompt:
    """The first that fits of `prompts` without their oldest 0, 1, 2, … turns; None stands for one that can't be."""
    count = 0
    for count, ids in enumerate(prompts, 1):
        if ids is not None and (budget is None or len(ids) <= budget):
            return CutPrompt(ids, count - 1)
    return CutPrompt(None, count)


def _head(messages: Sequence[Message]) -> int:
    """Messages before the first turn: 1 if there is a system message, else 0."""
    return 1 if messages and messages[0]["role"] == "system" else 0


def _render_rest(tokenizer: Any, messages: Sequence[Message]) -> list[int] | None:
    """Ids of a prompt; None if the template refuses the assistant's turn that opens it."""
    try:
        return render_ids(tokenizer, messages, True)
    except Exception:  # templates raise jinja's errors, their own, and Python's
        turns = messages[_head(messages) :]
        if turns[0]["role"] != "assistant" or len(turns) == 1:
            raise
        return None


def _surely_too_many(tokenizer: Any, turns: Sequence[Message], budget: int) -> int:
    """Turns to leave out before the texts alone fit: none of them can stay, for templates only add."""
    lengths = [
        len(ids) for ids in tokenizer([turn["content"] for turn in turns], add_special_tokens=False)["input_ids"]
    ]
    total, start = sum(lengths), 0
    while start < len(turns) - 1 and total > budget:
        total -= lengths[start]
        start += 1
    return start


def _opening(tokenizer: Any, text: str, messages: Sequence[Message]) -> int:
    """Characters of bos that a template writes before the first turn (part of no turn)."""
    bos = tokenizer.bos_token
    if not bos or not text.startswith(bos):
        return 0
    # ChatML models may use the turn opener itself as bos; then it belongs to the turn
    return 0 if text.count(bos) >= len(messages) > 1 else len(bos)
