"""`--key value` words after a command's own options, as a recipe or a dataset config takes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from ..errors import UsageError


def option_pairs(arguments: Sequence[str]) -> Iterator[tuple[str, str | bool]]:
    """`--split-by person --seed=7 --no-shuffle` as ("split_by", "person"), ("seed", "7"), ("shuffle", False).

    An option without a value is True. Raises UsageError for a word that belongs to no option; the word itself
    is not repeated, since it may be a piece of somebody's text.
    """
    words = list(arguments)
    given = 0
    while words:
        word = words.pop(0)
        given += 1
        if not word.startswith("--") or len(word) < 3:
            raise UsageError(f"option {given}: got a word without its --name; allowed: --name value or --name=value")
        name, equals, value = word[2:].partition("=")
        key = name.replace("-", "_")
        if equals:
            yield key, value
        elif words and not words[0].startswith("--"):
            yield key, words.pop(0)
        elif key.startswith("no_"):
            yield key.removeprefix("no_"), False
        else:
            yield key, True


def parse_overrides(arguments: Sequence[str]) -> dict[str, Any]:
    """`["--learning-rate", "1e-4", "--bf16"]` to `{"learning_rate": "1e-4", "bf16": True}`; values are YAML."""
    return {key: _value(text) if isinstance(text, str) else text for key, text in option_pairs(arguments)}


def _value(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        # a lone colon or bracket: the user means the text itself
        return text
