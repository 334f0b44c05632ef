"""What is a segment of a growing file: one rule for names, for their order and for the patterns in a card."""

from __future__ import annotations

import logging
import random
from fnmatch import fnmatch
from pathlib import Path

import datasets
import pytest
from datasets.data_files import DataFilesList

from hf_kokoro.core.series import Series, split_lines
from hf_kokoro.errors import UsageError

SERIES = Series("data/pilot.jsonl")
SEGMENTS = ["data/pilot.jsonl", "data/pilot-00001.jsonl", "data/pilot-99999.jsonl", "data/pilot-100000.jsonl"]
STRAYS = [
    "data/pilot (copy).jsonl",
    "data/pilot-000001.jsonl",
    "data/pilot-00001-old.jsonl",
    "data/pilot-0001.jsonl",
    "data/pilot-backup.jsonl",
    "data/pilot2.jsonl",
]
OTHERS = ["data/other.jsonl", "data/pilot-00001.jsonl.bak", "data/deep/pilot-00001.jsonl", "pilot-00001.jsonl"]


def test_segments_are_ordered_by_number_and_strays_named() -> None:
    there = [*SEGMENTS, *STRAYS, *OTHERS]
    random.Random(1).shuffle(there)
    assert SERIES.ordered(there) == SEGMENTS
    assert SERIES.strays(there) == STRAYS
    assert [SERIES.number(path) for path in SEGMENTS] == [0, 1, 99999, 100000]


@pytest.mark.parametrize("number", [0, 1, 9, 10, 99999, 100000, 999999])
def test_a_segment_is_found_by_the_name_it_was_given(number: int) -> None:
    assert SERIES.number(SERIES.name(number)) == number


def test_datasets_takes_in_the_segments_in_order_by_the_patterns_and_no_stray(tmp_path: Path) -> None:
    """Seen with datasets 5.2.0 and fsspec 2026.9.0: `[0-9]` in a pattern is one digit, `[1-9]` too."""
    for path in [*SEGMENTS, *STRAYS, *OTHERS]:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    found = DataFilesList.from_patterns(list(SERIES.patterns), base_path=str(tmp_path))
    said = f"datasets {datasets.__version__} reads the patterns of cards otherwise"
    assert [Path(file).relative_to(tmp_path).as_posix() for file in found] == SEGMENTS, said


def test_patterns_without_segments_yet_are_no_error_for_datasets(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "pilot.jsonl").touch()
    assert len(DataFilesList.from_patterns(list(SERIES.patterns), base_path=str(tmp_path))) == 1


def test_strays_are_warned_of_once_by_name_and_nothing_is_said_without_any(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        SERIES.warn_of_strays([*SEGMENTS, *OTHERS], "my-dataset")
        assert not caplog.records
        SERIES.warn_of_strays([*SEGMENTS, *STRAYS], "my-dataset")
    (record,) = caplog.records
    assert record.getMessage().startswith("my-dataset: left out data/pilot (copy).jsonl, data/pilot-000001.jsonl, ")
    assert "data/pilot2.jsonl" in record.getMessage()
    assert "data/pilot-99999" not in record.getMessage()


def test_a_segment_that_no_pattern_would_take_in_is_refused() -> None:
    last = SERIES.name(999_999)
    assert last in SERIES
    assert any(fnmatch(last, pattern) for pattern in SERIES.patterns)
    with pytest.raises(UsageError, match=r"999999 segments.*nothing was written; begin another file"):
        split_lines(SERIES, last, 10, [b"{}\n"], 10)
