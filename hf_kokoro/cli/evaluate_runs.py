"""Options of `evaluate`, once: where predictions come from, and how a model writes them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import UsageError
from .config_options import config_options

Model = Annotated[str | None, typer.Option("--model", help="Model or adapter folder, or Hub id, that writes them.")]
Source = Annotated[str | None, typer.Option("--source", help="The corpus: folder, archive, file or Hub dataset id.")]
Split = Annotated[str | None, typer.Option("--split", help="Split to measure on (default: test).")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the split and of all chance here.")]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Only the first so many rows.")]
Out = Annotated[Path | None, typer.Option("--out", help="Run folder: predictions and report; gone on with if there.")]
BatchSize = Annotated[int, typer.Option("--batch-size", min=1, help="Prompts a forward pass.")]
MaxNewTokens = Annotated[int, typer.Option("--max-new-tokens", min=1, help="Longest text that the model may write.")]
MaxPromptTokens = Annotated[
    int | None,
    typer.Option("--max-prompt-tokens", min=1, help="Cut older turns so that prompts fit (default: the context)."),
]
Temperature = Annotated[float, typer.Option("--temperature", min=0, help="0 is greedy.")]
FourBit = Annotated[bool, typer.Option("--load-in-4bit", help="NF4 weights, as the KokoroChat paper infers.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]
Options = dict[str, Any]
GIVEN: Options = {}
"""Stands where `model_options` puts the options of a verb that lets a model write."""

_WRITING: dict[str, tuple[Any, Any]] = {
    "out": (Out, None),
    "seed": (Seed, 42),
    "limit": (Limit, None),
    "batch_size": (BatchSize, 8),
    "max_new_tokens": (MaxNewTokens, None),
    "max_prompt_tokens": (MaxPromptTokens, None),
    "temperature": (Temperature, 0.0),
    "four_bit": (FourBit, False),
}


def model_options(*without: str, **defaults: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Put the options of a model that writes in the place of a verb's parameter `options`, which gets them as a dict.

    `without` names those that the verb does not have; `defaults` are its own.
    """
    chosen = {
        name: (kind, defaults.get(name, usual)) for name, (kind, usual) in _WRITING.items() if name not in without
    }

    def decorate(verb: Callable[..., None]) -> Callable[..., None]:
        @wraps(verb)
        def run(**given: Any) -> None:
            verb(**{name: given.pop(name) for name in own}, options=given)

        parameters: list[inspect.Parameter] = []
        for parameter in inspect.signature(verb, eval_str=True).parameters.values():
            if parameter.name == "options":
                parameters += [
                    inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=kind)
                    for name, (kind, default) in chosen.items()
                ]
            else:
                parameters.append(parameter)
        own = [parameter.name for parameter in parameters if parameter.name not in chosen]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorate


def view(arguments: Sequence[str], *, reads: bool) -> dict[str, Any]:
    """Options of the dataset's view as typed. Raises UsageError if there are any where no dataset is read."""
    if arguments and not reads:
        raise UsageError(f"{arguments[0].partition('=')[0]}: not an option here; see --help")
    return config_options(arguments)


def percent(value: float | None) -> str:
    """A share in per cent with two decimals, as the papers print it; a dash where there is none."""
    return "-" if value is None else f"{100 * value:.2f}"
