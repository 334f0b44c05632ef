"""What was appended loads with plain `datasets.load_dataset`, from a folder and from the Hub, old and new revisions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import datasets
import pytest
import yaml

from hf_kokoro import append_rows
from hf_kokoro.hub.remote import HubTarget
from hf_kokoro.miti.features import ROWS_FEATURES

from .double import HubDouble
from .rows import row, rows

DATA = "data/pilot.jsonl"


def card(count: int) -> bytes:
    features = ROWS_FEATURES._to_yaml_list()
    info = {"features": features, "splits": [{"name": "train", "num_bytes": 1, "num_examples": count}]}
    configs = [{"config_name": "default", "data_files": [{"split": "train", "path": "data/pilot.jsonl"}]}]
    return f"---\n{yaml.safe_dump({'configs': configs, 'dataset_info': info}, sort_keys=False)}---\n# Card\n".encode()


def load(folder: Path, cache: Path) -> datasets.Dataset:
    return datasets.load_dataset(str(folder), cache_dir=str(cache), split="train")


def test_folder_without_a_card_loads_and_its_history_is_no_data(tmp_path: Path) -> None:
    append_rows(tmp_path / "folder", rows(1, 2))
    append_rows(tmp_path / "folder", rows(3), segment_bytes=100)
    loaded = load(tmp_path / "folder", tmp_path / "cache")
    # without a card datasets sorts by name, and "pilot-00001" comes before "pilot."
    assert loaded["prompt"] == [row(n)["prompt"] for n in (3, 1, 2)]
    assert loaded[1]["all_answers"] == row(1)["all_answers"]


def test_folder_with_a_card_loads_typed_in_order_after_each_growth(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    append_rows(folder, rows(1, 2), extra_operations=lambda growth: {"README.md": card(2)})
    for number in (3, 4):
        assert len(load(folder, tmp_path / "cache")) == number - 1
        append_rows(folder, rows(number), segment_bytes=100)
    loaded = load(folder, tmp_path / "cache")
    assert loaded["prompt"] == [row(n)["prompt"] for n in (1, 2, 3, 4)]
    assert loaded.features == ROWS_FEATURES


LOAD = """
import json, sys
import datasets
for revision, streaming in json.loads(sys.argv[1]):
    loaded = datasets.load_dataset("user/pairs", revision=revision, streaming=streaming, split="train")
    prompts = [row["prompt"] for row in loaded]
    print(json.dumps([prompts, str(loaded.features)]))
"""


def load_from_hub(hub: HubDouble, cache: Path, *asked: tuple[str, bool]) -> list[tuple[list[str], str]]:
    """(prompts, features) of each (revision, streaming), loaded in one fresh process by `datasets` alone."""
    done = subprocess.run(
        [sys.executable, "-c", LOAD, json.dumps(asked)],
        env={
            **os.environ,
            "HF_ENDPOINT": hub.endpoint,
            "HF_HOME": str(cache),
            "HF_HUB_DISABLE_XET": "1",
            "HF_TOKEN": "hf_reads",
            "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [tuple(json.loads(line)) for line in done.stdout.splitlines() if line.startswith("[[")]


@pytest.mark.slow
@pytest.mark.parametrize("lfs", [False, True], ids=["regular files", "lfs files"])
def test_hub_repo_loads_typed_at_old_and_new_revisions_streaming_and_after_growth(
    hub: HubDouble, hub_target: Callable[..., HubTarget], tmp_path: Path, *, lfs: bool
) -> None:
    hub.lfs_bytes = 1000 if lfs else 10_000_000
    first = append_rows(hub_target(), rows(1, 2), extra_operations=lambda growth: {"README.md": card(2)}).revision
    append_rows(hub_target(), rows(3))
    both = load_from_hub(hub, tmp_path / "hf", ("main", False), (first, False), ("main", True), (first, True))
    prompts = [row(n)["prompt"] for n in (1, 2, 3, 4)]
    assert [loaded for loaded, _ in both] == [prompts[:3], prompts[:2], prompts[:3], prompts[:2]]
    assert {features for _, features in both} == {str(ROWS_FEATURES)}
    append_rows(hub_target(), rows(4), segment_bytes=100)
    grown = load_from_hub(hub, tmp_path / "hf", ("main", False), ("main", True), (first, False))
    assert [loaded for loaded, _ in grown] == [prompts, prompts, prompts[:2]]
