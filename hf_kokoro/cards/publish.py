"""Publishing a dataset folder: licence, privacy and card are checked first, then data and card go in one commit."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq

from ..core.reports import Report
from ..core.series import Series
from ..errors import UsageError
from ..hub import Growth, append_rows, resolve_target
from ..hub.card import matches
from ..hub.resolve import HubOptions
from ..hub.target import CARD_PATH, Ours, Put, Target
from ..miti.contract import DATA_PATH
from ..policy import Gate
from ..policy.gate import check_kinds
from ..policy.licences import check_may_publish, refusal
from .check import card_problems, raise_problems
from .check_files import config_patterns, folder_files, folder_problems, pattern_problems
from .derived import PAIRS_PATH, UNPAIRED_PATH, parse_rows
from .front_matter import CardError, split_card
from .miti_card import LOCAL_NAME, MITI_FIGURES
from .provenance import folder_sources
from .write import card_files, read_lines, write_card


@dataclass(frozen=True)
class PublishOptions:
    """What the caller decided.

    `public`: a repo that does not exist yet is made public (else private). `holds_licence`: the caller holds a
    licence for sources that do not allow publishing. `allow`: kinds of private data that may stay. `redact`:
    replace findings by `[kind]`. `dry_run`: check everything, send nothing.
    """

    public: bool = False
    private: bool = False
    holds_licence: bool = False
    allow: Sequence[str] = ()
    redact: bool = False
    figures: bool = True
    dry_run: bool = False

    def check(self) -> None:
        """Raise UsageError for contradictions and unknown kinds."""
        if self.public and self.private:
            raise UsageError("publish: --public and --private contradict each other; give one (default: private)")
        check_kinds(self.allow)


@dataclass(frozen=True)
class PublishReport(Report):
    """What was sent (or would be, in a dry run). `files` maps paths in the repo to bytes."""

    target: str
    licence: str
    added: int
    rows_total: int
    revision: str
    files: Mapping[str, int] = field(default_factory=dict)
    left_here: tuple[str, ...] = ()
    allowed_findings: tuple[str, ...] = ()
    redacted: int = 0
    dry_run: bool = False


def publish(
    folder: str | os.PathLike[str], to: str | os.PathLike[str] | Target, options: PublishOptions | None = None
) -> PublishReport:
    """Publish a dataset folder to a Hub repo or another folder, data and card in one commit.

    A MITI-ST folder is appended to what is there (the same rows again: only the card may change), with a card
    rendered from all rows. Any other folder is copied as it is, private, if its licence allows that at all.
    Raises LicenceError, PrivacyError, ClaimError, RowError, CardError (all problems listed), UsageError,
    TargetError; before any of them nothing was sent.
    """
    options = options or PublishOptions()
    options.check()
    source = Path(folder).expanduser()
    if not source.is_dir():
        raise UsageError(f"publish: {source} is no folder; give one that `build` or `append` made")
    place = resolve_target(to, HubOptions(private=False) if options.public else None)
    _refuse_scripts(source)
    series = Series(DATA_PATH)
    listed = folder_files(source)
    segments = series.ordered(listed)
    if segments:
        series.warn_of_strays(listed, str(folder))
    rows = [dict(row) for _, row in parse_rows(read_lines({path: [source / path] for path in segments}))]
    if not segments and (source / CARD_PATH).is_file():
        raise_problems(folder_problems(source))
    sources = folder_sources(source, rows)
    check_may_publish(sources, public=options.public, holds_licence=options.holds_licence and options.private)
    if segments:
        return _publish_rows(source, segments, rows, place, options)
    return _publish_files(source, place, options)


def _refuse_scripts(source: Path) -> None:
    """`datasets` 4 and later refuse a repo that holds `<repo>.py`; a data repo needs no code at all."""
    if scripts := [path for path in folder_files(source) if path.endswith(".py")]:
        shown = ", ".join(scripts[:5])
        raise CardError(
            f"publish: {source.name} holds Python files ({shown}); `datasets` refuses such a repo; remove them"
        )


def _publish_rows(
    source: Path, segments: Sequence[str], rows: list[dict[str, Any]], place: Target, options: PublishOptions
) -> PublishReport:
    own_card = (source / CARD_PATH).read_bytes() if (source / CARD_PATH).is_file() else None
    sent: dict[str, int] = {}

    def extra_files(growth: Growth) -> dict[str, bytes]:
        known = own_card if growth.card is None else growth.card
        files = card_files(
            replace(growth, card=known), repo=getattr(place, "repo_id", LOCAL_NAME), figures=options.figures
        )
        _check_rendered(files, growth, own_card)
        sent.update({path: len(content) for path, content in files.items()})
        return files

    done = append_rows(
        place,
        rows,
        allow=options.allow,
        redact=options.redact,
        strict=True,
        extra_operations=extra_files,
        dry_run=options.dry_run,
    )
    revision = done.revision
    if not done.added and not options.dry_run:
        card = write_card(place, figures=options.figures)
        revision = card.revision
        sent.update({path: card.files[path] for path in card.changed})
    published = {*segments, *sent, CARD_PATH, *_GENERATED}
    return PublishReport(
        target=place.name,
        licence="mit",
        added=done.added,
        rows_total=done.rows_total,
        revision=revision,
        files={**done.files, **sent},
        left_here=tuple(path for path in folder_files(source) if path not in published),
        allowed_findings=tuple(line.partition(" (")[0] for line in done.findings),
        redacted=done.redacted,
        dry_run=options.dry_run,
    )


_GENERATED = (PAIRS_PATH, UNPAIRED_PATH, *MITI_FIGURES)


def _check_rendered(files: Mapping[str, bytes], growth: Growth, own_card: bytes | None) -> None:
    """All problems of the card that is about to be sent, before it is."""
    card = files[CARD_PATH]
    problems = card_problems(card, growth.rows_total)
    if not problems and growth.card is None and own_card:
        # configs that the folder's own card added; what the target's card has is already there
        problems = pattern_problems(split_card(card.decode())[0], [*growth.sizes, *files])
    raise_problems(problems)


def _publish_files(source: Path, place: Target, options: PublishOptions) -> PublishReport:
    """A folder that `build` made, as it is: card and the files that its patterns name."""
    raise_problems(folder_problems(source))
    if place.remote and not options.public:
        _refuse_public_repo(place)
    data, _ = split_card((source / CARD_PATH).read_text("utf-8-sig"))
    wanted = _wanted_files(source, data)
    gate = Gate(options.allow)
    for path in wanted:
        for record in _read_rows(source / path):
            gate.record(path, record)
    gate.check()
    puts = [Put(path, (source / path).read_bytes()) for path in (CARD_PATH, *wanted)]
    revision, ours = "", Ours(wanted)
    with place.exclusive(ours, readonly=options.dry_run):
        base = place.snapshot(Series(DATA_PATH), ours, readonly=options.dry_run)
        if not options.dry_run:
            revision = place.commit(base, puts, f"Publish {source.name}").revision
    return PublishReport(
        target=place.name,
        licence=str(data.get("license")),
        added=0,
        rows_total=0,
        revision=revision,
        files={path: (source / path).stat().st_size for path in (CARD_PATH, *wanted)},
        left_here=tuple(path for path in folder_files(source) if path not in (CARD_PATH, *wanted)),
        allowed_findings=tuple(gate.staying.lines(shown=0)),
        dry_run=options.dry_run,
    )


def _wanted_files(source: Path, data: Mapping[str, Any]) -> list[str]:
    patterns = [pattern for _, _, pattern in config_patterns(data)]
    paths = folder_files(source)
    shown = [path for path in paths if path.startswith("assets/")]
    return [*(path for path in paths if any(matches(pattern, path) for pattern in patterns)), *shown]


def _read_rows(file: Path) -> Iterator[Mapping[str, Any]]:
    if file.suffix == ".parquet":
        for batch in pq.ParquetFile(file).iter_batches(batch_size=500):
            yield from batch.to_pylist()
    elif file.suffix == ".jsonl":
        with file.open("rb") as stream:
            yield from (orjson.loads(line) for line in stream if line.strip())


def _refuse_public_repo(place: Target) -> None:
    """A restricted dataset must not land in a repo that is public already."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import RepositoryNotFoundError

    try:
        info = HfApi().dataset_info(getattr(place, "repo_id", place.name), expand=["private"])
    except RepositoryNotFoundError:
        return
    if not info.private:
        raise refusal(f"{place.name} is public", "Give a repo that is private, or does not exist")
