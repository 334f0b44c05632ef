"""Tokenizers and context lengths of what was saved: models, adapters, models with a text part."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from transformers import Gemma3Config, LlamaConfig, PretrainedConfig

from hf_kokoro.errors import SourceError
from hf_kokoro.tokens.loading import context_length, load_tokenizer


def test_an_adapter_without_a_tokenizer_takes_its_bases_and_one_with_a_tokenizer_its_own(
    tiny_model: Path, tokenizer: Any, tmp_path: Path
) -> None:
    names = {"base_model_name_or_path": str(tiny_model)}
    (tmp_path / "adapter_config.json").write_text(json.dumps(names), "utf-8")
    assert load_tokenizer(tmp_path).get_vocab() == tokenizer.get_vocab()
    own = load_tokenizer(tiny_model)
    own.add_tokens(["grief"])
    own.save_pretrained(tmp_path)
    assert "grief" in load_tokenizer(tmp_path, base=str(tiny_model)).get_vocab()


def test_a_tokenizer_without_padding_pads_with_its_end_token(tiny_model: Path, tmp_path: Path) -> None:
    bare = load_tokenizer(tiny_model)
    bare.pad_token = None
    bare.save_pretrained(tmp_path)
    found = load_tokenizer(tmp_path)
    assert found.pad_token == found.eos_token is not None


def test_what_is_no_model_is_named_with_what_is_allowed(tmp_path: Path) -> None:
    with pytest.raises(
        SourceError, match=r"nothing' can't be loaded .*allowed: a model or adapter folder, or a Hub id"
    ):
        load_tokenizer(tmp_path / "nothing")


def test_the_context_is_that_of_the_text_part_where_a_model_has_others() -> None:
    text = {"max_position_embeddings": 77}
    assert context_length(Gemma3Config(text_config=text)) == 77
    assert context_length(LlamaConfig(max_position_embeddings=16)) == 16
    assert context_length(PretrainedConfig()) is None
