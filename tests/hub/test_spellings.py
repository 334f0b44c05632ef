"""The Hub's own addresses at every door of targets and sources, and what never becomes a folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .double import HubDouble
from .rows import row

CSV = Path(__file__).resolve().parents[2] / "hf_kokoro" / "samples" / "counsel_chat.csv"
PYTHON = """
import json, sys
import hf_kokoro as hk
from hf_kokoro.cards import publish, write_card
doors = {
    "append": lambda place: hk.append_rows(place, "rows.jsonl").target,
    "audit": lambda place: hk.audit(place).target,
    "card": lambda place: write_card(place, figures=False).target,
    "publish": lambda place: publish("./mine", place).target,
    "source": lambda place: hk.load_dataset("miti_st_dpo", "rows", source=place)["train"].num_rows,
}
for door, place in json.loads(sys.argv[1]):
    try:
        print(json.dumps(doors[door](place)))
    except hk.KokoroError as error:
        print(json.dumps(f"{type(error).__name__}: {error}"))
"""
VERBS = """
import json, sys
from hf_kokoro.cli import main
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["hf-kokoro", *arguments]
    try:
        main()
        code = 0
    except SystemExit as stop:
        code = stop.code or 0
    print("CODE", code)
"""


def run(hub: HubDouble, folder: Path, program: str, asked: object) -> subprocess.CompletedProcess[str]:
    """One fresh process with the double as the Hub, and with rows.jsonl and ./mine in its folder."""
    line = json.dumps(row(1), ensure_ascii=False) + "\n"
    (folder / "rows.jsonl").write_text(line, "utf-8")
    (folder / "mine" / "data").mkdir(parents=True, exist_ok=True)
    (folder / "mine" / "data" / "pilot.jsonl").write_text(line, "utf-8")
    home = folder.parent / "home"
    environment = os.environ | {
        "HF_ENDPOINT": hub.endpoint,
        "HF_HOME": str(home),
        "HF_DATASETS_CACHE": str(home / "datasets"),
        "HF_KOKORO_CACHE": str(home / "kokoro"),
        "HF_TOKEN": "hf_writes",
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
    }
    command = [sys.executable, "-c", program, json.dumps(asked)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=True)


@pytest.fixture
def here(tmp_path: Path) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    return folder


def test_python_functions_read_web_addresses_and_branches(hub: HubDouble, here: Path) -> None:
    web = f"{hub.endpoint}/datasets/user/pairs"
    doors = [("append", f"{web}/tree/dev/"), ("audit", "user/pairs@dev"), ("card", f"{web}/tree/dev")]
    doors += [("source", f"{web}/tree/dev"), ("append", web), ("publish", "https://huggingface.co/datasets/user/new")]
    said = [json.loads(line) for line in run(hub, here, PYTHON, doors).stdout.splitlines()]
    dev, main, new = ("hf://datasets/user/pairs@dev", "hf://datasets/user/pairs", "hf://datasets/user/new")
    assert said == [dev, dev, dev, 1, main, new]
    assert "data/pilot.jsonl" in hub.repo().head("dev").tree
    assert "data/pilot.jsonl" in hub.repo("user/new").head().tree
    assert {path.name for path in here.iterdir()} == {"rows.jsonl", "mine"}


def test_verbs_read_web_addresses_and_branches(hub: HubDouble, here: Path) -> None:
    web = f"{hub.endpoint}/datasets/user/pairs"
    judge = ["judge", "--source", str(CSV), "--judge", "rule", "--journal", "../v.jsonl", "--append-to"]
    commands = [
        ["append", "rows.jsonl", "--to", f"{web}/tree/dev"],
        ["audit", "user/pairs@dev"],
        ["card", f"{web}/tree/dev/", "--no-figures"],
        ["publish", "mine", "--to", f"{web}?x=1", "--no-figures"],
        [*judge, "https://hf.co/datasets/user/judged"],
        ["build", "miti_st_dpo", "--config", "rows", "--source", f"{web}/tree/dev", "--out", "../built"],
    ]
    done = run(hub, here, VERBS, commands)
    codes = [line for line in done.stdout.splitlines() if line.startswith("CODE")]
    assert codes == ["CODE 0"] * len(commands), done.stdout + done.stderr
    assert "data/pilot.jsonl" in hub.repo("user/judged").head().tree
    assert {path.name for path in here.iterdir()} == {"rows.jsonl", "mine"}


@pytest.mark.parametrize(
    "text", ["datasets/alice/p4", "hf:/datasets/alice/p4", "s3://b/x", "https://u:hf_secret@hf.co/x/y"]
)
def test_what_is_no_place_is_bad_usage_at_every_door_and_makes_nothing(hub: HubDouble, here: Path, text: str) -> None:
    judge = ["judge", "--source", str(CSV), "--judge", "rule", "--journal", "../v.jsonl", "--append-to", text]
    commands = [
        ["append", "rows.jsonl", "--to", text],
        ["append", "--watch", "../v.jsonl", "--to", text, "--once"],
        ["audit", text],
        ["card", text],
        ["card", text, "--check"],
        ["publish", "mine", "--to", text],
        judge,
        ["build", "miti_st_dpo", "--config", "rows", "--source", text, "--out", "../built"],
    ]
    done = run(hub, here, VERBS, commands)
    codes = [line for line in done.stdout.splitlines() if line.startswith("CODE")]
    assert codes == ["CODE 2"] * len(commands), done.stdout + done.stderr
    doors = ["append", "audit", "card", "publish", "source"]
    said = run(hub, here, PYTHON, [(door, text) for door in doors]).stdout
    assert [json.loads(line).split(":")[0] for line in said.splitlines()] == ["UsageError"] * len(doors)
    assert "hf_secret" not in said + done.stdout + done.stderr
    assert {path.name for path in here.iterdir()} == {"rows.jsonl", "mine"}
    assert not (here.parent / "v.jsonl").exists()
    assert hub.seen == []
