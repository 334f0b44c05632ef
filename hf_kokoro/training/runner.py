"""Run a recipe: data, model, trainer, report."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ..errors import UsageError
from .data import load_plain, pick_splits, texts_of
from .models import load_policy, load_tokenizer, lora_config, model_path
from .recipe import Recipe, RecipeSettings, trainer_config_class
from .run_folder import MetricsWriter, write_recipe

DEFAULT_CONFIGS = {
    "kokorochat": {"sft": "response_generation", "kto": "unpaired"},
    "emplifai": {"sft": "sft"},
    "miti_st_dpo": {"dpo": "pairs", "kto": "unpaired", "reward": "pairs"},
}
"""Builder of this package to the config that each method trains on, where `dataset_config` is left out."""


@dataclass(frozen=True)
class TrainReport:
    """What a run did. Losses and metrics are the trainer's own; `before` is measured ahead of step 1."""

    method: str
    output_dir: str
    base_model: str
    train_rows: int
    test_rows: int
    steps: int
    epochs: float
    seconds: float
    first_loss: float | None
    last_loss: float | None
    trainable_parameters: int
    processes: int
    resumed_from: str | None = None
    before: dict[str, float] = field(default_factory=dict)
    after: dict[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def run_recipe(recipe: Recipe, *, datasets: Mapping[str, Any] | None = None) -> TrainReport:
    """Train as the recipe says and save model, tokenizer and report into its `output_dir`.

    `datasets` (split name to rows) replaces the recipe's dataset, for rows that are already in memory.
    Raises UsageError for combinations that make no sense, SourceError for what can't be loaded.
    """
    started = time.monotonic()
    settings = recipe.settings
    _quiet_in_pipes()
    train, test = pick_splits(datasets or _load_splits(settings), settings)
    seed = int(recipe.trainer.get("seed", 42))
    base = model_path(settings, texts_of(train), recipe.output_dir, seed)
    tokenizer = load_tokenizer(settings, base)
    model = load_policy(settings, base)
    trainer = _trainer(recipe, model, tokenizer, train, test)
    before = _evaluate(trainer, test)
    result = trainer.train()
    after = _evaluate(trainer, test)
    trainer.save_model(str(recipe.output_dir))
    if trainer.is_world_process_zero():
        write_recipe(recipe.output_dir, recipe)
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    return TrainReport(
        method=settings.method,
        output_dir=str(recipe.output_dir),
        base_model=base,
        train_rows=len(trainer.train_dataset),
        test_rows=0 if test is None else len(trainer.eval_dataset),
        steps=result.global_step,
        epochs=round(float(trainer.state.epoch or 0), 4),
        seconds=round(time.monotonic() - started, 2),
        first_loss=losses[0] if losses else None,
        last_loss=losses[-1] if losses else None,
        trainable_parameters=sum(p.numel() for p in trainer.model.parameters() if p.requires_grad),
        processes=trainer.accelerator.num_processes,
        before=before,
        after=after,
    )


def _quiet_in_pipes() -> None:
    """Progress bars are for terminals."""
    if sys.stderr.isatty():
        return
    import datasets
    import transformers

    datasets.disable_progress_bars()
    transformers.utils.logging.disable_progress_bar()


def _load_splits(settings: RecipeSettings) -> Mapping[str, Any]:
    defaults = DEFAULT_CONFIGS.get(settings.dataset_name)
    if defaults is None:
        return load_plain(settings)
    from ..builders import load_dataset

    options = dict(settings.dataset_options)
    if settings.dataset_revision is not None:
        options["revision"] = settings.dataset_revision
    if settings.dataset_source is not None:
        options["source"] = settings.dataset_source
    config = settings.dataset_config or defaults.get(settings.method)
    if config is None:
        raise UsageError(
            f"dataset_config: got nothing; {settings.dataset_name} has no default for {settings.method} "
            f"(only for {', '.join(defaults)}); name a config whose columns it can train on"
        )
    loaded: Mapping[str, Any] = load_dataset(settings.dataset_name, config, **options)
    return loaded


def trainer_arguments(recipe: Recipe) -> dict[str, Any]:
    """The recipe's trainer arguments over defaults that work on the machine at hand."""
    import torch

    defaults: dict[str, Any] = {"report_to": "none", "disable_tqdm": not sys.stderr.isatty()}
    if not torch.cuda.is_available():
        # TRL turns both on; on a CPU bf16 loses what DPO measures (about 1 nat a sequence), the other time
        defaults |= {"use_cpu": True, "bf16": False, "gradient_checkpointing": False}
    return {**defaults, **recipe.trainer}


def _trainer(recipe: Recipe, model: Any, tokenizer: Any, train: Any, test: Any) -> Any:
    from transformers import PrinterCallback

    settings = recipe.settings
    try:
        args = trainer_config_class(settings.method)(**trainer_arguments(recipe))
    except (ValueError, TypeError) as error:
        raise UsageError(f"recipe {recipe.source}: {error}") from error
    trainer = trainer_class(settings.method)(
        model=model,
        args=args,
        train_dataset=train,
        eval_dataset=test,
        processing_class=tokenizer,
        peft_config=lora_config(settings),
        callbacks=[MetricsWriter(recipe.output_dir)],
    )
    # the numbers go to metrics.jsonl; stdout belongs to the report
    trainer.remove_callback(PrinterCallback)
    return trainer


def trainer_class(method: str) -> Any:
    """The trainer of a method; imports TRL."""
    if method == "dpo":
        from .scored_dpo import ScoredDPOTrainer

        return ScoredDPOTrainer
    if method == "kto":
        from .scored_kto import ScoredKTOTrainer

        return ScoredKTOTrainer
    import trl

    return {"sft": trl.SFTTrainer, "reward": trl.RewardTrainer}[method]


def _evaluate(trainer: Any, test: Any) -> dict[str, float]:
    if test is None:
        return {}
    metrics = trainer.evaluate()
    timings = ("runtime", "per_second")
    return {
        key.removeprefix("eval_"): float(value)
        for key, value in metrics.items()
        if key.startswith("eval_") and not key.endswith(timings)
    }
