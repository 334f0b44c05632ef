"""What huggingface_hub does that this package builds on; a new version that differs fails here first."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from huggingface_hub import (
    CommitOperationAdd,
    HfApi,
    close_session,
    get_session,
    hf_hub_download,
    set_client_factory,
)
from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.utils import _http

from .double import Drop, Fault, Html, HubDouble, Reset, Status

REPO = "user/pairs"
FILE = "data/pilot.jsonl"


@pytest.fixture
def api(hub: HubDouble) -> HfApi:
    return HfApi(endpoint=hub.endpoint, token="hf_writes")


@pytest.fixture
def commit(api: HfApi) -> Callable[..., str]:
    def commit(content: bytes, parent: str | None = None) -> str:
        done = api.create_commit(
            REPO,
            [CommitOperationAdd(FILE, content)],
            commit_message="a commit",
            repo_type="dataset",
            parent_commit=parent,
        )
        return done.oid

    return commit


@pytest.mark.parametrize("status", [409, 412, 429, 500, 503])
def test_commit_is_never_retried(hub: HubDouble, commit: Callable[..., str], status: int) -> None:
    hub.faults.script("POST", "/commit/", Status(status, {"Retry-After": "0"}))
    with pytest.raises(HfHubHTTPError) as caught:
        commit(b"one\n")
    assert caught.value.response.status_code == status
    assert len(hub.requests("POST", "/commit/")) == 1


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Drop(applied=True), httpx2.RemoteProtocolError),
        (Reset(applied=True), httpx2.NetworkError),
        (Html(), json.JSONDecodeError),
    ],
    ids=["dropped", "reset", "html"],
)
def test_lost_reply_is_no_hub_error_though_the_commit_is_there(
    hub: HubDouble, commit: Callable[..., str], fault: Fault, error: type[Exception]
) -> None:
    hub.faults.script("POST", "/commit/", fault)
    with pytest.raises(error) as caught:
        commit(b"one\n")
    assert not isinstance(caught.value, HfHubHTTPError)
    assert hub.repo().read(FILE) == b"one\n"


def test_same_bytes_again_send_no_commit_and_the_parent_is_not_checked(
    hub: HubDouble, commit: Callable[..., str]
) -> None:
    old = hub.repo().head().oid
    commit(b"one\n")
    theirs = hub.repo().commit({"other.txt": b"by somebody else"}).oid
    assert commit(b"one\n", parent=old) == theirs
    assert len(hub.requests("POST", "/commit/")) == 1


def test_commit_without_parent_overwrites_another_writers_row(hub: HubDouble, commit: Callable[..., str]) -> None:
    hub.repo().commit({FILE: b"theirs\n"})
    commit(b"ours\n")
    assert hub.repo().read(FILE) == b"ours\n"


def test_commit_with_a_parent_that_is_no_longer_the_head_is_refused(hub: HubDouble, commit: Callable[..., str]) -> None:
    old = hub.repo().head().oid
    hub.repo().commit({FILE: b"theirs\n"})
    with pytest.raises(HfHubHTTPError) as caught:
        commit(b"ours\n", parent=old)
    assert caught.value.response.status_code == 412


def test_file_in_gitignore_is_left_out_without_an_error(hub: HubDouble, api: HfApi) -> None:
    hub.repo().commit({".gitignore": FILE.encode()})
    operations = [CommitOperationAdd(FILE, b"one\n"), CommitOperationAdd("README.md", b"# card\n")]
    api.create_commit(REPO, operations, commit_message="a commit", repo_type="dataset")
    assert operations[0]._should_ignore
    assert FILE not in hub.repo().head().tree


def test_client_has_no_time_limit_of_its_own() -> None:
    assert get_session().timeout == httpx2.Timeout(None)


def test_client_and_factory_are_the_processs_and_setting_a_factory_closes_the_client() -> None:
    assert "client" not in inspect.signature(HfApi).parameters
    set_client_factory(_http.default_client_factory)
    former = get_session()
    assert _http._GLOBAL_CLIENT is former
    set_client_factory(_http.default_client_factory)
    assert _http._GLOBAL_CLIENT is None
    assert former.is_closed
    other = httpx2.Client()
    _http._GLOBAL_CLIENT = other
    assert get_session() is other
    close_session()
    assert other.is_closed
    assert get_session() is not other


def test_uploads_are_retried_but_reading_is_not(hub: HubDouble, api: HfApi, commit: Callable[..., str]) -> None:
    hub.faults.script("POST", "/preupload/", Status(503))
    commit(b"one\n")
    assert len(hub.requests("POST", "/preupload/")) == 2
    hub.faults.script("GET", "/revision/", Status(503))
    with pytest.raises(HfHubHTTPError):
        api.dataset_info(REPO, revision="main")
    hub.faults.script("POST", "/paths-info/", Status(503))
    with pytest.raises(HfHubHTTPError):
        api.get_paths_info(REPO, [FILE], repo_type="dataset")


def test_download_at_a_branch_gives_old_bytes_when_the_hub_fails(
    hub: HubDouble, commit: Callable[..., str], tmp_path: Path
) -> None:
    def download() -> bytes:
        path = hf_hub_download(
            REPO, FILE, repo_type="dataset", endpoint=hub.endpoint, token="hf_reads", cache_dir=tmp_path / "cache"
        )
        return Path(path).read_bytes()

    commit(b"one\n")
    assert download() == b"one\n"
    commit(b"one\ntwo\n")
    hub.faults.script("HEAD", "/resolve/", Status(503))
    assert download() == b"one\n"
    assert hub.repo().read(FILE) == b"one\ntwo\n"
