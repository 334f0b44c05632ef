"""Files that look like segments and are none: every door counts the same rows, and every verb names them."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import datasets
import pytest

import hf_kokoro as hk
from hf_kokoro.cards import publish, write_card
from hf_kokoro.hub.remote import HubTarget

from .double import HubDouble
from .places import LocalPlace, Place
from .rows import row, rows
from .test_cli_verbs import Run, run  # noqa: F401  (a fixture)

STRAYS = ("data/pilot-backup.jsonl", "data/pilot2.jsonl")
FORMER = ["data/pilot*.jsonl", "[data/pilot.jsonl, data/pilot-*.jsonl]"]


def lines(*numbers: int) -> bytes:
    return "".join(json.dumps(row(number)) + "\n" for number in numbers).encode()


def add_strays(place: Place) -> None:
    place.write(STRAYS[0], lines(1, 2, 3))
    place.write(STRAYS[1], lines(8, 9))


@pytest.fixture
def messy(place: Place) -> Place:
    """A place with a card and 3 rows, beside them a backup (3 rows) and a second file (2 rows)."""
    hk.append_rows(place.target(), rows(1, 2, 3))
    write_card(place.target(), figures=False)
    add_strays(place)
    return place


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The same in a folder."""
    place = LocalPlace(tmp_path / "pairs")
    hk.append_rows(place.folder, rows(1, 2, 3))
    write_card(place.folder, figures=False)
    add_strays(place)
    return place.folder


def named(told: str) -> bool:
    return all(path in told for path in STRAYS)


def test_audit_append_and_card_pass_strays_over_and_name_them(messy: Place, caplog: pytest.LogCaptureFixture) -> None:
    def strays_named() -> bool:
        told, _ = caplog.text, caplog.clear()
        return named(told)

    report = hk.audit(messy.target())
    assert (report.ok, report.rows) == (True, 3)
    assert strays_named()
    assert hk.append_rows(messy.target(), rows(8), dry_run=True).rows_total == 4
    assert strays_named()
    assert hk.append_rows(messy.target(), rows(8)).rows_total == 4
    assert strays_named()
    assert write_card(messy.target(), figures=False).rows == 4
    assert strays_named()
    assert hk.audit(messy.target()).ok


def test_plain_datasets_audit_and_load_dataset_count_the_same_rows_of_a_folder(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cache = str(tmp_path / "cache")
    assert len(datasets.load_dataset(str(folder), split="train", cache_dir=cache)) == hk.audit(folder).rows == 3
    caplog.clear()
    for _ in ("built", "cached"):
        loaded = hk.load_dataset("miti_st_dpo", "rows", source=folder, split="train", cache_dir=cache)
        assert loaded["prompt"] == [row(n)["prompt"] for n in (1, 2, 3)]
        assert named(caplog.text)
        assert len(caplog.records) == 1
        caplog.clear()


LOAD = """
import datasets
import hf_kokoro as hk
print(len(datasets.load_dataset("user/pairs", split="train")))
print(len(hk.load_dataset("miti_st_dpo", "rows", source="user/pairs", split="train")))
"""


def test_plain_datasets_and_load_dataset_count_the_same_rows_of_a_hub_repo(
    hub: HubDouble, hub_target: Callable[..., HubTarget], tmp_path: Path
) -> None:
    hk.append_rows(hub_target(), rows(1, 2, 3))
    write_card(hub_target(), figures=False)
    hub.repo("user/pairs").commit({STRAYS[0]: lines(1, 2, 3), STRAYS[1]: lines(8, 9)})
    done = subprocess.run(
        [sys.executable, "-c", LOAD],
        env=os.environ
        | {
            "HF_ENDPOINT": hub.endpoint,
            "HF_HOME": str(tmp_path / "home"),
            "HF_DATASETS_CACHE": str(tmp_path / "home" / "datasets"),
            "HF_HUB_OFFLINE": "0",
            "HF_TOKEN": "hf_reads",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == ["3", "3"]
    assert named(done.stderr)


def test_publish_sends_no_stray_and_names_it(folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        report = publish(folder, tmp_path / "published")
    assert (report.added, report.left_here) == (3, STRAYS)
    assert named(caplog.text)
    assert hk.audit(tmp_path / "published").rows == 3


@pytest.mark.parametrize("verb", ["append", "audit", "card", "publish"])
def test_the_verbs_name_strays_beside_their_report(
    folder: Path,
    run: Run,  # noqa: F811
    caplog: pytest.LogCaptureFixture,
    verb: str,
) -> None:
    (folder.parent / "new.jsonl").write_bytes(lines(4))
    arguments = {
        "append": ["new.jsonl", "--to", "./pairs", "--no-card"],
        "audit": ["./pairs"],
        "card": ["./pairs", "--no-figures"],
        "publish": ["./pairs", "--to", "./published", "--no-figures"],
    }
    json.loads(run(verb, *arguments[verb], "--json"))
    assert named(caplog.text)


@pytest.mark.parametrize("pattern", FORMER)
def test_a_card_of_a_former_version_that_takes_in_a_stray_is_a_fault_until_card_renews_it(
    place: Place, pattern: str
) -> None:
    hk.append_rows(place.target(), rows(1, 2, 3))
    front = f"configs:\n- {{config_name: default, data_files: [{{split: train, path: {pattern}}}]}}\n"
    counts = "dataset_info:\n  splits:\n  - {name: train, num_examples: 3}\n"
    place.write("README.md", f"---\n{front}{counts}---\n# Card\n".encode())
    assert hk.audit(place.target()).ok
    place.write(STRAYS[0], lines(1, 2, 3))
    (fault,) = hk.audit(place.target()).faults
    assert STRAYS[0] in str(fault)
    assert "hf-kokoro card" in str(fault)
    write_card(place.target(), figures=False)
    assert hk.audit(place.target()).revisions[-1].ok


def test_segments_past_99999_grow_and_load_in_order(tmp_path: Path) -> None:
    folder = tmp_path / "pairs"
    place = LocalPlace(folder)
    place.write("data/pilot.jsonl", lines(1))
    place.write("data/pilot-99999.jsonl", lines(2))
    hk.append_rows(folder, rows(3), segment_bytes=10)
    assert (folder / "data" / "pilot-100000.jsonl").read_bytes().count(b"\n") == 1
    hk.append_rows(folder, rows(4))
    assert (folder / "data" / "pilot-100000.jsonl").read_bytes().count(b"\n") == 2
    write_card(folder, figures=False)
    cache = str(tmp_path / "cache")
    order = [row(n)["prompt"] for n in (1, 2, 3, 4)]
    assert datasets.load_dataset(str(folder), split="train", cache_dir=cache)["prompt"] == order
    loaded = hk.load_dataset("miti_st_dpo", "rows", source=folder, split="train", cache_dir=cache)
    assert loaded["prompt"] == order
    assert hk.audit(folder).ok
