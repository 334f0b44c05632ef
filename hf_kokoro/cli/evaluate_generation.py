"""`hf-kokoro evaluate generation`: BLEU, ROUGE and Distinct of counsellor replies."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import UsageError
from ..workflow.progress import shown
from . import evaluate_runs as runs
from .console import print_json, print_table

if TYPE_CHECKING:
    from ..evaluation.generation import SystemCounts
    from ..evaluation.predictions import Prediction

_NAMES = {
    **{f"bleu{order}": f"BLEU-{order}" for order in range(1, 5)},
    "rouge1": "ROUGE-1",
    "rouge2": "ROUGE-2",
    "rougeL": "ROUGE-L",
    "distinct1": "Distinct-1",
    "distinct2": "Distinct-2",
}


def generation(
    context: typer.Context,
    predictions: Annotated[
        list[Path] | None,
        typer.Option(
            "--predictions", help="JSONL with prediction and reference, or a run folder; give two to compare."
        ),
    ] = None,
    model: runs.Model = None,
    baseline: Annotated[
        str | None, typer.Option(help="reference (replies against themselves) or shuffled (against others' replies).")
    ] = None,
    source: runs.Source = None,
    config: Annotated[
        str, typer.Option(help="next_turn, response_generation, or (baselines) turns: all counsellor turns.")
    ] = "next_turn",
    split: runs.Split = None,
    tokenizer: Annotated[str, typer.Option(help="mecab, char or space.")] = "mecab",
    normalize: Annotated[str, typer.Option(help="none, or nfkc to fold widths before tokenizing.")] = "none",
    bootstrap: Annotated[int, typer.Option(min=0, help="Draws of the intervals and of the paired test.")] = 1000,
    per_sample: Annotated[bool, typer.Option("--per-sample", help="Write per_sample.jsonl in --out.")] = False,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes (default: two, if there are cores).")] = None,
    out: runs.Out = None,
    seed: runs.Seed = 42,
    limit: runs.Limit = None,
    batch_size: runs.BatchSize = 8,
    max_new_tokens: runs.MaxNewTokens = 256,
    max_prompt_tokens: runs.MaxPromptTokens = None,
    temperature: runs.Temperature = 0.0,
    four_bit: runs.FourBit = False,
    json_: runs.AsJson = False,
) -> None:
    """Overlap of replies with the counsellor's own, and how varied they are; KokoroChat's table of results.

    BLEU is cumulative and of the whole corpus, ROUGE a mean of F1, Distinct over everything the system said.
    Intervals resample dialogues. A view's options (--pool, --split-by, ...) go on to the dataset.

    Example: hf-kokoro evaluate generation --predictions sft.jsonl --predictions base.jsonl --json
    """
    from ..evaluation.predictions import read_predictions

    kind = runs.one_of(predictions=predictions, model=model, baseline=baseline)
    if per_sample and out is None:
        raise UsageError("--per-sample: give --out too, the folder to write per_sample.jsonl in")
    if kind == "predictions":
        runs.no_options(context.args)
        runs.not_with(kind, source=source, split=split, limit=limit)
        streams = _given(predictions or [])
    elif kind == "baseline":
        streams = [(f"{baseline} replies", _baseline(context, baseline or "", source, config, split, seed, limit))]
    else:
        written = _written(
            context,
            runs.ModelRun(model or "", out, batch_size, max_new_tokens, max_prompt_tokens, temperature, four_bit, seed),
            source,
            config,
            split or "test",
            limit,
        )
        streams = [(model or "", read_predictions(written))]
    systems = _counted(
        streams, tokenizer, normalize, workers or min(2, os.cpu_count() or 1), out if per_sample else None
    )
    report = _report([name for name, _ in streams], systems, bootstrap, seed)
    runs.keep_report(out, report)
    if json_:
        print_json(report)
    else:
        _print(report)


def _counted(
    streams: list[tuple[str, Iterator[Prediction]]], tokenizer: str, normalize: str, workers: int, out: Path | None
) -> list[SystemCounts]:
    """Count each system's predictions; per-sample figures go to `out`, if there is one."""
    from ..evaluation.generation import count_system

    systems = []
    for number, (name, stream) in enumerate(streams):
        with shown(None, name) as progress, _per_sample(out, number) as keep:
            draw = partial(_draw, progress)
            systems.append(count_system(stream, tokenizer, normalize, workers=workers, on_sample=keep, progress=draw))
    return systems


def _given(paths: list[Path]) -> list[tuple[str, Iterator[Prediction]]]:
    """One or two files of predictions; two must answer the same references."""
    from ..evaluation.predictions import in_step, read_predictions

    if len(paths) > 2:
        raise UsageError(f"--predictions: got {len(paths)}; allowed: one, or two to compare")
    if len(paths) == 2:
        for _ in in_step(read_predictions(paths[0]), read_predictions(paths[1])):
            pass
    return [(path.name, read_predictions(path)) for path in paths]


def _written(
    context: typer.Context, run: runs.ModelRun, source: str | None, config: str, split: str, limit: int | None
) -> Path:
    from ..evaluation.generate import next_turn_rows

    if config not in ("next_turn", "response_generation"):
        raise UsageError(f"--config {config}: allowed with --model: next_turn, response_generation")
    rows = runs.load_rows("kokorochat", config, source, split, context.args, limit, seed=run.seed)
    return run.write(next_turn_rows(rows))


def _baseline(
    context: typer.Context,
    baseline: str,
    source: str | None,
    config: str,
    split: str | None,
    seed: int,
    limit: int | None,
) -> Iterator[Prediction]:
    """The corpus's own replies as predictions."""
    import numpy as np

    from ..evaluation.predictions import Prediction

    if baseline not in ("reference", "shuffled"):
        raise UsageError(f"--baseline {baseline}: allowed: reference, shuffled")
    if config not in ("next_turn", "turns"):
        raise UsageError(f"--config {config}: allowed with --baseline: next_turn, turns")
    options = {} if config == "turns" else {"seed": seed, "conversational": False}
    wanted = split or ("train" if config == "turns" else "test")
    rows = runs.load_rows("kokorochat", config, source, wanted, context.args, None, **options)
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
    from ..evaluation.generation import sample_metrics

    if out is None:
        yield None
        return
    out.mkdir(parents=True, exist_ok=True)
    name = "per_sample.jsonl" if number == 0 else f"per_sample_{number + 1}.jsonl"
    with open(out / name, "w", encoding="utf-8") as file:

        def keep(sample: Prediction, counts: Any) -> None:
            file.write(json.dumps({"id": sample.id, **sample_metrics(counts)}, ensure_ascii=False) + "\n")

        yield keep


def _draw(progress: runs.Progress, done: int) -> None:
    progress(done, 0)


def _report(names: list[str], systems: list[SystemCounts], draws: int, seed: int) -> dict[str, Any]:
    from ..evaluation.generation import compare_generation, generation_report

    report: dict[str, Any] = {
        "systems": [
            {"name": name, **generation_report(system, draws, seed).to_dict()}
            for name, system in zip(names, systems, strict=True)
        ]
    }
    if len(systems) == 2 and draws:
        compared = compare_generation(systems[0], systems[1], draws, seed)
        report["first_minus_second"] = {name: asdict(difference) for name, difference in compared.items()}
    return report


def _print(report: dict[str, Any]) -> None:
    for system in report["systems"]:
        made = ", ".join(f"{name} {value}" for name, value in system["tokenizer"].items())
        print(f"{system['name']}: {system['samples']} replies in {system['groups']} dialogues; {made}")
        print(
            f"  tokens a reply: {system['tokens_per_prediction']:.2f}, of the references "
            f"{system['tokens_per_reference']:.2f}; {system['empty_predictions']} replies are empty"
        )
    header = ["metric"]
    for system in report["systems"]:
        header += [f"{system['name']} (%)", "95 % interval"]
    compared = report.get("first_minus_second", {})
    rows = []
    for key, name in _NAMES.items():
        row = [name]
        for system in report["systems"]:
            row += _cells(system["metrics"][key])
        if compared:
            row += _difference(compared.get(key))
        rows.append(row)
    print_table(header + (["difference", "95 % interval", "p"] if compared else []), rows)


def _cells(figure: dict[str, float | None]) -> list[str]:
    low, high = figure["low"], figure["high"]
    interval = "-" if low is None or high is None else f"{100 * low:.2f} to {100 * high:.2f}"
    return [runs.percent(figure["value"]), interval]


def _difference(found: dict[str, float] | None) -> list[str]:
    if found is None:
        return ["-", "-", "-"]
    return [
        f"{100 * found['value']:+.2f}",
        f"{100 * found['low']:+.2f} to {100 * found['high']:+.2f}",
        f"{found['p']:.4f}",
    ]
