"""Switches that save time must leave every loss as it is; several processes must be several."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from datasets import Dataset

from hf_kokoro.errors import UsageError
from hf_kokoro.training.distributed import check_processes
from hf_kokoro.training.memory import count_lora_parameters, guess_memory
from hf_kokoro.training.recipe import load_recipe
from hf_kokoro.training.run_folder import read_metrics
from hf_kokoro.training.runner import run_recipe
from hf_kokoro.training.scored_dpo import ScoredDPOConfig, ScoredDPOTrainer
from hf_kokoro.training.speed import completion_only_scoring

from .training_rows import QUICK, make_pairs

ROOT = Path(__file__).parent.parent.parent


def losses(
    load_tiny: Any, tokenizer: Any, out: Path, *, scoring: bool = False, **changes: Any
) -> tuple[list[float], Any]:
    values = {
        **QUICK,
        "output_dir": str(out),
        "alpha": 0.3,
        "max_length": 256,
        "max_steps": 3,
        "logging_steps": 1,
        **changes,
    }
    with completion_only_scoring(scoring):
        trainer = ScoredDPOTrainer(
            model=load_tiny(),
            args=ScoredDPOConfig(**values),
            train_dataset=Dataset.from_list(make_pairs(12)),
            processing_class=tokenizer,
        )
        trainer.train()
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry], trainer


@pytest.mark.parametrize(
    "switch",
    [
        {"scoring": True},
        {"precompute_ref_log_probs": True},
        {"gradient_checkpointing": True},
        {"scoring": True, "precompute_ref_log_probs": True},
    ],
    ids="+".join,
)
def test_a_speed_switch_changes_no_loss(switch: dict[str, Any], load_tiny: Any, tokenizer: Any, tmp_path: Path) -> None:
    plain, _ = losses(load_tiny, tokenizer, tmp_path)
    switched, _ = losses(load_tiny, tokenizer, tmp_path, **switch)
    assert switched == pytest.approx(plain, abs=5e-6)
    assert len(set(plain)) == 3


def test_completion_only_scoring_projects_fewer_positions_and_is_undone_afterwards(
    load_tiny: Any, tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from trl.trainer import utils

    seen: list[int] = []
    original = utils._ChunkedLogProbFunction.apply

    def counting(*arguments: Any) -> Any:
        seen.append(arguments[0].size(0))
        return original(*arguments)

    monkeypatch.setattr(utils._ChunkedLogProbFunction, "apply", counting)
    detection = utils._use_triton
    losses(load_tiny, tokenizer, tmp_path, max_steps=1)
    everywhere = seen[0]
    seen.clear()
    losses(load_tiny, tokenizer, tmp_path, scoring=True, max_steps=1)
    assert 0 < seen[0] < everywhere
    assert utils._use_triton is detection


def test_an_untested_trl_version_keeps_its_own_scoring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trl.__version__", "1.99.0")
    with completion_only_scoring() as on:
        assert on is False


def test_length_grouping_puts_pairs_of_like_length_together(load_tiny: Any, tokenizer: Any, tmp_path: Path) -> None:
    def answer(index: int) -> list[dict[str, str]]:
        return [{"role": "assistant", "content": "rest " * (1 + 9 * (index % 4))}]

    rows = [{**row, "chosen": answer(i), "rejected": answer(i)} for i, row in enumerate(make_pairs(32))]
    padding = {}
    for strategy in ("random", "group_by_length"):
        trainer = ScoredDPOTrainer(
            model=load_tiny(),
            args=ScoredDPOConfig(output_dir=str(tmp_path), train_sampling_strategy=strategy, **QUICK),
            train_dataset=Dataset.from_list(rows),
            processing_class=tokenizer,
        )
        batches = list(trainer.get_train_dataloader())
        padding[strategy] = sum(int((batch["attention_mask"] == 0).sum()) for batch in batches)
        assert sorted(name for batch in batches for name in batch["row_id"]) == sorted(row["row_id"] for row in rows)
    assert padding["group_by_length"] < 0.8 * padding["random"]


def test_the_memory_guess_counts_weights_optimizer_and_activations_as_its_sources_say(load_tiny: Any) -> None:
    model = load_tiny()
    parameters = sum(p.numel() for p in model.parameters())
    guess = guess_memory(model, sequences=2, tokens=100)
    assert guess.fixed == 4 * parameters + 12 * parameters
    assert guess.activations == 2 * (2 * 100 * 64 * 68)  # 2 layers, 68 bytes a token and unit in float32
    assert guess.checkpointed == 2 * (2 * 100 * 64 * 4) + 2 * 100 * 64 * 68
    assert guess.total(True) < guess.total(False)
    with_reference = guess_memory(model, 2, 100, trainable=1000, separate_reference=True, shards=2)
    assert with_reference.fixed == (2 * 4 * parameters + 12 * 1000) // 2
    assert guess_memory(model, 2, 10**9).needs_checkpointing
    assert not guess.needs_checkpointing


@pytest.mark.parametrize("targets", ["all-linear", ["q_proj", "down_proj"]], ids=str)
def test_the_parameters_of_an_adapter_are_counted_before_it_is_put_on(targets: Any, load_tiny: Any) -> None:
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(r=4, target_modules=targets, task_type="CAUSAL_LM")
    counted = count_lora_parameters(load_tiny(), 4, targets)
    assert counted == get_peft_model(load_tiny(), config).get_nb_trainable_parameters()[0] > 0


def test_a_run_with_other_than_the_expected_processes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    check_processes(1, None)
    check_processes(1, 1)
    with pytest.raises(UsageError, match=r"got 1 where the recipe wants 2.*torchrun"):
        check_processes(1, 2)
    # torchrun without a CPU backend: two launched, each alone
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(UsageError, match="the launcher started 2 processes, the trainer sees 1"):
        check_processes(1, None)


@pytest.mark.slow
def test_two_processes_are_two_and_take_the_same_steps_as_one(tiny_model: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows"
    rows.mkdir()
    Dataset.from_list(make_pairs(16)).to_json(rows / "train.jsonl")

    def values(processes: int) -> dict[str, Any]:
        return {
            "method": "dpo", "model_name_or_path": str(tiny_model), "dataset_name": str(rows), "alpha": 0.3,
            "dataset_test_split": None, "max_steps": 3, "logging_steps": 1, "save_strategy": "no", "max_length": 256,
            "learning_rate": 1e-3, "precompute_ref_log_probs": True, "optim": "sgd", "expected_processes": processes,
            "per_device_train_batch_size": 4 // processes, "output_dir": str(tmp_path / f"run-{processes}"),
        }  # fmt: skip

    run_recipe(load_recipe(values(1)))
    config = tmp_path / "two.yaml"
    config.write_text(yaml.safe_dump(values(2)), "utf-8")
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    done = subprocess.run(
        [*launch, "-m", "hf_kokoro.training", "dpo", "--config", str(config)],
        env={**os.environ, "ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout)["processes"] == 2
    one, two = ([e for e in read_metrics(tmp_path / f"run-{n}") if "loss" in e] for n in (1, 2))
    assert len(one) == 3
    assert [e["loss"] for e in two] == pytest.approx([e["loss"] for e in one], abs=5e-6)
    assert [e["grad_norm"] for e in two] == pytest.approx([e["grad_norm"] for e in one], abs=5e-6)
