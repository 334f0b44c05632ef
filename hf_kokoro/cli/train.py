"""`hf-kokoro train`: run a training recipe."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..training.methods import METHODS, TrainingMethod
from .console import print_json, print_table

app = typer.Typer(
    help="Train with TRL from a recipe: sft, dpo, kto or reward.", no_args_is_help=True, rich_markup_mode=None
)

_PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": ["-h", "--help"]}
ConfigOption = Annotated[str, typer.Option("--config", help="A recipe file, or the name of a built-in recipe.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]


def _add_method(name: str, method: TrainingMethod) -> None:
    example = f"Example: hf-kokoro train {name} {method.example}"
    about = f"{method.title}\n\nAny key of the recipe can be overridden: --key value.\n\n{example}"

    @app.command(name, context_settings=_PASS_ON, help=about)
    def train_method(ctx: typer.Context, config: ConfigOption, as_json: JsonOption = False) -> None:
        _run(name, config, ctx.args, as_json)


for _name, _method in METHODS.items():
    _add_method(_name, _method)


@app.command("recipes")
def recipes(as_json: JsonOption = False) -> None:
    """List the built-in recipes: what each does, and its file to copy and change.

    Example: hf-kokoro train recipes
    """
    from ..training.recipe import builtin_recipes, recipe_title

    found = builtin_recipes()
    if as_json:
        print_json({name: str(path) for name, path in found.items()})
    else:
        print_table(("recipe", "what it does"), [(name, recipe_title(path)) for name, path in found.items()])
        print(f"files: {next(iter(found.values())).parent}")


@app.command("accelerate-config")
def accelerate_config(name: Annotated[str, typer.Argument(help="fsdp2 or zero3.")]) -> None:
    """Print the path of a config for `accelerate launch --config_file`.

    Example: accelerate launch --config_file "$(hf-kokoro train accelerate-config fsdp2)" -m hf_kokoro.training dpo ...
    """
    from ..training.recipe import accelerate_configs

    print(accelerate_configs(name))


@app.command("merge")
def merge(
    adapter: Annotated[str, typer.Option("--adapter", help="The output_dir of a LoRA or QLoRA run.")],
    out: Annotated[str, typer.Option("--out", help="Folder for the merged model.")],
) -> None:
    """Merge a LoRA adapter into its (not quantised) base, checked against the adapter's own outputs.

    Example: hf-kokoro train merge --adapter runs/miti_odpo_qlora --out merged
    """
    from ..training.merge import merge_adapter

    difference = merge_adapter(adapter, out)
    print(f"merged model: {out} (largest log-prob difference to the adapter: {difference:.2g} nats)")


def _run(method: str, config: str, arguments: list[str], as_json: bool) -> None:
    from ..training.overrides import parse_overrides
    from ..workflow import train

    on_preflight = None if as_json else print_preflight
    report = train(config, parse_overrides(arguments), method=method, on_preflight=on_preflight).as_dict()
    if as_json:
        print_json(report)
    else:
        print_report(report)


def print_preflight(preflight: Any) -> None:
    """Print the pre-flight table, ahead of step 1."""
    rows = [(check.name, check.value, check.verdict, check.hint) for check in preflight.checks]
    print_table(("pre-flight", "value", "", "what to do"), rows)
    print()


def print_report(report: dict[str, Any]) -> None:
    """Print a TrainReport for people: what ran, then the held-out metrics before and after."""
    loss = " to ".join(f"{report[key]:.4f}" for key in ("first_loss", "last_loss") if report[key] is not None)
    print(
        f"{report['method']}: {report['steps']} steps ({report['epochs']:g} epochs) over "
        f"{report['train_rows']} rows in {report['seconds']:.1f} s; training loss {loss or 'not logged'}"
    )
    if report["after"]:
        rows = [
            (name, f"{report['before'][name]:.4f}" if name in report["before"] else "-", f"{value:.4f}")
            for name, value in report["after"].items()
            if name.split("/")[0] in ("loss", "rewards", "accuracy", "mean_token_accuracy", "odpo", "kl")
        ]
        print_table(("held-out metric", "before", "after"), rows, f"on {report['test_rows']} test rows:")
    print(f"model, tokenizer and run files: {report['output_dir']}")
