"""What a user may type as a place, and what a mistyped one is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from huggingface_hub import constants

from hf_kokoro.core.places import HubRepo, UnknownPlace, one_branch, read_place
from hf_kokoro.errors import UsageError

WEB = "https://huggingface.co/datasets/alice/pilot"


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("text", "branch"),
    [
        ("alice/pilot", None),
        ("alice/pilot@dev", "dev"),
        ("alice/pilot@refs/pr/3", "refs/pr/3"),
        ("hf://datasets/alice/pilot", None),
        ("hf://datasets/alice/pilot/", None),
        ("hf://datasets/alice/pilot@refs%2Fpr%2F3", "refs/pr/3"),
        (WEB, None),
        (f"{WEB}/", None),
        (f"{WEB}?row=3#top", None),
        ("http://huggingface.co/datasets/alice/pilot", None),
        ("https://hf.co/datasets/alice/pilot", None),
        ("HTTPS://HuggingFace.co/datasets/alice/pilot", None),
        (f"{WEB}/tree/main", "main"),
        (f"{WEB}/tree/dev/", "dev"),
        (f"{WEB}/tree/feature%2Fone", "feature/one"),
        (f"{WEB}/tree/refs%2Fpr%2F3", "refs/pr/3"),
        (f"{WEB}/tree/refs/pr/3", "refs/pr/3"),
    ],
)
def test_every_spelling_of_a_hub_dataset_is_that_repo(text: str, branch: str | None) -> None:
    assert read_place(text) == HubRepo("alice/pilot", branch)


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:8123", "https://mirror.example/hub/"])
def test_the_configured_endpoint_is_the_hub_too(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", endpoint)
    assert read_place(f"{endpoint.rstrip('/')}/datasets/alice/pilot/tree/dev") == HubRepo("alice/pilot", "dev")
    with pytest.raises(UsageError, match="not on the Hub"):
        read_place("http://127.0.0.1:9999/datasets/alice/pilot")


@pytest.mark.parametrize(
    "text", ["./new", "../new", "/new/folder", ".", "..", "./datasets/alice/p4", "C:\\new", "./hf:/x"]
)
def test_a_folder_to_be_made_is_named_as_a_path(text: str) -> None:
    assert read_place(text) == Path(text)


def test_home_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read_place("~/new") == tmp_path / "new"
    with pytest.raises(UsageError, match="home folder"):
        read_place("~nobody-of-that-name/new")


@pytest.mark.parametrize("text", ["out", "alice/pilot", "datasets/alice/p4", "a/b/c", "alice/p7@dev"])
def test_what_is_there_on_disk_is_that_path(text: str) -> None:
    Path(text).mkdir(parents=True)
    assert read_place(text) == Path(text)


@pytest.mark.parametrize("text", [WEB, "hf://datasets/alice/pilot"])
def test_an_address_stays_one_though_a_folder_of_that_spelling_was_made(text: str) -> None:
    Path(text).mkdir(parents=True)
    assert read_place(text) == HubRepo("alice/pilot")


def test_a_path_object_is_a_path_whatever_it_spells() -> None:
    assert read_place(Path("alice/pilot")) == Path("alice/pilot")


@pytest.mark.parametrize("text", ["out", "a/b/c", "out/", "user/repo/"])
def test_a_bare_new_name_is_told_to_begin_with_a_dot_and_slash(text: str) -> None:
    with pytest.raises(UnknownPlace, match=rf"write \./{text}; allowed"):
        read_place(text)


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("datasets/alice/p4", "hf://datasets/alice/p4 for the Hub's repo, ./datasets/alice/p4 for a folder"),
        ("hf:/datasets/alice/p4", "did you mean hf://datasets/alice/p4?"),
        ("hf://alice/p4", "did you mean hf://datasets/alice/p4?"),
        ("hf://models/alice/p4", "allowed: ./folder, user/repo"),
        ("hf://datasets/alice/p4/data", "did you mean hf://datasets/alice/p4?"),
        ("https:/huggingface.co/datasets/alice/p4", "did you mean hf://datasets/alice/p4?"),
        ("huggingface.co/datasets/alice/p4", "did you mean hf://datasets/alice/p4?"),
        ("https://huggingface.co/alice/p4", "did you mean hf://datasets/alice/p4?"),
        ("https://huggingface.co/spaces/alice/p4", "a Space"),
        ("https://huggingface.co/datasets/squad", "names no repo"),
        ("https://example.org/datasets/alice/p4", "did you mean hf://datasets/alice/p4?"),
        (
            f"{WEB}/blob/dev/data/x.jsonl",
            "the file 'data/x.jsonl' inside a repo; give the repo: hf://datasets/alice/pilot@dev",
        ),
        (f"{WEB}/resolve/main/data/x.jsonl", "give the repo: hf://datasets/alice/pilot;"),
        (f"{WEB}/tree/dev/data", "the folder 'data' inside a repo; give the repo: hf://datasets/alice/pilot@dev"),
        (f"{WEB}/viewer/default/train", "the page 'viewer' of a repo; give the repo: hf://datasets/alice/pilot"),
        (f"{WEB}.git", "did you mean alice/pilot?"),
        ("s3://bucket/x", "no place for datasets here"),
        ("gs://bucket/x", "no place for datasets here"),
        ("file:///tmp/x", "no place for datasets here"),
        ("alice/p--4", "for a folder write ./alice/p--4"),
        ("alice/p4.git", "did you mean alice/p4?"),
        ("alice/.p4", "no repo id"),
        ("alice/p4@", "no branch name"),
        ("alice/p4@a b", "no branch name"),
        ("alice/p4@a..b", "no branch name"),
        ("", "got nothing"),
    ],
)
def test_anything_else_is_refused_with_what_was_probably_meant(text: str, nearest: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_place(text)
    assert nearest in str(refused.value)
    assert "allowed" in str(refused.value) or "write" in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "https://alice:hf_secret@huggingface.co/datasets/alice/pilot",
        "https://hf_secret@huggingface.co/datasets/alice/pilot",
        "https://alice:hf_secret/@huggingface.co/datasets/alice/pilot",
        "https:/alice:hf_secret@huggingface.co/datasets/alice/pilot",
        "https://huggingface.co/alice/pilot?token=hf_secret",
        "https://example.org/alice/pilot#hf_secret",
        "s3://alice:hf_secret@bucket/x",
        "hf://alice:hf_secret@datasets/alice/pilot",
        "alice:hf_secret@huggingface.co/datasets/alice/pilot",
        "hf_secret@huggingface.co/datasets/alice/pilot",
    ],
)
def test_a_secret_in_an_address_is_never_repeated(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_place(text)
    assert "hf_secret" not in str(refused.value)


def test_two_branches_have_to_be_one() -> None:
    assert one_branch("dev", None) == one_branch(None, "dev") == one_branch("dev", "dev") == "dev"
    assert one_branch(None, None) is None
    with pytest.raises(UsageError, match=r"two of branch: 'dev' .* 'main'"):
        one_branch("dev", "main")
