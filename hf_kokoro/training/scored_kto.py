"""KTO with a weight per row, class weights from the label counts, and an order that its KL estimate needs."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

import torch
from datasets import IterableDataset
from trl import KTOConfig, KTOTrainer
from trl.data_utils import unpair_preference_dataset
from trl.trainer.kto_trainer import DataCollatorForUnpairedPreference

from ..core.suggest import allowed
from ..errors import UsageError
from .collators import CARRIED_KEYS, ScoredUnpairedCollator
from .kto_order import class_weights, order_rows
from .scored_columns import CarriesScores, check_scores, normalise_weights

logger = logging.getLogger(__name__)


LOSS_TYPES = ("kto", "apo_zero_unpaired")
"""The losses of TRL's KTOTrainer."""


@dataclass
class ScoredKTOConfig(KTOConfig):
    """KTOConfig plus row weights and class balance.

    With `balance_classes`, class weights that were left at 1 are computed from the label counts.
    """

    use_weights: bool = field(default=True, metadata={"help": "Multiply each row's loss by its weight column."})
    balance_classes: bool = field(default=True, metadata={"help": "Compute class weights from the label counts."})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.loss_type not in LOSS_TYPES:
            raise UsageError(f"loss_type: got {self.loss_type!r}; {allowed(self.loss_type, LOSS_TYPES)}")


class ScoredKTOTrainer(CarriesScores, KTOTrainer):
    """KTOTrainer for rows with `weight`: loss_i = w_i * (class weight) * TRL's loss of row i.

    Training rows are ordered once (`kto_order.order_rows`, seeded by `args.seed`); a tail shorter than the
    batch is left out and counted. Data of one class is refused. Paired rows are unpaired first.
    """

    _completion_columns = ("completion_ids",)
    data_collator: Any
    desirable_weight: Any
    undesirable_weight: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        config = kwargs.get("args") or (args[2] if len(args) > 2 else None)
        if not isinstance(config, ScoredKTOConfig):
            raise UsageError(f"args: got {type(config).__name__}; allowed: a ScoredKTOConfig")
        super().__init__(*args, **kwargs)
        self._use_scored_collator()

    def _use_scored_collator(self) -> None:
        if type(self.data_collator) is DataCollatorForUnpairedPreference:
            self.data_collator = ScoredUnpairedCollator(**vars(self.data_collator))

    def _prepare_dataset(self, dataset: Any, processing_class: Any, args: Any, dataset_name: str) -> Any:
        if not isinstance(dataset, IterableDataset):
            if "chosen" in dataset.column_names:
                dataset = unpair_preference_dataset(dataset)
            if dataset_name == "train":
                dataset = self._order(dataset, args)
        check_scores(dataset, dataset_name)
        if args.use_weights:
            dataset = normalise_weights(dataset)
        return super()._prepare_dataset(dataset, processing_class, args, dataset_name)

    def _order(self, dataset: Any, args: Any) -> Any:
        labels = [bool(label) for label in dataset["label"]]
        desirable, undesirable = sum(labels), len(labels) - sum(labels)
        if not desirable or not undesirable:
            raise UsageError(
                f"label: got {desirable} desirable and {undesirable} undesirable rows; allowed: some of both "
                "(with one class KTO only drifts from the reference); change the threshold that makes the "
                "labels, or use SFT on the desirable rows"
            )
        if args.balance_classes and self.desirable_weight == self.undesirable_weight == 1.0:
            self.desirable_weight, self.undesirable_weight = class_weights(desirable, undesirable)
        size = args.per_device_train_batch_size
        order = order_rows(labels, [_prompt_key(prompt) for prompt in dataset["prompt"]], size, args.seed)
        if not order.indices:
            raise UsageError(f"per_device_train_batch_size: got {size} with {len(labels)} rows; allowed: at most that")
        if order.single_class_batches and args.loss_type == "kto":
            logger.warning(
                "%d of %d batches hold one class; per_device_train_batch_size %d would give every batch both",
                order.single_class_batches,
                len(order.indices) // size,
                order.batch_size_for_both,
            )
        if order.trimmed or order.same_prompt_neighbours:
            logger.info(
                "left out %d rows of the last, short batch; %d rows share a prompt with their KL neighbour",
                order.trimmed,
                order.same_prompt_neighbours,
            )
        return dataset.select(order.indices)

    def _precompute_ref_logps(self, dataset: Any, name: str, batch_size: int) -> Any:
        # runs inside KTOTrainer.__init__, before this class can swap the collator
        self._use_scored_collator()
        return super()._precompute_ref_logps(dataset, name, batch_size)

    def compute_ref_log_probs(self, model: Any, inputs: dict[str, Any]) -> Any:
        return super().compute_ref_log_probs(model, {k: v for k, v in inputs.items() if k not in CARRIED_KEYS})

    def _compute_loss(self, model: Any, inputs: dict[str, Any], return_outputs: bool) -> Any:
        weight = inputs.get("weight") if self.args.use_weights else None
        inputs = {key: value for key, value in inputs.items() if key not in CARRIED_KEYS}
        if weight is None:
            return super()._compute_loss(model, inputs, return_outputs)
        label = inputs["label"].bool()
        weight = weight.to(device=label.device, dtype=torch.float32)
        saved = self.desirable_weight, self.undesirable_weight
        # TRL multiplies each class's losses, in row order, by its class weight: a vector is a weight per row
        self.desirable_weight, self.undesirable_weight = saved[0] * weight[label], saved[1] * weight[~label]
        try:
            return super()._compute_loss(model, inputs, return_outputs)
        finally:
            self.desirable_weight, self.undesirable_weight = saved


def _prompt_key(prompt: Any) -> Any:
    return prompt if isinstance(prompt, str) else tuple((turn["role"], turn["content"]) for turn in prompt)
