"""Rows and models of the training tests alone; tiny models are in `tests/conftest.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..conftest import FAMILY_TOKENS


@pytest.fixture(scope="session")
def miti_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty MITI-ST rows in a folder; never written to by tests."""
    from .miti_rows import write_miti_folder

    return write_miti_folder(tmp_path_factory.mktemp("rows") / "miti")


@pytest.fixture(scope="session")
def tiny_swallow(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model with the turn markers of Llama 3 in its vocabulary, as every model of that family has them."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = tmp_path_factory.mktemp("model") / "swallow"
    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    tokenizer.add_special_tokens({"additional_special_tokens": list(FAMILY_TOKENS)})
    model = AutoModelForCausalLM.from_pretrained(tiny_model)
    model.resize_token_embeddings(len(tokenizer))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
