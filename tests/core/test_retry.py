"""How long to wait after failures in a row."""

from __future__ import annotations

import pytest

from hf_kokoro.core.retry import Backoff, jittered
from hf_kokoro.hub import Patience


@pytest.mark.parametrize(("failures", "limit"), [(0, 0.5), (1, 1.0), (3, 4.0), (4, 8.0), (5, 10.0), (10**6, 10.0)])
def test_the_limit_doubles_up_to_the_cap(failures: int, limit: float) -> None:
    assert jittered(failures, 0.5, 10.0, random=lambda: 1.0) == limit
    assert jittered(failures, 0.5, 10.0, random=lambda: 0.0) == 0.0
    assert jittered(failures, 0.5, 10.0, least=0.75, random=lambda: 0.0) == 0.75 * limit
    assert jittered(failures, 0.5, 10.0, least=0.5, random=lambda: 0.5) == 0.75 * limit


def test_judges_wait_at_least_three_quarters_of_it_and_appends_any_part() -> None:
    waits = [Backoff(base=1.0, cap=60.0).delay(3) for _ in range(200)]
    assert 6.0 <= min(waits) < 7.0 < max(waits) <= 8.0
    assert Patience(first_wait=1.0, longest_wait=60.0, random=lambda: 0.25).jitter(3) == 2.0
