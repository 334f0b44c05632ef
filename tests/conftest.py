"""Fixtures that every folder of tests may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

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
