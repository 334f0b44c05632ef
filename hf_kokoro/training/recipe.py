"""Recipes: one flat YAML file per run, checked completely before anything is loaded.

A recipe's keys are `RecipeSettings` (what to train on what) plus every argument of the method's TRL config
(`learning_rate`, `max_steps`, `beta`, ...), so a `trl` user finds the names they know. Unknown keys are
refused with the nearest known name, and all faults of a recipe are reported together.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml

from ..core.suggest import allowed, did_you_mean, nearest
from ..errors import Fault, Faults, InputError, UsageError, describe
from .methods import METHODS, Method
from .recipe_values import coerce, field_hints, type_name

RECIPES_DIR = Path(__file__).parent / "recipes"
ACCELERATE_DIR = Path(__file__).parent / "accelerate"
SECRETS = ("hub_token", "token")
"""Names of values that no recipe may hold, at the top or inside a mapping."""
TOKEN_SHAPES = ("hf_", "sk-")
RUNS_CODE = "trust_remote_code"
"""The argument of TRL's configs, and of models, that would have code from the Hub run; refused in both places."""
POSITIVE = (
    "beta", "learning_rate", "num_train_epochs", "per_device_train_batch_size", "per_device_eval_batch_size",
    "gradient_accumulation_steps", "logging_steps", "save_steps", "max_length",
)  # fmt: skip
"""Arguments of the TRL config that mean nothing at 0 or below."""
WIDER: dict[str, Any] = {"resume_from_checkpoint": bool | str | None}
"""Arguments of the TRL config that take more than their type says: `true` is the run's last checkpoint."""
TINY = "tiny"
"""The model name that stands for a small random model built from the training texts (see `tiny.py`)."""


class RecipeError(InputError, UsageError):
    """A recipe or its overrides hold faults; every one is listed. Exit code 2 on the command line."""


@dataclass(frozen=True)
class RecipeSettings:
    """The keys of a recipe that are not arguments of the TRL config.

    `dataset_name` is a builder of this package (kokorochat, emplifai, annomi, miti_st_dpo), or a folder or Hub id
    that plain `datasets.load_dataset` reads. Lengths are tokens; `max_dropped` is a share of the rows.
    """

    method: Method = "dpo"
    model_name_or_path: str = TINY
    model_revision: str | None = None
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    attn_implementation: str | None = None
    adapter_name_or_path: str | None = None
    chat_template: str | None = None
    load_in_4bit: bool = False
    use_peft: bool = False
    lora_r: int = 8
    lora_alpha: int = 16
    lora_dropout: float = 0.0
    lora_target_modules: str | list[str] = "all-linear"
    dataset_name: str = "miti_st_dpo"
    dataset_config: str | None = None
    dataset_source: str | None = None
    dataset_revision: str | None = None
    dataset_options: dict[str, Any] = field(default_factory=dict)
    dataset_train_split: str = "train"
    dataset_test_split: str | None = "test"
    dataset_license: str | None = None
    max_train_rows: int | None = None
    max_test_rows: int | None = None
    system_prompt: str | None = None
    window_tokens: int | None = None
    window_overlap_tokens: int = 0
    max_dropped: float = 0.01
    expected_processes: int | None = None
    completion_only_scoring: bool = True
    overwrite_output_dir: bool = False


@dataclass(frozen=True)
class Recipe:
    """A checked recipe: `settings` of ours, `trainer` arguments of the method's TRL config, its origin."""

    settings: RecipeSettings
    trainer: Mapping[str, Any]
    source: str = "recipe"

    @property
    def output_dir(self) -> Path:
        return Path(self.trainer["output_dir"])

    def to_dict(self) -> dict[str, Any]:
        """The resolved recipe as plain data, in the form `load_recipe` reads."""
        return {**dataclasses.asdict(self.settings), **self.trainer}


def builtin_recipes() -> dict[str, Path]:
    """Name to file of the recipes that ship with the package."""
    return {path.stem: path for path in sorted(RECIPES_DIR.glob("*.yaml"))}


def recipe_title(path: Path) -> str:
    """The first comment line of a recipe file: what it does."""
    first = path.read_text("utf-8").splitlines()[0]
    return first.removeprefix("#").strip().rstrip(":")


def accelerate_configs(name: str) -> Path:
    """The file of a launch config that ships with the package (fsdp2, zero3)."""
    found = {path.stem: path for path in sorted(ACCELERATE_DIR.glob("*.yaml"))}
    if name not in found:
        raise UsageError(f"accelerate config: got {name!r}; {allowed(name, found)}")
    return found[name]


def load_recipe(
    config: str | Path | Mapping[str, Any],
    overrides: Mapping[str, Any] | None = None,
    method: str | None = None,
) -> Recipe:
    """Read a recipe from a file, a built-in name or a mapping; `overrides` win over the file.

    `method` is what the caller is about to run; a recipe of another method is refused. Raises RecipeError
    with every fault, UsageError if there is no such recipe.
    """
    source, values = _read(config)
    merged = {**values, **{key.replace("-", "_"): value for key, value in (overrides or {}).items()}}
    if method is not None:
        merged.setdefault("method", method)
    faults = Faults()
    found = str(merged.get("method", RecipeSettings.method))
    if found not in METHODS:
        faults.add(Fault(source, "method", describe(found, show=True), ", ".join(METHODS)))
        faults.raise_if_any(f"recipe {source}", RecipeError)
    if method is not None and found != method:
        step = f"run it with: hf-kokoro train {found}"
        faults.add(Fault(source, "method", f"{found!r}", f"{method!r}, the method asked for", step))
    settings_hints = field_hints(RecipeSettings)
    trainer_hints = field_hints(METHODS[found].config_class)
    checked: dict[str, Any] = {}
    for key, value in merged.items():
        if secret := _secret(key, value):
            # a recipe is saved with the run, and pushed with it: a token in it would be published
            faults.add(
                Fault(source, secret, "a secret", "no secret in a recipe", "set HF_TOKEN, or run 'hf auth login'")
            )
            continue
        hint = WIDER.get(key, settings_hints.get(key, trainer_hints.get(key)))
        if hint is None:
            faults.add(_unknown_key(source, key, [*settings_hints, *trainer_hints]))
            continue
        fitting, ok = coerce(value, hint)
        if ok:
            checked[key] = fitting
        else:
            faults.add(Fault(source, key, describe(value, show=True), type_name(hint)))
    settings = RecipeSettings(**{key: value for key, value in checked.items() if key in settings_hints})
    trainer = {key: value for key, value in checked.items() if key not in settings_hints}
    trainer["output_dir"] = trainer.get("output_dir") or f"runs/{Path(source).stem}"
    _check_ranges(settings, trainer, source, faults)
    faults.raise_if_any(f"recipe {source}", RecipeError)
    return Recipe(settings, trainer, source)


def _read(config: str | Path | Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    if isinstance(config, Mapping):
        return "recipe", dict(config)
    path = builtin_recipes().get(str(config), Path(config))
    if not path.is_file():
        names = list(builtin_recipes())
        meant = did_you_mean(str(config), names)
        raise UsageError(f"no recipe {str(config)!r}; give a YAML file or one of: {', '.join(names)}{meant}")
    try:
        values = yaml.safe_load(path.read_text("utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        place = getattr(error, "problem_mark", None)
        line = f" line {place.line + 1}" if place else ""
        raise UsageError(f"{path.name}{line} is not a YAML file; see 'hf-kokoro train recipes'") from error
    if not isinstance(values, dict):
        raise UsageError(f"{path.name}: got {describe(values)}; a recipe is 'key: value' lines")
    return path.name, {str(key): value for key, value in values.items()}


def _unknown_key(source: str, key: str, known: Sequence[str]) -> Fault:
    # half is enough: `epochs` means num_train_epochs
    near = nearest(key, known, cutoff=0.5)
    step = f"did you mean {near!r}?" if near else "see the recipes that 'hf-kokoro train recipes' lists"
    return Fault(
        source,
        describe(key, show=True).strip("'"),
        "an unknown key",
        "keys of RecipeSettings and the TRL config",
        step,
    )


def _secret(key: str, value: Any) -> str | None:
    """The name of the secret that this entry holds, if it holds one."""
    if key in SECRETS:
        return key
    if isinstance(value, Mapping):
        return next((f"{key}.{inner}" for inner, text in value.items() if _secret(str(inner), text)), None)
    return key if isinstance(value, str) and value.startswith(TOKEN_SHAPES) and len(value) > 8 else None


def _check_ranges(settings: RecipeSettings, trainer: Mapping[str, Any], source: str, faults: Faults) -> None:
    """Add what is outside its range, or means nothing to the method."""
    for name in POSITIVE:
        value = trainer.get(name)
        if isinstance(value, int | float) and not value > 0:
            faults.add(Fault(source, name, describe(value, show=True), "a number above 0"))
    if trainer.get("max_steps") == 0:
        faults.add(Fault(source, "max_steps", "0", "at least 1, or -1 for num_train_epochs"))

    for prefix, values in (("", trainer), ("model_init_kwargs.", trainer.get("model_init_kwargs"))):
        if isinstance(values, Mapping) and values.get(RUNS_CODE):
            got, step = describe(values[RUNS_CODE]), "code from the Hub is never run; name another model"
            faults.add(Fault(source, f"{prefix}{RUNS_CODE}", got, "false", step))

    def need(ok: bool, name: str, allowed: str, step: str = "") -> None:
        if not ok:
            faults.add(Fault(source, name, describe(getattr(settings, name), show=True), allowed, step))

    need(0 <= settings.max_dropped <= 1, "max_dropped", "a share between 0 and 1")
    need(settings.lora_r >= 1, "lora_r", "at least 1")
    need(0 <= settings.lora_dropout < 1, "lora_dropout", "at least 0 and below 1")
    need(
        settings.window_tokens is None or settings.window_tokens >= 16,
        "window_tokens",
        "at least 16 tokens, or null",
    )
    overlap_ok = 0 <= settings.window_overlap_tokens < (settings.window_tokens or settings.window_overlap_tokens + 1)
    need(overlap_ok, "window_overlap_tokens", "at least 0 and below window_tokens")
    trains_adapter = settings.use_peft or settings.adapter_name_or_path is not None
    need(
        not settings.load_in_4bit or trains_adapter,
        "load_in_4bit",
        "false without LoRA",
        "set use_peft: true",
    )
    rows_ok = all(n is None or n >= 1 for n in (settings.max_train_rows, settings.max_test_rows))
    need(rows_ok, "max_train_rows", "at least 1, or null (max_test_rows too)")
    windows = settings.method == "sft" or (settings.window_tokens is None and not settings.window_overlap_tokens)
    need(windows, "window_tokens", f"null for {settings.method}", "long prompts are cut to max_length there")
