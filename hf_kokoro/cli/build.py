"""`hf-kokoro build`: a typed Parquet folder with its card."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .config_options import PASS_ON, config_options
from .console import print_json, print_table

if TYPE_CHECKING:
    from ..corpora.base import SourceBuilder

SETTINGS = PASS_ON
PARTS = {"README.md", "data", "assets"}


def build(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="kokorochat, emplifai or miti_st_dpo.")],
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
    from ..corpora.load import BUILDERS, get_builder
    from ..errors import Fault, InputError

    chosen = config or (BUILDERS[name].PLAIN_VIEW if name in BUILDERS else "")
    options = config_options(ctx.args)
    _check_room(out, overwrite)
    builder = get_builder(name, chosen, source=source, **options)
    splits = _prepare(builder, num_proc)
    if not any(rows.num_rows for rows in splits.values()):
        raise InputError(
            f"{name} {chosen}", [Fault("every split", "", "no row", "at least one row", "check the options")]
        )
    report = {
        "dataset": name,
        "config": chosen,
        "rows": {split: rows.num_rows for split, rows in splits.items()},
        "features": list(builder.info.features),
        "other_files": _other_files(name, builder),
        "out": str(out),
    }
    # plain datasets can't read a split without rows, so it gets no file
    _write(out, name, builder, {split: rows for split, rows in splits.items() if rows.num_rows}, options)
    if json_:
        print_json(report)
    else:
        _print(report)


def _check_room(out: Path, overwrite: bool) -> None:
    """Never clear what a build did not make: --overwrite is for a folder with nothing but a build's parts in it."""
    from ..errors import UsageError

    if not out.exists():
        return
    if not out.is_dir():
        raise UsageError(f"--out {out}: a file; give a folder")
    strangers = {path.name for path in out.iterdir()} - PARTS
    if strangers:
        raise UsageError(f"--out {out}: holds other things than a build makes; give another folder")
    if any(out.iterdir()) and not overwrite:
        raise UsageError(f"--out {out}: there is a build already; give another folder, or --overwrite")


def _prepare(builder: SourceBuilder, num_proc: int | None) -> Any:
    from ..corpora.base import BuildFailed

    try:
        builder.download_and_prepare(num_proc=num_proc)
    except BuildFailed as failed:
        raise failed.error from None
    return builder.as_dataset()


def _other_files(name: str, builder: SourceBuilder) -> list[str]:
    """Members of the source that were left alone, so that nobody misses them silently."""
    names = builder.files.names()
    return sorted(set(names) - set(builder.data_files(names)))


def _write(out: Path, name: str, builder: SourceBuilder, splits: Any, options: dict[str, Any]) -> None:
    """Write beside `out` and move into place, so that an interrupted build leaves the old folder as it was."""
    from datasets import concatenate_datasets

    from ..cards import build_statistics, render_build_card

    partial = out.with_name(f".{out.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    (partial / "data").mkdir(parents=True)
    files = {split: f"data/{split}.parquet" for split in splits}
    for split, rows in splits.items():
        rows.to_parquet(partial / files[split])
    statistics, figures = build_statistics(name, builder.config.name, concatenate_datasets(list(splits.values())))
    for path, content in figures.items():
        (partial / path).parent.mkdir(exist_ok=True)
        (partial / path).write_bytes(content)
    card = render_build_card(
        name,
        builder.config.name,
        builder.info.features,
        {split: rows.num_rows for split, rows in splits.items()},
        files,
        description=builder.config.description,
        options=options,
        statistics=statistics,
        origins=_origins(name, builder),
    )
    (partial / "README.md").write_text(card, "utf-8")
    if out.exists():
        shutil.rmtree(out)
    partial.replace(out)


def _origins(name: str, builder: SourceBuilder) -> Mapping[tuple[str, str], int] | None:
    """What MITI-ST rows state of where their texts come from: the views that are built don't hold it any more."""
    if name != "miti_st_dpo":
        return None
    from ..cards import origins_of
    from ..corpora.miti_st.reader import RowReader

    return origins_of(RowReader(builder.files).read())


def _print(report: dict[str, Any]) -> None:
    print_table(("split", "rows"), list(report["rows"].items()), f"{report['dataset']} {report['config']}")
    if empty := [split for split, rows in report["rows"].items() if not rows]:
        print(f"without rows, so without a file: {', '.join(empty)}")
    others = report["other_files"]
    if others:
        shown = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
        print(f"left alone: {len(others)} other files ({shown})")
    print(f'written: {report["out"]}; load it with datasets.load_dataset("{report["out"]}")')
