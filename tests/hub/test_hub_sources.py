"""`hf_kokoro.load_dataset` with a Hub id as its source, against the Hub double."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from huggingface_hub import HfApi

from .double import HubDouble, Status

SAMPLES = Path(__file__).resolve().parent.parent.parent / "hf_kokoro" / "samples"
ROWS = Path(__file__).resolve().parent.parent / "corpora" / "rows.jsonl"

LOAD = """
import json, sys
import hf_kokoro as hk
for name, config, options in json.loads(sys.argv[1]):
    try:
        rows = hk.load_dataset(name, config, split="train", **options)
        print(json.dumps([len(rows), *rows.info.download_checksums]))
    except hk.KokoroError as error:
        print(json.dumps(f"{type(error).__name__}: {error}"))
"""


def load(hub: HubDouble, home: Path, *asked: tuple[str, str, dict[str, str]], token: str = "hf_reads") -> list[object]:
    """What each load gives, in one fresh process: the number of rows and where they came from, or the error."""
    environment = os.environ | {
        "HF_ENDPOINT": hub.endpoint,
        "HF_HOME": str(home),
        "HF_DATASETS_CACHE": str(home / "datasets"),
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_OFFLINE": "0",
        "HF_TOKEN": token,
    }
    command = [sys.executable, "-c", LOAD, json.dumps(asked)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert token not in done.stderr + done.stdout
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def api(hub: HubDouble) -> HfApi:
    return HfApi(endpoint=hub.endpoint, token="hf_writes")


def test_a_hub_id_loads_rows_of_its_head_and_of_an_old_revision(hub: HubDouble, api: HfApi, tmp_path: Path) -> None:
    lines = ROWS.read_bytes().splitlines(keepends=True)
    old = api.upload_file(
        path_or_fileobj=b"".join(lines[:10]), path_in_repo="data/pilot.jsonl", repo_id="user/pairs", repo_type="dataset"
    )
    new = api.upload_file(
        path_or_fileobj=b"".join(lines), path_in_repo="data/pilot.jsonl", repo_id="user/pairs", repo_type="dataset"
    )
    at = "hf://datasets/user/pairs@"
    assert load(
        hub,
        tmp_path / "home",
        ("miti_st_dpo", "pairs", {"source": "user/pairs"}),
        ("miti_st_dpo", "rows", {"source": "user/pairs", "revision": old.oid}),
        ("miti_st_dpo", "rows", {"source": f"hf://datasets/user/pairs@{old.oid}"}),
    ) == [[28, at + new.oid], [10, at + old.oid], [10, at + old.oid]]


def test_kokorochat_files_load_from_a_hub_repo(hub: HubDouble, api: HfApi, tmp_path: Path) -> None:
    done = api.upload_folder(
        folder_path=SAMPLES / "kokorochat",
        path_in_repo="kokorochat_dialogues",
        repo_id="user/pairs",
        repo_type="dataset",
    )
    assert load(hub, tmp_path / "home", ("kokorochat", "dialogues", {"source": "user/pairs"})) == [
        [6, f"hf://datasets/user/pairs@{done.oid}"]
    ]


def test_a_growing_repo_is_read_at_its_head_and_never_from_an_old_copy(
    hub: HubDouble, api: HfApi, tmp_path: Path
) -> None:
    """A client's download at a branch may fall back to old cached files; ours asks for the commit first."""
    asked = ("miti_st_dpo", "rows", {"source": "user/pairs"})
    lines = ROWS.read_bytes().splitlines(keepends=True)
    for count in (3, 5):
        done = api.upload_file(
            path_or_fileobj=b"".join(lines[:count]),
            path_in_repo="data/pilot.jsonl",
            repo_id="user/pairs",
            repo_type="dataset",
        )
        assert load(hub, tmp_path / "home", asked) == [[count, f"hf://datasets/user/pairs@{done.oid}"]]
    hub.faults.script("GET", "/api/datasets/user/pairs", *[Status(503)] * 9)
    (error,) = load(hub, tmp_path / "home", asked)
    assert "HTTP 503" in str(error)


def test_a_repo_that_is_not_there_says_what_to_check(hub: HubDouble, tmp_path: Path) -> None:
    (error,) = load(hub, tmp_path / "home", ("kokorochat", "dialogues", {"source": "user/nothing"}))
    assert str(error).startswith("SourceError: user/nothing: ")
    assert "HTTP 404: Repository not found" in str(error)
    assert "check the id, the revision and that your token may read it" in str(error)
    (error,) = load(hub, tmp_path / "home", ("kokorochat", "dialogues", {"source": "user/pairs", "revision": "v9"}))
    assert "HTTP 404" in str(error)


def test_a_hub_that_cannot_be_reached_is_one_clear_error(tmp_path: Path) -> None:
    environment = os.environ | {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "0"}
    asked = json.dumps([("kokorochat", "dialogues", {"source": "user/pairs"})])
    command = [sys.executable, "-c", LOAD, asked]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert "SourceError: user/pairs: " in done.stdout
    assert "the Hub can't be reached" in done.stdout
    assert "Traceback" not in done.stderr


def test_a_cache_that_cannot_be_written_is_named_with_the_way_out(hub: HubDouble, api: HfApi, tmp_path: Path) -> None:
    api.upload_file(path_or_fileobj=ROWS, path_in_repo="data/pilot.jsonl", repo_id="user/pairs", repo_type="dataset")
    (tmp_path / "file").write_text("")
    (error,) = load(hub, tmp_path / "file" / "home", ("miti_st_dpo", "rows", {"source": "user/pairs"}))
    assert str(error).startswith("SourceError: ")
    assert "Not a directory" in str(error)
    assert "HF_HOME names another place for it" in str(error)
