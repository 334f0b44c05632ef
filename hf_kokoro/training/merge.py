"""Merging a LoRA adapter into its base, checked against the adapter's own outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import SourceError, UsageError
from ..tokens.loading import is_adapter, load_tokenizer
from .adapters import adapter_base, check_task
from .quantization import QuantizationError
from .quiet import quiet_in_pipes


def merge_adapter(adapter: str | Path, out_dir: str | Path, *, tolerance: float = 1e-3) -> float:
    """Merge `adapter` into its float32 base, save the result, return the largest log-prob difference (nats).

    The base is loaded without 4-bit quantisation: merged into quantised weights, an adapter is rounded away.
    Adapter-on and merged log-probs are compared on a fixed sequence; a difference over `tolerance` raises
    QuantizationError and nothing is saved.
    """
    if not is_adapter(adapter):
        raise SourceError(f"{Path(adapter).name}: got no adapter_config.json; allowed: the folder of a LoRA run")
    if Path(out_dir).resolve() == Path(adapter).resolve():
        raise UsageError("--out: got the adapter's own folder; allowed: a folder of the merged model's own")
    with quiet_in_pipes():
        return _merge(str(adapter), str(out_dir), tolerance)


def _merge(adapter: str, out_dir: str, tolerance: float) -> float:
    import torch
    from peft import AutoPeftModelForCausalLM

    base = adapter_base(adapter)
    check_task(adapter, "sft")
    try:
        model = AutoPeftModelForCausalLM.from_pretrained(adapter, dtype=torch.float32)
        tokenizer = load_tokenizer(adapter, base=base)
    except (OSError, RuntimeError) as error:
        raise SourceError(
            f"merge: {Path(adapter).name} does not go with its base {base} ({type(error).__name__}); allowed: an "
            "adapter whose base model is where adapter_config.json says"
        ) from error
    model.eval()
    vocabulary = model.get_input_embeddings().weight.size(0)
    probe = (torch.arange(1, 49) * 7919 % vocabulary).unsqueeze(0)
    before = _log_probs(model, probe)
    merged = model.merge_and_unload()
    difference = float((before - _log_probs(merged, probe)).abs().max())
    if not difference <= tolerance:
        raise QuantizationError(
            f"merge: log-probs differ by {difference:.3g} nats; allowed: {tolerance:g}; "
            "keep the adapter beside its base instead"
        )
    merged.save_pretrained(out_dir)
    tokenizer.save_pretrained(out_dir)
    return difference


def _log_probs(model: Any, ids: Any) -> Any:
    import torch

    with torch.no_grad():
        return torch.log_softmax(model(input_ids=ids).logits.double(), dim=-1)
