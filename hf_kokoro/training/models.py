"""From a recipe's model keys to a model and a tokenizer that are safe to train with."""

from __future__ import annotations

import logging
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from ..tokens.loading import from_pretrained, load_tokenizer
from .adapters import adapter_base, check_task, load_adapter
from .quantization import cpu_4bit_loading, guard_cpu_4bit, quantization_config
from .recipe import TINY, RecipeSettings

logger = logging.getLogger(__name__)


def prepare_tokenizer(settings: RecipeSettings, path: str, *, conversational: bool = True) -> Any:
    """The tokenizer of the model (or of the adapter), with a pad token and a chat template to train with.

    Rows of plain text (not `conversational`) are trained on without any template.
    """
    from ..tokens.chat_templates import ensure_training_template

    source = settings.adapter_name_or_path or path
    tokenizer = load_tokenizer(source, base=path, revision=settings.model_revision or "main")
    # rows are cut into windows and prompts here, so its warning about long texts only alarms
    tokenizer.deprecation_warnings["sequence-length-is-longer-than-the-specified-maximum"] = True
    if settings.chat_template is not None or (
        conversational and (settings.method == "sft" or not tokenizer.chat_template)
    ):
        choice = ensure_training_template(tokenizer, settings.chat_template)
        if not choice.same_rendering:
            logger.warning(
                "chat template %s renders a conversation differently from the model's own; it is saved with the "
                "tokenizer, so prompt the trained model through it",
                choice.origin,
            )
    return tokenizer


def load_policy(settings: RecipeSettings, path: str) -> Any:
    """The model to train: plain, or with the adapter of `adapter_name_or_path` loaded trainable."""
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification

    reward = settings.method == "reward"
    quantization = quantization_config(settings)
    options = {
        "dtype": getattr(torch, settings.dtype),
        "revision": settings.model_revision,
        "attn_implementation": settings.attn_implementation,
        "num_labels": 1 if reward else None,
        "quantization_config": quantization,
    }
    with nullcontext() if quantization is None else cpu_4bit_loading():
        model = from_pretrained(
            AutoModelForSequenceClassification if reward else AutoModelForCausalLM,
            path,
            key="model_name_or_path",
            more=f", or {TINY!r}",
            **{key: value for key, value in options.items() if value is not None},
        )
    if quantization is not None:
        guard_cpu_4bit(model)
    if settings.adapter_name_or_path is None:
        return model
    return load_adapter(model, settings.adapter_name_or_path)


def lora_config(settings: RecipeSettings) -> Any:
    """The recipe's LoRA settings as a PEFT config, or None without `use_peft`."""
    if not settings.use_peft or settings.adapter_name_or_path is not None:
        return None
    from peft import LoraConfig

    return LoraConfig(
        r=settings.lora_r,
        lora_alpha=settings.lora_alpha,
        lora_dropout=settings.lora_dropout,
        target_modules=settings.lora_target_modules,
        bias="none",
        task_type="SEQ_CLS" if settings.method == "reward" else "CAUSAL_LM",
    )


def trains_adapter(settings: RecipeSettings) -> bool:
    """Is what the run trains an adapter, a new one or that of `adapter_name_or_path`?"""
    return settings.use_peft or settings.adapter_name_or_path is not None


def base_is_tiny(settings: RecipeSettings) -> bool:
    """Is the base the tiny model that `model_path` builds in the run folder?"""
    return settings.adapter_name_or_path is None and settings.model_name_or_path == TINY


def model_path(settings: RecipeSettings, texts: Any, run_dir: Path, seed: int) -> str:
    """The folder or Hub id to load; the name `tiny` builds a tiny model of `texts` inside the run folder."""
    if settings.adapter_name_or_path is not None:
        check_task(settings.adapter_name_or_path, settings.method)
        return adapter_base(settings.adapter_name_or_path)
    if not base_is_tiny(settings):
        return settings.model_name_or_path
    from .tiny import build_tiny_model

    folder = run_dir / "tiny-base"
    if not (folder / "model.safetensors").is_file():
        build_tiny_model(texts, folder, seed=seed)
    return str(folder)
