"""Publishing a dataset folder: licence, privacy and card are checked first, then data and card go in one commit."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq

from ..core.patience import Tries, persistently
from ..core.reports import Report
from ..core.series import Series
from ..errors import UsageError
from ..hub import Growth, append_rows, resolve_target
from ..hub.card import matches
from ..hub.remote import HubTarget
from ..hub.resolve import HubOptions
from ..hub.target import CARD_PATH, Change, Ours, Put, Remove, Target
from ..miti.contract import DATA_PATH
from ..policy import Gate, Policy, read_policy
from ..policy.claims import origins_of
from ..policy.gate import check_kinds
from ..policy.licences import check_may_publish, refusal
from .check import card_problems, raise_problems
from .check_files import config_patterns, folder_files, folder_problems, pattern_problems
from .claims import folder_notes
from .derived import PAIRS_PATH, UNPAIRED_PATH, parse_rows
from .front_matter import CardError, split_card
from .hand_written import is_rendered
from .miti_card import LOCAL_NAME, MITI_FIGURES
from .origins import wording_of
from .provenance import folder_sources
from .write import card_files, read_lines, write_card


@dataclass(frozen=True)
class PublishOptions:
    """What the caller decided.

    `public`: a repo that does not exist yet is made public (else private). `holds_licence`: the caller holds a
    licence for sources that do not allow publishing. `allow`: kinds of private data that may stay. `redact`:
    replace findings by `[kind]`. `policy`: a file that decides what these two leave open. `dry_run`: check everything,
    send nothing. `max_wait`: seconds that may be waited for the Hub in all. `token`: instead of the saved login.
    """

    public: bool = False
    private: bool = False
    holds_licence: bool = False
    allow: Sequence[str] = ()
    redact: bool | None = None
    figures: bool = True
    dry_run: bool = False
    policy: str | os.PathLike[str] | Policy | None = None
    max_wait: float | None = None
    token: str | None = field(default=None, repr=False)

    def check(self) -> None:
        """Raise UsageError for contradictions and unknown kinds."""
        if self.public and self.private:
            raise UsageError("publish: --public and --private contradict each other; give one (default: private)")
        check_kinds(self.allow)
        read_policy(self.policy)


@dataclass(frozen=True)
class PublishReport(Report):
    """What was sent (or would be, in a dry run). `files` maps paths in the repo to bytes.

    `removed` are files of the former build that the new one doesn't have; `missing` is what a dry run would make.
    """

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
    removed: tuple[str, ...] = ()
    missing: str = ""
    decided: tuple[str, ...] = ()


def publish(
    folder: str | os.PathLike[str], to: str | os.PathLike[str] | Target, options: PublishOptions | None = None
) -> PublishReport:
    """Publish a dataset folder to a Hub repo or another folder, data and card in one commit.

    A MITI-ST folder is appended to what is there (the same rows again: only the card may change), with a card
    rendered from all rows. Any other folder is copied as it is, private, if its licence allows that at all; data files
    of a former build that it no longer has go in the same commit.
    Raises LicenceError, PrivacyError, ClaimError, RowError, CardError (all problems listed), UsageError,
    TargetError; before any of them nothing was sent.
    """
    options = options or PublishOptions()
    options.check()
    source = Path(folder).expanduser()
    if not source.is_dir():
        raise UsageError(f"publish: {source} is no folder; give one that `build` or `append` made")
    options = replace(options, max_wait=read_policy(options.policy).or_given("max_wait", options.max_wait))
    place = resolve_target(to, HubOptions(token=options.token, private=not options.public, max_wait=options.max_wait))
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

    notes = folder_notes(source)
    done = append_rows(
        place,
        rows,
        allow=options.allow,
        redact=options.redact,
        policy=options.policy,
        strict=True,
        extra_operations=extra_files,
        notes=notes,
        # of a folder that mixes them that was decided when it grew
        mix_rubrics=len({note.rubric_sha256 for note in notes.of_rows.values() if note.rubric_sha256}) > 1,
        dry_run=options.dry_run,
        max_wait=options.max_wait,
    )
    revision = done.revision
    if not done.added and not options.dry_run:
        card = write_card(place, figures=options.figures, max_wait=options.max_wait)
        revision = card.revision
        sent.update({path: card.files[path] for path in card.changed})
    published = {*segments, *sent, CARD_PATH, *_GENERATED}
    return PublishReport(
        target=place.name,
        licence=" and ".join(wording_of(origins_of(rows)).license_ids),
        added=done.added,
        rows_total=done.rows_total,
        revision=revision,
        files={**done.files, **sent},
        left_here=tuple(path for path in folder_files(source) if path not in published),
        allowed_findings=tuple(line.partition(" (")[0] for line in done.findings),
        redacted=done.redacted,
        dry_run=options.dry_run,
        missing=done.missing,
        decided=tuple(done.decided),
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
    gate = Gate(options.allow, policy=read_policy(options.policy))
    for path in wanted:
        for record in _read_rows(source / path):
            gate.record(path, record)
    gate.check()
    sent = _send_files(source, wanted, place, options)
    return PublishReport(
        target=place.name,
        licence=str(data.get("license")),
        added=0,
        rows_total=0,
        revision=sent.revision,
        files={path: (source / path).stat().st_size for path in sent.files},
        left_here=tuple(path for path in folder_files(source) if path not in (CARD_PATH, *wanted)),
        allowed_findings=tuple(gate.staying.lines(shown=0)),
        dry_run=options.dry_run,
        removed=sent.removed,
        missing=sent.missing,
        decided=gate.decided,
    )


@dataclass(frozen=True)
class _Sent:
    files: tuple[str, ...]
    removed: tuple[str, ...]
    revision: str = ""
    missing: str = ""


def _send_files(source: Path, wanted: Sequence[str], place: Target, options: PublishOptions) -> _Sent:
    """One commit of what differs, tried until it stands."""
    files, series = {path: source / path for path in (CARD_PATH, *wanted)}, Series(DATA_PATH)
    # what an earlier try may have sent though no reply said so
    tried: dict[str, _Sent] = {}

    def once(tries: Tries) -> _Sent:
        with place.exclusive(readonly=True):
            there = place.snapshot(series, readonly=True)
            # a former build's files are no foreign data
            ours = Ours(wanted, also=stale_files(place.listing(there), there.card, wanted))
        with place.exclusive(ours, readonly=options.dry_run):
            base = place.snapshot(series, ours, readonly=options.dry_run)
            tries.head = base.revision
            same = place.same(base, files)
            stale = stale_files(place.listing(base), base.card, wanted)
            sent = _Sent(tuple(path for path in files if path not in same), stale, missing=base.missing)
            changes: list[Change] = [
                *(Put(path, files[path]) for path in sent.files),
                *(Remove(path) for path in stale),
            ]
            if options.dry_run:
                return sent
            if not changes:
                return replace(tried.get("sent", sent), revision=base.revision, missing="")
            tried.setdefault("sent", sent)
            done = place.commit(base, changes, f"Publish {source.name}")
            return replace(sent, revision=done.revision, missing="")

    safe = "the files are safe in the folder, and the repo has all of a build or none; the next try looks first"
    return persistently(once, Tries(place.patience.within(options.max_wait), safe))


_BUILT = re.compile(r"data/([^/]+?)(?:-[0-9]{5}-of-[0-9]{5})?\.parquet")


def stale_files(there: Iterable[str], card: bytes | None, wanted: Collection[str]) -> tuple[str, ...]:
    """Data files of a former build among the paths `there`, which the new one doesn't have.

    The card that is there has to be a build's. It names `data/SPLIT.parquet`, or takes in that split's numbered shards;
    nothing else was made by a build for certain, and so it stays.
    """
    try:
        data, body = split_card((card or b"").decode("utf-8-sig"))
    except (CardError, UnicodeDecodeError):
        return ()
    if not is_rendered(body):
        return ()
    former = list(config_patterns(data))
    splits = {split for _, split, pattern in former if matches(pattern, f"data/{split}.parquet")}
    splits |= {split for _, split, pattern in former if matches(pattern, f"data/{split}-00000-of-00001.parquet")}
    made = (path for path in there if (found := _BUILT.fullmatch(path)) and found[1] in splits)
    return tuple(path for path in made if path not in wanted)


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
    if isinstance(place, HubTarget) and place.is_private() is False:
        raise refusal(f"{place.name} is public", "Give a repo that is private, or does not exist")
