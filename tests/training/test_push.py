"""Pushing a run: what arrives on a Hub over real HTTP, from a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from datasets import Dataset

from ..hub.double import HubDouble
from .training_rows import make_pairs


@pytest.mark.slow
@pytest.mark.parametrize("private", [True, False], ids=["as it is", "told to be public"])
def test_a_pushed_run_is_private_unless_told_and_keeps_its_own_card(
    private: bool, tiny_model: Path, tmp_path: Path
) -> None:
    rows = tmp_path / "rows"
    rows.mkdir()
    Dataset.from_list(make_pairs(8)).to_json(rows / "train.jsonl")
    recipe = {
        "method": "dpo", "model_name_or_path": str(tiny_model), "dataset_name": str(rows), "dataset_license": "mit",
        "dataset_test_split": None, "max_steps": 2, "save_strategy": "steps", "save_steps": 1, "max_length": 256,
        "use_peft": True, "output_dir": str(tmp_path / "run"), "hub_model_id": "user/pushed",
    }  # fmt: skip
    config = tmp_path / "recipe.yaml"
    config.write_text(yaml.safe_dump(recipe), "utf-8")
    with HubDouble(tmp_path / "hub") as double:
        done = subprocess.run(
            [sys.executable, "-m", "hf_kokoro.training", "dpo", "--config", str(config), "--push-to-hub"]
            + ([] if private else ["--hub-private-repo", "false"]),
            env={
                **os.environ,
                "HF_ENDPOINT": double.endpoint,
                "HF_TOKEN": "hf_writes",
                "HF_HUB_DISABLE_XET": "1",
                "HF_HOME": str(tmp_path / "home"),
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        repo = double.store.repos["user/pushed"]
        tree = repo.head().tree
        files = {name: double.store.read(blob) for name, blob in tree.items()}
    assert repo.private is private
    # no checkpoint and no model without its card went before
    assert [commit.title for commit in repo.log("main")] == ["End of training", "initial commit"]
    assert {"adapter_model.safetensors", "recipe.yaml", "run.json", "metrics.jsonl", "README.md"} <= set(files)
    assert not any(name.startswith("checkpoint-") for name in files)
    card = files["README.md"].decode()
    assert yaml.safe_load(card.split("---")[1])["license"] == "mit"
    assert "Not for clinical decisions" in card
    assert "[TRL]" not in card
    assert "hf_writes" not in done.stdout + done.stderr
    assert not any(b"hf_writes" in content for content in files.values())
