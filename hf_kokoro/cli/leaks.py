"""`hf-kokoro leaks`: what a split shares with training, and what a disjoint one costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .config_options import PASS_ON, config_options
from .console import print_json, print_table

if TYPE_CHECKING:
    from ..corpora.leaks import LeakReport, Sizes


SETTINGS = PASS_ON


def leaks(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="kokorochat, emplifai, annomi or miti_st_dpo.")],
    config: Annotated[str, typer.Option(help="A config with held-out splits, or any with --split-by.")],
    source: Annotated[str | None, typer.Option(help="Folder, archive, file or Hub dataset id.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Count held-out rows that share a counsellor, client, therapist, question or situation with training.

    Options of the config follow as --name value: --pool high, --seed 7, --split-by person.

    Example: hf-kokoro leaks kokorochat --config response_generation --source kokorochat.tar.gz
    """
    from ..workflow import leaks as run

    report = run(name, config, source=source, **config_options(ctx.args))
    if json_:
        print_json(report.as_dict())
    else:
        _print(report)


def _print(report: LeakReport) -> None:
    chosen = report.chosen.split_by or "as published"
    title = f"{report.dataset} {report.config}, split {chosen}: rows that share a ... with training"
    rows = [(s.split, s.group, f"{s.rows:,}", f"{s.of:,}", f"{100 * s.share:.1f}%") for s in report.shared]
    print_table(("split", "shares", "rows", "of", "share"), rows, title)
    for what, share in report.concentration.items():
        print(f"{what}: {100 * share:.0f}%")
    print()
    sizes = [_sizes_row(report.chosen, chosen), *(_sizes_row(s, str(s.split_by)) for s in report.alternatives)]
    print_table(("split by", "train", "validation", "test", "dropped"), sizes, "sizes, and what sharing nothing costs")


def _sizes_row(sizes: Sizes, label: str) -> tuple[str, ...]:
    splits = [f"{sizes.splits[name]:,}" if name in sizes.splits else "-" for name in ("train", "validation", "test")]
    return (label, *splits, f"{sizes.dropped:,}")
