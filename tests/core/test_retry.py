"""What the two kinds of waiting share: doubling, and what a service says of when to come back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from hf_kokoro.core.retry import Patience, doubled, patiently, retry_after
from hf_kokoro.errors import KokoroError


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("7", 7.0), (" 2.5 ", 2.5), ("0", 0.0), ("-3", 0.0), ("nan", None), ("inf", None), ("", None), ("soon", None)],
)
def test_retry_after_is_a_number_of_seconds_or_nothing(value: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": value}) == seconds
    assert retry_after({}) is None


def test_retry_after_may_be_a_date_and_one_that_has_passed_means_at_once() -> None:
    now = datetime.now(UTC)
    later = retry_after({"retry-after": format_datetime(now + timedelta(hours=1), usegmt=True)})
    assert later is not None
    assert 3500 < later <= 3600
    assert retry_after({"retry-after": format_datetime(now - timedelta(hours=1), usegmt=True)}) == 0.0


def test_waits_double_up_to_the_longest_and_never_overflow() -> None:
    assert [doubled(0.5, 3.0, failures) for failures in (0, 1, 2, 3, 10_000)] == [0.5, 1.0, 2.0, 3.0, 3.0]


class _Busy(KokoroError):
    retryable = True

    def __init__(self, wait: float | None) -> None:
        self.wait = wait
        super().__init__("busy")


def test_a_reader_waits_as_asked_and_gives_up_where_that_is_too_long() -> None:
    waits: list[float] = []
    answers = iter([_Busy(7.0), _Busy(None), "read"])

    def read() -> str:
        answer = next(answers)
        if isinstance(answer, KokoroError):
            raise answer
        return answer

    patience = Patience(sleep=waits.append, random=lambda: 1.0, seconds=10.0)
    assert patiently(read, patience) == "read"
    assert waits == [7.0, 1.0]
    answers = iter([_Busy(11.0), "never"])
    with pytest.raises(_Busy):
        patiently(read, patience)
    assert waits == [7.0, 1.0]
