"""Writers on four machines, or four on one, and a Hub that fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from .soak import soak


@pytest.mark.slow
@pytest.mark.parametrize("machines", [4, 1], ids=["a mirror each", "one mirror"])
def test_every_row_of_every_writer_is_there_once_though_a_fifth_of_the_requests_fails(
    tmp_path: Path, machines: int
) -> None:
    result = soak(tmp_path, writers=4, appends=8, rate=0.2, seed=1, machines=machines)
    assert result.problems == []
    assert result.rows == 32
    assert result.faults > 20
