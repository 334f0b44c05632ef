"""Method to trainer: ours for preferences, TRL's own for SFT and reward models (with our card)."""

from __future__ import annotations

from typing import Any

from trl import RewardTrainer, SFTTrainer

from .scored_dpo import ScoredDPOTrainer
from .scored_kto import ScoredKTOTrainer
from .trainer_base import TrainerBase


class DialogueSFTTrainer(TrainerBase, SFTTrainer):
    """SFTTrainer for the token ids and labels of `sft_data.tokenize_sft`."""


class MarginRewardTrainer(TrainerBase, RewardTrainer):
    """RewardTrainer, whose loss -logsigmoid(r_chosen - r_rejected - margin) takes the `margin` column itself."""


TRAINERS: dict[str, Any] = {
    "sft": DialogueSFTTrainer,
    "dpo": ScoredDPOTrainer,
    "kto": ScoredKTOTrainer,
    "reward": MarginRewardTrainer,
}
