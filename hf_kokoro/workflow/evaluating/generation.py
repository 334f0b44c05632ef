"""`evaluate_generation`: BLEU, ROUGE and Distinct of counsellor replies."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...core.reports import Report
from ...errors import UsageError
from ..progress import Progress, shown
from . import runs

if TYPE_CHECKING:
    from ...evaluation.generation import Difference, GenerationReport, SystemCounts
    from ...evaluation.predictions import Prediction


@dataclass(frozen=True)
class GenerationEvaluation(Report):
    """Each system's name and table; with two of them their differences by metric."""

    systems: tuple[tuple[str, GenerationReport], ...]
    first_minus_second: dict[str, Difference] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as `--json` prints it."""
        found: dict[str, Any] = {"systems": [{"name": name, **report.to_dict()} for name, report in self.systems]}
        if self.first_minus_second is not None:
            compared = self.first_minus_second
            found["first_minus_second"] = {name: asdict(difference) for name, difference in compared.items()}
        return found


def evaluate_generation(
    predictions: runs.Place | Sequence[runs.Place] | None = None,
    *,
    model: str | None = None,
    baseline: str | None = None,
    source: runs.Place | None = None,
    config: str = "next_turn",
    split: str | None = None,
    tokenizer: str = "mecab",
    normalize: str = "none",
    bootstrap: int = 1000,
    per_sample: bool = False,
    workers: int | None = None,
    out: runs.Place | None = None,
    seed: int = 42,
    limit: int | None = None,
    batch_size: int = 8,
    max_new_tokens: int = 256,
    max_prompt_tokens: int | None = None,
    temperature: float = 0.0,
    four_bit: bool = False,
    progress: Progress | None = None,
    **view: Any,
) -> GenerationEvaluation:
    """Overlap of replies with the counsellor's own, and how varied they are.

    Give `predictions` (a file or run folder, or two to compare), a `model` that writes them into `out`, or a
    `baseline` (reference, shuffled); `view` are options of the corpus view (`pool`, `split_by`, ...). BLEU is
    cumulative and of the whole corpus, ROUGE a mean of F1, Distinct over everything a system said; intervals resample
    dialogues. Raises UsageError, SourceError, InputError, MissingExtraError.
    """
    from ...evaluation.predictions import read_predictions

    kind = runs.one_of(predictions=predictions, model=model, baseline=baseline)
    if per_sample and out is None:
        raise UsageError("--per-sample: give --out too, the folder to write per_sample.jsonl in")
    if kind == "predictions":
        runs.no_view(view)
        runs.not_with(kind, source=source, split=split, limit=limit)
        streams = _given(runs.places(predictions))
    elif kind == "baseline":
        streams = [
            (
                f"{baseline} replies",
                _baseline(baseline or "", view, source=source, config=config, split=split, seed=seed, limit=limit),
            )
        ]
    else:
        run = runs.ModelRun(
            model or "", out, batch_size, max_new_tokens, max_prompt_tokens, temperature, four_bit, seed, progress
        )
        streams = [
            (
                model or "",
                read_predictions(_written(run, view, source=source, config=config, split=split or "test", limit=limit)),
            )
        ]
    samples = Path(out) if per_sample and out is not None else None
    systems = _counted(
        streams, tokenizer, normalize, workers=workers or min(2, os.cpu_count() or 1), out=samples, progress=progress
    )
    report = _report([name for name, _ in streams], systems, bootstrap, seed)
    runs.keep_report(out, report.as_dict())
    return report


def _counted(
    streams: list[tuple[str, Iterator[Prediction]]],
    tokenizer: str,
    normalize: str,
    *,
    workers: int,
    out: Path | None,
    progress: Progress | None,
) -> list[SystemCounts]:
    """Count each system's predictions; per-sample figures go to `out`, if there is one."""
    from ...evaluation.generation import count_system

    systems = []
    for number, (name, stream) in enumerate(streams):
        with shown(progress, name) as bar, _per_sample(out, number) as keep:
            draw = partial(_draw, bar)
            systems.append(count_system(stream, tokenizer, normalize, workers=workers, on_sample=keep, progress=draw))
    return systems


def _given(paths: list[Path]) -> list[tuple[str, Iterator[Prediction]]]:
    """One or two files of predictions; two must answer the same references."""
    from ...evaluation.predictions import in_step, read_predictions

    if len(paths) > 2:
        raise UsageError(f"--predictions: got {len(paths)}; allowed: one, or two to compare")
    if len(paths) == 2:
        for _ in in_step(read_predictions(paths[0]), read_predictions(paths[1])):
            pass
    return [(path.name, read_predictions(path)) for path in paths]


def _written(
    run: runs.ModelRun,
    view: Mapping[str, Any],
    *,
    source: runs.Place | None,
    config: str,
    split: str,
    limit: int | None,
) -> Path:
    from ...evaluation.generate import next_turn_rows

    if config not in ("next_turn", "response_generation"):
        raise UsageError(f"--config {config}: allowed with --model: next_turn, response_generation")
    rows = runs.load_rows(("kokorochat", config), source, split, view, limit, seed=run.seed)
    return run.write(next_turn_rows(rows))


def _baseline(
    baseline: str,
    view: Mapping[str, Any],
    *,
    source: runs.Place | None,
    config: str,
    split: str | None,
    seed: int,
    limit: int | None,
) -> Iterator[Prediction]:
    """The corpus's own replies as predictions."""
    import numpy as np

    from ...evaluation.predictions import Prediction

    if baseline not in ("reference", "shuffled"):
        raise UsageError(f"--baseline {baseline}: allowed: reference, shuffled")
    if config not in ("next_turn", "turns"):
        raise UsageError(f"--config {config}: allowed with --baseline: next_turn, turns")
    options = {} if config == "turns" else {"seed": seed, "conversational": False}
    wanted = split or ("train" if config == "turns" else "test")
    rows = runs.load_rows(("kokorochat", config), source, wanted, view, **options)
    if config == "turns":
        counsellor = rows.features["role"].str2int("counselor")
        rows = rows.select(np.flatnonzero(_roles(rows) == counsellor))
    if limit is not None:
        rows = rows.select(range(min(limit, len(rows))))
    text = "text" if config == "turns" else "completion"
    rows = rows.select_columns(["dialogue_id", "turn", text])
    order = np.arange(len(rows))
    if baseline == "shuffled":
        # sorted by raw random bits: the stream of PCG64 is the same everywhere
        order = np.argsort(np.random.PCG64(seed).random_raw(len(rows)), kind="stable")
    said = rows.select_columns([text]).select(order)
    for row, other in zip(_records(rows), _records(said), strict=True):
        dialogue = str(row["dialogue_id"])
        yield Prediction(other[text], row[text], f"{dialogue}-{row['turn']}", dialogue)


def _roles(rows: Any) -> Any:
    # as one Arrow column: the numpy format goes through the rows one by one
    return rows.select_columns(["role"]).with_format("arrow")[:]["role"].to_numpy()


def _records(rows: Any) -> Iterator[dict[str, Any]]:
    for batch in rows.with_format("arrow").iter(1000):
        yield from batch.to_pylist()


@contextmanager
def _per_sample(out: Path | None, number: int) -> Iterator[Callable[[Prediction, Any], None] | None]:
    """A function that writes one sample's figures to a file in `out`; None if they are not wanted."""
    from ...evaluation.generation import sample_metrics

    if out is None:
        yield None
        return
    out.mkdir(parents=True, exist_ok=True)
    name = "per_sample.jsonl" if number == 0 else f"per_sample_{number + 1}.jsonl"
    with open(out / name, "w", encoding="utf-8") as file:

        def keep(sample: Prediction, counts: Any) -> None:
            file.write(json.dumps({"id": sample.id, **sample_metrics(counts)}, ensure_ascii=False) + "\n")

        yield keep


def _draw(progress: Progress, done: int) -> None:
    progress(done, 0)


def _report(names: list[str], systems: list[SystemCounts], draws: int, seed: int) -> GenerationEvaluation:
    from ...evaluation.generation import compare_generation, generation_report

    reports = tuple((name, generation_report(system, draws, seed)) for name, system in zip(names, systems, strict=True))
    compared = None
    if len(systems) == 2 and draws:
        compared = compare_generation(systems[0], systems[1], draws, seed)
    return GenerationEvaluation(reports, compared)
