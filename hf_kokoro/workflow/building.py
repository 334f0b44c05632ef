"""`build`, `export`, `leaks` and `stats`: a corpus as a folder, as another trainer's files, and measured."""

from __future__ import annotations

import math
import shutil
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..cards import build_statistics, render_build_card
from ..cards.front_matter import card_text
from ..core.disk import disk_errors
from ..core.reports import Report
from ..corpora import BUILDERS, exports, load_dataset
from ..corpora.base import prepare
from ..corpora.leaks import LeakReport, find_leaks
from ..corpora.load import get_builder
from ..corpora.published import edition_of
from ..corpora.splits import TRAIN
from ..errors import EditionError, Fault, InputError, SourceError, UsageError

if TYPE_CHECKING:
    from ..corpora.base import SourceBuilder
    from ..corpora.exports import ExportReport
    from ..corpora.published import Edition, Figure

PARTS = {"README.md", "data", "assets"}


@dataclass(frozen=True)
class BuildReport(Report):
    """What was built: rows by split (a split without rows has no file), columns, and what was left alone.

    `left_out` counts what the options left out of every split, by reason.
    """

    dataset: str
    config: str
    rows: dict[str, int]
    left_out: dict[str, int]
    features: list[str]
    other_files: list[str]
    out: str


@dataclass(frozen=True)
class StatsReport(Report):
    """The papers' figures and ours; `--json` prints the list `figures`."""

    dataset: str
    figures: tuple[Figure, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain data; a figure that the rows don't give is None."""
        return {"dataset": self.dataset, "figures": [_plain(figure) for figure in self.figures]}


def build(
    name: str,
    out: str | PathLike[str],
    config: str | None = None,
    *,
    source: str | PathLike[str] | None = None,
    num_proc: int | None = None,
    overwrite: bool = False,
    **options: Any,
) -> BuildReport:
    """Build one config as typed Parquet with a card in the folder `out`, which plain `datasets.load_dataset` reads.

    `options` are the config's (`pool`, `seed`, `split_by`, ...); without `config` the plain view is built. An
    interrupted build leaves an older folder as it was. Raises UsageError for a folder that is taken (`overwrite`
    replaces an earlier build, and nothing else), SourceError, InputError with every fault.
    """
    folder, chosen = Path(out), config or (BUILDERS[name].PLAIN_VIEW if name in BUILDERS else "")
    _check_room(folder, overwrite)
    builder = get_builder(name, chosen, source=source, **options)
    splits = _prepare(builder, num_proc)
    if not any(rows.num_rows for rows in splits.values()):
        raise InputError(
            f"{name} {chosen}", [Fault("every split", "", "no row", "at least one row", "check the options")]
        )
    report = BuildReport(
        name,
        chosen,
        {split: rows.num_rows for split, rows in splits.items()},
        builder.left_out(),
        list(builder.info.features),
        _other_files(name, builder),
        str(out),
    )
    _write(folder, report, builder, splits, options)
    return report


def export(
    name: str,
    config: str,
    to: str,
    out: str | PathLike[str],
    *,
    source: str | PathLike[str] | None = None,
    **options: Any,
) -> ExportReport:
    """Write a training config as files that the trainer `to` reads, strictly alternating; what that cost is counted.

    Raises UsageError for an unknown trainer, a config without conversations, or an `out` that is not empty.
    """
    splits = load_dataset(name, config, source=source, **options)
    columns = next(iter(splits.values())).column_names
    return exports.export(splits, columns, to, out, name=f"{name}_{config}")


def leaks(name: str, config: str, *, source: str | PathLike[str] | None = None, **options: Any) -> LeakReport:
    """Count held-out rows that share a counsellor, client, therapist, question or situation with training.

    Raises UsageError for a config without held-out splits and without `split_by`.
    """
    return find_leaks(name, config, source=source, **options)


def stats(name: str, *, source: str | None = None, allow_other_edition: bool = False) -> StatsReport:
    """Every published figure of a corpus beside ours.

    The papers counted one state of the files. Raises UsageError for an unknown dataset, EditionError for files that
    are not KokoroChat's pinned edition, unless `allow_other_edition`.
    """
    if name not in BUILDERS:
        raise UsageError(f"dataset: got {name!r}; allowed: {', '.join(BUILDERS)}")
    view = next((view for view in BUILDERS[name].VIEWS if view.published), None)
    if view is None or view.published is None:
        raise UsageError(f"stats: nothing is published of {name} to compare with")
    builder = get_builder(name, view.name, source=source)
    if builder.EDITION and not allow_other_edition:
        _check_edition(builder, builder.EDITION)
    return StatsReport(name, tuple(view.published(_prepare(builder)[TRAIN])))


def _check_room(out: Path, overwrite: bool) -> None:
    """Never clear what a build did not make: --overwrite is for a folder with nothing but a build's parts in it."""
    if not out.exists():
        return
    if not out.is_dir():
        raise UsageError(f"--out {out}: a file; give a folder")
    strangers = {path.name for path in out.iterdir()} - PARTS
    if strangers:
        raise UsageError(f"--out {out}: holds other things than a build makes; give another folder")
    if any(out.iterdir()) and not overwrite:
        raise UsageError(f"--out {out}: there is a build already; give another folder, or --overwrite")


def _prepare(builder: SourceBuilder, num_proc: int | None = None) -> Any:
    prepare(builder, num_proc)
    return builder.as_dataset()


def _other_files(name: str, builder: SourceBuilder) -> list[str]:
    """Members of the source that were left alone, so that nobody misses them silently."""
    names = builder.files.names()
    return sorted(set(names) - set(builder.data_files(names)))


def _write(out: Path, report: BuildReport, builder: SourceBuilder, splits: Any, options: dict[str, Any]) -> None:
    """Write beside `out` and move into place, so that an interrupted build leaves the old folder as it was."""
    partial = out.with_name(f".{out.name}.partial")
    with disk_errors(out, "no build was written; an earlier one is as it was; the same command again", SourceError):
        try:
            _write_parts(partial, report, builder, splits, existing=_existing_card(out), **options)
            if out.exists():
                shutil.rmtree(out)
            partial.replace(out)
        except OSError:
            shutil.rmtree(partial, ignore_errors=True)
            raise


def _write_parts(
    partial: Path, report: BuildReport, builder: SourceBuilder, splits: Any, *, existing: str | None, **options: Any
) -> None:
    from datasets import concatenate_datasets

    shutil.rmtree(partial, ignore_errors=True)
    (partial / "data").mkdir(parents=True)
    # plain datasets can't read a split without rows, so it gets no file
    splits = {split: rows for split, rows in splits.items() if rows.num_rows}
    files = {split: f"data/{split}.parquet" for split in splits}
    for split, rows in splits.items():
        rows.to_parquet(partial / files[split])
    statistics, figures = build_statistics(report.dataset, report.config, concatenate_datasets(list(splits.values())))
    for path, content in figures.items():
        (partial / path).parent.mkdir(exist_ok=True)
        (partial / path).write_bytes(content)
    card = render_build_card(
        report.dataset,
        report.config,
        builder.info.features,
        report.rows,
        files,
        description=builder.config.description,
        options=options,
        statistics=statistics,
        existing=existing,
        origins=builder.origins(),
        left_out=report.left_out,
    )
    (partial / "README.md").write_bytes(card.encode())


def _existing_card(out: Path) -> str | None:
    """What stands in the card of the build that is replaced: hand-written parts of it stay."""
    file = out / "README.md"
    return card_text(file.read_bytes()) if file.is_file() else None


def _check_edition(builder: SourceBuilder, expected: Edition) -> None:
    # another kind of source is no other edition
    builder.require_rows()
    found = edition_of(builder.edition_files())
    if found != expected:
        raise EditionError(
            f"{builder.files.path.name}: not the edition that the paper counted: {found.files:,} files of "
            f"{found.bytes:,} bytes, expected {expected.files:,} of {expected.bytes:,}; --allow-other-edition compares "
            "anyway"
        )


def _plain(figure: Figure) -> dict[str, Any]:
    ours = None if math.isnan(figure.ours) else float(figure.ours)
    return {"figure": figure.name, "paper": figure.paper, "ours": ours, "differs": figure.differs}
