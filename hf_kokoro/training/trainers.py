"""TRL's own trainers for SFT and reward models, with our checks of rows and our card."""

from __future__ import annotations

from typing import Any

from trl import RewardTrainer, SFTTrainer

from .messages import check_keys
from .scored_columns import check_scores
from .trainer_base import TrainerBase


class DialogueSFTTrainer(TrainerBase, SFTTrainer):
    """SFTTrainer for the token ids and labels of `sft_data.tokenize_sft`; TRL alone would learn turns of weight 0."""

    def _prepare_dataset(self, dataset: Any, *args: Any, **kwargs: Any) -> Any:
        dataset = check_keys(dataset, str(kwargs.get("dataset_name", args[-1] if args else "rows")), weights=False)
        return super()._prepare_dataset(dataset, *args, **kwargs)


class MarginRewardTrainer(TrainerBase, RewardTrainer):
    """RewardTrainer, whose loss -logsigmoid(r_chosen - r_rejected - margin) takes the `margin` column itself."""

    def _prepare_dataset(self, dataset: Any, *args: Any, **kwargs: Any) -> Any:
        name = str(kwargs.get("dataset_name", args[-1] if args else "rows"))
        check_scores(dataset, name)
        dataset = check_keys(dataset, name, weights=False)
        return super()._prepare_dataset(dataset, *args, **kwargs)
