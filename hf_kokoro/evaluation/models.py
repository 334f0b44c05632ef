"""Loading a model to be measured: a folder, a LoRA adapter's folder, or a Hub id."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ..errors import MissingExtraError, UsageError
from ..tokens.loading import from_pretrained, is_adapter


def load_causal_lm(path: str | Path, *, dtype: str = "float32", four_bit: bool = False) -> Any:
    """The language model in eval mode, on the GPU if there is one; `four_bit` is NF4 with bfloat16 arithmetic.

    Raises SourceError if it can't be loaded, MissingExtraError without transformers.
    """
    auto_class = _auto_class("CausalLM", path, "running a model")
    import torch
    from transformers import BitsAndBytesConfig

    options: dict[str, Any] = {"dtype": dtype}
    if torch.cuda.is_available():
        options["device_map"] = {"": 0}
    if four_bit:
        options["quantization_config"] = BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16
        )
    return from_pretrained(auto_class, path, **options).eval()


def load_reward_model(path: str | Path) -> Any:
    """A sequence-classification model with one output, as TRL's reward trainer saves it, in eval mode.

    Raises SourceError if it can't be loaded, UsageError if it has another number of outputs.
    """
    auto_class = _auto_class("SequenceClassification", path, "a reward model")
    # an adapter's base is a language model, whose config knows nothing of the one output
    outputs: dict[str, Any] = {"num_labels": 1} if is_adapter(path) else {}
    model = from_pretrained(auto_class, path, key="reward model", dtype="float32", **outputs)
    if model.config.num_labels != 1:
        raise UsageError(f"reward model {str(path)!r}: has {model.config.num_labels} outputs; allowed: one")
    return model.eval()


def _auto_class(task: str, path: str | Path, purpose: str) -> Any:
    """The class that loads a model for a task: of transformers, or of PEFT where the folder holds an adapter."""
    try:
        import torch  # noqa: F401
        import transformers
    except ImportError as error:
        raise MissingExtraError(error.name or "transformers", "train", purpose) from None
    if not sys.stderr.isatty():
        # the library draws its bar of loaded weights into pipes too; bars are for terminals
        transformers.utils.logging.disable_progress_bar()
    if is_adapter(path):
        import peft

        return getattr(peft, f"AutoPeftModelFor{task}")
    return getattr(transformers, f"AutoModelFor{task}")
