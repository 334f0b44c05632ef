"""Runs of whole recipes with a tiny model: the run folder, resuming, starting points, refusals."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from datasets import Dataset

from hf_kokoro.errors import RowError, SourceError, UsageError
from hf_kokoro.miti.contract import SOURCE_DATASET
from hf_kokoro.training.model_card import render_model_card
from hf_kokoro.training.preflight import PreflightError
from hf_kokoro.training.recipe import Recipe, load_recipe
from hf_kokoro.training.run_folder import read_metrics
from hf_kokoro.training.runner import TrainReport, run_recipe, trainer_config

from .training_rows import make_pairs, make_unpaired, message


@pytest.fixture
def recipe(tmp_path: Path, tiny_model: Path) -> Any:
    """A function that makes a short recipe on the shared tiny model."""

    def make(name: str = "run", **changes: Any) -> Recipe:
        values = {
            "method": "dpo", "model_name_or_path": str(tiny_model), "output_dir": str(tmp_path / name),
            "max_steps": 4, "logging_steps": 1, "per_device_train_batch_size": 4, "learning_rate": 1e-3,
            "save_strategy": "no", "max_length": 256, "seed": 5,
        }  # fmt: skip
        return load_recipe({**values, **changes})

    return make


def rows(count: int = 12) -> dict[str, Dataset]:
    pairs = make_pairs(count)
    return {"train": Dataset.from_list(pairs[:-4]), "test": Dataset.from_list(pairs[-4:])}


def weights(folder: Path) -> dict[str, torch.Tensor]:
    from safetensors.torch import load_file

    name = "adapter_model.safetensors" if (folder / "adapter_config.json").is_file() else "model.safetensors"
    return load_file(folder / name)


def same_weights(one: Path, other: Path) -> bool:
    first, second = weights(one), weights(other)
    return first.keys() == second.keys() and all(torch.equal(first[key], second[key]) for key in first)


def run(recipe: Recipe, count: int = 12) -> TrainReport:
    return run_recipe(recipe, datasets=rows(count))


def test_a_run_leaves_model_recipe_versions_metrics_plots_and_card(recipe: Any, tmp_path: Path) -> None:
    report = run(recipe(dataset_license="mit", use_peft=True))
    folder = tmp_path / "run"
    assert report.steps == 4
    assert report.before["loss"] > report.after["loss"]
    again = load_recipe(folder / "recipe.yaml")
    assert again.settings == recipe(dataset_license="mit", use_peft=True).settings
    facts = json.loads((folder / "run.json").read_text("utf-8"))
    assert {"torch", "trl", "transformers", "peft", "datasets"} <= set(facts["versions"])
    assert set(facts["dataset_fingerprints"]) == {"train", "test"}
    logged = [entry for entry in read_metrics(folder) if "loss" in entry]
    assert [entry["step"] for entry in logged] == [1, 2, 3, 4]
    assert {"odpo/offset", "rewards/margins", "grad_norm"} <= set(logged[0])
    assert (folder / "loss.png").stat().st_size > 1000
    assert (folder / "margin.png").stat().st_size > 1000
    card = (folder / "README.md").read_text("utf-8")
    header = yaml.safe_load(card.split("---")[1])
    assert header["license"] == "mit"
    assert header["library_name"] == "peft"
    assert "Not for clinical decisions" in card
    assert "| optimizer steps | 4 |" in card
    assert weights(folder)


def test_the_same_recipe_gives_the_same_bits_and_a_new_metrics_file(recipe: Any, tmp_path: Path) -> None:
    run(recipe("one"))
    run(recipe("two"))
    before = read_metrics(tmp_path / "one")
    with pytest.raises(UsageError, match=r"output_dir: .* holds a run already"):
        run(recipe("one"))
    run(recipe("one", overwrite_output_dir=True))
    assert same_weights(tmp_path / "one", tmp_path / "two")
    assert len(read_metrics(tmp_path / "one")) == len(before)


@pytest.mark.parametrize("peft", [True, False], ids=["lora", "full"])
def test_a_resumed_run_equals_the_uninterrupted_one_bit_by_bit(peft: bool, recipe: Any, tmp_path: Path) -> None:
    saving = {"use_peft": peft, "save_strategy": "steps", "save_steps": 2, "max_steps": 4}
    straight = run(recipe("straight", **saving))
    run(recipe("broken", **saving))
    # as if the run had died after step 2
    import shutil

    shutil.rmtree(tmp_path / "broken" / "checkpoint-4")
    resumed = run(recipe("broken", **saving, resume_from_checkpoint="true"))
    assert resumed.resumed_from == str(tmp_path / "broken" / "checkpoint-2")
    assert resumed.steps == straight.steps == 4
    assert resumed.trainable_parameters == straight.trainable_parameters > 0
    assert same_weights(tmp_path / "straight", tmp_path / "broken")

    def last(name: str) -> tuple[Any, ...]:
        entry = [e for e in read_metrics(tmp_path / name) if "loss" in e][-1]
        return entry["step"], entry["loss"], entry["learning_rate"]

    assert last("broken") == last("straight")


@pytest.mark.parametrize("gone", ["trainer_state.json", "optimizer.pt"])
def test_a_checkpoint_without_its_state_is_called_a_warm_start(gone: str, recipe: Any, tmp_path: Path) -> None:
    saving = {"use_peft": True, "save_strategy": "steps", "save_steps": 2, "max_steps": 2}
    run(recipe(**saving))
    (tmp_path / "run" / "checkpoint-2" / gone).unlink()
    with pytest.raises(UsageError, match=f"no {gone}, so this would be a warm start.*adapter_name_or_path"):
        run(recipe(**saving, resume_from_checkpoint="true"))


def test_a_resumed_run_logs_every_step_once_and_its_recipe_starts_a_fresh_run(recipe: Any, tmp_path: Path) -> None:
    saving = {"use_peft": True, "save_strategy": "steps", "save_steps": 2}
    run(recipe(**saving, max_steps=4))
    import shutil

    shutil.rmtree(tmp_path / "run" / "checkpoint-4")
    run(recipe(**saving, max_steps=5, resume_from_checkpoint=True))
    assert [e["step"] for e in read_metrics(tmp_path / "run") if "loss" in e] == [1, 2, 3, 4, 5]
    assert "resume_from_checkpoint" not in load_recipe(tmp_path / "run" / "recipe.yaml").trainer


def test_a_full_run_over_an_adapters_folder_leaves_no_adapter_behind(recipe: Any, tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM

    run(recipe(use_peft=True))
    run(recipe(overwrite_output_dir=True))
    assert not (tmp_path / "run" / "adapter_config.json").exists()
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path / "run")
    assert not any("lora" in name for name, _ in loaded.named_parameters())


def test_a_run_that_is_refused_leaves_the_one_that_it_was_to_replace(recipe: Any, tmp_path: Path) -> None:
    run(recipe(use_peft=True))
    kept = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}
    with pytest.raises(PreflightError):
        run(recipe(overwrite_output_dir=True, max_length=16))
    with pytest.raises(UsageError, match="holds the model or adapter to start from"):
        run(recipe(overwrite_output_dir=True, adapter_name_or_path=str(tmp_path / "run")))
    assert {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()} == kept


def test_rows_given_in_memory_get_no_origin_and_no_licence_of_another_dataset(recipe: Any, tmp_path: Path) -> None:
    run(recipe())
    card = (tmp_path / "run" / "README.md").read_text("utf-8")
    header = yaml.safe_load(card.split("---")[1])
    assert "license" not in header
    assert "datasets" not in header
    assert "DPO on rows given in memory" in card


PRIVATE = "Anna Secretname cannot sleep"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"prompt": None}, "prompt: got"),
        ({"prompt": []}, "prompt: got"),
        ({"chosen": [{"from": "gpt", "value": PRIVATE}]}, "a message without role and content"),
        ({"chosen": [{"role": "user", "content": PRIVATE}]}, "a message of somebody else"),
        ({"rejected": [{"role": "assistant", "content": None}]}, "a message without role and content"),
        ({"margin": float("nan")}, "margin: got"),
        ({"margin": 1e300}, "margin: got"),
        ({"weight": -1.0}, "weight: got"),
    ],
    ids=str,
)
@pytest.mark.parametrize("method", ["dpo", "reward"])
def test_malformed_rows_are_named_before_anything_is_trained_and_never_quoted(
    method: str, changes: dict[str, Any], reason: str, recipe: Any
) -> None:
    bad = [{**row, **changes} for row in make_pairs(4)]
    with pytest.raises(RowError) as caught:
        run_recipe(recipe(method=method, dataset_test_split=None), datasets={"train": Dataset.from_list(bad)})
    assert reason in str(caught.value)
    assert "Secretname" not in str(caught.value)


@pytest.mark.parametrize("label", [2, 0.9, "true", None], ids=str)
def test_a_label_that_is_neither_yes_nor_no_is_refused(label: Any, recipe: Any) -> None:
    bad = [{**row, "label": label} for row in make_unpaired(4)]
    with pytest.raises(RowError, match=r"label: got .*; allowed: true or false"):
        run_recipe(recipe(method="kto", dataset_test_split=None), datasets={"train": Dataset.from_list(bad)})


def test_a_table_that_cannot_be_read_or_has_no_header_never_shows_its_text(recipe: Any, tmp_path: Path) -> None:
    folder = tmp_path / "rows"
    folder.mkdir()
    (folder / "train.csv").write_text(f"{PRIVATE},I hear you,go away\nx,y,z\n", "utf-8")
    with pytest.raises(UsageError, match=r"got columns .*\(not a name\)") as caught:
        run_recipe(recipe(dataset_name=str(folder), dataset_test_split=None))
    assert "Secretname" not in str(caught.value)
    (folder / "train.csv").unlink()
    (folder / "train.jsonl").write_text(f'{{"prompt": "{PRIVATE}"\n', "utf-8")
    with pytest.raises(SourceError, match="can't be loaded") as broken:
        run_recipe(recipe(dataset_name=str(folder), dataset_test_split=None))
    assert "Secretname" not in str(broken.value)
    assert broken.value.__suppress_context__


def test_an_adapter_of_another_task_is_refused(recipe: Any, tmp_path: Path) -> None:
    run(recipe("reward", method="reward", use_peft=True))
    with pytest.raises(UsageError, match="an adapter for SEQ_CLS; allowed for dpo: one for CAUSAL_LM"):
        run(recipe("dpo", adapter_name_or_path=str(tmp_path / "reward")))


def test_resuming_where_nothing_was_saved_is_refused(recipe: Any) -> None:
    with pytest.raises(UsageError, match="no checkpoint-"):
        run(recipe(resume_from_checkpoint="true"))


def sft_run(recipe: Any, **changes: Any) -> TrainReport:
    dialogue = [message("user", "sleep"), message("assistant", "that sounds hard"), message("user", "it is")]
    data = {"train": Dataset.from_list([{"messages": [*dialogue, message("assistant", f"day {i}")]} for i in range(8)])}
    values = {"method": "sft", "use_peft": True, "dataset_test_split": None, **changes}
    return run_recipe(recipe("sft", **values), datasets=data)


def test_preference_training_from_an_sft_adapter_uses_it_as_the_reference(recipe: Any, tmp_path: Path) -> None:
    first = sft_run(recipe)
    report = run(recipe("dpo", adapter_name_or_path=str(tmp_path / "sft")))
    assert report.base_model == first.base_model
    # at step 0 policy = reference = the adapter: zero rewards and the loss of the offset alone
    assert report.before["rewards/chosen"] == report.before["rewards/margins"] == 0.0
    assert not same_weights(tmp_path / "sft", tmp_path / "dpo")


def test_an_adapter_whose_reference_is_the_bare_base_is_stopped_at_step_0(recipe: Any, tmp_path: Path) -> None:
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from hf_kokoro.training.adapters import StartError, assert_policy_is_reference
    from hf_kokoro.training.scored_dpo import ScoredDPOTrainer

    base = sft_run(recipe, learning_rate=5e-2).base_model
    made = recipe("dpo")
    policy = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(base), tmp_path / "sft", is_trainable=True)
    options = {
        "args": trainer_config(made),
        "train_dataset": rows()["train"],
        "processing_class": AutoTokenizer.from_pretrained(base),
    }
    wrong = ScoredDPOTrainer(model=policy, ref_model=AutoModelForCausalLM.from_pretrained(base), **options)
    with pytest.raises(StartError, match="step 0: policy and the reference differ"):
        assert_policy_is_reference(wrong)


@pytest.mark.parametrize(
    ("changes", "steps"),
    [
        ({"gradient_accumulation_steps": 3, "num_train_epochs": 1.5}, 3),
        ({"method": "kto", "num_train_epochs": 2, "gradient_accumulation_steps": 2}, 6),
    ],
    ids=["dpo", "kto"],
)
def test_the_pre_flight_expects_as_many_steps_as_the_run_takes(changes: Any, steps: int, recipe: Any) -> None:
    kto = changes.get("method") == "kto"
    data = make_unpaired(11) if kto else make_pairs(21)
    made = recipe(**changes, max_steps=-1, dataset_test_split=None)
    report = run_recipe(made, datasets={"train": Dataset.from_list(data)})
    expected = next(c["value"] for c in report.preflight["checks"] if c["name"] == "optimizer steps expected")
    assert int(expected.split()[0]) == report.steps == steps


def test_kto_and_reward_recipes_run_end_to_end(recipe: Any) -> None:
    unpaired = make_unpaired(12)
    data = {"train": Dataset.from_list(unpaired[:16]), "test": Dataset.from_list(unpaired[16:])}
    kto = run_recipe(recipe("kto", method="kto", use_peft=True), datasets=data)
    assert kto.steps == 4
    reward = run(recipe("reward", method="reward", use_peft=True))
    assert reward.steps == 4
    assert "accuracy" in reward.after
    assert "margin" in reward.after


def test_the_tiny_model_is_built_from_the_training_texts(recipe: Any, tmp_path: Path) -> None:
    report = run(recipe(model_name_or_path="tiny"))
    assert report.base_model == str(tmp_path / "run" / "tiny-base")
    assert (tmp_path / "run" / "tiny-base" / "model.safetensors").is_file()


def test_rows_over_the_allowed_share_stop_the_run_before_anything_is_saved(recipe: Any, tmp_path: Path) -> None:
    with pytest.raises(PreflightError, match="too_long"):
        run(recipe(max_length=16))
    assert not (tmp_path / "run" / "model.safetensors").exists()


def test_wrong_columns_splits_and_models_are_named(recipe: Any) -> None:
    data = rows()
    with pytest.raises(UsageError, match="dataset_test_split: got 'test'; allowed: train"):
        run_recipe(recipe(), datasets={"train": data["train"]})
    with pytest.raises(UsageError, match="dpo needs prompt, chosen, rejected"):
        run_recipe(recipe(), datasets={"train": Dataset.from_list(make_unpaired(4)), "test": data["test"]})
    fatal = data["train"].add_column("images", [[]] * len(data["train"]))
    with pytest.raises(UsageError, match="'images', which TRL reads as its own"):
        run_recipe(recipe(), datasets={"train": fatal, "test": data["test"]})
    mixed = Dataset.from_list([{**row, "prompt": "text"} for row in make_pairs(4)])
    with pytest.raises(UsageError, match="as text beside message lists"):
        run_recipe(recipe(), datasets={"train": mixed, "test": data["test"]})
    with pytest.raises(SourceError, match="can't be loaded"):
        run(recipe(model_name_or_path="./no-such-model"))


def test_trl_refusals_become_usage_errors_that_name_the_recipe(recipe: Any) -> None:
    data = {"train": Dataset.from_list(make_unpaired(8)), "test": None}
    one = recipe(method="kto", dataset_test_split=None, per_device_train_batch_size=1)
    with pytest.raises(UsageError, match=r"Actual .* batch size"):
        run_recipe(one, datasets=data)


def test_a_pushed_repository_is_private_unless_the_recipe_says_otherwise(recipe: Any) -> None:
    assert trainer_config(recipe()).hub_private_repo is True
    assert trainer_config(recipe(hub_private_repo=False)).hub_private_repo is False


def test_a_plain_folder_of_rows_is_read_by_datasets_itself(recipe: Any, tmp_path: Path) -> None:
    folder = tmp_path / "rows"
    folder.mkdir()
    for name, split in rows().items():
        split.to_json(folder / f"{name}.jsonl")
    report = run_recipe(recipe(dataset_name=str(folder)))
    assert (report.train_rows, report.test_rows) == (8, 4)
    facts = json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))
    assert facts["dataset_origins"] == {"rows": None}


def test_the_module_runs_a_recipe_and_prints_its_report(recipe: Any, tmp_path: Path, tiny_model: Path) -> None:
    folder = tmp_path / "rows"
    folder.mkdir()
    rows()["train"].to_json(folder / "train.jsonl")
    config = tmp_path / "mine.yaml"
    made = recipe(dataset_name=str(folder), dataset_test_split=None, max_steps=1)
    config.write_text(yaml.safe_dump(made.to_dict()), "utf-8")
    command = [sys.executable, "-m", "hf_kokoro.training", "dpo", "--config", str(config), "--beta", "0.3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["steps"] == 1
    assert "beta: 0.3" in (tmp_path / "run" / "recipe.yaml").read_text("utf-8")


def test_the_module_answers_a_bad_recipe_with_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    from hf_kokoro.training.__main__ import main

    assert main(["dpo", "--config", "tiny_dpo", "--bet", "1"]) == 2
    assert "did you mean 'beta'?" in capsys.readouterr().err


def test_precomputed_reference_log_probs_are_found_again_by_a_run_with_another_output_dir(
    recipe: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hf_kokoro.training.scored_dpo import ScoredDPOTrainer

    folder = tmp_path / "rows"
    folder.mkdir()
    rows()["train"].to_json(folder / "train.jsonl")
    computed: list[str] = []
    original = ScoredDPOTrainer.compute_ref_log_probs

    def counting(self: Any, model: Any, inputs: Any) -> Any:
        computed.append(self.args.output_dir)
        return original(self, model, inputs)

    monkeypatch.setattr(ScoredDPOTrainer, "compute_ref_log_probs", counting)
    for name in ("one", "two"):
        changes = {"dataset_name": str(folder), "dataset_test_split": None, "precompute_ref_log_probs": True}
        run_recipe(recipe(name, **changes))
    assert set(computed) == {str(tmp_path / "one")}


@pytest.mark.parametrize(
    ("dataset", "license_id", "words"),
    [
        ("kokorochat", "cc-by-nc-nd-4.0", "No commercial use"),
        ("emplifai", "unknown", "do not distribute"),
    ],
)
def test_a_model_card_carries_the_licence_and_limits_of_its_data(
    dataset: str, license_id: str, words: str, recipe: Any
) -> None:
    card = card_of(recipe(dataset_name=dataset))
    header = yaml.safe_load(card.split("---")[1])
    assert header["license"] == license_id
    assert header["base_model"] == "base"
    assert words in card
    assert "5 for training, 2 held out" in card
    assert "read from: `hf://datasets/user/repo@abc`, digest `0123`" in card


def test_a_model_card_of_two_origins_has_a_sentence_and_a_count_for_each(recipe: Any) -> None:
    both = [("me/mine\n# <b>hi", "MIT", 2), (SOURCE_DATASET, "MIT", "people", "digest", 3)]
    card = card_of(recipe(dataset_name="miti_st_dpo"), dataset_claims=both)
    assert "- of 2 rows: The texts come, as their owner declared, from me/mine # bhi, licence MIT" in card
    assert "- of 3 rows: Both sides of every pair were written by therapists" in card
    assert "prolific" not in card
    counsel = card_of(recipe(dataset_name="miti_st_dpo"), dataset_claims=both[1:])
    assert "A few prolific therapists dominate." in counsel
    assert yaml.safe_load(counsel.split("---")[1])["datasets"] == ["user/repo"]


def card_of(recipe: Recipe, **more: Any) -> str:
    """The card of a run that never was."""
    report = TrainReport(
        method="dpo", output_dir="out", base_model="base", adapter=True, train_rows=5, test_rows=2, steps=1, epochs=1.0,
        seconds=1.0, first_loss=0.7, last_loss=0.6, trainable_parameters=10, processes=1, seed=1,
        preflight={"checks": []},
    )  # fmt: skip
    facts = {"versions": {"trl": "1.16"}, "dataset_origins": {"hf://datasets/user/repo@abc": "0123"}, **more}
    return render_model_card(recipe, report.to_dict(), facts)


@pytest.mark.parametrize(
    ("stated", "license_id", "words"),
    [
        (("me/mine", "MIT"), "mit", "The texts come, as their owner declared, from me/mine, licence MIT"),
        (("not stated", "not stated"), None, "Where the texts come from, under which licence, and who wrote the"),
    ],
    ids=["own", "nothing"],
)
def test_a_model_card_says_of_miti_rows_what_they_state_and_no_more(
    stated: tuple[str, str], license_id: str | None, words: str, tmp_path: Path, recipe: Any, miti_folder: Path
) -> None:
    lines = [json.loads(line) for line in (miti_folder / "data" / "pilot.jsonl").read_text("utf-8").splitlines()]
    rows = [{**line, "source_dataset": stated[0], "license": stated[1]} for line in lines]
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    run_recipe(
        recipe(
            "out",
            dataset_name="miti_st_dpo",
            dataset_source=str(tmp_path / "mine.jsonl"),
            dataset_test_split=None,
            max_steps=1,
        )
    )
    card = (tmp_path / "out" / "README.md").read_text("utf-8")
    header = yaml.safe_load(card.split("---")[1])
    assert header.get("license") == license_id
    assert "datasets" not in header
    assert f"- of {len(rows)} rows: {words}" in card
    assert "counsel-chat" not in card
    assert "therapist" not in card.partition("## Run")[0]
    assert "does not check facts" in card
