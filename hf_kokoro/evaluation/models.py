"""Loading a causal language model to be measured: a folder, a LoRA adapter's folder, or a Hub id."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ..errors import MissingExtraError
from ..tokens.loading import unloadable


def load_causal_lm(path: str | Path, *, dtype: str = "float32", four_bit: bool = False) -> Any:
    """The model in eval mode, on the GPU if there is one; `four_bit` is NF4 with bfloat16 arithmetic.

    Raises SourceError if it can't be loaded, MissingExtraError without transformers.
    """
    try:
        import torch
        from transformers import AutoModelForCausalLM, BitsAndBytesConfig
    except ImportError as error:
        raise MissingExtraError(error.name or "transformers", "train", "running a model") from None
    hide_bars_in_pipes()
    options: dict[str, Any] = {"dtype": dtype}
    if torch.cuda.is_available():
        options["device_map"] = {"": 0}
    if four_bit:
        options["quantization_config"] = BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16
        )
    try:
        if (Path(path) / "adapter_config.json").is_file():
            from peft import AutoPeftModelForCausalLM

            return AutoPeftModelForCausalLM.from_pretrained(str(path), **options).eval()
        return AutoModelForCausalLM.from_pretrained(str(path), **options).eval()
    except OSError as error:
        raise unloadable(path, error) from error


def hide_bars_in_pipes() -> None:
    """The library draws its bar of loaded weights into pipes too; bars are for terminals."""
    from transformers.utils import logging as transformers_logging

    if not sys.stderr.isatty():
        transformers_logging.disable_progress_bar()


def context_length(model: Any) -> int | None:
    """Tokens that fit into the model, prompt and answer together; None if its config does not say."""
    found = getattr(model.config, "max_position_embeddings", None)
    return int(found) if found else None
