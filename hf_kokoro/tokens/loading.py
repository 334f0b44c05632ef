"""Loading what transformers has saved, for training and evaluation alike: one rule for adapters, one error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..errors import SourceError

ADAPTER_FILE = "adapter_config.json"


def is_adapter(path: str | Path) -> bool:
    """Is this the folder of a PEFT adapter?"""
    return (Path(path) / ADAPTER_FILE).is_file()


def from_pretrained(auto_class: Any, path: str | Path, *, key: str = "model", more: str = "", **options: Any) -> Any:
    """What an Auto class of transformers or PEFT loads from a folder or Hub id; `options` are its own.

    Raises SourceError if it can't: about `key`, with `more` behind what is allowed.
    """
    try:
        return auto_class.from_pretrained(str(path), **options)
    except OSError as error:
        raise SourceError(
            f"{key} {str(path)!r} can't be loaded ({type(error).__name__}); allowed: a model or adapter folder, or a "
            f"Hub id you can read (gated models need 'hf auth login'){more}"
        ) from error


def load_tokenizer(source: str | Path, *, base: str | None = None, **options: Any) -> Any:
    """The tokenizer of a model folder, an adapter folder or a Hub id, with a pad token; `options` go to transformers.

    A folder without a tokenizer (adapters may have none) takes that of `base`, else of the base it names itself.
    Raises SourceError if there is none to load.
    """
    from transformers import AutoTokenizer

    folder, wanted = Path(source), str(source)
    if folder.is_dir() and not (folder / "tokenizer_config.json").is_file():
        names = json.loads((folder / ADAPTER_FILE).read_text("utf-8")) if is_adapter(folder) else {}
        wanted = base or names.get("base_model_name_or_path") or wanted
    tokenizer = from_pretrained(AutoTokenizer, wanted, **options)
    if tokenizer.pad_token is None:
        # padding is masked by length everywhere, so the end token of an answer keeps its loss even then
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def context_length(config: Any) -> int | None:
    """Tokens that fit into a model of this config, prompt and answer together; None if it does not say."""
    found = getattr(config.get_text_config(), "max_position_embeddings", None)
    return int(found) if found else None
