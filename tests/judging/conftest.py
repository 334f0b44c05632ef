"""Fixtures of the judge tests: the API double with the SDK pointed at it, and a clock that nobody waits for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hf_kokoro.core.retry import Backoff

from .judging_support import KEY, Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def backoff(clock: Clock) -> Backoff:
    return Backoff(sleep=clock.sleep, now=clock.now)


@pytest.fixture
def double(monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    from .anthropic_double import Double

    with Double() as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
        yield server
