"""Cards into targets: `write_card` for a target as it stands, `card_files` for a commit about to be made."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from ..core.disk import disk_errors
from ..core.jsonl import iter_lines
from ..core.patience import Tries, persistently
from ..core.reports import Report
from ..core.series import Series
from ..errors import UsageError
from ..hub import Growth, LocalTarget, Target, resolve_target
from ..hub.card import data_stamp
from ..hub.files import file_chunks
from ..hub.resolve import HubOptions
from ..hub.target import CARD_PATH, LEDGER, Ours, Put
from ..judging.validity_files import ValidityFile
from ..miti.contract import DATA_PATH, LICENSE, NOT_STATED
from ..policy.licences import LicenceError, is_restricted, named, row_licences
from .agreement import read_agreement
from .claims import notes_in
from .croissant import CROISSANT_PATH, check_croissant, render_croissant
from .derived import PAIRS_PATH, UNPAIRED_PATH, derive
from .facts import MitiFacts
from .figures import miti_st_figures
from .front_matter import CardError, card_text
from .miti_card import DATA_FILES, LOCAL_NAME, growth_date, miti_configs, render_miti_card
from .validity import read_validities

DATASET = "miti_st_dpo"
_NOT_WRITTEN = "the card was not written, the dataset is as it was; TMPDIR names another folder for temporary files"
# the card is what names the derived files, so they may be there before it (or after somebody deleted it)
_OURS = Ours.growing(Series(DATA_PATH), DATA_PATH, also=(PAIRS_PATH, UNPAIRED_PATH))


@dataclass(frozen=True)
class CardReport(Report):
    """What a card was made of: `files` maps paths in the target to bytes, `changed` are those that differ."""

    target: str
    rows: int
    revision: str
    files: Mapping[str, int] = field(default_factory=dict)
    changed: tuple[str, ...] = ()
    checked_only: bool = False


def write_card(
    target: str | PathLike[str] | Target,
    dataset: str = DATASET,
    figures: bool = True,
    *,
    check: bool = False,
    croissant: bool = False,
    agreement: str | PathLike[str] | None = None,
    validity: Sequence[str | PathLike[str]] = (),
    today: str | None = None,
    max_wait: float | None = None,
) -> CardReport:
    """Render the card of a MITI-ST repo from its rows, with figures and derived configs, in one commit.

    A second call without new rows changes nothing. With `check` nothing is written: `changed` says what
    would be. With `croissant` a validated croissant.json goes along; `agreement` is a report of
    `hf-kokoro agree --json`, shown in this card and all later ones, and so are `validity`, of `hf-kokoro validate
    --json` (a report about another judge than that of the rows is refused). Built KokoroChat and EmplifAI folders get
    their card from the build (`render_build_card`). Nothing but the target's own rows goes into these files, so the
    gate that `append_rows` and `publish` pass is not asked again. `max_wait` bounds the seconds that are waited for the
    Hub. Raises UsageError, CardError, LicenceError (rows
    that aren't MIT), RowError, TargetError, MissingExtraError (figures need `plots`, croissant.json `croissant`).
    """
    if dataset != DATASET:
        raise UsageError(f"card: got dataset {dataset!r}; allowed: {DATASET} (other cards are written by their build)")
    place, series = resolve_target(target, HubOptions(max_wait=max_wait)), Series(DATA_PATH)
    repo = getattr(place, "repo_id", LOCAL_NAME)
    compared = None if agreement is None else read_agreement(Path(agreement))
    validities = read_validities(validity)
    options = CardOptions(repo, series.patterns, figures, today, croissant, compared, validities)
    written: set[str] = set()

    def once(tries: Tries, look: bool = check) -> CardReport:
        with place.exclusive(_OURS, readonly=look):
            return _write(place, series, options, written, tries, check=look)

    if isinstance(place, LocalTarget) and place.untouched and not check:
        # whatever fails in a folder that nothing of ours is in yet, fails before anything is made there
        once(Tries(place.patience), look=True)
    return persistently(once, Tries(place.patience.within(max_wait), _SAFE))


_SAFE = "the dataset has its former card or the new one, as a whole; the next try looks first"


def card_files(growth: Growth, *, repo: str = LOCAL_NAME, figures: bool = True) -> dict[str, bytes]:
    """Card, derived configs and figures for the rows as they will be after `growth`.

    Made for `append_rows(..., extra_operations=card_files)`: data and card change in one commit.
    """
    parts: dict[str, list[Path | bytes]] = {
        path: [*([growth.local[path]] if path in growth.local else []), growth.tails.get(path, b"")]
        for path in growth.series.ordered(growth.sizes)
    }
    options = CardOptions(repo, growth.series.patterns, figures)
    with TemporaryDirectory() as work:
        files = render_files(parts, growth.card, options, Path(work), growth.ledger)[1]
        return {path: c.read_bytes() if isinstance(c, Path) else c for path, c in files.items()}


@dataclass(frozen=True)
class CardOptions:
    """What a card needs to know beside the rows. `today` (ISO date) dates a new line of the growth table."""

    repo: str = LOCAL_NAME
    data_files: Sequence[str] = DATA_FILES
    figures: bool = True
    today: str | None = None
    croissant: bool = False
    agreement: str | None = None
    validity: Sequence[ValidityFile] = ()


Parts = Mapping[str, Sequence[Path | bytes]]
"""Data file to what it consists of, oldest first: files on disk and bytes that will follow them."""


def render_files(
    parts: Parts, existing: bytes | None, options: CardOptions, work: Path, ledger: Parts | None = None
) -> tuple[int, dict[str, bytes | Path]]:
    """Number of rows, and every file of the card: path in the target to content, or to a large file in `work`.

    `ledger` is that of the dataset: who said what about which row.
    """
    facts, files = derive(read_lines(parts), work, notes_in(ledger or {}))
    _check_licences(facts)
    drawn = miti_st_figures(facts) if options.figures else {}
    card = render_miti_card(
        facts,
        None if existing is None else card_text(existing),
        repo=options.repo,
        data_files=options.data_files,
        # a repo's revision is part of the cache key already; only a folder needs the stamp
        stamp=data_stamp(_chunks(parts)) if options.repo == LOCAL_NAME else "",
        figures=tuple(drawn),
        agreement=options.agreement,
        validity=options.validity,
        today=options.today,
    )
    described: dict[str, bytes] = {}
    if options.croissant:
        text = render_croissant(facts, miti_configs(options.data_files), options.repo, growth_date(card))
        check_croissant(text)
        described = {CROISSANT_PATH: text.encode()}
    return facts.rows, {CARD_PATH: card.encode(), **files, **drawn, **described}


def _check_licences(facts: MitiFacts) -> None:
    """The card lists the licences of its rows: raise LicenceError if one of them allows no sharing."""
    # rows that state nothing claim nothing: the card says so, and publishing is refused
    stated = [(o[0], o[1]) for o in facts.origins if NOT_STATED not in o[:2] or is_restricted(o[0])]
    other = {source: found for source, found in row_licences(stated).items() if not found.publishable}
    if other:
        raise LicenceError(
            f"{CARD_PATH} refused: this card is for rows that may be shared, and some are from {named(other)}; "
            f"allowed: rows of a source and a licence that allow it, such as {LICENSE}. Keep others in a folder of "
            "their own, without a card"
        )


def _write(
    place: Target, series: Series, options: CardOptions, written: set[str], tries: Tries, *, check: bool
) -> CardReport:
    """`written` are the paths that an earlier try may have sent though no reply said so."""
    # a card is of rows that are there, so no repo and no branch is made for it
    base = place.snapshot(series, _OURS, readonly=check or place.remote)
    tries.head = base.revision
    if base.missing and place.remote:
        raise CardError(f"{place.name}: no {base.missing}; append rows first")
    if not series.ordered(base.files):
        raise CardError(f"{place.name}: no {series.path} there; append rows first, or name a built folder's dataset")
    series.warn_of_strays(base.strays, place.name)
    parts = {path: [base.local[path]] for path in series.ordered(base.files)}
    ledger = {path: [base.local[path]] for path in LEDGER.ordered(base.files)}
    with disk_errors(gettempdir(), _NOT_WRITTEN, CardError), TemporaryDirectory() as work:
        rows, files = render_files(parts, base.card, options, Path(work), ledger)
        same = place.same(base, files)
        changed = tuple(path for path in files if path not in same)
        revision = base.revision
        if changed and not check:
            written.update(changed)
            puts = [Put(path, files[path]) for path in changed]
            revision = place.commit(base, puts, "Update the dataset card").revision
        sizes = {path: c.stat().st_size if isinstance(c, Path) else len(c) for path, c in files.items()}
    return CardReport(
        place.name, rows, revision, sizes, changed or tuple(path for path in files if path in written), check
    )


def read_lines(parts: Parts) -> Iterator[tuple[str, bytes]]:
    """(where, line) of every line, oldest file first."""
    for path, pieces in parts.items():
        number = 0
        for piece in pieces:
            with io.BytesIO(piece) if isinstance(piece, bytes) else piece.open("rb") as stream:
                for _, line in iter_lines(stream):
                    number += 1
                    yield f"{path} line {number}", line


def _chunks(parts: Parts) -> Iterator[bytes]:
    for piece in chain.from_iterable(parts.values()):
        yield from [piece] if isinstance(piece, bytes) else file_chunks(piece)
