"""`hf-kokoro export`: training files for other trainers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .config_options import PASS_ON, config_options
from .console import print_json, print_table

SETTINGS = PASS_ON


def export(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="kokorochat, emplifai, annomi or miti_st_dpo.")],
    config: Annotated[str, typer.Option(help="response_generation, next_turn, sft, pairs, unpaired, ...")],
    to: Annotated[str, typer.Option("--to", help="openai, sharegpt, alpaca, llama-factory or axolotl.")],
    out: Annotated[Path, typer.Option(help="Folder to write; it must be new or empty.")],
    source: Annotated[str | None, typer.Option(help="Folder, archive, file or Hub dataset id.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Write a training config as files that another trainer reads as they are, strictly alternating.

    Runs of one speaker are merged and the ends trimmed, so that a user turn opens and an answer closes; what was
    merged, trimmed or dropped is counted, printed and written beside the files. Options of the config follow as
    --name value: --pool high, --seed 7.

    Example: hf-kokoro export miti_st_dpo --config pairs --source ./my-dataset --to llama-factory --out lf
    """
    from ..workflow import export as run

    report = run(name, config, to, out, source=source, **config_options(ctx.args))
    if json_:
        print_json(report.as_dict())
        return
    header = ("split", "rows", "written", "dropped", "turns", "merged", "trimmed", "trimmed %")
    keys = ("rows_in", "rows_out", "rows_dropped", "turns_in", "turns_merged", "turns_trimmed", "trimmed_percent")
    print_table(header, [(split, *(counts[key] for key in keys)) for split, counts in report.splits.items()])
    print(f"written for {to}: {out}")
    for file, size in report.files.items():
        print(f"  {file}  {size} bytes")
