"""One rule for what is a segment: audit, plain `datasets` and `hf_kokoro` count the same rows, and every verb says
which files beside them it left alone."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import datasets
import pytest
from huggingface_hub import DatasetCard

import hf_kokoro as hk
from hf_kokoro.cards import PublishOptions, card_files, publish, write_card
from hf_kokoro.cli import main
from hf_kokoro.hub import Target

from .double import HubDouble
from .places import HubPlace, Place
from .rows import row, rows

BACKUP, SECOND = "data/pilot-backup.jsonl", "data/pilot2.jsonl"
STRAYS = (BACKUP, SECOND)
OLD_PATTERN = "data/pilot-*.jsonl"


def lines(*numbers: int) -> bytes:
    return b"".join(json.dumps(row(number), ensure_ascii=False).encode() + b"\n" for number in numbers)


def grow(target: Target | Path, *numbers: int, **options: Any) -> Any:
    files: Callable[..., Any] = lambda growth: card_files(growth, figures=False)  # noqa: E731
    return hk.append_rows(target, rows(*numbers), extra_operations=files, **options)


def strew(place: Place) -> Place:
    """Three rows with their card, and beside them files of three and two rows that are none of theirs."""
    grow(place.target(), 1, 2, 3)
    place.write(BACKUP, lines(11, 12, 13))
    place.write(SECOND, lines(21, 22))
    return place


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "pairs"
    grow(made, 1, 2, 3)
    (made / BACKUP).write_bytes(lines(11, 12, 13))
    (made / SECOND).write_bytes(lines(21, 22))
    return made


def plain(folder: Path, cache: Path) -> int:
    return len(datasets.load_dataset(str(folder), split="train", cache_dir=str(cache)))


def ours(folder: Path, cache: Path) -> int:
    return len(hk.load_dataset("miti_st_dpo", "rows", source=folder, split="train", cache_dir=cache))


def test_every_reader_of_a_folder_counts_the_rows_of_the_segments_alone(folder: Path, tmp_path: Path) -> None:
    assert hk.audit(folder).rows == 3
    assert plain(folder, tmp_path / "a") == 3
    assert ours(folder, tmp_path / "b") == 3
    grow(folder, 4, segment_bytes=10)
    assert (folder / "data" / "pilot-00001.jsonl").is_file()
    assert (hk.audit(folder).rows, plain(folder, tmp_path / "a"), ours(folder, tmp_path / "b")) == (4, 4, 4)


COUNT = """
import sys
import datasets, hf_kokoro
print("COUNTS", len(datasets.load_dataset("user/pairs", split="train")),
      len(hf_kokoro.load_dataset("miti_st_dpo", "rows", source="user/pairs", split="train")),
      hf_kokoro.audit("user/pairs").rows)
"""


def test_every_reader_of_a_hub_repo_counts_the_rows_of_the_segments_alone(hub: HubDouble, tmp_path: Path) -> None:
    strew(HubPlace(hub, tmp_path / "machines"))
    home = {"HF_ENDPOINT": hub.endpoint, "HF_HOME": str(tmp_path / "hf"), "HF_TOKEN": "hf_reads"}
    environment = {**os.environ, **home, "HF_KOKORO_CACHE": str(tmp_path / "k"), "HF_HUB_DISABLE_XET": "1"}
    command = [sys.executable, "-c", COUNT]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert "COUNTS 3 3 3" in done.stdout, done.stderr[-3000:]
    assert BACKUP in done.stderr


def test_reports_of_append_audit_and_card_name_the_strays(place: Place) -> None:
    strew(place)
    assert grow(place.target(), 4).strays == STRAYS
    assert grow(place.target(), 4, dry_run=True).strays == STRAYS
    assert hk.audit(place.target()).strays == STRAYS
    assert write_card(place.target(), figures=False).strays == STRAYS


def test_publish_names_the_strays_that_it_leaves_here_and_those_that_it_finds_there(
    folder: Path, tmp_path: Path
) -> None:
    there = tmp_path / "there"
    options = PublishOptions(figures=False)
    assert set(STRAYS) <= set(publish(folder, there, options).left_here)
    (there / SECOND).write_bytes(lines(31))
    assert publish(folder, there, options).strays == (SECOND,)
    assert not (there / BACKUP).exists()


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[str, str]]:
    def run(*arguments: str) -> tuple[str, str]:
        monkeypatch.setattr(sys, "argv", ["hf-kokoro", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
        assert not stopped.value.code
        printed = capsys.readouterr()
        return printed.out, printed.err

    return run


@pytest.mark.parametrize("json_", [False, True], ids=["words", "json"])
def test_every_verb_that_meets_strays_names_them(
    folder: Path, tmp_path: Path, said: Callable[..., tuple[str, str]], *, json_: bool
) -> None:
    new = tmp_path / "new.jsonl"
    new.write_bytes(lines(4))
    extra = ["--json"] if json_ else []
    verbs = (
        ["append", str(new), "--to", str(folder)],
        ["append", str(new), "--to", str(folder), "--dry-run"],
        ["audit", str(folder)],
        ["card", str(folder), "--no-figures"],
    )
    for verb in verbs:
        out, err = said(*verb, *extra)
        assert f"note: {BACKUP}, {SECOND} are no segments of the rows" in err, verb
        if json_:
            assert json.loads(out)["strays"] == list(STRAYS)
    out, _ = said("publish", str(folder), "--to", f"{tmp_path}/there", "--no-figures")
    assert f"not sent: {BACKUP}" in out


def test_loading_names_the_strays_once(folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        ours(folder, tmp_path / "cache")
    assert [BACKUP in message and SECOND in message for message in caplog.messages] == [True]


def test_a_folder_of_the_rows_alone_follows_the_same_rule(folder: Path, tmp_path: Path) -> None:
    assert ours(folder / "data", tmp_path / "cache") == 3


def test_six_digit_segments_grow_are_declared_and_load_in_order(folder: Path, tmp_path: Path) -> None:
    (folder / "data" / "pilot-99999.jsonl").write_bytes(lines(4))
    grow(folder, 5, segment_bytes=10)
    assert (folder / "data" / "pilot-100000.jsonl").is_file()
    prompts = [row(number)["prompt"] for number in (1, 2, 3, 4, 5)]
    assert datasets.load_dataset(str(folder), split="train", cache_dir=str(tmp_path / "a"))["prompt"] == prompts
    mine = hk.load_dataset("miti_st_dpo", "rows", source=folder, split="train", cache_dir=tmp_path / "b")
    assert mine["prompt"] == prompts
    report = hk.audit(folder)
    assert (report.ok, report.rows, report.strays) == (True, 5, STRAYS)
    assert write_card(folder, figures=False, check=True).changed == ()


def test_a_written_card_gets_the_pattern_of_six_digits_in_the_commit_that_needs_it(folder: Path) -> None:
    (folder / "data" / "pilot-99999.jsonl").write_bytes(lines(4))
    hk.append_rows(folder, rows(5), segment_bytes=10)
    patterns = DatasetCard.load(folder / "README.md").data["configs"][0]["data_files"][0]["path"]
    assert patterns == [
        "data/pilot.jsonl",
        "data/pilot-[0-9][0-9][0-9][0-9][0-9].jsonl",
        "data/pilot-[1-9][0-9][0-9][0-9][0-9][0-9].jsonl",
    ]


def test_a_card_with_the_pattern_of_former_versions_grows_and_is_renewed_by_card(place: Place) -> None:
    strew(place)
    now = "data/pilot-[0-9][0-9][0-9][0-9][0-9].jsonl"
    card = place.files()["README.md"].decode()
    assert now in card
    place.write("README.md", card.replace(now, OLD_PATTERN).encode())
    assert hk.append_rows(place.target(), rows(4), segment_bytes=10).files.keys() == {"data/pilot-00001.jsonl"}
    assert OLD_PATTERN in place.files()["README.md"].decode()
    assert "README.md" in write_card(place.target(), figures=False).changed
    renewed = place.files()["README.md"].decode()
    assert now in renewed
    assert OLD_PATTERN not in renewed


def test_reports_without_strays_are_as_before(tmp_path: Path) -> None:
    report = grow(tmp_path / "clean", 1)
    assert asdict(report)["strays"] == ()
    assert hk.audit(tmp_path / "clean").strays == ()
