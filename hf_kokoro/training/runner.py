"""Run a recipe: data, model, pre-flight, trainer, run folder, report."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core.reports import Report
from ..corpora import BUILDERS
from ..errors import SourceError, UsageError
from ..tokens.loading import context_length
from .adapters import StepZeroCheck, adapter_base
from .checkpoints import find_checkpoint
from .data import is_conversational, load_splits, origins, pick_splits, stated_origins, texts_of
from .distributed import check_processes
from .former_run import FormerRun, RemoveFormer, replacing
from .memory import count_parameters
from .methods import METHODS
from .model_card import render_model_card
from .models import base_is_tiny, load_policy, lora_config, model_path, prepare_tokenizer, trains_adapter
from .plots import plot_metrics
from .preflight import Preflight
from .prepare import Prepared, prepare
from .quiet import quiet_in_pipes
from .recipe import Recipe, RecipeSettings
from .run_folder import MetricsWriter, check_folder, read_metrics, versions, write_recipe, write_run
from .sizing import size_up
from .speed import completion_only_scoring


@dataclass(frozen=True)
class TrainReport(Report):
    """What a run did. Losses and metrics are the trainer's own; `before` is measured ahead of step 1."""

    method: str
    output_dir: str
    base_model: str
    adapter: bool
    train_rows: int
    test_rows: int
    steps: int
    epochs: float
    seconds: float
    first_loss: float | None
    last_loss: float | None
    trainable_parameters: int
    processes: int
    seed: int
    resumed_from: str | None = None
    before: dict[str, float] = field(default_factory=dict)
    after: dict[str, float] = field(default_factory=dict)
    preflight: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return self.as_dict()


def run_recipe(
    recipe: Recipe,
    *,
    datasets: Mapping[str, Any] | None = None,
    on_preflight: Callable[[Preflight], None] | None = None,
) -> TrainReport:
    """Train as the recipe says; model, tokenizer and the run's files go into its `output_dir`.

    `datasets` (split name to rows) replaces the recipe's dataset, for rows that are already in memory.
    `on_preflight` sees the pre-flight table before it is enforced. Raises UsageError for combinations that
    make no sense, SourceError for what can't be loaded, PreflightError before step 1.
    """
    with quiet_in_pipes():
        args = trainer_config(recipe)
        with replacing(recipe.output_dir, main=args.process_index == 0) as former:
            return _run(recipe, args, former, datasets, on_preflight)


def _run(
    recipe: Recipe,
    args: Any,
    former: FormerRun,
    datasets: Mapping[str, Any] | None,
    on_preflight: Callable[[Preflight], None] | None,
) -> TrainReport:
    started = time.monotonic()
    settings, folder = recipe.settings, recipe.output_dir
    with args.main_process_first(local=False, desc="a former run"):
        former.recover()
    checkpoint = find_checkpoint(folder, recipe.trainer.get("resume_from_checkpoint"))
    _check_resuming(recipe, args, checkpoint)
    with args.main_process_first(desc="preparing data"):
        replaces = former.main and not _goes_on(folder, checkpoint) and _check_folder(settings, folder)
        typed = datasets is None and settings.dataset_name in BUILDERS
        train, test = pick_splits(datasets or load_splits(settings), settings, typed=typed)
        # before the run, which a source that is gone by then must not fail at its end
        stated = stated_origins(settings) if datasets is None and former.main else []
        if replaces:
            former.set_aside()
        if former.main and not _goes_on(folder, checkpoint) and base_is_tiny(settings):
            # a tiny base of another seed or other texts would be taken for this run's
            shutil.rmtree(folder / "tiny-base", ignore_errors=True)
        base = model_path(settings, texts_of(train), folder, args.seed)
        tokenizer = prepare_tokenizer(settings, base, conversational=is_conversational(train))
        prepared = prepare(settings, tokenizer, train, test, _limit(recipe, args, base))
    model = load_policy(settings, base)
    size_up(recipe, args, model, prepared, base)
    if on_preflight is not None:
        on_preflight(prepared.preflight)
    prepared.preflight.raise_if_failed()
    scoring = completion_only_scoring() if settings.completion_only_scoring else nullcontext()
    with scoring:
        writer = MetricsWriter(folder)
        if args.process_index == 0:
            writer.start(checkpoint)
        trainer = _trainer(recipe, args, model, tokenizer, prepared)
        trainer.add_callback(writer)
        if settings.overwrite_output_dir:
            trainer.add_callback(RemoveFormer(former, trainer.accelerator))
        check_processes(trainer.accelerator.num_processes, settings.expected_processes)
        before, after, result = _train(trainer, prepared.test, checkpoint, settings)
    # an internal call: the model is pushed once, below, when its card is there
    trainer.save_model(str(folder), _internal_call=True)
    if settings.overwrite_output_dir:
        trainer.accelerator.wait_for_everyone()
        former.remove("the new model")
    report = TrainReport(
        method=settings.method,
        output_dir=str(folder),
        base_model=base,
        adapter=trains_adapter(settings),
        train_rows=len(train) if settings.method == "sft" else len(trainer.train_dataset),
        test_rows=0 if prepared.test is None else len(trainer.eval_dataset),
        steps=result.global_step,
        epochs=round(float(trainer.state.epoch or 0), 4),
        seconds=round(time.monotonic() - started, 2),
        **_losses(trainer.state.log_history),
        trainable_parameters=count_parameters(trainer.model, trainable=True),
        processes=trainer.accelerator.num_processes,
        seed=args.seed,
        resumed_from=None if checkpoint is None else str(checkpoint),
        before=before,
        after=after,
        preflight=prepared.preflight.to_dict(),
    )
    if trainer.is_world_process_zero():
        facts = {
            "versions": versions(),
            "dataset_origins": origins(train),
            "dataset_claims": stated,
            "dataset_fingerprints": {
                name: rows._fingerprint for name, rows in (("train", train), ("test", test)) if rows is not None
            },
        }
        trainer.model_card = render_model_card(recipe, report.to_dict(), facts, own_rows=datasets is not None)
        write_recipe(folder, recipe)
        write_run(folder, {**facts, "seed": report.seed, "report": report.to_dict()})
        plot_metrics(read_metrics(folder), folder)
    trainer.create_model_card()
    if args.push_to_hub:
        trainer.push_to_hub()
    return report


def _check_resuming(recipe: Recipe, args: Any, checkpoint: Path | None) -> None:
    if checkpoint is None:
        return
    if getattr(args, "sync_ref_model", False):
        raise UsageError(
            "sync_ref_model: got true with resume_from_checkpoint; the moved reference is in no checkpoint"
        )
    if recipe.settings.overwrite_output_dir and _goes_on(recipe.output_dir, checkpoint):
        raise UsageError(
            f"overwrite_output_dir: got true with resume_from_checkpoint {checkpoint}, which it would remove; "
            "allowed: one of the two"
        )


def _goes_on(folder: Path, checkpoint: Path | None) -> bool:
    """Does the run go on in the folder of its checkpoint?"""
    return checkpoint is not None and folder.resolve() in checkpoint.resolve().parents


def _check_folder(settings: RecipeSettings, folder: Path) -> bool:
    adapter = settings.adapter_name_or_path
    base = adapter_base(adapter) if adapter is not None and Path(adapter).is_dir() else None
    inputs = (settings.model_name_or_path, adapter, base, settings.chat_template)
    return check_folder(folder, settings.overwrite_output_dir, inputs)


def trainer_config(recipe: Recipe) -> Any:
    """The method's TRL config: the recipe's arguments over defaults that work on the machine at hand."""
    import torch

    config: Any = METHODS[recipe.settings.method].config_class
    given = dict(recipe.trainer)
    # a private repository unless the recipe says otherwise: what a model learnt here is people's distress
    values: dict[str, Any] = {
        "report_to": "none",
        "disable_tqdm": not sys.stderr.isatty(),
        "hub_private_repo": True,
        # pushes of checkpoints would put a model there before its card exists
        "hub_strategy": "end",
        "ddp_find_unused_parameters": False,
    }
    if not torch.cuda.is_available():
        # TRL turns bf16 on; on a CPU it loses what DPO measures (about 1 nat a sequence)
        values |= {"use_cpu": True, "bf16": False}
    checkpointing = given.pop("gradient_checkpointing", given.pop("activation_checkpointing", False))
    # transformers 5.24 renamed it; the old name still works but warns
    renamed = "activation_checkpointing" in config.__dataclass_fields__
    values["activation_checkpointing" if renamed else "gradient_checkpointing"] = bool(checkpointing)
    try:
        return config(**{**values, **given})
    except (ValueError, TypeError) as error:
        raise UsageError(f"recipe {recipe.source}: {error}") from error


def _limit(recipe: Recipe, args: Any, base: str) -> int | None:
    """Longest sequence in tokens: the recipe's own limit, for SFT the window, else the model's context."""
    if recipe.settings.method != "sft":
        limit: int | None = args.max_length
        return limit
    window = recipe.settings.window_tokens or recipe.trainer.get("max_length")
    # the rows are cut into windows here; TRL's own cut would discard the rest of every dialogue
    args.max_length = None
    if window is not None:
        return int(window)
    from transformers import AutoConfig

    return context_length(AutoConfig.from_pretrained(base))


def _trainer(recipe: Recipe, args: Any, model: Any, tokenizer: Any, prepared: Prepared) -> Any:
    from transformers import PrinterCallback

    try:
        trainer = METHODS[recipe.settings.method].trainer_class(
            model=model,
            args=args,
            train_dataset=prepared.train,
            eval_dataset=prepared.test,
            processing_class=tokenizer,
            peft_config=lora_config(recipe.settings),
        )
    except ValueError as error:
        raise UsageError(f"recipe {recipe.source}: {error}") from error
    except Exception as error:
        # the Hub's client raises connection errors that share no base with its own
        if not args.push_to_hub or not type(error).__module__.startswith(("httpx", "huggingface_hub")):
            raise
        raise SourceError(
            f"push_to_hub: the Hub can't be used ({type(error).__name__}), so nothing was trained; check the "
            "connection and 'hf auth whoami', or leave push_to_hub out"
        ) from error
    # the numbers go to metrics.jsonl; stdout belongs to the report
    trainer.remove_callback(PrinterCallback)
    return trainer


def _train(
    trainer: Any, test: Any, checkpoint: Path | None, settings: RecipeSettings
) -> tuple[dict[str, float], dict[str, float], Any]:
    fresh = checkpoint is None
    if fresh and settings.method in ("dpo", "kto"):
        trainer.add_callback(StepZeroCheck(trainer))
    # the measurement ahead of step 1 happens inside train(): FSDP2 can't place a model without its optimizer
    trainer.args.eval_on_start = fresh and test is not None
    result = trainer.train(resume_from_checkpoint=None if fresh else str(checkpoint))
    if test is None:
        return {}, {}, result
    before = [entry for entry in trainer.state.log_history if entry["step"] == 0 and "eval_loss" in entry]
    return _metrics(before[0]) if fresh else {}, _metrics(trainer.evaluate()), result


def _metrics(found: Mapping[str, Any]) -> dict[str, float]:
    timings = ("runtime", "per_second")
    return {
        key.removeprefix("eval_"): float(value)
        for key, value in found.items()
        if key.startswith("eval_") and not key.endswith(timings)
    }


def _losses(history: list[dict[str, Any]]) -> dict[str, float | None]:
    losses = [entry["loss"] for entry in history if "loss" in entry]
    return {"first_loss": losses[0] if losses else None, "last_loss": losses[-1] if losses else None}
