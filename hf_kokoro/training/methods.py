"""The training methods, one entry each; trainers and TRL configs are imported when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

Method = Literal["sft", "dpo", "kto", "reward"]


@dataclass(frozen=True)
class TrainingMethod:
    """What a method does, and how its command goes on behind `hf-kokoro train METHOD`; `module:Class` of its parts."""

    title: str
    example: str
    trainer: str
    config: str

    @property
    def trainer_class(self) -> Any:
        """The trainer: ours for preferences, TRL's own with our checks for SFT and reward models."""
        return _load(self.trainer)

    @property
    def config_class(self) -> Any:
        """The TRL config dataclass."""
        return _load(self.config)


METHODS: dict[str, TrainingMethod] = {
    "sft": TrainingMethod(
        "Supervised fine-tuning on dialogues or prompt-completion rows.",
        "--config tiny_kokorochat_sft --dataset_source kokorochat.tar.gz --max_steps 5",
        ".trainers:DialogueSFTTrainer",
        "trl:SFTConfig",
    ),
    "dpo": TrainingMethod(
        "Direct preference optimisation on pairs, with score offsets and weights (ODPO) if the recipe says so.",
        "--config tiny_dpo --dataset_source ./my-miti-folder --learning_rate 5e-4",
        ".scored_dpo:ScoredDPOTrainer",
        ".scored_dpo:ScoredDPOConfig",
    ),
    "kto": TrainingMethod(
        "KTO on answers labelled desirable or undesirable.",
        "--config tiny_kto --dataset_source ./my-miti-folder",
        ".scored_kto:ScoredKTOTrainer",
        ".scored_kto:ScoredKTOConfig",
    ),
    "reward": TrainingMethod(
        "A reward model on pairs, with the score difference as its margin.",
        "--config tiny_reward --dataset_source ./my-miti-folder",
        ".trainers:MarginRewardTrainer",
        "trl:RewardConfig",
    ),
}


def _load(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(import_module(module, __package__), attribute)
