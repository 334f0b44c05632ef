from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

os.environ.setdefault("HF_HUB_DISABLE_XET", "1")

from huggingface_hub import constants

from hf_kokoro.hub.patience import Patience
from hf_kokoro.hub.remote import HubTarget

from .double import HubDouble
from .places import HubPlace, LocalPlace, Place

REPO = "user/pairs"


@pytest.fixture(autouse=True)
def _own_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setenv("HF_KOKORO_CACHE", str(tmp_path / "cache"))


class _NoSleep:
    """Stands in for the module `time` in the Hub's client, whose own retries wait seconds."""

    def __getattr__(self, name: str) -> object:
        return getattr(time, name)

    def sleep(self, seconds: float) -> None:
        """Not at all."""


@pytest.fixture(autouse=True)
def _client_does_not_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.utils._http.time", _NoSleep())


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[HubDouble]:
    with HubDouble(tmp_path / "hub") as double:
        double.repo(REPO)
        yield double


@pytest.fixture
def waits() -> list[float]:
    """The seconds that an append would have waited, in order."""
    return []


@pytest.fixture
def hub_target(hub: HubDouble, tmp_path: Path, waits: list[float]) -> Callable[..., HubTarget]:
    """A target on the double; `machine` names whose mirror it uses."""

    def make(machine: str = "here", repo: str = REPO, token: str | None = "hf_writes", **options: object) -> HubTarget:
        patience = options.pop("patience", Patience(sleep=waits.append))
        cache = tmp_path / "machines" / machine
        return HubTarget(repo, token=token, endpoint=hub.endpoint, cache_dir=cache, patience=patience, **options)

    return make


@pytest.fixture(params=["folder", "hub", "hub-lfs"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """Somewhere to append to, and a way to look at it that doesn't go through the package."""
    if request.param == "folder":
        yield LocalPlace(tmp_path / "folder")
        return
    with HubDouble(tmp_path / "hub", lfs_bytes=1 if request.param == "hub-lfs" else 10_000_000) as double:
        yield HubPlace(double, tmp_path / "machines")
