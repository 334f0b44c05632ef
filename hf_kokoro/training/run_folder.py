"""What a run leaves beside its model: resolved recipe, versions, data fingerprints, metrics, plots."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import yaml
from transformers import TrainerCallback

from ..core.atomic import write_atomically
from ..errors import UsageError
from .recipe import Recipe

METRICS_FILE = "metrics.jsonl"
RECIPE_FILE = "recipe.yaml"
RUN_FILE = "run.json"

PACKAGES = (
    "hf-kokoro", "torch", "transformers", "trl", "peft", "accelerate", "datasets", "tokenizers",
    "bitsandbytes", "deepspeed",
)  # fmt: skip


class MetricsWriter(TrainerCallback):
    """Append every logged entry to `metrics.jsonl`, one JSON object a line with its `step`."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / METRICS_FILE

    def start(self, checkpoint: Path | None) -> None:
        """Begin the file anew, or cut it where the checkpoint was saved, if the run goes on from one."""
        if checkpoint is None:
            self.path.unlink(missing_ok=True)
            return
        step = int(checkpoint.name.rpartition("-")[2]) if checkpoint.name.rpartition("-")[2].isdigit() else 0
        kept = [entry for entry in read_metrics(self.path.parent) if entry["step"] <= step]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.path, "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in kept).encode())

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **_: Any) -> None:
        if not state.is_world_process_zero or not logs:
            return
        entry = {"step": state.global_step, **{key: _finite(value) for key, value in logs.items()}}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(entry, ensure_ascii=False) + "\n")


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """The entries of a run's `metrics.jsonl`, in order."""
    path = folder / METRICS_FILE
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.is_file() else []


LEFT_BEHIND = (
    "checkpoint-*", "adapter_*", "*.safetensors", "*.safetensors.index.json", "config.json",
    "generation_config.json", METRICS_FILE, RUN_FILE, RECIPE_FILE, "*.png", "README.md", "training_args.bin",
    "tiny-base", "tokenizer.json", "tokenizer_config.json", "tokenizer.model", "special_tokens_map.json",
    "added_tokens.json", "vocab.json", "vocab.txt", "merges.txt", "chat_template.jinja",
)  # fmt: skip
"""What a run writes; a second run in the same folder would mix its own with it (an old adapter on new weights)."""

SIGNS = (RUN_FILE, "checkpoint-*", "adapter_config.json", "*.safetensors")
"""What no folder has that a run, or a model, has not been in."""


def holds_run(folder: Path) -> bool:
    """Is there a run, or a model, that a second run would mix with?"""
    return any(True for sign in SIGNS for _ in folder.glob(sign))


def left_behind(folder: Path) -> list[Path]:
    """Everything that a run wrote into its folder; files of other names are the user's own."""
    return sorted({path for pattern in LEFT_BEHIND for path in folder.glob(pattern)})


def check_folder(folder: Path, overwrite: bool, inputs: Sequence[str | None]) -> bool:
    """Whether there is a run to replace, as `overwrite` allows; nothing of it is touched.

    Raises UsageError where there is one and `overwrite` is not set, or where `inputs` (model, adapter and its base,
    chat template) lie in it.
    """
    if not holds_run(folder):
        return False
    if not overwrite:
        raise UsageError(
            f"output_dir: {folder} holds a run already, or a model; allowed: another folder, resume_from_checkpoint: "
            "true to go on with it, or overwrite_output_dir: true, which removes it, checkpoints included, once the "
            "new run has saved its first"
        )
    home = folder.resolve()
    if any(home in (Path(place).resolve(), *Path(place).resolve().parents) for place in inputs if place):
        raise UsageError(
            f"output_dir: {folder} holds the model or adapter to start from, or its chat template; allowed: "
            "another folder"
        )
    return True


def write_recipe(folder: Path, recipe: Recipe) -> None:
    """Save the resolved recipe; `load_recipe` reads it back to the same run, from its start."""
    folder.mkdir(parents=True, exist_ok=True)
    once = ("resume_from_checkpoint", "overwrite_output_dir")
    values = {key: value for key, value in recipe.to_dict().items() if key not in once}
    text = yaml.safe_dump(values, sort_keys=False, allow_unicode=True)
    (folder / RECIPE_FILE).write_text(f"# resolved from {Path(recipe.source).name}\n{text}", "utf-8")


def write_run(folder: Path, facts: Mapping[str, Any]) -> None:
    """Save what the recipe can't hold: versions, fingerprints, seeds, the report and the pre-flight table."""
    text = json.dumps(facts, ensure_ascii=False, indent=2, default=str)
    (folder / RUN_FILE).write_text(text + "\n", "utf-8")


def versions() -> dict[str, str]:
    """Versions of the packages that decide a run's numbers; those not installed are left out."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _finite(value: Any) -> Any:
    # JSON has no NaN; a diverged loss is written as the text it would print
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
