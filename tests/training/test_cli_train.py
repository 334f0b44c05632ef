"""`hf-kokoro train` and `evaluate preference` as a user types them, on MITI-ST rows in a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hf_kokoro.cli import app
from hf_kokoro.errors import UsageError


def invoke(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


def test_a_tiny_dpo_run_then_its_preference_accuracy(miti_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    short = ("--output-dir", out, "--max_steps=12", "--save_strategy=no")
    trained = invoke("train", "dpo", "--config", "tiny_odpo", "--dataset_source", miti_folder, *short)
    assert trained.exit_code == 0, trained.output
    assert "share of supervised tokens" in trained.output
    assert "12 steps" in trained.output
    base = out / "tiny-base"
    measured = invoke("evaluate", "preference", "--model", out, "--reference", base, "--source", miti_folder, "--json")
    report = json.loads(measured.stdout)
    # two fixed styles: even a tiny model learns which one is wanted
    assert report["reward"]["value"] == 1.0
    assert report["longer_wins"]["value"] == 1.0
    assert report["pairs"] >= 2


def test_a_run_goes_on_from_its_last_checkpoint(miti_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    options = ("--dataset_source", miti_folder, "--output_dir", out, "--save_steps", "2", "--json")
    started = invoke("train", "dpo", "--config", "tiny_dpo", *options, "--max_steps", "2")
    assert json.loads(started.stdout)["resumed_from"] is None
    resumed = invoke(
        "train", "dpo", "--config", "tiny_dpo", *options, "--max_steps", "4", "--resume_from_checkpoint", "true"
    )
    report = json.loads(resumed.stdout)
    assert report["resumed_from"] == str(out / "checkpoint-2")
    assert report["steps"] == 4


@pytest.mark.parametrize(("method", "name"), [("kto", "tiny_kto"), ("reward", "tiny_reward")])
def test_the_other_tiny_twins_run_on_the_same_folder(method: str, name: str, miti_folder: Path, tmp_path: Path) -> None:
    short = ("--output_dir", tmp_path / "run", "--max_steps", "3", "--save_strategy", "no", "--json")
    done = invoke("train", method, "--config", name, "--dataset_source", miti_folder, *short)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["steps"] == 3


def test_the_sft_twins_run_on_the_bundled_sample(samples: Path, tmp_path: Path) -> None:
    for name, source in (("tiny_kokorochat_sft", "kokorochat"), ("tiny_emplifai_sft", "emplifai.csv")):
        short = ("--output_dir", tmp_path / name, "--max_steps", "2", "--save_strategy", "no", "--json")
        done = invoke("train", "sft", "--config", name, "--dataset_source", samples / source, *short)
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["steps"] == 2


def test_windows_are_cut_from_the_command_line(samples: Path, tmp_path: Path) -> None:
    options = ("--output_dir", tmp_path / "run", "--max_steps", "1", "--save_strategy", "no", "--window-tokens", "200")
    source = (
        "--dataset_source",
        samples / "kokorochat",
        "--window-overlap-tokens",
        "40",
        "--max-dropped",
        "1",
        "--json",
    )
    done = invoke("train", "sft", "--config", "tiny_kokorochat_sft", *options, *source)
    checks = {c["name"]: c["value"] for c in json.loads(done.stdout)["preflight"]["checks"]}
    assert int(checks["cut between turns"].split()[0]) >= 1
    assert int(checks["sequences"]) > int(checks["rows"])


def test_recipes_are_listed_with_what_they_do() -> None:
    listed = invoke("train", "recipes")
    assert "miti_odpo_qlora" in listed.output
    paths = json.loads(invoke("train", "recipes", "--json").stdout)
    assert all(Path(path).is_file() for path in paths.values())


def test_the_launch_configs_have_a_path_to_give_to_accelerate() -> None:
    assert Path(invoke("train", "accelerate-config", "fsdp2").stdout.strip()).is_file()
    with pytest.raises(UsageError, match="did you mean 'zero3'"):
        invoke("train", "accelerate-config", "zero2")


def test_a_wrong_key_is_a_usage_error_before_anything_is_loaded(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'learning_rate'"):
        invoke("train", "dpo", "--config", "tiny_dpo", "--learningrate", "1", "--dataset_source", tmp_path)
