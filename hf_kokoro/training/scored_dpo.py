"""DPO that uses the score matrix: an offset per pair (ODPO) and a weight per pair.

    loss_i = -w_i * logsigmoid(beta * delta_i - alpha * f(margin_i))

with delta the difference of policy-to-reference log-ratios of chosen and rejected, `margin` the score
difference in rubric points and `w` the pair weight. ODPO: Amini, Vieira, Cotterell 2024, "Direct Preference
Optimization with an Offset". margin = 0 and weight = 1 is stock DPO to the last digit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from trl import DPOConfig, DPOTrainer
from trl.trainer.dpo_trainer import DataCollatorForPreference

from ..core.suggest import allowed
from ..errors import UsageError
from .collators import CARRIED_KEYS, ScoredPreferenceCollator
from .scored_columns import CarriesScores, check_scores, normalise_weights

MARGIN_FUNCTIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "log1p": torch.log1p,
    "linear": torch.Tensor.clone,
    "tanh": torch.tanh,
}


LOSS_TYPES = (
    "sigmoid", "hinge", "ipo", "exo_pair", "nca_pair", "robust", "bco_pair", "sppo_hard", "aot", "aot_unpaired",
    "apo_zero", "apo_down", "discopop", "sft", "sigmoid_norm",
)  # fmt: skip
"""The losses of TRL's DPOTrainer; it checks the names too late, with an error about a local variable."""


@dataclass
class ScoredDPOConfig(DPOConfig):
    """DPOConfig plus what the scores do: `alpha = 0` turns the offset off, `use_weights = False` weights."""

    alpha: float = field(default=1.0, metadata={"help": "Scale of the offset alpha * f(margin); 0 is no offset."})
    margin_fn: str = field(default="log1p", metadata={"help": "f of the offset: log1p, linear or tanh."})
    use_weights: bool = field(default=True, metadata={"help": "Multiply each pair's loss by its weight column."})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.margin_fn not in MARGIN_FUNCTIONS:
            raise UsageError(f"margin_fn: got {self.margin_fn!r}; {allowed(self.margin_fn, MARGIN_FUNCTIONS)}")
        names = [self.loss_type] if isinstance(self.loss_type, str) else list(self.loss_type)
        if not names or not set(names) <= set(LOSS_TYPES):
            raise UsageError(
                f"loss_type: got {self.loss_type!r}; {allowed(self.loss_type, LOSS_TYPES, ', or a list of them')}"
            )
        if not 0 <= self.alpha < float("inf"):
            raise UsageError(f"alpha: got {self.alpha!r}; allowed: a number >= 0 (0 is plain DPO)")


class ScoredDPOTrainer(CarriesScores, DPOTrainer):
    """DPOTrainer whose sigmoid loss takes `margin` and `weight` columns.

    Rows: `prompt`, `chosen`, `rejected` (all message lists or all strings), `margin` (>= 0, in points, for
    `alpha > 0`), `weight` (>= 0, optional; scaled to mean 1), `row_id` (optional). Nothing is cut inside an answer:
    rows whose answers and latest turn do not fit into `max_length` raise MaskError before training.

    >>> from hf_kokoro import load_dataset
    >>> from hf_kokoro.training import ScoredDPOConfig, ScoredDPOTrainer
    >>> pairs = load_dataset("miti_st_dpo", "pairs", source="./my-dataset", split="train")
    >>> args = ScoredDPOConfig(output_dir="out", alpha=0.2, max_length=2048)
    >>> ScoredDPOTrainer(model="Qwen/Qwen2.5-0.5B-Instruct", args=args, train_dataset=pairs).train()

    TRL computes and logs its own metrics, unshifted (`rewards/margins` is still beta * delta); on top come
    `odpo/offset`, `odpo/accuracies` (share of pairs beyond their offset) and `odpo/weight`, batch means.
    No forward pass is added. Other loss types (ipo, hinge, apo_zero, ...) run as TRL has them, with
    `alpha: 0` and `use_weights: false`; in a mix only the sigmoid term takes the scores.
    """

    _completion_columns = ("chosen_ids", "rejected_ids")
    data_collator: Any
    precompute_ref_logps: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        config = kwargs.get("args") or (args[2] if len(args) > 2 else None)
        if not isinstance(config, ScoredDPOConfig):
            raise UsageError(f"args: got {type(config).__name__}; allowed: a ScoredDPOConfig")
        _refuse_senseless(config)
        super().__init__(*args, **kwargs)
        if type(self.data_collator) is DataCollatorForPreference:
            # a caller's own collator is left alone; TRL's default is replaced before any dataloader exists
            self.data_collator = _scored(self.data_collator)

    def _prepare_dataset(self, dataset: Any, processing_class: Any, args: Any, dataset_name: str) -> Any:
        columns = dataset.column_names or []
        if args.alpha > 0 and columns and "margin" not in columns:
            raise UsageError(
                f"alpha: got {args.alpha} with {dataset_name} rows that have no margin column; "
                "allowed: rows with margin, or alpha: 0 for plain DPO"
            )
        check_scores(dataset, dataset_name)
        if args.use_weights:
            dataset = normalise_weights(dataset)
        return super()._prepare_dataset(dataset, processing_class, args, dataset_name)

    def _precompute_ref_logps(self, dataset: Any, name: str, batch_size: int) -> Any:
        # runs inside DPOTrainer.__init__, before this class can swap the collator
        if type(self.data_collator) is DataCollatorForPreference:
            self.data_collator = _scored(self.data_collator)
        return super()._precompute_ref_logps(dataset, name, batch_size)

    def compute_ref_log_probs(self, model: Any, inputs: dict[str, Any]) -> Any:
        return super().compute_ref_log_probs(model, {k: v for k, v in inputs.items() if k not in CARRIED_KEYS})

    def _compute_loss(self, model: Any, inputs: dict[str, Any], return_outputs: bool) -> Any:
        scores = {key: inputs[key] for key in CARRIED_KEYS if key in inputs}
        inputs = {key: value for key, value in inputs.items() if key not in CARRIED_KEYS}
        margin = scores.get("margin") if self.args.alpha > 0 else None
        weight = scores.get("weight") if self.args.use_weights else None
        if self.args.alpha > 0 and margin is None:
            raise UsageError("alpha: got rows without margin; allowed: rows with margin, or alpha: 0 for plain DPO")
        if margin is None and weight is None:
            return super()._compute_loss(model, inputs, return_outputs)
        if not self.precompute_ref_logps:
            reference = self.compute_ref_log_probs(self.ref_model or self.model, inputs)
            inputs["ref_chosen_logps"], inputs["ref_rejected_logps"] = reference
        seen: list[Any] = []

        def tee(**kwargs: Any) -> Any:
            seen.append(model(**kwargs))
            return seen[-1]

        known, self.precompute_ref_logps = self.precompute_ref_logps, True
        try:
            result = super()._compute_loss(tee, inputs, return_outputs)
        finally:
            self.precompute_ref_logps = known
        loss = result[0] if return_outputs else result
        # TRL's one policy forward, graph included; prompt learning prepends, so take the last columns
        log_probs = seen[0].log_probs[:, -(inputs["completion_mask"].size(1) - 1) :].sum(1)
        loss = loss + self._score_term(log_probs, inputs, margin, weight)
        return (loss, result[1]) if return_outputs else loss

    def _score_term(
        self,
        log_probs: torch.Tensor,
        inputs: dict[str, Any],
        margin: torch.Tensor | None,
        weight: torch.Tensor | None,
    ) -> torch.Tensor:
        """What turns TRL's mean plain sigmoid loss into the scored one: mean(scored - plain), scalar."""
        chosen, rejected = log_probs.chunk(2)
        logits = self.beta * ((chosen - inputs["ref_chosen_logps"]) - (rejected - inputs["ref_rejected_logps"]))
        offset = torch.zeros_like(logits)
        if margin is not None:
            offset = self.args.alpha * MARGIN_FUNCTIONS[self.args.margin_fn](margin.to(logits))
        weights = torch.ones_like(logits) if weight is None else weight.to(logits)
        scored = -F.logsigmoid(logits - offset) * weights
        self._log_scores(logits.detach(), offset, weights)
        terms = zip(self.loss_types, self.loss_weights, strict=True)
        share = sum(loss_weight for loss_type, loss_weight in terms if loss_type == "sigmoid")
        term: torch.Tensor = share * (scored + F.logsigmoid(logits)).mean()
        return term

    def _log_scores(self, logits: torch.Tensor, offset: torch.Tensor, weights: torch.Tensor) -> None:
        metrics = self._metrics["train" if self.model.training else "eval"]
        values = {"offset": offset, "accuracies": (logits > offset).float(), "weight": weights}
        for name, value in values.items():
            metrics[f"odpo/{name}"].append(self.accelerator.gather_for_metrics(value).mean().item())


def _scored(collator: DataCollatorForPreference) -> ScoredPreferenceCollator:
    return ScoredPreferenceCollator(**vars(collator))


def _refuse_senseless(config: ScoredDPOConfig) -> None:
    """Raise UsageError for a config in which the scores can't mean what their formula says."""
    if config.alpha == 0 and not config.use_weights:
        return
    wanted = "the scores" if config.alpha and config.use_weights else "alpha" if config.alpha else "use_weights"
    off = "set alpha: 0 and use_weights: false"
    if "sigmoid" not in config.loss_type:
        raise UsageError(f"loss_type: got {config.loss_type}; {wanted} change the sigmoid loss only; {off}")
    if config.f_divergence_type != "reverse_kl":
        got = config.f_divergence_type
        raise UsageError(f"f_divergence_type: got {got!r}; the offset is defined for reverse_kl; {off}")
    if config.ld_alpha is not None:
        raise UsageError(f"ld_alpha: got {config.ld_alpha}; the offset is defined on whole-sequence log-probs; {off}")
    if config.use_weighting:
        raise UsageError(f"use_weighting: got true; WPO's own pair weights would multiply ours; {off}")
