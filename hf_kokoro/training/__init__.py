"""Collators, score-aware TRL trainers, chat templates, windows and recipes.

Names are imported on first use: `import hf_kokoro.training` loads no torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.lazy import on_first_use

if TYPE_CHECKING:
    from ..tokens.chat_templates import ensure_training_template
    from .collators import ScoredPreferenceCollator, ScoredUnpairedCollator
    from .merge import merge_adapter
    from .recipe import Recipe, load_recipe
    from .runner import TrainReport, run_recipe
    from .scored_dpo import ScoredDPOConfig, ScoredDPOTrainer
    from .scored_kto import ScoredKTOConfig, ScoredKTOTrainer
    from .sft_data import tokenize_sft
    from .tiny import build_tiny_model

_EXPORTS = {
    "Recipe": "recipe",
    "ScoredDPOConfig": "scored_dpo",
    "ScoredDPOTrainer": "scored_dpo",
    "ScoredKTOConfig": "scored_kto",
    "ScoredKTOTrainer": "scored_kto",
    "ScoredPreferenceCollator": "collators",
    "ScoredUnpairedCollator": "collators",
    "TrainReport": "runner",
    "build_tiny_model": "tiny",
    "ensure_training_template": "..tokens.chat_templates",
    "load_recipe": "recipe",
    "merge_adapter": "merge",
    "run_recipe": "runner",
    "tokenize_sft": "sft_data",
}

__all__ = [
    "Recipe",
    "ScoredDPOConfig",
    "ScoredDPOTrainer",
    "ScoredKTOConfig",
    "ScoredKTOTrainer",
    "ScoredPreferenceCollator",
    "ScoredUnpairedCollator",
    "TrainReport",
    "build_tiny_model",
    "ensure_training_template",
    "load_recipe",
    "merge_adapter",
    "run_recipe",
    "tokenize_sft",
]


def __dir__() -> list[str]:
    return __all__


__getattr__ = on_first_use(__name__, _EXPORTS)
