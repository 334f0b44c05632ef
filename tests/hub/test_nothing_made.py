"""A repo, a branch or a folder is made by a commit of rows, and by nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hf_kokoro import append_rows
from hf_kokoro.errors import UsageError
from hf_kokoro.hub import HubTarget

from .double import HubDouble, Sneak, Status
from .rows import numbers, rows

DATA = "data/pilot.jsonl"
Make = Callable[..., HubTarget]


def made(hub: HubDouble) -> list[str]:
    return [
        seen.path for seen in hub.seen if seen.method == "POST" and ("/create" in seen.path or "/branch/" in seen.path)
    ]


def test_no_rows_make_nothing_and_say_what_is_missing(hub: HubDouble, hub_target: Make, tmp_path: Path) -> None:
    assert append_rows(hub_target(repo="user/new"), []).missing == "the private repo user/new"
    assert append_rows(hub_target(repo="user/new", private=False), []).missing == "the public repo user/new"
    assert append_rows(hub_target(branch="later"), []).missing.startswith("the branch later")
    assert append_rows(tmp_path / "pairs", []).missing == f"the folder {tmp_path / 'pairs'}"
    assert not (tmp_path / "pairs").exists()
    assert made(hub) == []
    assert append_rows(hub_target(), []).missing == ""


def test_a_dry_run_says_what_would_be_made_and_the_append_makes_it(hub: HubDouble, hub_target: Make) -> None:
    append_rows(hub_target(), rows(1))
    would = append_rows(hub_target(branch="later"), rows(1, 2), dry_run=True)
    # a new branch begins as the main one is
    assert (would.added, would.duplicates, would.rows_total) == (1, 1, 2)
    assert would.missing == "the branch later, which begins as the main one is"
    assert made(hub) == []
    did = append_rows(hub_target(branch="later"), rows(1, 2))
    assert (did.added, did.duplicates, did.rows_total, did.missing) == (1, 1, 2, "")
    assert numbers(hub.repo().read(DATA, "later")) == [1, 2]


def test_a_commit_that_was_refused_leaves_no_branch_of_an_upload_that_never_began(
    hub: HubDouble, hub_target: Make
) -> None:
    hub.faults.script("GET", "/revision/", *[Status(403)] * 2)
    with pytest.raises(Exception, match="403"):
        append_rows(hub_target(repo="user/new"), rows(1))
    assert made(hub) == []


def test_a_repo_that_somebody_else_makes_meanwhile_is_looked_at_again(hub: HubDouble, hub_target: Make) -> None:
    def other() -> None:
        hub.store.create("user/new", private=True)
        append_rows(hub_target("elsewhere", repo="user/new"), rows(7))

    hub.faults.script("POST", "/repos/create", Sneak(other))
    report = append_rows(hub_target(repo="user/new"), rows(1, 7))
    assert (report.added, report.duplicates) == (1, 1)
    assert numbers(hub.store.repos["user/new"].read(DATA)) == [7, 1]


@pytest.mark.parametrize(
    ("target", "branch"),
    [
        ("hf://datasets/user/pairs@main/data/x", None),
        ("user/pairs@main/data/x", None),
        ("user/pairs@a@b", None),
        ("a@b", None),
        ("user/pairs", "main/data/x"),
        ("user/pairs", "a@b"),
    ],
)
def test_a_mistyped_branch_is_refused(hub: HubDouble, target: str, branch: str | None) -> None:
    with pytest.raises(UsageError):
        append_rows(target, rows(1), branch=branch)
    assert hub.seen == []


def test_a_slash_within_a_branch_is_written_as_the_web_does() -> None:
    from hf_kokoro.core.places import HubRepo, read_place

    assert read_place("hf://datasets/user/pairs@try%2Fthis") == HubRepo("user/pairs", "try/this")
    with pytest.raises(UsageError, match="'this' inside a repo; give the repo: hf://datasets/user/pairs@try"):
        read_place("hf://datasets/user/pairs@try/this")
