"""Counts in a card move with the rows, digit by digit, and nothing else in it changes."""

from __future__ import annotations

import hashlib
import json

import pyarrow as pa
import pytest
import yaml

from hf_kokoro import append_rows, audit
from hf_kokoro.core.jsonl import canonical_json
from hf_kokoro.hub.card import matches
from hf_kokoro.hub.errors import TargetError, UnreadableCard
from hf_kokoro.miti.features import ROWS_FEATURES

from .places import Place
from .rows import row, rows

DATA = "data/pilot.jsonl"
FIVE = "data/pilot-[0-9][0-9][0-9][0-9][0-9].jsonl"
SIX = "data/pilot-[1-9][0-9][0-9][0-9][0-9][0-9].jsonl"

CARD = """---
# a comment that stays
license:   mit
dataset_info:
- config_name: default
  features:
  - {name: question_id, dtype: string}
  splits:
  - name: train
    num_bytes: 10   # bytes
    num_examples: 0
  download_size: 100
  dataset_size: 10
- config_name: pairs
  splits:
  - name: train
    num_examples: 77
configs:
- config_name: default
  data_files:
  - split: train
    path: "data/pilot.jsonl"
- config_name: pairs
  data_files: pairs/*.parquet
---
# Rows: 0 \u2014 num_examples: 0

Written by hand.  \nTwo spaces stay.
"""


def arrow_bytes(*numbers: int) -> int:
    return pa.Table.from_pylist(rows(*numbers), schema=ROWS_FEATURES.arrow_schema).nbytes


def test_counts_change_and_every_other_byte_stays(place: Place) -> None:
    place.write("README.md", CARD.encode())
    append_rows(place.target(), rows(1, 2))
    size, arrow = len(place.files()[DATA]), arrow_bytes(1, 2)
    expected = (
        CARD.replace("num_bytes: 10   #", f"num_bytes: {10 + arrow}   #")
        .replace("    num_examples: 0\n", "    num_examples: 2\n")
        .replace("download_size: 100", f"download_size: {100 + size}")
        .replace("dataset_size: 10\n", f"dataset_size: {10 + arrow}\n")
    )
    assert place.files()["README.md"].decode() == expected
    append_rows(place.target(), rows(3))
    assert (
        yaml.safe_load(place.files()["README.md"].decode().split("---")[1])["dataset_info"][0]["splits"][0][
            "num_examples"
        ]
        == 3
    )


def test_stale_count_is_put_right(place: Place) -> None:
    append_rows(place.target(), rows(1, 2, 3))
    place.write("README.md", CARD.encode())
    append_rows(place.target(), rows(4))
    assert b"    num_examples: 4\n" in place.files()["README.md"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('path: "data/pilot.jsonl"', f'path: ["data/pilot.jsonl", "{FIVE}", "{SIX}"]'),
        ("path: data/pilot.jsonl", f'path: ["data/pilot.jsonl", "{FIVE}", "{SIX}"]'),
        ("path: ['data/pilot.jsonl']", f"path: ['data/pilot.jsonl', '{FIVE}', '{SIX}']"),
        ("path:\n    - data/pilot.jsonl", f"path:\n    - data/pilot.jsonl\n    - {FIVE}\n    - {SIX}\n"),
        (
            "path: [data/other.jsonl, data/pilot.jsonl]",
            f'path: [data/other.jsonl, "data/pilot.jsonl", "{FIVE}", "{SIX}"]',
        ),
    ],
)
def test_new_segment_is_added_to_the_cards_data_files_after_the_first_file(
    place: Place, before: str, after: str
) -> None:
    card = CARD.replace('path: "data/pilot.jsonl"', before)
    place.write("README.md", card.encode())
    append_rows(place.target(), rows(1, 2), segment_bytes=len(json.dumps(row(1))))
    changed = place.files()["README.md"].decode()
    assert yaml.safe_load(changed.split("---")[1])["configs"][0]["data_files"][0]["path"][-3:] == [
        "data/pilot.jsonl",
        FIVE,
        SIX,
    ]
    assert after in changed
    assert "    num_examples: 2\n" in changed
    append_rows(place.target(), rows(3), segment_bytes=10)
    assert place.files()["README.md"].decode().count(FIVE) == 1
    assert audit(place.target()).ok


@pytest.mark.parametrize("pattern", ["data/pilot*.jsonl", "data/*.jsonl", "**", "data/pilot[.-]*"])
def test_pattern_that_takes_in_segments_already_stays(place: Place, pattern: str) -> None:
    place.write("README.md", CARD.replace('"data/pilot.jsonl"', f'"{pattern}"').encode())
    append_rows(place.target(), rows(1, 2), segment_bytes=10)
    assert f'path: "{pattern}"\n' in place.files()["README.md"].decode()


def test_card_whose_pattern_would_leave_a_new_segment_out_stops_the_append(place: Place) -> None:
    place.write("README.md", CARD.replace('"data/pilot.jsonl"', "data/pilo?.jsonl").encode())
    append_rows(place.target(), rows(1))
    before = place.files()
    with pytest.raises(TargetError, match=r"data/pilot-\[0-9\]"):
        append_rows(place.target(), rows(2), segment_bytes=10)
    assert place.files() == before


@pytest.mark.parametrize(
    ("front", "count"),
    [
        pytest.param("dataset_info:\n  splits:\n  - name: train\n    num_examples: 5\n", 7, id="one dataset_info"),
        pytest.param(
            "configs:\n- config_name: default\n  data_files: 'data/*.jsonl'\n"
            "dataset_info:\n  config_name: default\n  splits:\n  - {name: train, num_examples: '5'}\n",
            7,
            id="other files may count too, so it is added to",
        ),
        pytest.param(
            "configs:\n- config_name: default\n  data_files:\n  - {split: dev, path: [data/pilot*.jsonl]}\n"
            "dataset_info:\n- splits:\n  - {name: dev, num_examples: 5}\n  - {name: test, num_examples: 9}\n",
            2,
            id="only ours, so it is what there is",
        ),
        pytest.param(
            "configs:\n- config_name: default\n  data_files: data/*\n- config_name: other\n  data_files: other/*\n"
            "dataset_info:\n- config_name: other\n  splits:\n  - {name: train, num_examples: 5}\n",
            5,
            id="files not named",
        ),
    ],
)
def test_counts_of_the_right_split_change(place: Place, front: str, count: int) -> None:
    place.write("README.md", f"---\n{front}---\n".encode())
    append_rows(place.target(), rows(1, 2))
    info = yaml.safe_load(place.files()["README.md"].decode().split("---")[1])["dataset_info"]
    splits = (info if isinstance(info, dict) else info[0])["splits"]
    assert int(splits[0]["num_examples"]) == count
    assert [split["num_examples"] for split in splits[1:]] == [9] * (len(splits) - 1)


@pytest.mark.parametrize(
    "card",
    [
        pytest.param(b"# no front matter\n", id="no front matter"),
        pytest.param(b"---\nlicense: mit\n---\n", id="no counts"),
        pytest.param(b"---\ndataset_info: 3\nconfigs: text\n---\n", id="other shapes"),
        pytest.param(b"", id="empty"),
        pytest.param(b"---\n--- \n", id="empty front matter"),
        pytest.param(b"---\ndataset_info:\n  splits:\n  - {name: train, num_examples: many}\n---\n", id="no number"),
    ],
)
def test_card_without_counts_stays_as_it_is(place: Place, card: bytes) -> None:
    place.write("README.md", card)
    append_rows(place.target(), rows(1))
    assert place.files()["README.md"] == card


@pytest.mark.parametrize(
    ("card", "said"),
    [
        pytest.param(b"---\nlicense: [mit\n---\n", "YAML that can't be read", id="broken yaml"),
        pytest.param(b"\xff\xfe", "byte 0 is not UTF-8", id="not utf-8"),
    ],
)
def test_card_that_no_loader_can_read_refuses_the_append(place: Place, card: bytes, said: str) -> None:
    place.write("README.md", card)
    with pytest.raises(UnreadableCard, match=said):
        append_rows(place.target(), rows(1))
    assert place.files() == {"README.md": card}


def test_windows_line_ends_and_a_byte_order_mark_in_the_card_stay(place: Place) -> None:
    card = ("\ufeff" + CARD.replace("\n", "\r\n")).encode()
    place.write("README.md", card)
    append_rows(place.target(), rows(1))
    after = place.files()["README.md"]
    assert b"    num_examples: 1\r\n" in after
    assert after.startswith(b"\xef\xbb\xbf---\r\n")
    assert b"\n" not in after.replace(b"\r\n", b"")


def test_card_given_by_the_caller_wins(place: Place) -> None:
    place.write("README.md", CARD.encode())
    append_rows(place.target(), rows(1), extra_operations=lambda growth: {"README.md": b"# mine\n"})
    assert place.files()["README.md"] == b"# mine\n"


@pytest.mark.parametrize(
    ("pattern", "path", "takes"),
    [
        ("data/pilot.jsonl", "data/pilot.jsonl", True),
        ("./data/pilot.jsonl", "data/pilot.jsonl", True),
        ("data/pilot*.jsonl", "data/pilot-00001.jsonl", True),
        ("data/*", "data/pilot.jsonl", True),
        ("*.jsonl", "data/pilot.jsonl", False),
        ("**/*.jsonl", "data/pilot.jsonl", True),
        ("**/*.jsonl", "pilot.jsonl", True),
        ("data/**", "data/deep/pilot.jsonl", True),
        ("data/pilot.jsonl", "data/pilotXjsonl", False),
        ("data/pilot-0000?.jsonl", "data/pilot-00001.jsonl", True),
        (FIVE, "data/pilot-00001.jsonl", True),
        (FIVE, "data/pilot-100000.jsonl", False),
        (FIVE, "data/pilot-backup.jsonl", False),
        (SIX, "data/pilot-100000.jsonl", True),
        (SIX, "data/pilot-000001.jsonl", False),
        ("data/pilot-[!0-9]*.jsonl", "data/pilot-backup.jsonl", True),
        ("data/pilot-[!0-9]*.jsonl", "data/pilot-00001.jsonl", False),
        ("data[!x]pilot.jsonl", "data/pilot.jsonl", False),
        ("data/pilot[^a].jsonl", "data/pilotb.jsonl", False),
        ("data/pilot+.jsonl", "data/pilott.jsonl", False),
    ],
)
def test_patterns_take_in_what_datasets_would(pattern: str, path: str, takes: bool) -> None:
    assert matches(pattern, path) is takes


def test_dry_run_shows_sizes_row_ids_and_the_lines_of_the_card_but_no_text(place: Place) -> None:
    append_rows(place.target(), rows(1))
    place.write("README.md", CARD.encode())
    before = len(place.files()[DATA])
    report = append_rows(place.target(), rows(2, 3), dry_run=True)
    after = before + report.files[DATA]
    assert report.preview[0] == f"{DATA}: {before} -> {after} bytes"
    assert "  -    num_examples: 0" in report.preview
    assert "  +    num_examples: 3" in report.preview
    ids = [hashlib.sha256(canonical_json(row(n)).encode()).hexdigest()[:12] for n in (2, 3)]
    assert list(report.preview[-2:]) == [f"  + row {ids[0]}, question q1", f"  + row {ids[1]}, question q1"]
    assert "wake at night" not in " ".join(report.preview)
