"""The training methods: one line each, its trainer and TRL config imported when they are asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal

Method = Literal["sft", "dpo", "kto", "reward"]

_CLASSES: dict[str, tuple[str, str]] = {
    "sft": ("hf_kokoro.training.trainers:DialogueSFTTrainer", "trl:SFTConfig"),
    "dpo": ("hf_kokoro.training.scored_dpo:ScoredDPOTrainer", "hf_kokoro.training.scored_dpo:ScoredDPOConfig"),
    "kto": ("hf_kokoro.training.scored_kto:ScoredKTOTrainer", "hf_kokoro.training.scored_kto:ScoredKTOConfig"),
    "reward": ("hf_kokoro.training.trainers:MarginRewardTrainer", "trl:RewardConfig"),
}
METHODS = tuple(_CLASSES)


def trainer_class(method: str) -> Any:
    """The trainer of a method: ours for preferences, TRL's own with our checks for SFT and reward models."""
    return _load(_CLASSES[method][0])


def config_class(method: str) -> Any:
    """The TRL config dataclass of a method."""
    return _load(_CLASSES[method][1])


def _load(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)
