"""Recipes: what is accepted, refused and overridden."""

from __future__ import annotations

from pathlib import Path

import pytest

from hf_kokoro.errors import UsageError
from hf_kokoro.training.methods import METHODS
from hf_kokoro.training.overrides import parse_overrides
from hf_kokoro.training.recipe import (
    RECIPES_DIR,
    RecipeError,
    accelerate_configs,
    builtin_recipes,
    load_recipe,
)

MINIMAL = {"method": "dpo", "output_dir": "out"}


def test_all_faults_of_a_recipe_are_reported_together_with_the_nearest_known_key() -> None:
    bad = {**MINIMAL, "learning_rat": 1e-4, "max_step": 5, "beta": "high", "lora_r": 2.5, "colour": "red"}
    with pytest.raises(RecipeError) as caught:
        load_recipe(bad)
    text = str(caught.value)
    assert caught.value.count == 5
    assert "did you mean 'learning_rate'?" in text
    assert "did you mean 'max_steps'?" in text
    assert "beta: got 'high'" in text
    assert "a number" in text
    assert "lora_r: got 2.5" in text
    assert "colour: got an unknown key" in text


def test_an_unknown_key_of_an_override_is_refused_like_one_of_the_file() -> None:
    with pytest.raises(RecipeError, match="did you mean 'max_steps'"):
        load_recipe(MINIMAL, parse_overrides(["--max-step", "3"]))


def test_overrides_win_over_the_file_and_take_both_spellings(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("method: dpo\nmax_steps: 100\nlearning_rate: 1e-3\n", "utf-8")
    recipe = load_recipe(path, parse_overrides(["--max-steps", "7", "--beta=0.2", "--use_peft"]))
    assert recipe.trainer["max_steps"] == 7
    assert recipe.trainer["beta"] == 0.2
    assert recipe.settings.use_peft is True
    # YAML 1.1 reads 1e-3 as text; a recipe must still mean the number
    assert recipe.trainer["learning_rate"] == 0.001


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--loss_type", "[sigmoid, sft]"], {"loss_type": ["sigmoid", "sft"]}),
        (["--dataset_test_split", "null"], {"dataset_test_split": None}),
        (["--dataset_options", "{pool: high}"], {"dataset_options": {"pool": "high"}}),
        (["--bf16", "--max_steps", "-1"], {"bf16": True, "max_steps": -1}),
        (["--system_prompt", "a: b: c"], {"system_prompt": "a: b: c"}),
        (["--no-use_peft", "--bf16", "false"], {"use_peft": False, "bf16": False}),
    ],
)
def test_override_values_are_yaml(arguments: list[str], expected: dict[str, object]) -> None:
    assert parse_overrides(arguments) == expected


@pytest.mark.parametrize("spelling", ["no", '"no"', "steps"])
def test_a_bare_no_of_yaml_stays_the_word_no(spelling: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f"method: dpo\nsave_strategy: {spelling}\n", "utf-8")
    assert load_recipe(path).trainer["save_strategy"] == spelling.strip('"')


def test_a_name_that_is_no_strategy_is_refused_with_the_names_that_are() -> None:
    with pytest.raises(RecipeError, match="save_strategy: got 'stepz'; allowed: one of no, steps, epoch"):
        load_recipe({**MINIMAL, "save_strategy": "stepz"})


def test_a_token_in_a_recipe_is_refused_and_not_repeated() -> None:
    for arguments, name in (
        (["--hub-token", "hf_dummydummy"], "hub_token"),
        (["--dataset_options", "{seed: 1, token: hf_dummydummy}"], "dataset_options.token"),
        (["--push_to_hub", "hf_dummydummy"], "push_to_hub"),
    ):
        with pytest.raises(RecipeError, match=rf"{name}: got a secret; .*HF_TOKEN") as caught:
            load_recipe(MINIMAL, parse_overrides(arguments))
        assert "hf_dummydummy" not in str(caught.value)


@pytest.mark.parametrize(("text", "value"), [("true", True), ("runs/a/checkpoint-4", "runs/a/checkpoint-4")])
def test_resuming_takes_the_last_checkpoint_or_a_folder(text: str, value: object) -> None:
    recipe = load_recipe(MINIMAL, parse_overrides(["--resume_from_checkpoint", text]))
    assert recipe.trainer["resume_from_checkpoint"] == value


def test_a_stray_word_among_the_overrides_is_refused() -> None:
    with pytest.raises(UsageError, match="option 2: got a word without its --name"):
        parse_overrides(["--max_steps", "3", "fast"])


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"max_dropped": 1.5}, "max_dropped"),
        ({"lora_r": 0}, "lora_r"),
        ({"lora_dropout": 1.0}, "lora_dropout"),
        ({"method": "sft", "window_tokens": 4}, "window_tokens"),
        ({"method": "sft", "window_tokens": 100, "window_overlap_tokens": 100}, "window_overlap_tokens"),
        ({"load_in_4bit": True}, "load_in_4bit"),
        ({"max_train_rows": 0}, "max_train_rows"),
        ({"beta": 0}, "beta"),
        ({"learning_rate": -1e-3}, "learning_rate"),
        ({"num_train_epochs": -3}, "num_train_epochs"),
        ({"per_device_train_batch_size": 0}, "per_device_train_batch_size"),
        ({"max_steps": 0}, "max_steps"),
        ({"method": "dpo", "window_tokens": 100}, "window_tokens"),
    ],
)
def test_values_outside_their_range_are_refused_by_name(changes: dict[str, object], field: str) -> None:
    with pytest.raises(RecipeError, match=field):
        load_recipe({**MINIMAL, **changes})


def test_a_recipe_of_another_method_is_refused_with_the_command_that_runs_it() -> None:
    with pytest.raises(RecipeError, match="hf-kokoro train dpo"):
        load_recipe(MINIMAL, method="kto")


def test_an_unknown_recipe_name_lists_the_known_ones_and_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'tiny_dpo'"):
        load_recipe("tiny_dpp")


@pytest.mark.parametrize(
    "content",
    [b"method: [dpo", b"- a list\n", b"\xff\xfe\x00", b""],
    ids=["torn", "list", "not UTF-8", "empty"],
)
def test_a_file_that_is_no_recipe_is_one_clear_error(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "broken.yaml"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"broken\.yaml"):
        load_recipe(path)


def test_a_resolved_recipe_reads_back_as_itself() -> None:
    recipe = load_recipe("tiny_dpo", {"beta": 0.3})
    again = load_recipe(recipe.to_dict())
    assert again.settings == recipe.settings
    assert again.trainer == recipe.trainer


@pytest.mark.parametrize("name", sorted(builtin_recipes()))
def test_every_builtin_recipe_parses_and_its_header_shows_its_own_command(name: str) -> None:
    path = builtin_recipes()[name]
    recipe = load_recipe(name)
    header = [line for line in path.read_text("utf-8").splitlines() if line.startswith("#")]
    assert any(f"hf-kokoro train {recipe.settings.method} --config {name}" in line for line in header)
    assert recipe.trainer["output_dir"] == f"runs/{name}"
    known = METHODS[recipe.settings.method].config_class.__dataclass_fields__
    assert set(recipe.trainer) <= set(known)


FULL = {
    "kokorochat_sft_qlora", "kokorochat_score_prediction_qlora", "kokorochat_kto", "emplifai_sft_lora",
    "miti_dpo_qlora", "miti_odpo_qlora", "miti_kto_lora", "miti_reward",
}  # fmt: skip
TWINS = {
    "tiny_kokorochat_sft", "tiny_kokorochat_score_prediction", "tiny_kokorochat_kto", "tiny_emplifai_sft",
    "tiny_dpo", "tiny_odpo", "tiny_kto", "tiny_reward",
}  # fmt: skip


def test_every_yaml_file_under_the_recipes_is_a_known_recipe() -> None:
    files = {path.stem for path in RECIPES_DIR.rglob("*.y*ml")}
    assert files == FULL | TWINS == set(builtin_recipes())
    assert len(files) == 16


def test_the_paper_recipes_hold_the_papers_hyper_parameters() -> None:
    modules = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    for name, optimizer, rate, batch, epochs in (
        ("kokorochat_sft_qlora", "adamw_8bit", 1e-3, 8, 5),
        ("kokorochat_score_prediction_qlora", "adamw_torch_fused", 2e-4, 4, 4),
    ):
        recipe = load_recipe(name)
        settings, trainer = recipe.settings, recipe.trainer
        assert (settings.lora_r, settings.lora_alpha, settings.lora_dropout) == (8, 16, 0.05)
        assert settings.lora_target_modules == modules
        assert settings.load_in_4bit
        assert trainer["optim"] == optimizer
        assert trainer["learning_rate"] == rate
        assert trainer["warmup_steps"] == 100
        assert trainer["per_device_train_batch_size"] * trainer["gradient_accumulation_steps"] == batch
        assert trainer["num_train_epochs"] == epochs


@pytest.mark.parametrize("name", ["fsdp2", "zero3"])
def test_the_launch_configs_are_ones_that_accelerate_reads(name: str) -> None:
    from accelerate.commands.config.config_args import load_config_from_file

    config = load_config_from_file(str(accelerate_configs(name)))
    assert config.num_processes == 8
    kind = {"fsdp2": "FSDP", "zero3": "DEEPSPEED"}[name]
    assert kind in str(config.distributed_type)
    if name == "fsdp2":
        assert config.fsdp_config["fsdp_version"] == 2
    else:
        assert config.deepspeed_config["zero_stage"] == 3
