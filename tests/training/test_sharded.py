"""FSDP2 and ZeRO-3 by the launch configs that ship, on two CPU processes: the same steps as one process."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from datasets import Dataset
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

from hf_kokoro.training.recipe import accelerate_configs, load_recipe
from hf_kokoro.training.run_folder import read_metrics
from hf_kokoro.training.runner import run_recipe

from .training_rows import make_pairs

FSDP_ON_CPUS = [str(Path(__file__).parent / "cpu_fsdp.py")]
PLAIN = ["-m", "hf_kokoro.training"]
ROOT = Path(__file__).parent.parent.parent


def values(out: Path, rows: Path, model: Path, processes: int, **changes: Any) -> dict[str, Any]:
    return {
        "method": "dpo", "model_name_or_path": str(model), "dataset_name": str(rows), "alpha": 0.3, "max_steps": 3,
        "logging_steps": 1, "save_strategy": "no", "max_length": 256, "learning_rate": 1e-2, "optim": "sgd",
        "max_grad_norm": 0.5, "per_device_train_batch_size": 4 // processes, "expected_processes": processes,
        "per_device_eval_batch_size": 4 // processes, "output_dir": str(out), **changes,
    }  # fmt: skip


def launch(
    config: str, program: list[str], recipe: dict[str, Any], folder: Path, precision: str = "no"
) -> dict[str, Any]:
    """Run the recipe in two processes; returns the report that the first of them prints."""
    path = folder / "sharded.yaml"
    path.write_text(yaml.safe_dump(recipe), "utf-8")
    options = ["--config_file", str(accelerate_configs(config)), "--num_processes", "2", "--mixed_precision", precision]
    done = subprocess.run(
        [sys.executable, "-m", "accelerate.commands.launch", *options, *program, "dpo", "--config", str(path)],
        env={**os.environ, "OMP_NUM_THREADS": "1", "DS_ACCELERATOR": "cpu", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    report: dict[str, Any] = json.JSONDecoder().raw_decode(done.stdout[done.stdout.index("{\n") :])[0]
    return report


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    folder = tmp_path / "rows"
    folder.mkdir()
    pairs = make_pairs(16)
    Dataset.from_list(pairs[:12]).to_json(folder / "train.jsonl")
    Dataset.from_list(pairs[12:]).to_json(folder / "test.jsonl")
    return folder


def assert_same_run(config: str, program: list[str], changes: dict[str, Any], rows: Path, model: Path) -> None:
    folder = rows.parent
    # TRL keeps the adapters of a 4-bit model in bfloat16, and two processes add up their gradients in it
    loss_gap, weight_gap = (5e-5, 2e-3) if changes.get("load_in_4bit") else (5e-6, 1e-5)
    alone = run_recipe(load_recipe(values(folder / "alone", rows, model, 1, **changes)))
    report = launch(config, program, values(folder / "sharded", rows, model, 2, **changes), folder)
    assert report["processes"] == 2
    assert report["trainable_parameters"] == alone.trainable_parameters
    assert report["before"]["loss"] == pytest.approx(alone.before["loss"], abs=loss_gap)
    assert report["after"]["loss"] == pytest.approx(alone.after["loss"], abs=loss_gap)
    one, two = ([e["loss"] for e in read_metrics(folder / name) if "loss" in e] for name in ("alone", "sharded"))
    assert len(one) == 3
    assert two == pytest.approx(one, abs=loss_gap)
    first, second = (weights(folder / name, bool(changes.get("use_peft"))) for name in ("alone", "sharded"))
    assert first.keys() == second.keys()
    for key, weight in first.items():
        torch.testing.assert_close(second[key], weight, rtol=0, atol=weight_gap)


def weights(folder: Path, adapter: bool) -> dict[str, torch.Tensor]:
    """What the run saved, as a user would load it."""
    if adapter:
        return load_file(folder / "adapter_model.safetensors")
    return dict(AutoModelForCausalLM.from_pretrained(folder).named_parameters())


FULL: dict[str, Any] = {}
LORA = {"use_peft": True, "precompute_ref_log_probs": True, "learning_rate": 0.5}
QLORA = {**LORA, "load_in_4bit": True}


@pytest.mark.slow
@pytest.mark.parametrize("changes", [FULL, QLORA], ids=["full model", "QLoRA, precomputed reference"])
def test_fsdp2_takes_the_same_steps_as_one_process(changes: dict[str, Any], rows: Path, tiny_model: Path) -> None:
    assert_same_run("fsdp2", FSDP_ON_CPUS, changes, rows, tiny_model)


@pytest.mark.slow
def test_fsdp2_in_16_bit_keeps_log_probs_in_32(rows: Path, tiny_model: Path) -> None:
    # at step 0 policy and reference agree, so the loss is the offset's alone, 0.9037; rounded to bfloat16 it is 0.9023
    recipe = values(rows.parent / "sharded", rows, tiny_model, 2, bf16=True, max_steps=1)
    report = launch("fsdp2", FSDP_ON_CPUS, recipe, rows.parent, "bf16")
    test_rows = make_pairs(16)[12:]
    expected = [row["weight"] * math.log1p(math.exp(0.3 * math.log1p(row["margin"]))) for row in test_rows]
    assert report["before"]["loss"] == pytest.approx(sum(expected) / 4, abs=1e-4)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("deepspeed") is None, reason="deepspeed is not installed")
@pytest.mark.skipif(shutil.which("g++") is None, reason="deepspeed builds its CPU operators with g++")
@pytest.mark.parametrize("changes", [FULL, LORA], ids=["full model", "LoRA, precomputed reference"])
def test_zero3_takes_the_same_steps_as_one_process(changes: dict[str, Any], rows: Path, tiny_model: Path) -> None:
    assert_same_run("zero3", PLAIN, changes, rows, tiny_model)
