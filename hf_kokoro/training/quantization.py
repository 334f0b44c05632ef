"""QLoRA through bitsandbytes, and the guard that a CPU needs.

On CPUs with AVX512_BF16, bitsandbytes (0.50) repacks 4-bit weights in place in any eval-mode forward without
gradient and never unpacks them: later training steps run, with the right loss, and with gradients that have
almost nothing to do with the right ones. `guard_cpu_4bit` keeps the unpacked path, which has a backward.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import KokoroError, MissingExtraError
from .distributed import uses_fsdp
from .recipe import RecipeSettings


class QuantizationError(KokoroError):
    """Quantisation was asked for and did not happen, or changed what the model says."""


def quantization_config(settings: RecipeSettings) -> Any:
    """NF4 with double quantisation (Dettmers et al. 2023); compute in bf16 on a GPU, float32 on a CPU."""
    if not settings.load_in_4bit:
        return None
    try:
        import bitsandbytes  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("bitsandbytes", "train", "load_in_4bit") from error
    import torch
    from transformers import BitsAndBytesConfig

    return BitsAndBytesConfig(
        load_in_4bit=True,
        # FSDP shards tensors of one dtype, so there the 4-bit blocks are stored as if they were bf16
        bnb_4bit_quant_storage=torch.bfloat16 if uses_fsdp() else torch.uint8,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16 if torch.cuda.is_available() else torch.float32,
    )


@contextmanager
def cpu_4bit_loading() -> Iterator[None]:
    """While a model loads: its layers are made with the repacking switched off."""
    from bitsandbytes.nn import modules

    detected = getattr(modules, "has_avx512bf16", None)
    if detected is None:
        yield
        return
    modules.has_avx512bf16 = _no
    try:
        yield
    finally:
        modules.has_avx512bf16 = detected


def guard_cpu_4bit(model: Any) -> int:
    """Switch the repacking off in every 4-bit layer; returns how many there are. Raises QuantizationError at 0."""
    import bitsandbytes as bnb

    layers = [module for module in model.modules() if isinstance(module, bnb.nn.Linear4bit)]
    for layer in layers:
        layer.support_avx512bf16_for_cpu = False
    if not layers:
        raise QuantizationError(
            f"load_in_4bit: got {type(model).__name__} with 0 quantised layers (bitsandbytes replaces Linear layers; "
            "GPT-2 and its kin use Conv1D); allowed: a model of Linear layers; set load_in_4bit: false for plain LoRA"
        )
    return len(layers)


def _no() -> bool:
    return False
