"""Messages of `weight: 0` (OpenAI's form): read as context, never learnt.

A turn of weight 0 may stand beside one of weight 1 of the same speaker, and templates want the two as one message.
So a message carries, under `unlearnt`, the spans of characters that are not learnt, and these become tokens at the end.
The line break between two such turns is learnt only if both are, the end token with the last of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from .chat_templates import ChatTemplateError
from .turns import render

UNLEARNT = "unlearnt"

Message = Mapping[str, Any]
Spans = list[tuple[int, int]]


def is_unlearnt(message: Message) -> bool:
    """Is this an assistant's message of weight 0? Other roles are never learnt, whatever their weight."""
    return message["role"] == "assistant" and message.get("weight") == 0


def unlearnt_spans(message: Message) -> Spans:
    """Spans of characters of the content without loss, in order; a span up to the end takes the end token with it."""
    if UNLEARNT in message:
        return list(message[UNLEARNT])
    return [(0, len(message["content"]))] if is_unlearnt(message) else []


def learnt_text(message: Message) -> str:
    """What of the message's content carries loss, if its role does."""
    text, at = "", 0
    for start, end in unlearnt_spans(message):
        text, at = text + message["content"][at:start], end
    return text + str(message["content"][at:])


def copy_message(message: Message) -> dict[str, Any]:
    """Role and content, and the spans that are not learnt if there are any."""
    spans = unlearnt_spans(message)
    return {"role": message["role"], "content": message["content"], **({UNLEARNT: spans} if spans else {})}


def join_message(first: dict[str, Any], second: Message) -> None:
    """Append the second message's content to the first's, behind a line break."""
    joint = len(first["content"])
    before, after = unlearnt_spans(first), unlearnt_spans(second)
    if (before and before[-1][1] == joint) or (after and after[0][0] == 0):
        before.append((joint, joint + 1))
    first["content"] += "\n" + second["content"]
    spans: Spans = []
    for start, end in [*before, *((start + joint + 1, end + joint + 1) for start, end in after)]:
        if spans and spans[-1][1] == start:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    if spans:
        first[UNLEARNT] = spans


def unlearnt_tokens(tokenizer: Any, messages: Sequence[Message], mask: Sequence[int]) -> set[int]:
    """Places of the tokens inside the assistant `mask` that carry no loss, by the weights.

    A token that reaches over the edge of a span is not learnt. Raises ChatTemplateError where the template does not
    mark every assistant turn by itself, or writes the text of a turn that is learnt in part differently.
    """
    answers = [message for message in messages if message["role"] == "assistant"]
    if not any(UNLEARNT in message for message in answers):
        return set()
    runs = _runs(mask)
    if len(runs) != len(answers):
        raise ChatTemplateError(
            f"chat template: got {len(runs)} marked turns for {len(answers)} assistant messages, so weight 0 can't be "
            "placed; allowed: a template that marks every assistant turn by itself; give one as chat_template"
        )
    text = render(tokenizer, messages, False)
    offsets = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    found: set[int] = set()
    for (start, end), message in zip(runs, answers, strict=True):
        spans = unlearnt_spans(message)
        if not spans:
            continue
        if not learnt_text(message):
            found.update(range(start, end))
            continue
        origin, low = _locate(text, offsets[start][0], offsets[end - 1][1], message["content"])
        for first, last in spans:
            # behind the last character stands the end token
            stop = offsets[end - 1][1] if last == len(message["content"]) else origin + last
            begin = origin + max(first, low)
            found.update(at for at in range(start, end) if _overlaps(offsets[at], begin, stop))
    return found


def unlearnt_completion(tokenizer: Any, prompt: Sequence[Message], completion: Sequence[Message]) -> set[int]:
    """Places of the tokens of `prompt` + `completion` that belong to a completion message of weight 0."""
    if not any(map(is_unlearnt, completion)):
        return set()
    text = render(tokenizer, [*prompt, *completion], False)
    starts = [_length(tokenizer, text, [*prompt, *completion[:count]]) for count in range(len(completion) + 1)]
    offsets = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    return {
        at
        for number, message in enumerate(completion)
        if is_unlearnt(message)
        for at, offset in enumerate(offsets)
        if _overlaps(offset, starts[number], starts[number + 1])
    }


def _length(tokenizer: Any, text: str, messages: Sequence[Message]) -> int:
    prefix = render(tokenizer, messages, False) if messages else ""
    if not text.startswith(prefix):
        raise ChatTemplateError(
            "chat template: it writes a turn differently when another follows, so the weights of several messages in "
            "one completion can't be placed; give another chat_template"
        )
    return len(prefix)


def _runs(mask: Sequence[int]) -> list[tuple[int, int]]:
    """(start, end) of every unbroken run of ones."""
    runs, at = [], 0
    for kept, group in groupby(mask):
        length = len(list(group))
        if kept:
            runs.append((at, at + length))
        at += length
    return runs


def _locate(text: str, low: int, high: int, content: str) -> tuple[int, int]:
    """(place in the text that stands for the content's first character, first character that was not trimmed)."""
    for form in (content, content.strip()):
        at = text.find(form, low, high)
        if at >= 0:
            trimmed = content.index(form)
            return at - trimmed, trimmed
    raise ChatTemplateError(
        "chat template: it changes the text of an assistant turn, so that weight 0 of a part of it can't be placed; "
        "give another chat_template, or one weight to neighbouring turns of the assistant"
    )


def _overlaps(offset: tuple[int, int], start: int, end: int) -> bool:
    return offset[0] < end and offset[1] > start
