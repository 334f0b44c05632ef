"""A built folder goes through the same Hub client as rows: tried again, told in words, and without stale shards."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from datasets import Dataset

from hf_kokoro.cards import CardReport, PublishReport, render_build_card, write_card
from hf_kokoro.cards.publish import PublishOptions, publish, stale_files
from hf_kokoro.corpora.kokorochat.schema import response_generation_features
from hf_kokoro.hub import HubTarget, LocalTarget, Patience, append_rows
from hf_kokoro.hub.errors import AccessError, GaveUp
from hf_kokoro.policy.licences import LicenceError
from tests.hub.double import Drop, Fault, Hang, HubDouble, Status
from tests.hub.rows import rows as miti_rows

REPO = "user/mine"
HELD = PublishOptions(private=True, holds_licence=True)


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[HubDouble]:
    with HubDouble(tmp_path / "hub") as double:
        yield double


@pytest.fixture
def target(hub: HubDouble, tmp_path: Path, waits: list[float]) -> HubTarget:
    return HubTarget(
        REPO,
        token="hf_writes",
        endpoint=hub.endpoint,
        cache_dir=tmp_path / "mirrors",
        patience=Patience(sleep=waits.append),
        read_seconds=0.5,
    )


@pytest.fixture
def waits() -> list[float]:
    return []


def built(folder: Path, *splits: str) -> Path:
    """A folder as `build` makes it, with one row a split."""
    features = response_generation_features(True)
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "data").mkdir(parents=True)
    files = {split: f"data/{split}.parquet" for split in splits}
    for number, split in enumerate(splits):
        row = {"dialogue_id": number, "client_id": 2, "counselor_id": 3, "score": 80, "topic": 0}
        row |= {"messages": [{"role": "user", "content": "こんにちは"}]}
        Dataset.from_list([row], features=features).to_parquet(folder / files[split])
    card = render_build_card(
        "kokorochat", "response_generation", features, dict.fromkeys(splits, 1), files, repo="user/mine"
    )
    (folder / "README.md").write_text(card, "utf-8")
    return folder


def data(hub: HubDouble) -> set[str]:
    return {path for path in hub.store.repos[REPO].head().tree if path.startswith("data/")}


def commits(hub: HubDouble) -> list[str]:
    return [commit.title for commit in hub.store.repos[REPO].log("main") if commit.title.startswith("Publish")]


@pytest.mark.parametrize(
    "fault",
    [Status(503), Status(412), Status(429, {"Retry-After": "3"}), Drop(applied=False), Drop(applied=True), Hang()],
    ids=repr,
)
def test_a_commit_that_fails_for_a_while_is_tried_again_and_stands_once(
    hub: HubDouble,
    target: HubTarget,
    tmp_path: Path,
    waits: list[float],
    fault: Fault,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    folder = built(tmp_path / "mine", "train", "test")
    hub.faults.script("POST", "/commit/", fault)
    report = publish(folder, target, HELD)
    assert hub.faults.left == 0
    assert len(waits) == 1
    assert "the files are safe in the folder" in caplog.text
    assert len(commits(hub)) == 1
    assert report.revision == hub.store.repos[REPO].head().oid
    assert set(report.files) == {"README.md", "data/train.parquet", "data/test.parquet"}


@pytest.mark.parametrize("status", [401, 403])
def test_a_refusal_is_told_in_words_and_nothing_is_made(
    hub: HubDouble, target: HubTarget, tmp_path: Path, status: int
) -> None:
    hub.faults.script("GET", "/api/datasets/", Status(status, says="Not with this login"))
    with pytest.raises(AccessError, match=f"HTTP {status}: Not with this login"):
        publish(built(tmp_path / "mine", "train"), target, HELD)
    assert hub.store.repos == {}


def test_a_hub_that_stays_away_ends_within_max_wait(hub: HubDouble, target: HubTarget, tmp_path: Path) -> None:
    hub.faults.roll(1.0, 0, [Status(503)])
    with pytest.raises(GaveUp, match="503"):
        publish(built(tmp_path / "mine", "train"), target, HELD)


def test_a_build_with_fewer_files_takes_the_stale_ones_away_in_the_same_commit(
    hub: HubDouble, target: HubTarget, tmp_path: Path
) -> None:
    publish(built(tmp_path / "mine", "train", "validation", "test"), target, HELD)
    hub.store.repos[REPO].commit({"data/mine.parquet": b"somebody's", "notes/data.parquet": b"somebody's"})
    would = publish(built(tmp_path / "mine", "train", "test"), target, PublishOptions(False, True, True, dry_run=True))
    report = publish(tmp_path / "mine", target, HELD)
    assert would.removed == report.removed == ("data/validation.parquet",)
    assert data(hub) == {"data/train.parquet", "data/test.parquet", "data/mine.parquet"}
    assert len(commits(hub)) == 2
    again = publish(tmp_path / "mine", target, HELD)
    assert (again.files, again.removed, len(commits(hub))) == ({}, (), 2)


def test_a_folder_as_target_loses_the_stale_files_too(tmp_path: Path) -> None:
    place = LocalTarget(tmp_path / "copy")
    publish(built(tmp_path / "mine", "train", "test"), place, HELD)
    (tmp_path / "copy" / "data" / "mine.parquet").write_bytes(b"somebody's")
    report = publish(built(tmp_path / "mine", "train"), place, HELD)
    assert report.removed == ("data/test.parquet",)
    assert {file.name for file in (tmp_path / "copy" / "data").iterdir()} == {"train.parquet", "mine.parquet"}


CARD = """---
configs:
- config_name: default
  data_files:
  - split: train
    path: {path}
---
# Mine
"""


def test_only_what_a_builds_card_names_as_a_build_does_is_stale(tmp_path: Path) -> None:
    there = [
        "data/train.parquet",
        "data/train-00000-of-00002.parquet",
        "data/train-00001-of-00002.parquet",
        "data/train-old.parquet",
        "data/other.parquet",
        "other/train.parquet",
    ]
    by_people = CARD.format(path="data/*.parquet").encode()
    by_a_build = by_people + b"\n<!-- yours: notes -->\n<!-- /yours -->\n"
    assert stale_files(there, None, []) == ()
    assert stale_files(there, by_people, []) == ()
    assert stale_files(there, by_a_build, ["data/train.parquet"]) == tuple(there[1:3])
    exact = by_a_build.replace(b"data/*.parquet", b"data/train.parquet")
    assert stale_files(there, exact, []) == tuple(there[:3])


def test_a_restricted_build_never_goes_to_a_repo_that_is_public(
    hub: HubDouble, target: HubTarget, tmp_path: Path
) -> None:
    hub.repo(REPO, private=False)
    hub.faults.script("GET", "/api/datasets/", Status(503))
    with pytest.raises(LicenceError, match="is public"):
        publish(built(tmp_path / "mine", "train"), target, HELD)


@pytest.mark.parametrize("fault", [Status(503), Status(412), Drop(applied=True)], ids=repr)
def test_a_card_whose_commit_fails_for_a_while_is_tried_again(
    hub: HubDouble, target: HubTarget, waits: list[float], fault: Fault
) -> None:
    append_rows(target, miti_rows(1, 2))
    hub.faults.script("POST", "/commit/", fault)
    report = write_card(target, figures=False, today="2026-01-01")
    assert isinstance(report, CardReport)
    assert "README.md" in report.changed
    assert len(waits) == 1
    assert sum(commit.title == "Update the dataset card" for commit in hub.store.repos[REPO].log("main")) == 1


def test_reports_are_plain_data() -> None:
    assert PublishReport("t", "mit", 0, 0, "").as_dict()["removed"] == ()
