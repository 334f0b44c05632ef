"""How long to wait after failures in a row."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from hf_kokoro.core.retry import Backoff, jittered, retry_after
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


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("7", 7.0), (" 2.5 ", 2.5), ("0", 0.0), ("-3", 0.0), ("nan", None), ("inf", None), ("", None), ("soon", None)],
)
def test_a_service_asks_for_a_number_of_seconds_or_for_nothing_readable(value: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": value}) == seconds
    assert retry_after({}) is None


def test_a_service_may_ask_by_a_date_and_one_that_has_passed_means_at_once() -> None:
    now = datetime.now(UTC)
    later = retry_after({"retry-after": format_datetime(now + timedelta(hours=1), usegmt=True)})
    assert later is not None
    assert 3500 < later <= 3600
    assert retry_after({"retry-after": format_datetime(now - timedelta(hours=1), usegmt=True)}) == 0.0
