"""Options of a dataset config given as `--name value` after a verb's own: `--pool high --seed 7 --split-by person`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..errors import UsageError

PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": ["-h", "--help"]}
"""Context settings of a verb that takes config options; the builder checks the names."""


def config_options(arguments: Sequence[str]) -> dict[str, Any]:
    """`--split-by person --seed=7 --no-conversational` to {"split_by": "person", "seed": 7, "conversational": False}.

    Raises UsageError for a word that belongs to no option.
    """
    options: dict[str, Any] = {}
    words = list(arguments)
    while words:
        word = words.pop(0)
        if not word.startswith("--") or len(word) < 3:
            raise UsageError(f"config option {len(options) + 1}: got a word without its --name; allowed: --name value")
        name, equals, value = word[2:].partition("=")
        if equals:
            options[_key(name)] = _value(value)
        elif words and not words[0].startswith("--"):
            options[_key(name)] = _value(words.pop(0))
        elif name.startswith("no-"):
            options[_key(name[3:])] = False
        else:
            options[_key(name)] = True
    return options


def _key(name: str) -> str:
    return name.replace("-", "_")


def _value(text: str) -> Any:
    """JSON where it is JSON (numbers, true, {...}), else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text
