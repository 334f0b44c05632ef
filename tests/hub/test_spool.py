"""Rows that could not be sent are kept, and sent first by the next append."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hf_kokoro import append_rows
from hf_kokoro.errors import RowError, SourceError
from hf_kokoro.hub.errors import AccessError, AppendFailed, BaseFormatError
from hf_kokoro.hub.remote import HubTarget
from hf_kokoro.hub.spool import Spool

from .double import Drop, HubDouble, Sneak, Status
from .rows import numbers, row, rows

DATA = "data/pilot.jsonl"
Make = Callable[..., HubTarget]


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "spool")


def refuse(hub: HubDouble, target: HubTarget, spool: Spool, *which: int) -> None:
    hub.faults.script("POST", "/commit/", Status(403))
    with pytest.raises(AccessError):
        append_rows(target, rows(*which), spool=spool.folder)


def test_next_append_sends_what_the_last_one_could_not_first(hub: HubDouble, hub_target: Make, spool: Spool) -> None:
    refuse(hub, hub_target(), spool, 1, 2)
    report = append_rows(hub_target(), rows(3), spool=spool.folder)
    assert (report.added, report.from_spool) == (3, 2)
    assert numbers(hub.repo().read(DATA)) == [1, 2, 3]
    assert list(spool.folder.iterdir()) == []


def test_next_append_without_rows_sends_the_spool(hub: HubDouble, hub_target: Make, spool: Spool) -> None:
    refuse(hub, hub_target(), spool, 1)
    assert append_rows(hub_target(), [], spool=spool.folder).added == 1


def test_same_rows_tried_again_and_again_are_spooled_once(hub: HubDouble, hub_target: Make, spool: Spool) -> None:
    for _ in range(3):
        refuse(hub, hub_target(), spool, 1, 2)
    refuse(hub, hub_target(), spool, 2, 3)
    assert [entry.rows for entry in spool.entries()] == [2, 1]
    assert append_rows(hub_target(), rows(3), spool=spool.folder).duplicates == 1
    assert numbers(hub.repo().read(DATA)) == [1, 2, 3]


def test_rows_are_on_disk_before_the_first_request(hub: HubDouble, hub_target: Make, spool: Spool) -> None:
    seen: list[list[int]] = []
    look = Sneak(lambda: seen.append([entry.rows for entry in spool.entries() if entry.held]))
    hub.faults.script("*", "", look)
    append_rows(hub_target(), rows(1, 2), spool=spool.folder)
    assert seen == [[2]]


def test_refused_batch_is_not_spooled(hub_target: Make, spool: Spool) -> None:
    with pytest.raises(RowError):
        append_rows(hub_target(), [*rows(1), {}], spool=spool.folder)
    assert spool.entries() == []


def test_base_that_cannot_grow_keeps_the_rows(hub: HubDouble, hub_target: Make, spool: Spool) -> None:
    hub.repo().commit({DATA: b"not json\n"})
    with pytest.raises(BaseFormatError, match="unsent rows are kept"):
        append_rows(hub_target(), rows(1), spool=spool.folder)
    assert [entry.rows for entry in spool.entries()] == [1]


def test_entries_of_other_targets_branches_and_paths_stay(hub: HubDouble, hub_target: Make, spool: Spool) -> None:
    hub.repo("user/other")
    refuse(hub, hub_target(repo="user/other"), spool, 1)
    refuse(hub, hub_target(branch="side"), spool, 2)
    refuse(hub, hub_target(pr=True), spool, 5)
    hub.faults.script("POST", "/commit/", Status(403))
    with pytest.raises(AccessError):
        append_rows(hub_target(), rows(3), path="data/other.jsonl", spool=spool.folder)
    assert append_rows(hub_target(), rows(4), spool=spool.folder).from_spool == 0
    assert len(spool.entries()) == 4


def test_entries_of_the_same_repo_on_another_server_stay(
    hub: HubDouble, hub_target: Make, spool: Spool, tmp_path: Path
) -> None:
    refuse(hub, hub_target(), spool, 1)
    with HubDouble(tmp_path / "another") as other:
        other.repo("user/pairs")
        target = HubTarget("user/pairs", token="hf_writes", endpoint=other.endpoint, cache_dir=tmp_path / "mirror")
        assert append_rows(target, rows(2), spool=spool.folder).from_spool == 0
        assert numbers(other.repo().read(DATA)) == [2]


def test_lost_reply_then_give_up_then_next_run_finds_the_rows_there(
    hub: HubDouble, hub_target: Make, spool: Spool
) -> None:
    hub.faults.script("POST", "/commit/", Drop(applied=True))
    hub.faults.script("GET", "/revision/", Sneak(lambda: None), *[Status(503)] * 9)
    with pytest.raises(AppendFailed):
        append_rows(hub_target(), rows(1, 2), spool=spool.folder)
    report = append_rows(hub_target(), [], spool=spool.folder)
    assert report.added == 0
    assert numbers(hub.repo().read(DATA)) == [1, 2]
    assert spool.entries() == []


def test_entry_of_a_living_process_is_left_to_it(hub: HubDouble, hub_target: Make, spool: Spool) -> None:
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from pathlib import Path; from hf_kokoro.hub.spool import Spool\n"
            "from hf_kokoro.hub.batch import NewRow\n"
            "entry = Spool(Path(sys.argv[1])).put(sys.argv[2], sys.argv[2], sys.argv[3],\n"
            "    [NewRow(b'0' * 32, b'{}\\n')])\n"
            "print('held', flush=True); sys.stdin.read()",
            str(spool.folder),
            hub_target().route,
            DATA,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert [entry.held for entry in spool.entries()] == [True]
        assert not spool.drop_unheld(spool.entries()[0])
        assert append_rows(hub_target(), rows(1), spool=spool.folder).from_spool == 0
    finally:
        holder.kill()
        holder.communicate()
    assert [entry.held for entry in spool.entries()] == [False]
    assert spool.drop_unheld(spool.entries()[0])
    assert list(spool.folder.iterdir()) == []


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"not json\n", id="no header"),
        pytest.param(b"[]\n", id="another header"),
    ],
)
def test_foreign_files_in_the_spool_are_listed_and_harm_nobody(
    hub: HubDouble, hub_target: Make, spool: Spool, content: bytes
) -> None:
    spool.folder.mkdir()
    (spool.folder / "20260101T000000-foreign.jsonl").write_bytes(content)
    assert append_rows(hub_target(), rows(1), spool=spool.folder).added == 1
    assert [(entry.id, entry.target) for entry in spool.entries()] == [("20260101T000000-foreign", "?")]


def test_entry_that_was_edited_by_hand_stops_with_its_name(hub: HubDouble, hub_target: Make, spool: Spool) -> None:
    refuse(hub, hub_target(), spool, 1)
    entry = spool.entries()[0]
    entry.file.write_bytes(entry.file.read_bytes() + b"torn {")
    with pytest.raises(SourceError, match=f"spool drop {entry.id}"):
        append_rows(hub_target(), rows(2), spool=spool.folder)
    assert DATA not in hub.repo().head().tree


def test_folder_targets_need_no_spool(tmp_path: Path, spool: Spool) -> None:
    append_rows(tmp_path / "folder", rows(1), spool=spool.folder)
    assert not spool.folder.exists()


def test_spooled_rows_keep_their_bytes(hub: HubDouble, hub_target: Make, spool: Spool) -> None:
    refuse(hub, hub_target(), spool, 1)
    append_rows(hub_target(), [], spool=spool.folder)
    assert hub.repo().read(DATA) == json.dumps(row(1), ensure_ascii=False).encode() + b"\n"
