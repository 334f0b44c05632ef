"""The Hub's words for dataset cards, from `hub_terms.toml`.

The Hub validates a card only when it is part of the commit, and then one problem at a time; with these lists
all problems are found before a byte is sent.
"""

from __future__ import annotations

from ..core.shipped import shipped_toml

_TERMS = shipped_toml(__package__, "hub_terms.toml")

LICENCE_IDS = frozenset[str](_TERMS["licences"])
LANGUAGES_TWO_LETTERS = frozenset[str](_TERMS["languages"])
LANGUAGE_MISTAKES: dict[str, str] = _TERMS["language_mistakes"]
TASKS: dict[str, list[str]] = _TERMS["tasks"]
"""Task category to its task ids."""
TASK_IDS = frozenset(task for tasks in TASKS.values() for task in tasks)
TASK_ID_MISTAKES: dict[str, str] = _TERMS["task_id_mistakes"]
CHOICES: dict[str, list[str]] = _TERMS["choices"]
"""Keys with a fixed list of values."""
LIST_KEYS = ("language", "task_categories", "task_ids", "size_categories", "tags", "source_datasets", *CHOICES)
"""Keys whose value is a list of strings."""
