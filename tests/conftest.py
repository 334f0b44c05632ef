"""Fixtures that every folder of tests may use."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

# two cores are all that CI has; more threads than cores only slow tiny models down
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "hf_kokoro" / "samples"


@pytest.fixture(autouse=True)
def _own_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or fills the user's caches."""
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "datasets-cache")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "datasets-cache"))


@pytest.fixture(scope="session")
def samples() -> Path:
    """The bundled, fictional sample."""
    return SAMPLES


@pytest.fixture(scope="session")
def real_data_dir() -> Path:
    """Upstream's real files: $HF_KOKORO_DATA, or `shared/data` beside the checkout. Skips where there are none."""
    folder = Path(os.environ.get("HF_KOKORO_DATA") or ROOT.parent / "shared" / "data")
    if not (folder / "kokorochat.tar.gz").exists():
        pytest.skip(f"no upstream files in {folder.name}; set HF_KOKORO_DATA to a folder that holds them")
    return folder


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny Llama with its tokenizer; never written to by tests."""
    from hf_kokoro.training.tiny import build_tiny_model
    from tests.training.training_rows import make_pairs

    texts = [turn["content"] for row in make_pairs(24) for key in ("prompt", "chosen", "rejected") for turn in row[key]]
    return build_tiny_model(texts, tmp_path_factory.mktemp("model") / "tiny", vocab_size=400, context=512)


@pytest.fixture
def load_tiny(tiny_model: Path) -> Any:
    """A function that gives a fresh copy of the tiny model; `noise` moves its weights off the reference."""
    import torch
    from transformers import AutoModelForCausalLM

    def load(noise: float = 0.0) -> Any:
        model = AutoModelForCausalLM.from_pretrained(tiny_model, dtype=torch.float32)
        if noise:
            generator = torch.Generator().manual_seed(7)
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.add_(noise * torch.randn(parameter.shape, generator=generator))
        return model

    return load


@pytest.fixture(scope="session")
def tokenizer(tiny_model: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(tiny_model)


FAMILY_TOKENS = ("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<start_of_turn>", "<end_of_turn>")


@pytest.fixture
def family_tokenizer(tiny_model: Path) -> Any:
    """A function that gives a tokenizer with every family's markers and the training template of one."""
    from transformers import AutoTokenizer

    from hf_kokoro.tokens.chat_templates import ensure_training_template

    def load(family: str) -> Any:
        tokenizer = AutoTokenizer.from_pretrained(tiny_model)
        tokenizer.add_special_tokens({"additional_special_tokens": [*FAMILY_TOKENS, "<think>", "</think>"]})
        ensure_training_template(tokenizer, family)
        return tokenizer

    return load
