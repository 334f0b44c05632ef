"""The tiny model is a complete model folder, the same bytes every time."""

from __future__ import annotations

from pathlib import Path

import torch

from hf_kokoro.tokens.chat_templates import template_problem
from hf_kokoro.training.tiny import build_tiny_model

TEXTS = ["眠れない夜が続いています", "it sounds like sleep weighs on you", "you should rest"]


def test_the_same_texts_and_seed_give_the_same_bytes_and_another_seed_other_weights(tmp_path: Path) -> None:
    state = torch.random.get_rng_state()
    one, two = build_tiny_model(TEXTS, tmp_path / "1"), build_tiny_model(TEXTS, tmp_path / "2")
    other = build_tiny_model(TEXTS, tmp_path / "3", seed=7)
    for name in ("model.safetensors", "tokenizer.json", "config.json"):
        assert (one / name).read_bytes() == (two / name).read_bytes()
    assert (one / "model.safetensors").read_bytes() != (other / "model.safetensors").read_bytes()
    assert torch.equal(state, torch.random.get_rng_state())  # nobody else's randomness is touched


def test_it_loads_like_any_model_and_has_what_training_needs(tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = build_tiny_model(TEXTS, tmp_path / "tiny")
    model, tokenizer = AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    assert len({tokenizer.pad_token_id, tokenizer.bos_token_id, tokenizer.eos_token_id}) == 3
    assert model.config.eos_token_id == tokenizer.eos_token_id
    assert template_problem(tokenizer) is None
    for text in (*TEXTS, "unseen words, 未知の言葉 🙂"):
        assert tokenizer.decode(tokenizer(text)["input_ids"]) == text
