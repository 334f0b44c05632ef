"""Publishing to a Hub that answers over real HTTP: one commit, private by default, refused before a byte is sent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import hf_kokoro as hk
from hf_kokoro.cards import render_build_card, write_card
from hf_kokoro.corpora.kokorochat.schema import response_generation_features
from hf_kokoro.miti.features import ROWS_FEATURES
from tests.hub.double import HubDouble, Status

Rows = Callable[[int, int], list[dict[str, Any]]]
REPO = "user/mine"


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[HubDouble]:
    with HubDouble(tmp_path / "hub") as double:
        yield double


def run(hub: HubDouble, home: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "HF_ENDPOINT": hub.endpoint,
        "HF_HOME": str(home),
        "HF_DATASETS_CACHE": str(home / "datasets"),
        "HF_KOKORO_CACHE": str(home / "kokoro"),
        "HF_HUB_DISABLE_XET": "1",
        "HF_TOKEN": "hf_writes",
        "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
    }
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)


CLI = "from hf_kokoro.cli import main; main()"


def publish(hub: HubDouble, tmp_path: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(hub, tmp_path / "home", CLI, "publish", str(folder), "--to", REPO, "--no-figures", *arguments)


def commits(hub: HubDouble) -> list[str]:
    """Titles of the commits after the one that made the repo, oldest first."""
    found = [commit for commit in hub.store.repos[REPO].log("main") if commit.title != "initial commit"]
    return [commit.title for commit in reversed(found)]


def sent(hub: HubDouble) -> list[str]:
    return [seen.path for seen in hub.seen if seen.method in ("POST", "PUT")]


def test_data_and_card_arrive_in_one_commit_in_a_private_repo(hub: HubDouble, tmp_path: Path, repo: Path) -> None:
    done = publish(hub, tmp_path, repo, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["added"], report["rows_total"]) == (3, 3)
    there = hub.store.repos[REPO]
    assert there.private
    assert len(commits(hub)) == 1
    tree = there.head().tree
    assert set(tree) >= {"README.md", "data/pilot.jsonl", "pairs/train.jsonl", "unpaired/train.jsonl"}
    assert there.read("data/pilot.jsonl") == (repo / "data/pilot.jsonl").read_bytes()
    card = there.read("README.md").decode()
    assert f'load_dataset("{REPO}", split="train")' in card
    assert str(tmp_path) not in card


def test_a_new_repo_is_public_only_if_asked(hub: HubDouble, tmp_path: Path, repo: Path) -> None:
    assert publish(hub, tmp_path, repo, "--public").returncode == 0
    assert not hub.store.repos[REPO].private


@pytest.mark.slow
def test_publishing_the_same_again_makes_no_commit_and_growth_makes_one(
    hub: HubDouble, tmp_path: Path, repo: Path, rows: Rows
) -> None:
    publish(hub, tmp_path, repo)
    again = publish(hub, tmp_path, repo, "--json")
    assert json.loads(again.stdout)["added"] == 0
    assert json.loads(again.stdout)["files"] == {}
    assert len(commits(hub)) == 1
    assert run(hub, tmp_path / "home", CLI, "card", REPO, "--check", "--no-figures").returncode == 0
    hk.append_rows(repo, rows(3, 5))
    grown = publish(hub, tmp_path, repo, "--json")
    assert json.loads(grown.stdout)["rows_total"] == 5
    assert len(commits(hub)) == 2


def private_folder(tmp_path: Path, rows: Rows) -> Path:
    text = json.dumps(rows(0, 3)).replace("Answer 0 to question 1", "Write to ada@example.org.")
    made = tmp_path / "mine"
    hk.append_rows(made, json.loads(text))
    write_card(made, figures=False, today="2026-01-01")
    return made


def test_what_was_allowed_and_refused_by_the_hub_is_not_sent_by_the_redacted_run(
    hub: HubDouble, tmp_path: Path, rows: Rows
) -> None:
    made = private_folder(tmp_path, rows)
    hub.faults.script("POST", "/commit/", Status(403))
    refused = publish(hub, tmp_path, made, "--allow", "email")
    assert refused.returncode == 1
    assert "3 rows are not there\n" in refused.stderr
    would = json.loads(publish(hub, tmp_path, made, "--redact", "--dry-run", "--json").stdout)
    done = json.loads(publish(hub, tmp_path, made, "--redact", "--json").stdout)
    assert (would["added"], would["redacted"]) == (done["added"], done["redacted"]) == (3, 1)
    data = hub.store.repos[REPO].read("data/pilot.jsonl").decode()
    assert data.count("\n") == 3
    assert "[email]" in data
    assert "ada@" not in data


def test_private_data_is_stopped_before_the_repo_is_made(hub: HubDouble, tmp_path: Path, rows: Rows) -> None:
    made = private_folder(tmp_path, rows)
    for flags in ([], ["--dry-run"], ["--public"]):
        done = publish(hub, tmp_path, made, *flags)
        assert done.returncode == 1
        assert "email: 1 in 1 row" in done.stderr
    assert sent(hub) == []
    assert hub.store.repos == {}


def test_a_card_of_nothing_makes_no_repo_and_no_branch(hub: HubDouble, tmp_path: Path, repo: Path) -> None:
    nowhere = run(hub, tmp_path / "home", CLI, "card", "user/nowhere", "--no-figures")
    assert (nowhere.returncode, "append rows first" in nowhere.stderr) == (1, True)
    assert "user/nowhere" not in hub.store.repos
    assert publish(hub, tmp_path, repo).returncode == 0
    before = dict(hub.repo(REPO).refs)
    typo = run(hub, tmp_path / "home", CLI, "card", f"{REPO}@typo", "--no-figures")
    assert typo.returncode == 1
    assert dict(hub.repo(REPO).refs) == before


@pytest.fixture
def kokorochat(tmp_path: Path) -> Path:
    """A filtered, message-formatted split, as a user would want to share it."""
    import datasets

    features = response_generation_features(True)
    row = {
        "messages": [{"role": "user", "content": "こんにちは"}],
        "dialogue_id": 1,
        "client_id": 2,
        "counselor_id": 3,
        "score": 80,
        "topic": 0,
    }
    data = datasets.Dataset.from_list([row], features=features)
    made = tmp_path / "chat"
    (made / "data").mkdir(parents=True)
    data.to_parquet(made / "data/train.parquet")
    arguments = ("kokorochat", "response_generation", features, {"train": 1}, {"train": "data/train.parquet"})
    (made / "README.md").write_text(render_build_card(*arguments))
    return made


@pytest.mark.parametrize("flags", [[], ["--public"], ["--i-hold-the-licence"]])
def test_kokorochat_is_refused_before_a_byte_is_sent(
    hub: HubDouble, tmp_path: Path, kokorochat: Path, flags: list[str]
) -> None:
    done = publish(hub, tmp_path, kokorochat, *flags)
    assert done.returncode == 1
    assert "KokoroChat (CC BY-NC-ND 4.0)" in done.stderr
    assert "hf-kokoro build" in done.stderr
    assert sent(hub) == []


def test_who_holds_the_licence_may_use_a_private_repo_and_never_a_public_one(
    hub: HubDouble, tmp_path: Path, kokorochat: Path
) -> None:
    held = ("--private", "--i-hold-the-licence")
    done = publish(hub, tmp_path, kokorochat, *held)
    assert done.returncode == 0, done.stderr
    assert hub.store.repos[REPO].private
    hub.store.repos[REPO].private = False
    before = len(sent(hub))
    refused = publish(hub, tmp_path, kokorochat, *held)
    assert refused.returncode == 1
    assert "is public" in refused.stderr
    assert len(sent(hub)) == before


def test_a_card_with_problems_is_not_sent(hub: HubDouble, tmp_path: Path, repo: Path) -> None:
    card = repo / "README.md"
    card.write_text(card.read_text().replace("license: mit\n", "license: mit\nversion: 1.10\n"))
    done = publish(hub, tmp_path, repo)
    assert done.returncode == 1
    assert "version: got the number 1.1" in done.stderr
    assert not [path for path in sent(hub) if "/commit/" in path]


LOAD = """
import json, sys
import datasets
for config, revision, streaming in json.loads(sys.argv[1]):
    rows = datasets.load_dataset("user/mine", config, revision=revision, streaming=streaming, split="train")
    print(json.dumps([len(list(rows)), str(rows.features)]))
"""


@pytest.mark.slow
def test_the_repo_loads_typed_streaming_and_at_old_revisions(
    hub: HubDouble, tmp_path: Path, repo: Path, rows: Rows
) -> None:
    first = json.loads(publish(hub, tmp_path, repo, "--json").stdout)["revision"]
    hk.append_rows(repo, rows(3, 5))
    publish(hub, tmp_path, repo)
    asked = [(None, "main", False), (None, "main", True), (None, first, False), ("pairs", "main", False)]
    asked += [("pairs", first, False), ("unpaired", "main", True)]
    done = run(hub, tmp_path / "reader", LOAD, json.dumps(asked))
    assert done.returncode == 0, done.stderr[-2000:]
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    assert [count for count, _ in found] == [5, 5, 3, 5, 3, 15]
    assert found[0][1] == found[1][1] == found[2][1] == str(ROWS_FEATURES)


@pytest.mark.slow
@pytest.mark.real_data
def test_the_real_counsel_chat_set_is_judged_paired_and_published(
    hub: HubDouble, tmp_path: Path, real_data_dir: Path
) -> None:
    source = real_data_dir / "counsel-chat" / "20200325_counsel_chat.csv"
    journal, rows, made = (str(tmp_path / name) for name in ("verdicts.jsonl", "rows.jsonl", "real"))
    for arguments in (
        ("judge", "--source", str(source), "--judge", "rule", "--journal", journal),
        ("pair", "--journal", journal, "--out", rows),
        ("append", rows, "--to", made),
    ):
        done = run(hub, tmp_path / "home", CLI, *arguments)
        assert done.returncode == 0, done.stderr
    stopped = publish(hub, tmp_path, Path(made))
    assert stopped.returncode == 1
    assert "phone:" in stopped.stderr
    assert "url:" in stopped.stderr
    assert sent(hub) == []
    done = publish(hub, tmp_path, Path(made), "--allow", "url", "--redact", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["added"] == report["rows_total"] == len(Path(rows).read_text("utf-8").splitlines())
    assert len(commits(hub)) == 1
    loaded = run(hub, tmp_path / "reader", LOAD, json.dumps([(None, "main", False), ("pairs", "main", False)]))
    counts = [json.loads(line)[0] for line in loaded.stdout.splitlines() if line.startswith("[")]
    assert counts == [report["rows_total"]] * 2
