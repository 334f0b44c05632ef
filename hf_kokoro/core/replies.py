"""A model's reply as the JSON object that it was asked for: read strictly, never repaired."""

from __future__ import annotations

from typing import Any

from . import jsonl


class ReplyError(ValueError):
    """A reply's text is no JSON object of the kind that was asked for."""


def parse_object(text: str) -> dict[str, Any]:
    """The JSON object of a reply. Raises ReplyError for anything else, doubled keys and NaN included."""
    try:
        return jsonl.parse_object(text, strict=True)
    except (jsonl.NoObject, jsonl.Refused) as error:
        raise ReplyError(str(error)) from None
    except ValueError as error:
        # the parser's own message may quote the reply
        raise ReplyError(type(error).__name__) from None
