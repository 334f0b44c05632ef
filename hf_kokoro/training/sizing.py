"""How large a run will be: optimizer steps, sequence length and memory, into the pre-flight table."""

from __future__ import annotations

import math
from typing import Any

from ..tokens.loading import context_length
from .distributed import count_shards
from .memory import GIB, count_lora_parameters, guess_memory
from .models import lora_config, trains_adapter
from .prepare import Prepared
from .recipe import TINY, Recipe


def size_up(recipe: Recipe, args: Any, model: Any, prepared: Prepared, base: str) -> None:
    """Expected steps and memory into the pre-flight table; checkpointing on only if memory does not do."""
    rows, batch = len(prepared.train), args.per_device_train_batch_size
    if recipe.settings.method == "kto":
        rows *= 2 if "chosen" in prepared.train.column_names else 1  # pairs are unpaired first
        rows -= rows % batch  # ScoredKTOTrainer leaves a short last batch out
    an_epoch = math.ceil(rows / (batch * args.world_size * args.gradient_accumulation_steps))
    steps = args.max_steps if args.max_steps > 0 else math.ceil(an_epoch * args.num_train_epochs)
    prepared.preflight.add("optimizer steps expected", f"{steps} ({an_epoch} an epoch)")
    sequences = batch * (1 if recipe.settings.method == "sft" else 2)
    lora = lora_config(recipe.settings)
    with_reference = recipe.settings.method in ("dpo", "kto") and not args.precompute_ref_log_probs
    guess = guess_memory(
        model,
        sequences,
        prepared.longest,
        trainable=None if lora is None else count_lora_parameters(model, lora.r, recipe.settings.lora_target_modules),
        separate_reference=with_reference and not trains_adapter(recipe.settings),
        shards=count_shards(args),
    )
    context = context_length(model.config)
    if context and prepared.longest > context:
        prepared.preflight.add(
            "longest sequence",
            f"{prepared.longest} tokens",
            "note",
            f"the model's context is {context}: lower max_length",
        )
    if recipe.settings.model_name_or_path not in (TINY, base):
        prepared.preflight.add("base model", base, "note", "the adapter's own; model_name_or_path has no part in it")
    asked = {"gradient_checkpointing", "activation_checkpointing"} & set(recipe.trainer)
    if not asked:
        args.gradient_checkpointing = args.activation_checkpointing = guess.needs_checkpointing
    total = guess.total(args.gradient_checkpointing)
    over = total > guess.available
    prepared.preflight.add(
        "memory guess",
        f"{total / GIB:.1f} GiB of {guess.available / GIB:.1f} GiB free, checkpointing "
        f"{'on' if args.gradient_checkpointing else 'off'}",
        "note" if over else "ok",
        "may not fit: lower the batch, max_length, or set load_in_4bit" if over else "",
    )
