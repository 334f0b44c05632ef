"""Rows that are mapped once and kept: what the cache of `datasets` must know to be right."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any


class Versioned:
    """A function for `Dataset.map` or `filter` whose cached result is used only by the code that made it.

    `datasets` keys its cache by a function's name where it can import the function, so that after an upgrade
    the rows of the old code would come back under the new one.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.code = training_code()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


@cache
def training_code() -> str:
    """Digest of the source files that turn rows into tokens: this folder's and those of `tokens`."""
    digest = hashlib.sha256()
    here = Path(__file__).parent
    for path in sorted([*here.glob("*.py"), *(here.parent / "tokens").glob("*.py")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()
