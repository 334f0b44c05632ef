"""Taking over rows that lie in another layout, such as that of `Dataset.push_to_hub`: one commit, with a proof.

The plain loader is asked before and after. What it gives now, each row in the canonical spelling, is written to the
growing file with the new rows behind; then it is asked what the place will give, from a copy. Only if that is exactly
the old rows and the new ones is there a commit, which also takes away the files that were read. Rows that are in the
place are not asked about private data again: they lie where they lay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

from ..core.series import Series, split_lines
from ..miti.spelling import OURS
from .adopted_card import adopted_card
from .adoption import Adoption, ids_digest
from .card import data_stamp, declared_configs, grown_card, matches
from .errors import AdoptionError, ForeignData
from .former import FORMATS, UNCHANGED, Former, numbered, read_former, rows_of
from .lines import read_lines
from .loading import NotLoaded, load_plainly
from .plan import Plan
from .provenance import ledger_parts, ledger_tails
from .rows import NewRow
from .target import CARD_PATH, Change, ExtraFiles, Grow, Growth, Put, Remove, Snapshot, Target


def plan_adoption(
    target: Target,
    base: Snapshot,
    series: Series,
    rows: Sequence[NewRow],
    *,
    segment_bytes: int | None = None,
    extra: ExtraFiles | None = None,
    whole_floats: bool = False,
) -> Plan:
    """Work out the commit that takes over what a loader gives of the target at `base`, and prove it.

    Raises ForeignData if that is no list of rows that could be taken over, RowError (all faults) if they are no
    MITI-ST rows, AdoptionError if the proof fails; nothing was changed then.
    """
    with TemporaryDirectory() as work:
        former = read_former(target, base.revision, series, Path(work), whole_floats=whole_floats)
        _refuse_other_configs(target.name, former, series)
        known = {row.id for row in former.rows}
        new = [row for row in rows if row.id not in known]
        growth, rewritten = _growth(base, series, former, new, segment_bytes, stamped=not target.remote)
        noted = ledger_tails(base, new, segment_bytes)
        growth = replace(growth, ledger=ledger_parts(base, noted))
        changes: list[Change] = [Grow(path, tail, anew=path in rewritten) for path, tail in growth.tails.items()]
        changes += [Grow(path, tail) for path, tail in noted.items()]
        files = {CARD_PATH: growth.card or b"", **(extra(growth) if extra else {})}
        changes += [Put(path, content) for path, content in files.items() if content != base.card or path != CARD_PATH]
        changes += _deletions(base, series, former, growth)
        after = _loaded_after(growth, files, Path(work, "after"))
        _refuse_loss(target.name, former, new, after)
        deleted = [change.path for change in changes if isinstance(change, Remove)]
        adoption = _adoption(series, former, len(new), after.total(), deleted)
        return Plan(
            changes,
            frozenset(row.id for row in new),
            len(rows) - len(new),
            growth.rows_total,
            {path: len(tail) for path, tail in growth.tails.items()},
            new,
            adoption,
        )


def _refuse_other_configs(place: str, former: Former, series: Series) -> None:
    """Raise ForeignData if another config of the card could not be loaded any more."""
    gone = {path for path in former.copied if path not in series}
    for name, patterns in declared_configs(former.card).configs.items():
        if name == former.config or not gone:
            continue
        for path in (path for path in former.there if any(matches(pattern, path) for pattern in patterns)):
            if path in gone:
                _refuse_config(place, name, f"takes in {path} too, which would go")
            if not path.endswith(FORMATS["json"]):
                _refuse_config(place, name, f"is made of {path}, and `datasets` reads all configs of a card alike")


def _refuse_config(place: str, name: str, why: str) -> NoReturn:
    raise ForeignData(
        f"{place}: the card's config {name!r} {why}; {UNCHANGED}; take that config out of the card, or append to "
        "another place"
    )


def _growth(
    base: Snapshot, series: Series, former: Former, new: Sequence[NewRow], limit: int | None, *, stamped: bool
) -> tuple[Growth, frozenset[str]]:
    """The growing file as it will be, and those of its segments that are written anew instead of grown."""
    own = series.ordered(base.files)
    keep = bool(own) and not any(path in series for path in former.copied) and _canonical(base, own)
    before = former.rows
    written = before[len(former.beside) :] if keep else before
    active = own[-1] if keep else None
    size = base.files[active].size if active else 0
    lines = [row.line for row in [*written, *new]]
    tails = {path: b"".join(part) for path, part in split_lines(series, active, size, lines, limit).items()}
    kept = {path: base.local[path] for path in own} if keep else {}
    sizes = {path: base.files[path].size for path in kept}
    rows = dict.fromkeys(kept, 0) | ({own[0]: len(former.beside)} if keep else {})
    for path, tail in tails.items():
        sizes[path] = sizes.get(path, 0) + len(tail)
        rows[path] = rows.get(path, 0) + tail.count(b"\n")
    growth = Growth(series, len(written) + len(new), sum(rows.values()), tails, sizes, rows, kept, None)
    stamp = data_stamp([]) if stamped else ""
    card = adopted_card(former.card, former.config, former.split, series.patterns, stamp)
    return replace(growth, card=grown_card(growth, card)), frozenset(path for path in tails if path not in kept)


def _canonical(base: Snapshot, own: Sequence[str]) -> bool:
    """Whether the segments are whole lines in our own spelling, so that their bytes can stay."""
    for path in own:
        with base.local[path].open("rb") as stream:
            found = read_lines(stream, path)
        if set(found.spellings) - {OURS.code}:
            return False
    return _ends(base.local[own[-1]]) in (b"", b"\n")


def _ends(file: Path) -> bytes:
    with file.open("rb") as stream:
        stream.seek(max(0, stream.seek(0, 2) - 1))
        return stream.read(1)


def _deletions(base: Snapshot, series: Series, former: Former, growth: Growth) -> Iterator[Remove]:
    """The files that were read, and segments that the growing file no longer has."""
    for path, info in former.copied.items():
        if path not in series:
            yield Remove(path, info)
    for path in series.ordered(base.files):
        if path not in growth.sizes:
            yield Remove(path, former.copied.get(path) or base.files[path])


def _loaded_after(growth: Growth, files: Mapping[str, bytes], root: Path) -> Counter[bytes]:
    """The row ids that a plain loader will read, from a copy of what the place will be."""
    contents = {path: growth.local[path].read_bytes() for path in growth.local}
    for path, tail in growth.tails.items():
        contents[path] = contents.get(path, b"") + tail
    for path, content in {**contents, **files}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    try:
        loaded = load_plainly(root, root.parent / "cache-after")
    except NotLoaded as error:
        raise AdoptionError(f"the rows could not be loaded after an adoption: {error}; {UNCHANGED}") from None
    return Counter(row.id for row in rows_of("the adopted rows", numbered(loaded), whole_floats=False))


def _refuse_loss(place: str, former: Former, new: Sequence[NewRow], after: Counter[bytes]) -> None:
    """Raise AdoptionError unless exactly the rows from before and the new ones are read."""
    wanted = Counter(row.id for row in [*former.rows, *new])
    if after != wanted:
        lost, more = (wanted - after).total(), (after - wanted).total()
        raise AdoptionError(f"{place}: {lost} rows would be lost and {more} others read after an adoption; {UNCHANGED}")


def _adoption(series: Series, former: Former, new: int, after: int, deleted: Sequence[str]) -> Adoption:
    """The numbers of the proof."""
    before = [row.id for row in former.rows]
    return Adoption(
        path=series.path,
        before=len(before),
        after=after,
        new=new,
        ids=ids_digest(before),
        config=former.config,
        split=former.split,
        files=tuple(former.copied),
        deleted=tuple(deleted),
        plain=former.plain,
        beside=len(former.beside),
        repeats=len(before) - len(set(before)),
    )
