"""`train`: a recipe run, and what that needs named if it is not installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtraError

if TYPE_CHECKING:
    from ..training.preflight import Preflight
    from ..training.runner import TrainReport

_LIBRARIES = ("torch", "transformers", "trl", "peft", "accelerate")


def train(
    config: str | PathLike[str],
    overrides: Mapping[str, Any] | None = None,
    *,
    method: str | None = None,
    datasets: Mapping[str, Any] | None = None,
    on_preflight: Callable[[Preflight], None] | None = None,
) -> TrainReport:
    """Train with TRL from a recipe: a file, or the name of a built-in one.

    `overrides` are keys of the recipe with other values; `method` (sft, dpo, kto, reward) is checked against the
    recipe's; `datasets` (split name to rows) replaces the recipe's dataset; `on_preflight` sees the pre-flight table
    before step 1. Raises UsageError, SourceError, PreflightError, MissingExtraError without the extra `train`.
    """
    try:
        from ..training.recipe import load_recipe
        from ..training.runner import run_recipe

        recipe = load_recipe(str(config), dict(overrides or {}), method)
        return run_recipe(recipe, datasets=datasets, on_preflight=on_preflight)
    except ModuleNotFoundError as error:
        if error.name in _LIBRARIES:
            raise MissingExtraError(str(error.name), "train", "hf-kokoro train") from error
        raise
