"""What the sub-verbs of `evaluate` share: where predictions come from, and the run folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..core.atomic import write_atomically
from ..errors import UsageError
from ..workflow.progress import shown
from .config_options import config_options

if TYPE_CHECKING:
    from ..evaluation.generate import PromptRow

Predictions = Annotated[
    list[Path] | None, typer.Option("--predictions", help="JSONL of predictions, or the folder of an earlier run.")
]
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


@dataclass(frozen=True)
class ModelRun:
    """A model that is to write predictions, and how."""

    model: str
    out: Path | None
    batch_size: int
    max_new_tokens: int
    max_prompt_tokens: int | None
    temperature: float
    four_bit: bool
    seed: int

    def write(self, rows: Iterable[PromptRow]) -> Path:
        """Write (or finish) the predictions and return their folder. Raises UsageError without --out."""
        from ..evaluation.generate import GenerationSettings, generate_predictions

        if self.out is None:
            raise UsageError("--model: give --out too, the folder that keeps what the model writes")
        settings = GenerationSettings(
            self.model,
            max_new_tokens=self.max_new_tokens,
            max_prompt_tokens=self.max_prompt_tokens,
            temperature=self.temperature,
            seed=self.seed,
            four_bit=self.four_bit,
        )
        with shown(None, "writing") as progress:
            done = generate_predictions(
                rows, self.out, settings, batch_size=self.batch_size, progress=lambda count: progress(count, 0)
            )
        ends = ", ".join(f"{name} {count}" for name, count in sorted(done.finish.items()))
        typer.echo(
            f"{done.path}: {done.generated} written, {done.already} were there; ends: {ends or 'none'}; "
            f"{done.shortened_prompts} prompts without {done.dropped_turns} oldest turns",
            err=True,
        )
        return self.out


def one_of(**given: Any) -> str:
    """The single option that was given. Raises UsageError for none or several."""
    names = [name for name, value in given.items() if value]
    if len(names) != 1:
        options = ", ".join(f"--{name}" for name in given)
        raise UsageError(f"got {', '.join(f'--{name}' for name in names) or 'none'}; allowed: exactly one of {options}")
    return names[0]


def not_with(kind: str, **given: Any) -> None:
    """Raise UsageError for an option that would have no effect beside `--kind`."""
    for name, value in given.items():
        if value is not None:
            raise UsageError(f"--{name}: has no effect with --{kind}; leave it out")


def load_rows(
    name: str, config: str, source: str | None, split: str, arguments: Sequence[str], limit: int | None, **more: Any
) -> Any:
    """One split of a corpus view; `arguments` are the view's own options as typed."""
    from ..corpora import load_dataset

    rows = load_dataset(name, config, source=source, split=split, **{**more, **config_options(arguments)})
    return rows if limit is None else rows.select(range(min(limit, len(rows))))


def no_options(arguments: Sequence[str]) -> None:
    """Raise UsageError if dataset options were given where no dataset is read."""
    if arguments:
        raise UsageError(f"{arguments[0].partition('=')[0]}: not an option here; see --help")


def keep_report(out: Path | None, report: Any, name: str = "report.json") -> None:
    """Write the report beside the predictions, as `--json` prints it."""
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        text = json.dumps(report, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
        write_atomically(out / name, text.encode())


Progress = Callable[[int, int], None]


def percent(value: float | None) -> str:
    """A share in per cent with two decimals, as the papers print it; a dash where there is none."""
    return "-" if value is None else f"{100 * value:.2f}"
