"""TRL's own command line trains on a published folder, with no code of ours in the process."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hf_kokoro as hk
from hf_kokoro.cards import publish, write_card
from hf_kokoro.cards.publish import PublishOptions

pytest.importorskip("trl", reason="needs the extra 'train'")
STEPS = 2


@pytest.fixture
def published(tmp_path: Path, rows: Callable[[int, int], list[Any]]) -> Path:
    hk.append_rows(tmp_path / "mine", rows(0, 8))
    write_card(tmp_path / "mine", figures=False)
    publish(tmp_path / "mine", tmp_path / "published", PublishOptions(figures=False))
    return tmp_path / "published"


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from hf_kokoro.training.tiny import build_tiny_model

    texts = [f"Answer {n} to question {n} and more. Title {n} Text {n}" for n in range(50)]
    return build_tiny_model(texts, tmp_path_factory.mktemp("tiny"), vocab_size=300, hidden_size=16, context=128)


def card_commands(folder: Path) -> list[list[str]]:
    """The `trl` lines of the card, split as a shell would, without the name of the program."""
    lines = (folder / "README.md").read_text("utf-8").splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("trl ")]


def test_the_card_shows_dpo_on_pairs_and_kto_on_answers(published: Path) -> None:
    commands = card_commands(published)
    assert [command[0] for command in commands] == ["dpo", "kto"]
    assert [command[command.index("--dataset_config") + 1] for command in commands] == ["pairs", "unpaired"]


@pytest.mark.slow
@pytest.mark.parametrize("position", [0, 1], ids=["dpo", "kto"])
def test_the_trl_commands_of_the_card_train_on_the_published_folder(
    position: int, published: Path, tiny_model: Path, tmp_path: Path
) -> None:
    trl = shutil.which("trl", path=str(Path(sys.executable).parent))
    if trl is None:
        pytest.skip("the trl command is not installed beside this Python")
    command = card_commands(published)[position]
    # what differs here: the folder instead of its Hub id, a tiny model, and a CPU
    for name, value in (
        ("dataset_name", published),
        ("model_name_or_path", tiny_model),
        ("output_dir", tmp_path / "out"),
    ):
        command[command.index(f"--{name}") + 1] = str(value)
    here = {
        "max_steps": STEPS,
        "per_device_train_batch_size": 4,
        "logging_steps": 1,
        "report_to": "none",
        "use_cpu": "true",
        "bf16": "false",
        "gradient_checkpointing": "false",
    }
    command = [trl, *command, *(part for name, value in here.items() for part in (f"--{name}", str(value)))]
    environment = {
        **os.environ,
        "HF_HOME": str(tmp_path / "home"),
        "HF_DATASETS_CACHE": str(tmp_path / "cache"),
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        "TRL_EXPERIMENTAL_SILENCE": "1",
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-3000:]
    state = json.loads(next((tmp_path / "out").glob("**/trainer_state.json")).read_text())
    losses = [entry["loss"] for entry in state["log_history"] if "loss" in entry]
    assert state["global_step"] == STEPS
    assert len(losses) == STEPS
    assert all(0 < loss < 10 for loss in losses)
