from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants

from ..hub.double import HubDouble
from ..judging.judging_support import SAMPLE


@pytest.fixture(autouse=True)
def _own_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_KOKORO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubDouble]:
    """The Hub, for this process and for those it starts."""
    with HubDouble(tmp_path / "hub") as double:
        double.repo("user/pairs")
        template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, double.endpoint)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "ENDPOINT", double.endpoint)
        monkeypatch.setenv("HF_ENDPOINT", double.endpoint)
        monkeypatch.setenv("HF_TOKEN", "hf_writes")
        yield double


@pytest.fixture
def clean(tmp_path: Path) -> str:
    """The sample without the telephone number in one answer, which may not go to the Hub: a file in `tmp_path`."""
    text = Path(SAMPLE).read_text("utf-8")
    assert text.count(" at 555-0134") == 1
    (tmp_path / "clean.csv").write_text(text.replace(" at 555-0134", ""), "utf-8")
    return "clean.csv"
