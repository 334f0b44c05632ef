"""A guess at peak memory, good to a factor of about 1.5, to decide on gradient checkpointing and to warn early."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

GIB = 1024**3


@dataclass(frozen=True)
class MemoryGuess:
    """Bytes: `fixed` (weights, gradients, optimizer, reference), `activations` without and with checkpointing."""

    fixed: int
    activations: int
    checkpointed: int
    available: int

    @property
    def needs_checkpointing(self) -> bool:
        # a quarter is left for the allocator, the data and everything else on the machine
        return self.fixed + self.activations > 0.75 * self.available

    def total(self, checkpointing: bool) -> int:
        return self.fixed + (self.checkpointed if checkpointing else self.activations)


def count_parameters(model: Any, *, trainable: bool = False) -> int:
    """Parameters of the whole model, also where ZeRO-3 left this process with a part of each."""
    chosen = (p for p in model.parameters() if p.requires_grad or not trainable)
    return sum(_size(p) for p in chosen)


def count_lora_parameters(model: Any, rank: int, targets: str | Sequence[str]) -> int:
    """Parameters that a LoRA of this rank adds to the model's linear layers (`all-linear`, or names of layers)."""
    head = model.get_output_embeddings()
    added = 0
    for name, module in model.named_modules():
        if module is head or not hasattr(module, "in_features"):
            continue
        if targets == "all-linear" or name.rpartition(".")[2] in targets:
            added += rank * (module.in_features + module.out_features)
    return added


def guess_memory(
    model: Any,
    sequences: int,
    tokens: int,
    *,
    trainable: int | None = None,
    separate_reference: bool = False,
    shards: int = 1,
) -> MemoryGuess:
    """Guess for `sequences` sequences of `tokens` tokens a step (a DPO batch of B has 2B), for one process.

    `trainable` parameters are the model's own unless an adapter is yet to be put on.

    Activations: 34 bytes a token, layer and hidden unit in 16 bit (Korthikanti et al. 2022, eq. 1, without
    the attention matrix, which SDPA does not keep), twice that in 32 bit; checkpointed: one hidden state a
    layer plus one layer's activations.
    """
    config = model.config.get_text_config()
    weights = sum(_size(p) * p.element_size() for p in model.parameters())
    trainable = count_parameters(model, trainable=True) if trainable is None else trainable
    width = 4 if _dtype_bytes(model) == 4 else 2
    per_layer = sequences * tokens * config.hidden_size * 17 * width
    hidden = sequences * tokens * config.hidden_size * width
    layers = config.num_hidden_layers
    return MemoryGuess(
        # gradient and two Adam moments in float32; FSDP and ZeRO-3 split all of this over `shards` processes
        fixed=(weights * (2 if separate_reference else 1) + 12 * trainable) // shards,
        activations=layers * per_layer,
        checkpointed=layers * hidden + per_layer,
        # the weights are loaded by now: what they take of the device is part of `fixed`, not gone
        available=available_memory() + (0 if _waits_for_gpu(model) else weights),
    )


def available_memory() -> int:
    """Bytes free on the GPU, or of the machine's memory where there is none."""
    import torch

    if torch.cuda.is_available():
        return int(torch.cuda.mem_get_info()[0])
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):  # not every system counts free pages
        return 8 * GIB


def _waits_for_gpu(model: Any) -> bool:
    """Is there a GPU that the trainer will move the weights to, and has not yet?"""
    import torch

    return torch.cuda.is_available() and next(model.parameters()).device.type != "cuda"


def _size(parameter: Any) -> int:
    return int(getattr(parameter, "ds_numel", parameter.numel()))


def _dtype_bytes(model: Any) -> int:
    return max((p.element_size() for p in model.parameters() if p.is_floating_point()), default=4)
