"""Dialogues into the form a chat template accepts, and into windows that fit; no text is ever lost.

The rules, in this order:
1. Neighbouring messages of one role become one, joined by a newline (KokoroChat: 6,563 of 6,589 dialogues).
2. A template without a system role gets the system text at the head of the first user turn.
3. A template that wants the user first (most dialogues open with the counsellor) gets a user turn in front:
   the system text where rule 2 applies, else `OPENING`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .message_weights import copy_message, join_message, learnt_text
from .turns import render

OPENING = "…"
"""What stands for the client's silence before a counsellor who speaks first, for templates that need it."""

Message = Mapping[str, Any]


@dataclass(frozen=True)
class TemplateRules:
    """What a tokenizer's chat template accepts, found by rendering probes."""

    system: bool
    assistant_first: bool


@dataclass(frozen=True)
class Window:
    """Messages that fit, of which those before `loss_from` are context only (the system message included)."""

    messages: list[dict[str, Any]]
    loss_from: int


def template_rules(tokenizer: Any) -> TemplateRules:
    """Probe the chat template: is a system message its own turn, may the assistant speak first?"""
    user, assistant = {"role": "user", "content": "qqq"}, {"role": "assistant", "content": "www"}
    with_system = _try_render(tokenizer, [{"role": "system", "content": "zzz"}, user, assistant])
    # a template that folds the system text itself does not lose it, but needs a user turn to fold it into
    own_turn = _try_render(tokenizer, [{"role": "system", "content": "zzz"}, assistant, user])
    assistant_first = _try_render(tokenizer, [assistant, user])
    return TemplateRules(
        system=with_system is not None and "zzz" in with_system and (own_turn is None or "zzz" in own_turn),
        assistant_first=assistant_first is not None and "www" in assistant_first,
    )


def fit_roles(messages: Sequence[Message], rules: TemplateRules) -> list[dict[str, Any]]:
    """The messages by the three rules above; every character of the input is in the output.

    Weights of 0 become spans (see `message_weights`).
    """
    merged: list[dict[str, Any]] = []
    for message in messages:
        if merged and merged[-1]["role"] == message["role"]:
            join_message(merged[-1], message)
        else:
            merged.append(copy_message(message))
    has_system = bool(merged) and merged[0]["role"] == "system"
    head, turns = (merged[:1], merged[1:]) if has_system else ([], merged)
    if head and not rules.system:
        if turns and turns[0]["role"] == "user":
            turns[0]["content"] = head[0]["content"] + "\n\n" + turns[0]["content"]
        else:
            turns.insert(0, {"role": "user", "content": head[0]["content"]})
        head = []
    if turns and turns[0]["role"] == "assistant" and not rules.assistant_first:
        turns.insert(0, {"role": "user", "content": OPENING})
    return head + turns


def cut_windows(
    tokenizer: Any, messages: Sequence[Message], rules: TemplateRules, limit: int, overlap: int = 0
) -> list[Window] | None:
    """The dialogue as windows of at most `limit` tokens, cut between turns; None if one turn is longer.

    Every turn carries loss in exactly one window. A window opens with the system message and up to `overlap`
    tokens of the turns before it, as context without loss. Windows without an assistant turn to learn from
    (a last client turn alone, or turns of weight 0) are left out.
    """
    whole = fit_roles(messages, rules)
    if token_count(tokenizer, whole) <= limit:
        return [Window(whole, 0)] if _has_answer(whole) else []
    head = [dict(message) for message in messages[:1] if message["role"] == "system"]
    turns = fit_roles(messages[len(head) :], TemplateRules(system=True, assistant_first=True))

    def window(context: int, start: int, end: int) -> Window:
        fitted = fit_roles([*head, *turns[context:end]], rules)
        return Window(fitted, len(fitted) - (end - start) if start > context else 0)

    def fits(context: int, start: int, end: int, most: int) -> bool:
        return token_count(tokenizer, window(context, start, end).messages) <= most

    def end_of(context: int, start: int) -> int:
        return _last(start, len(turns), lambda stop: fits(context, start, stop, limit))

    windows: list[Window] = []
    start = 0
    while start < len(turns):
        context = start
        while overlap and context > 0 and fits(context - 1, context - 1, start, overlap):
            context -= 1
        if not fits(context, start, start + 1, limit):
            context = start
        end = end_of(context, start)
        if end == start:
            return None
        found = window(context, start, end)
        if _has_answer(found.messages[found.loss_from :]):
            windows.append(found)
        start = end
    return windows


def _last(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The largest value up to `high` for which `holds` (counts grow with turns); `low` if there is none."""
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def token_count(tokenizer: Any, messages: Sequence[Message]) -> int:
    """Tokens of the rendered conversation, without a generation prompt."""
    return len(tokenizer(render(tokenizer, messages, False), add_special_tokens=False)["input_ids"])


def _has_answer(messages: Sequence[Message]) -> bool:
    return any(message["role"] == "assistant" and learnt_text(message).strip() for message in messages)


def _try_render(tokenizer: Any, messages: list[Message]) -> str | None:
    try:
        return render(tokenizer, messages, False)
    except Exception:  # a strict template raises its own error types; any of them means "no"
        return None
