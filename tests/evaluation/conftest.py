"""A tiny model and the command line for tests of evaluation."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture
def invoke() -> Callable[..., Result]:
    """Run `hf-kokoro` as a user types it; errors of ours come back as `exception`."""
    from hf_kokoro.cli import app

    def run(*words: object) -> Result:
        return CliRunner().invoke(app, [str(word) for word in words])

    return run


@pytest.fixture
def write_rows(tmp_path: Path) -> Callable[..., Path]:
    """Write rows as JSON Lines."""

    def write(name: str, rows: Iterable[Mapping[str, Any]]) -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def tiny_lm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A byte-level model of random weights with a context of 512 tokens."""
    # not at the top: tests without a model need not load torch
    from hf_kokoro.training.tiny import build_tiny_model

    texts = ["こんにちは。今日はどうされましたか。", "眠れない日が続いています。", "つらいですね。"]
    return build_tiny_model(texts, tmp_path_factory.mktemp("tiny"), context=512, vocab_size=400)
