"""Tokenizers of models, for training and evaluation alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..errors import SourceError


def load_tokenizer(source: str | Path, *, base: str | None = None, **options: Any) -> Any:
    """The tokenizer of a model folder, an adapter folder or a Hub id, with a pad token; `options` go to transformers.

    A folder without a tokenizer (adapters may have none) takes that of `base`, else of the base it names itself.
    Raises SourceError if there is none to load.
    """
    from transformers import AutoTokenizer

    folder, wanted = Path(source), str(source)
    if folder.is_dir() and not (folder / "tokenizer_config.json").is_file():
        adapter = folder / "adapter_config.json"
        own_base = json.loads(adapter.read_text("utf-8"))["base_model_name_or_path"] if adapter.is_file() else None
        wanted = base or own_base or wanted
    try:
        tokenizer = AutoTokenizer.from_pretrained(wanted, **options)
    except OSError as error:
        raise unloadable(source, error) from error
    if tokenizer.pad_token is None:
        # padding is masked by length everywhere, so the end token of an answer keeps its loss even then
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def unloadable(path: str | Path, error: OSError) -> SourceError:
    """What to say of a model, adapter or tokenizer that transformers can't load."""
    return SourceError(
        f"model {str(path)!r} can't be loaded ({type(error).__name__}); allowed: a model or adapter folder, or a Hub "
        "id you can read (gated models need 'hf auth login')"
    )
