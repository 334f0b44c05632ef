"""`hf-kokoro build`: a typed Parquet folder with its card."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .config_options import PASS_ON, config_options
from .console import print_json, print_table

if TYPE_CHECKING:
    from ..workflow.building import BuildReport

SETTINGS = PASS_ON


def build(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="kokorochat, emplifai, annomi or miti_st_dpo.")],
    out: Annotated[Path, typer.Option(help="Folder to write, new or empty; see --overwrite.")],
    source: Annotated[str | None, typer.Option(help="Folder, archive, file or Hub dataset id.")] = None,
    config: Annotated[str | None, typer.Option(help="dialogues, pairs, ...; default: the plain view.")] = None,
    num_proc: Annotated[int | None, typer.Option(min=1, help="Worker processes.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier build in --out.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Build one config as typed Parquet with a card, in a folder that plain datasets.load_dataset reads.

    Options of the config follow as --name value: --language en, --pool high, --seed 7, --split-by person.

    Example: hf-kokoro build kokorochat --config response_generation --pool high --source kokorochat.tar.gz --out kc
    """
    from ..workflow import build as run

    report = run(name, out, config, source=source, num_proc=num_proc, overwrite=overwrite, **config_options(ctx.args))
    if json_:
        print_json(report.as_dict())
    else:
        _print(report)


def _print(report: BuildReport) -> None:
    print_table(("split", "rows"), list(report.rows.items()), f"{report.dataset} {report.config}")
    if empty := [split for split, rows in report.rows.items() if not rows]:
        print(f"without rows, so without a file: {', '.join(empty)}")
    for reason, count in report.left_out.items():
        print(f"left out: {count:,} {reason}")
    others = report.other_files
    if others:
        shown = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
        print(f"left alone: {len(others)} other files ({shown})")
    print(f'written: {report.out}; load it with datasets.load_dataset("{report.out}")')
