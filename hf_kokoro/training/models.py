"""From a recipe's model keys to a model and a tokenizer that are safe to train with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import SourceError
from .recipe import TINY, RecipeSettings


def load_tokenizer(settings: RecipeSettings, path: str) -> Any:
    """The tokenizer, with a pad token that is not the end token where the vocabulary offers one."""
    from transformers import AutoTokenizer

    return _from_pretrained(AutoTokenizer, path, revision=settings.model_revision)


def load_policy(settings: RecipeSettings, path: str) -> Any:
    """The model to train: plain, or with the adapter of `adapter_name_or_path` loaded trainable."""
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification

    dtype = getattr(torch, settings.dtype)
    options: dict[str, Any] = {"dtype": dtype, "revision": settings.model_revision}
    if settings.attn_implementation:
        options["attn_implementation"] = settings.attn_implementation
    if settings.method == "reward":
        return _from_pretrained(AutoModelForSequenceClassification, path, num_labels=1, **options)
    return _from_pretrained(AutoModelForCausalLM, path, **options)


def lora_config(settings: RecipeSettings) -> Any:
    """The recipe's LoRA settings as a PEFT config, or None without `use_peft`."""
    if not settings.use_peft:
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


def model_path(settings: RecipeSettings, texts: Any, run_dir: Path, seed: int) -> str:
    """The folder or Hub id to load; the name `tiny` builds a tiny model of `texts` inside the run folder."""
    if settings.model_name_or_path != TINY:
        return settings.model_name_or_path
    from .tiny import build_tiny_model

    folder = run_dir / "tiny-base"
    if not (folder / "model.safetensors").is_file():
        build_tiny_model(texts, folder, seed=seed)
    return str(folder)


def _from_pretrained(auto_class: Any, path: str, **options: Any) -> Any:
    try:
        return auto_class.from_pretrained(
            path, **{key: value for key, value in options.items() if value is not None}
        )
    except OSError as error:
        raise SourceError(
            f"model_name_or_path {path!r} can't be loaded ({type(error).__name__}); allowed: a model folder, "
            f"a Hub id you can read (gated models need 'hf auth login'), or {TINY!r}"
        ) from error
