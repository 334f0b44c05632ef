"""A Hub of its own for the doors that find theirs by the environment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants

from ..hub.double import HubDouble


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubDouble]:
    """An empty Hub, which this process takes for the real one, with a token that may write."""
    with HubDouble(tmp_path / "hub") as double:
        template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, double.endpoint)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "ENDPOINT", double.endpoint)
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        monkeypatch.setenv("HF_TOKEN", "hf_writes")
        monkeypatch.setenv("HF_KOKORO_CACHE", str(tmp_path / "cache"))
        yield double
