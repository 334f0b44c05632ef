"""How a target is written, and what a folder is when it isn't a plain one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hf_kokoro import append_rows, audit
from hf_kokoro.errors import UsageError
from hf_kokoro.hub import LocalTarget, Target, resolve_target
from hf_kokoro.hub.errors import BaseFormatError, TargetError
from hf_kokoro.hub.remote import HubTarget
from hf_kokoro.hub.resolve import HubOptions

from .rows import numbers, rows

DATA = "data/pilot.jsonl"


@pytest.mark.parametrize(
    ("text", "repo", "branch"),
    [
        ("user/repo", "user/repo", "main"),
        ("Agentic-Commons/counsel-chat_miti.st", "Agentic-Commons/counsel-chat_miti.st", "main"),
        ("hf://datasets/user/repo", "user/repo", "main"),
        ("hf://datasets/user/repo@dev", "user/repo", "dev"),
        ("hf://datasets/user/repo@refs/pr/3", "user/repo", "refs/pr/3"),
        ("hf://datasets/user/repo@refs%2Fpr%2F3", "user/repo", "refs/pr/3"),
    ],
)
def test_hub_names(text: str, repo: str, branch: str) -> None:
    target = resolve_target(text)
    assert isinstance(target, HubTarget)
    assert (target.repo_id, target.branch) == (repo, branch)
    assert isinstance(target, Target)


@pytest.mark.parametrize("text", ["./folder", "/tmp/x/y", "../user/repo", "~/pairs", "."])
def test_folder_names(text: str) -> None:
    target = resolve_target(text)
    assert isinstance(target, LocalTarget)
    assert isinstance(target, Target)


def test_existing_folder_wins_over_a_repo_of_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "user" / "repo").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert isinstance(resolve_target("user/repo"), LocalTarget)
    assert isinstance(resolve_target("hf://datasets/user/repo"), HubTarget)


@pytest.mark.parametrize(
    "text", ["hf://models/user/repo", "hf://datasets/user", "hf://datasets/user/repo/data", "hf://"]
)
def test_other_hub_addresses_are_bad_usage(text: str) -> None:
    with pytest.raises(UsageError, match="hf://datasets/user/repo"):
        resolve_target(text)


def test_branch_beside_and_in_the_name() -> None:
    target = resolve_target("user/repo", HubOptions(branch="dev"))
    assert isinstance(target, HubTarget)
    assert target.branch == "dev"
    with pytest.raises(UsageError, match="two of branch"):
        resolve_target("hf://datasets/user/repo@main", HubOptions(branch="dev"))


@pytest.mark.parametrize("options", [{"pr": True}, {"branch": "dev"}, {"private": False}])
def test_hub_options_for_a_folder_are_bad_usage(tmp_path: Path, options: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="only exists on the Hub"):
        append_rows(tmp_path, rows(1), **options)


def test_file_as_target_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "pilot.jsonl"
    file.write_text("")
    with pytest.raises(TargetError, match="is a file"):
        append_rows(file, rows(1))


def test_folder_that_may_not_be_written_is_refused(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o555)
    with pytest.raises(TargetError, match="can't be written"):
        append_rows(folder, rows(1))


def test_linked_data_file_and_folder_stay_links(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "data").symlink_to(real)
    append_rows(folder, rows(1))
    append_rows(folder, rows(2))
    assert (folder / "data").is_symlink()
    assert numbers((real / "pilot.jsonl").read_bytes()) == [1, 2]
    assert audit(folder).ok


def test_mode_of_the_file_stays(tmp_path: Path) -> None:
    append_rows(tmp_path, rows(1))
    (tmp_path / DATA).chmod(0o640)
    append_rows(tmp_path, rows(2))
    assert (tmp_path / DATA).stat().st_mode & 0o777 == 0o640


def test_full_disk_leaves_everything_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append_rows(tmp_path, rows(1))
    before = (tmp_path / DATA).read_bytes()

    def full(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("hf_kokoro.hub.files.os.fsync", full)
        with pytest.raises(TargetError, match="No space left"):
            append_rows(tmp_path, rows(2))
    assert (tmp_path / DATA).read_bytes() == before
    assert append_rows(tmp_path, rows(2)).added == 1
    assert audit(tmp_path).ok


def test_damaged_index_costs_a_rebuild_and_nothing_else(tmp_path: Path) -> None:
    append_rows(tmp_path, rows(1, 2))
    append_rows(tmp_path, rows(3))
    index = next((tmp_path / ".hf_kokoro" / "index").glob("*.ids"))
    good = index.read_bytes()
    for damaged in (b"", b"other", good[:-1], good[:-32], good[:40], bytes(len(good)), good[:-1] + b"\x00"):
        index.write_bytes(damaged)
        report = append_rows(tmp_path, rows(1, 2, 3))
        assert (report.added, report.rows_total) == (0, 3)
        assert len(index.read_bytes()) == len(good) + 32
    assert audit(tmp_path).ok


def test_index_of_a_file_that_was_changed_in_place_is_not_believed(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    file = tmp_path / DATA
    line = json.dumps(rows(1)[0]).encode() + b"\n"
    file.write_bytes(line)
    append_rows(tmp_path, rows(1))
    file.write_bytes(line.replace(b"number 1.", b"number 8."))
    assert append_rows(tmp_path, rows(1)).added == 1


def test_torn_line_that_was_cut_off_by_hand_is_forgotten(tmp_path: Path) -> None:
    append_rows(tmp_path, rows(1))
    good = (tmp_path / DATA).read_bytes()
    (tmp_path / DATA).write_bytes(good + b'{"torn')
    for _ in range(2):
        with pytest.raises(BaseFormatError):
            append_rows(tmp_path, rows(2))
    (tmp_path / DATA).write_bytes(good)
    append_rows(tmp_path, rows(2))
    assert numbers((tmp_path / DATA).read_bytes()) == [1, 2]
    assert [step.rows_added for step in audit(tmp_path).revisions] == [1, 1]


def test_bytes_of_others_are_a_revision_of_their_own_in_the_history(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / DATA).write_bytes(json.dumps(rows(1)[0]).encode() + b"\n")
    append_rows(tmp_path, rows(2))
    report = audit(tmp_path)
    assert [(step.author, step.rows_added) for step in report.revisions] == [("(elsewhere)", 1), ("append_rows", 1)]
    assert append_rows(tmp_path, rows(2)).revision == report.revisions[-1].revision


def test_file_that_others_edit_while_we_append_is_read_again(tmp_path: Path) -> None:
    append_rows(tmp_path, rows(1))
    edits = [json.dumps(rows(5)[0], ensure_ascii=False).encode() + b"\n"]

    def edit(growth: object) -> dict[str, bytes]:
        if edits:
            with (tmp_path / DATA).open("ab") as stream:
                stream.write(edits.pop())
        return {}

    report = append_rows(tmp_path, rows(2), extra_operations=edit)
    assert report.attempts == 2
    assert numbers((tmp_path / DATA).read_bytes()) == [1, 5, 2]
    assert audit(tmp_path).ok
