"""Options of a dataset config given as `--name value` after a verb's own: `--pool high --seed 7 --split-by person`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..training.overrides import option_pairs

PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": ["-h", "--help"]}
"""Context settings of a verb that takes config options; the builder checks the names."""


def config_options(arguments: Sequence[str]) -> dict[str, Any]:
    """`--split-by person --seed=7 --no-conversational` to {"split_by": "person", "seed": 7, "conversational": False}.

    Raises UsageError for a word that belongs to no option.
    """
    return {key: _value(text) if isinstance(text, str) else text for key, text in option_pairs(arguments)}


def _value(text: str) -> Any:
    """JSON where it is JSON (numbers, true, {...}), else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text
