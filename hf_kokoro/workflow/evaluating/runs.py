"""What the evaluations share: where predictions come from, and the run folder."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...core.atomic import write_atomically
from ...errors import UsageError
from ..progress import Progress, shown

if TYPE_CHECKING:
    from ...evaluation.generate import PromptRow

logger = logging.getLogger(__name__)

Place = str | PathLike[str]


@dataclass(frozen=True)
class ModelRun:
    """A model that is to write predictions, and how."""

    model: str
    out: Place | None
    batch_size: int
    max_new_tokens: int
    max_prompt_tokens: int | None = None
    temperature: float = 0.0
    four_bit: bool = False
    seed: int = 42
    progress: Progress | None = None

    def write(self, rows: Iterable[PromptRow]) -> Path:
        """Write (or finish) the predictions and return their folder. Raises UsageError without a folder."""
        from ...evaluation.generate import GenerationSettings, generate_predictions

        out = run_folder(self.out)
        settings = GenerationSettings(
            self.model,
            max_new_tokens=self.max_new_tokens,
            max_prompt_tokens=self.max_prompt_tokens,
            temperature=self.temperature,
            seed=self.seed,
            four_bit=self.four_bit,
        )
        with shown(self.progress, "writing") as progress:
            done = generate_predictions(
                rows, out, settings, batch_size=self.batch_size, progress=lambda count: progress(count, 0)
            )
        ends = ", ".join(f"{name} {count}" for name, count in sorted(done.finish.items()))
        logger.info(
            "%s: %d written, %d were there; ends: %s; %d prompts without %d oldest turns",
            done.path,
            done.generated,
            done.already,
            ends or "none",
            done.shortened_prompts,
            done.dropped_turns,
            extra={"plain": True},
        )
        return out


def places(given: Place | Iterable[Place] | None) -> list[Path]:
    """One path or several, as a list."""
    if given is None:
        return []
    return [Path(given)] if isinstance(given, str | PathLike) else [Path(place) for place in given]


def run_folder(out: Place | None) -> Path:
    """Raises UsageError where a model is to write and no folder is given."""
    if out is None:
        raise UsageError("--model: give --out too, the folder that keeps what the model writes")
    return Path(out)


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
    view: tuple[str, str],
    source: Place | None,
    split: str,
    options: Mapping[str, Any],
    limit: int | None = None,
    **more: Any,
) -> Any:
    """One split of a corpus view, named by dataset and config; its own `options` go before `more`."""
    from ...corpora import load_dataset

    rows = load_dataset(*view, source=source, split=split, **{**more, **options})
    return rows if limit is None else rows.select(range(min(limit, len(rows))))


def no_view(view: Mapping[str, Any]) -> None:
    """Raise UsageError if dataset options were given where no dataset is read."""
    for name in view:
        raise UsageError(f"--{name.replace('_', '-')}: not an option here; see --help")


def keep_report(out: Place | None, report: Any, name: str = "report.json") -> None:
    """Write the report beside the predictions, as `--json` prints it."""
    if out is not None:
        out = Path(out)
        out.mkdir(parents=True, exist_ok=True)
        text = json.dumps(report, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
        write_atomically(out / name, text.encode())
