"""What a run leaves beside its model: resolved recipe, versions, data fingerprints, metrics, plots."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import yaml
from transformers import TrainerCallback

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

    def start(self, *, resumed: bool) -> None:
        """Begin the file anew, unless the run goes on from where it was."""
        if not resumed:
            self.path.unlink(missing_ok=True)

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


def write_recipe(folder: Path, recipe: Recipe) -> None:
    """Save the resolved recipe; `load_recipe` reads it back to the same run."""
    folder.mkdir(parents=True, exist_ok=True)
    text = yaml.safe_dump(recipe.to_dict(), sort_keys=False, allow_unicode=True)
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
