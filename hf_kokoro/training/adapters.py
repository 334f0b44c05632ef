"""Starting preference training from a trained adapter: it is the reference, and step 0 proves it."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from ..errors import KokoroError, SourceError

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


def load_adapter(model: Any, adapter: str) -> Any:
    """The model with the adapter on top, trainable; TRL then keeps a frozen copy of it as the reference."""
    from peft import PeftModel

    loaded = PeftModel.from_pretrained(model, adapter, is_trainable=True)
    if not any(parameter.requires_grad for parameter in loaded.parameters()):
        raise SourceError(f"adapter_name_or_path {adapter!r}: got no trainable parameter; allowed: a LoRA adapter")
    return loaded


def assert_policy_is_reference(trainer: Any, tolerance: float = 1e-3) -> float:
    """Largest |policy - reference| sequence log-prob (nats) of the first batch; raises if over `tolerance`.

    A bare base model as the reference of an adapter-initialised policy passes every shape check and trains
    against the wrong point; this is the one cheap place to see it. `tolerance` scales with 100 tokens.
    """
    import torch

    with torch.random.fork_rng(devices=[]):  # looking at a batch must not change the order of training
        batch = trainer._prepare_inputs(next(iter(trainer.get_train_dataloader())))
    model = trainer.model
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad(), trainer.compute_loss_context_manager():
            known = ("input_ids", "attention_mask", "token_type_ids")
            labels = batch["input_ids"].masked_fill(batch["completion_mask"] == 0, -100)
            inputs = {key: batch[key] for key in known if key in batch}
            policy = model(**inputs, labels=labels, use_cache=False, fused_lm_head=True).log_probs
            policy = policy[:, -(labels.size(1) - 1) :].sum(1)
            reference = _reference(trainer, batch)
    finally:
        model.train(was_training)
    difference = float((policy - reference).abs().max())
    allowed = tolerance * max(1.0, float(batch["completion_mask"].sum(1).max()) / 100)
    if not difference <= allowed:
        raise StartError(
            f"step 0: policy and reference differ by {difference:.3g} nats a sequence; allowed: {allowed:.1g}; "
            "the adapter must be the reference it starts from (adapter_name_or_path), with dropout off"
        )
    return difference


def _reference(trainer: Any, batch: dict[str, Any]) -> Any:
    import torch

    if "ref_chosen_logps" in batch:
        return torch.cat([batch["ref_chosen_logps"], batch["ref_rejected_logps"]])
    if "ref_logps" in batch:
        return batch["ref_logps"]
    found = trainer.compute_ref_log_probs(trainer.ref_model or trainer.model, batch)
    if "label" in batch:  # KTO gives (completion, KL) log-probs of the same rows
        return found[0]
    return torch.cat(list(found))
