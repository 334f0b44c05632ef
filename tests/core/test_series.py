"""What is a segment: one rule, the same for a listing and for the patterns that a card gives to `datasets`."""

from __future__ import annotations

from pathlib import Path

import datasets
import pytest
from datasets.data_files import resolve_pattern

from hf_kokoro.core.series import Series, segment_of, split_lines, told

SERIES = Series("data/pilot.jsonl")
GROWN = ["pilot", "pilot-00001", "pilot-00002", "pilot-09999", "pilot-99999", "pilot-100000", "pilot-1000000"]
STRAYS = [
    "pilot-backup",
    "pilot2",
    "pilot-1",
    "pilot-0001",
    "pilot-000001",
    "pilot-00001-old",
    "pilot-00001.copy",
    "pilot--00001",
    "pilot-2024-00001",
    "pilot copy",
    "pilot-\uff10\uff10\uff10\uff10\uff11",
]


def paths(names: list[str]) -> list[str]:
    return [f"data/{name}.jsonl" for name in names]


def test_segments_come_in_the_order_of_their_numbers_also_past_five_digits() -> None:
    assert SERIES.ordered(reversed(paths(GROWN))) == paths(GROWN)
    assert SERIES.name(99_999) == "data/pilot-99999.jsonl"
    assert SERIES.name(100_000) == "data/pilot-100000.jsonl"
    assert [SERIES.number(path) for path in paths(GROWN)] == [0, 1, 2, 9999, 99_999, 100_000, 1_000_000]


def test_the_segment_after_99999_has_six_digits() -> None:
    placed = split_lines(SERIES, SERIES.name(99_999), 10, [b"a" * 6, b"b" * 6], 10)
    assert list(placed) == paths(["pilot-100000", "pilot-100001"])


def test_what_only_looks_like_a_segment_is_a_stray_of_that_folder() -> None:
    others = ["data/other.jsonl", "data/pilot.json", "data/deep/pilot2.jsonl", "pairs/pilot2.jsonl", "pilot2.jsonl"]
    found = SERIES.strays([*paths(GROWN), *paths(STRAYS), *others])
    assert set(found) == set(paths(STRAYS))
    assert SERIES.ordered([*paths(STRAYS), *others]) == []
    assert told(found[:1]).startswith(f"{found[0]} is no segment")


def test_a_series_whose_first_file_ends_in_a_number_begins_with_that_file() -> None:
    series = Series("data/run-20240101.jsonl")
    assert series.ordered(["data/run-20240101-00001.jsonl", series.path]) == [
        series.path,
        "data/run-20240101-00001.jsonl",
    ]


def test_files_of_several_series_are_sorted_series_by_series() -> None:
    grown = ["a.jsonl", "a-00001.jsonl", "a-100000.jsonl", "b.jsonl", "b-00002.jsonl"]
    assert sorted(sorted(grown), key=segment_of) == grown


def loaded(folder: Path, patterns: tuple[str, ...]) -> list[str]:
    """What `datasets` takes in, in its order."""
    found = [path for pattern in patterns for path in resolve_pattern(pattern, str(folder))]
    return [Path(path).relative_to(folder).as_posix() for path in found]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    for path in paths([*GROWN, *STRAYS]):
        (tmp_path / path).touch()
    return tmp_path.resolve()


def test_the_patterns_of_a_card_give_datasets_the_segments_alone_in_their_order(folder: Path) -> None:
    """Seen with datasets 5.2 and fsspec 2026.9: `[0-9]` is a class, and the files of one pattern come by name."""
    assert SERIES.patterns() == ("data/pilot.jsonl", "data/pilot-[0-9][0-9][0-9][0-9][0-9].jsonl")
    wanted = SERIES.patterns(paths(GROWN))
    assert len(wanted) == 4
    assert loaded(folder, wanted) == paths(GROWN), datasets.__version__


def test_one_pattern_for_all_numbers_would_mix_them_up_and_take_in_strays(folder: Path) -> None:
    found = loaded(folder, ("data/pilot-[0-9]*.jsonl",))
    assert found.index("data/pilot-100000.jsonl") < found.index("data/pilot-99999.jsonl"), datasets.__version__
    assert "data/pilot-00001-old.jsonl" in found


def test_patterns_of_cards_now_and_before_are_known_as_those_of_the_series() -> None:
    for pattern in (
        *SERIES.patterns(paths(GROWN)),
        "data/pilot-*.jsonl",
        "data/pilot*.jsonl",
        "data/pilot-00001.jsonl",
    ):
        assert SERIES.holds(pattern), pattern
    for pattern in ("data/*.jsonl", "data/pilot-[0-9]*.jsonl", "data/pilot-[0-9].jsonl", "data/other.jsonl", "**"):
        assert not SERIES.holds(pattern), pattern
