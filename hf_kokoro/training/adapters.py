"""Starting preference training from a trained adapter: it is the reference, and step 0 proves it."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from ..errors import KokoroError, SourceError, UsageError

logger = logging.getLogger(__name__)


class StartError(KokoroError):
    """The policy differs from its reference before any step was taken."""


def adapter_base(adapter: str, revision: str | None = None) -> str:
    """The base model that an adapter (folder or Hub id) was trained on."""
    from peft import PeftConfig

    try:
        if Path(adapter).is_dir():
            base = json.loads((Path(adapter) / "adapter_config.json").read_text("utf-8"))["base_model_name_or_path"]
        else:
            base = PeftConfig.from_pretrained(adapter, revision=revision).base_model_name_or_path
    except (OSError, ValueError, KeyError) as error:
        raise SourceError(
            f"adapter_name_or_path {adapter!r} can't be read ({type(error).__name__}); allowed: a folder or Hub id "
            "with adapter_config.json, such as the output_dir of a LoRA run"
        ) from error
    return str(base)


def check_task(adapter: str, method: str) -> None:
    """Raise UsageError for an adapter of a reward model where a language model is to be trained, or the reverse."""
    from peft import PeftConfig

    task = str(PeftConfig.from_pretrained(adapter).task_type or "")
    wanted = "SEQ_CLS" if method == "reward" else "CAUSAL_LM"
    if task and wanted not in task:
        raise UsageError(
            f"adapter_name_or_path: {adapter} is an adapter for {task}; allowed for {method}: one for {wanted}"
        )


def load_adapter(model: Any, adapter: str) -> Any:
    """The model with the adapter on top, trainable; TRL then keeps a frozen copy of it as the reference."""
    from peft import PeftModel

    loaded = PeftModel.from_pretrained(model, adapter, is_trainable=True)
    if not any(parameter.requires_grad for parameter in loaded.parameters()):
        raise SourceError(f"adapter_name_or_path {adapter!r}: got no trainable parameter; allowed: a LoRA adapter")
    return loaded


class StepZeroCheck(TrainerCallback):
    """Asserts that policy and reference agree once the trainer has placed (and sharded) both, before step 1."""

    def __init__(self, trainer: Any) -> None:
        self.trainer = trainer

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step == 0:
            assert_policy_is_reference(self.trainer)


def assert_policy_is_reference(trainer: Any) -> float:
    """Largest |policy - reference| (nats a sequence) on the first training rows; raises StartError if too large.

    A bare base model as the reference of an adapter-initialised policy passes every shape check and trains
    against the wrong point; this is the one cheap place to see it. The reference is asked the same batch in
    the same precision, so the two agree to the bit; log-probs that were precomputed come from other batches
    and differ by rounding, which in 16 bit is of the order of a nat a sequence.
    """
    import torch

    size = min(trainer.args.per_device_train_batch_size, len(trainer.train_dataset))
    rows = [trainer.train_dataset[index] for index in range(size)]
    batch = trainer._prepare_inputs(trainer.data_collator(rows))
    model = trainer.model_wrapped
    exact = trainer.accelerator.mixed_precision == "no" and trainer.model.dtype == torch.float32
    was_training = model.training
    model.eval()
    try:
        policy = _log_probs(trainer, model, batch)
        references = {"the reference": (_live_reference(trainer, model, batch), 1e-3 if exact else 0.05)}
        references["the precomputed reference"] = (_stored_reference(batch), 1e-3 if exact else 1.0)
    finally:
        model.train(was_training)
    hundreds = max(1.0, float(batch["completion_mask"].sum(1).max()) / 100)
    worst = 0.0
    for name, (reference, tolerance) in references.items():
        if reference is None:
            continue
        difference = float((policy - reference).abs().max())
        worst = max(worst, difference)
        if not difference <= tolerance * hundreds:
            raise StartError(
                f"step 0: policy and {name} differ by {difference:.3g} nats a sequence; "
                f"allowed: {tolerance * hundreds:.1g}; the adapter must be the reference it starts from "
                "(adapter_name_or_path), with dropout off"
            )
    return worst


def _log_probs(trainer: Any, model: Any, batch: dict[str, Any]) -> Any:
    """Summed completion log-probs of the batch's sequences, as the trainer's loss takes them."""
    import torch

    labels = batch["input_ids"].masked_fill(batch["completion_mask"] == 0, -100)
    inputs = {key: batch[key] for key in ("input_ids", "attention_mask", "token_type_ids") if key in batch}
    with torch.no_grad(), trainer.accelerator.autocast():
        found = model(**inputs, labels=labels, use_cache=False, fused_lm_head=True).log_probs
    return found[:, -(labels.size(1) - 1) :].sum(1)


def _live_reference(trainer: Any, model: Any, batch: dict[str, Any]) -> Any:
    """The reference model's log-probs, or the policy's own with its adapter off; None if neither is in memory."""
    import torch
    from peft import PeftModel

    if trainer.ref_model is None and not isinstance(trainer.accelerator.unwrap_model(trainer.model), PeftModel):
        return None
    found = trainer.compute_ref_log_probs(trainer.ref_model or model, batch)
    # KTO gives (completion, KL) log-probs of the same rows, DPO those of chosen and rejected
    return found[0] if "label" in batch else torch.cat(list(found))


def _stored_reference(batch: dict[str, Any]) -> Any:
    import torch

    if "ref_chosen_logps" in batch:
        return torch.cat([batch["ref_chosen_logps"], batch["ref_rejected_logps"]])
    return batch.get("ref_logps")
