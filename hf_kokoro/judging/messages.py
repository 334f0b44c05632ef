"""The Messages API as every rubric here uses it: a request of rubric and marked material, a reply of JSON levels.

Pure functions, no network. A reply counts only through the fields of its JSON; its stop reason is read before
its text, and nothing is clamped, rounded or filled in.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Unanswered:
    """A reply without an answer: `status` is refused or incomplete, `raw` what there was of it."""

    status: str
    reason: str
    raw: str


def levels_schema(levels: Mapping[str, Iterable[int]]) -> dict[str, Any]:
    """JSON Schema of a `reason` and one level a name; levels are enums, for the API refuses minimum and maximum."""
    fields = {name: {"type": "integer", "enum": list(allowed)} for name, allowed in levels.items()}
    return {
        "type": "object",
        "properties": {"reason": {"type": "string"}, **fields},
        "required": ["reason", *fields],
        "additionalProperties": False,
    }


def marked(template: str, **material: str) -> str:
    """The template with its material between tags of a `{mark}` that is random, and occurs in none of it."""
    mark = secrets.token_hex(8)
    while any(mark in text for text in material.values()):
        mark = secrets.token_hex(8)
    return template.format(mark=mark, **material)


def message_parameters(
    model: str, rubric: str, content: str, schema: dict[str, Any], max_tokens: int
) -> dict[str, Any]:
    """Arguments of `messages.create`: the rubric is one block that can be cached.

    No sampling parameters and no prefill: the newer models refuse them.
    """
    return {
        "model": model,
        "max_tokens": max_tokens,
        "system": [{"type": "text", "text": rubric, "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": content}],
        "output_config": {"format": {"type": "json_schema", "schema": schema}},
    }


def answer_text(message: Mapping[str, Any]) -> str | Unanswered:
    """The text of a Messages API reply (as a plain object), unless the model declined or was cut off."""
    blocks = message.get("content") or []
    text = "".join(str(block.get("text") or "") for block in blocks if block.get("type") == "text")
    stop = message.get("stop_reason")
    if stop == "refusal":
        return Unanswered("refused", "the model declined", text)
    if stop not in ("end_turn", "stop_sequence"):
        return Unanswered("incomplete", f"the reply ended early ({stop})", text)
    return text
