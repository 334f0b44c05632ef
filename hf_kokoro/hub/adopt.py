"""Taking over rows that lie in another layout, such as that of `Dataset.push_to_hub`: one commit, with a proof.

The plain loader is asked before and after. What it gives now, each row in the canonical spelling, is written to the
growing file with the new rows behind; then it is asked what the place will give, from a copy. Only if that is exactly
the old rows and the new ones is there a commit, which also takes away the files that were read. Rows that are in the
place are not asked about private data again: they lie where they lay.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from ..core.jsonl import parse_object
from ..core.series import Series, split_lines
from ..errors import Fault, Faults, RowError
from ..miti.spelling import OURS
from .adopted_card import adopted_card
from .adoption import Adoption, ids_digest
from .card import data_stamp, declared_configs, grown_card, matches, unreadable
from .errors import AdoptionError, ForeignData, UnreadableCard
from .lines import iter_lines
from .loading import Loaded, NotLoaded, load_plainly
from .plan import Plan
from .rows import NewRow, checked, new_row
from .target import CARD_PATH, Change, Delete, ExtraFiles, FileInfo, Grow, Growth, Put, Revision, Snapshot, Target

_FORMATS = {"parquet": (".parquet",), "json": (".jsonl", ".json", ".ndjson")}
"""Builders of `datasets` whose rows keep their types, and the files that they read."""
_NOTHING = "nothing was changed"


@dataclass(frozen=True)
class Former:
    """The rows of a place as they are: those that a plain loader gives, and `beside` them those of the growing file
    that it doesn't. `copied` maps the files that were read to what they were."""

    config: str
    split: str
    copied: Mapping[str, FileInfo]
    loaded: Sequence[NewRow]
    beside: Sequence[NewRow] = ()
    plain: bool = True
    card: bytes = b""
    there: Sequence[str] = ()
    """All paths of the place."""

    @property
    def rows(self) -> list[NewRow]:
        """All of them; one that stands in both is one row."""
        both = Counter(row.id for row in self.beside)
        more = []
        for row in self.loaded:
            if both[row.id]:
                both[row.id] -= 1
            else:
                more.append(row)
        return [*self.beside, *more]


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
        files = {CARD_PATH: growth.card or b"", **(extra(growth) if extra else {})}
        changes: list[Change] = [Grow(path, tail, anew=path in rewritten) for path, tail in growth.tails.items()]
        changes += [Put(path, content) for path, content in files.items() if content != base.card or path != CARD_PATH]
        changes += _deletions(base, series, former, growth)
        after = _loaded_after(growth, files, Path(work, "after"))
        adoption = _proven(target.name, series, former, new, after, [c.path for c in changes if isinstance(c, Delete)])
        return Plan(
            changes,
            frozenset(row.id for row in new),
            len(rows) - len(new),
            growth.rows_total,
            {path: len(tail) for path, tail in growth.tails.items()},
            new,
            adoption,
        )


def read_former(target: Target, revision: str, series: Series, work: Path, *, whole_floats: bool = False) -> Former:
    """What the target holds at a revision, whatever its layout. Raises ForeignData, RowError as `plan_adoption`."""
    copies = _Copies(target, Revision(revision, "", "", target.everything(revision)), work / "before")
    card = copies.content(CARD_PATH)
    if fault := unreadable(card):
        raise UnreadableCard(f"{target.name}: {fault}; {_NOTHING}; mend the card's YAML")
    declared = declared_configs(card)
    patterns = () if declared.default is None or declared.inferred else declared.configs[declared.default]
    for path in copies.there.files:
        if path != CARD_PATH and (not patterns or any(matches(pattern, path) for pattern in patterns)):
            copies.take(path)
    own = series.ordered(copies.there.files)
    try:
        loaded = load_plainly(copies.root, work / "cache")
    except NotLoaded as error:
        # rows of several spellings may be more than a loader can take, and are what adoption is for
        if not own or any(path not in series for path in copies.taken if _is_read(path)):
            raise ForeignData(f"{target.name}: {error}, so its rows can't be taken over; {_NOTHING}") from None
        split = "train"
        rows = _rows_of(target.name, _lines(copies, own), whole_floats=whole_floats)
        return Former(
            declared.default or "default",
            split,
            copies.infos(own),
            rows,
            plain=False,
            card=card,
            there=tuple(copies.there.files),
        )
    if loaded.format not in _FORMATS:
        raise ForeignData(
            f"{target.name}: its default config is read as {loaded.format}; {_NOTHING}; allowed: {', '.join(_FORMATS)}"
        )
    rows = _rows_of(target.name, _numbered(loaded), whole_floats=whole_floats)
    beside = [path for path in own if path not in loaded.files]
    if beside and len(beside) < len(own):
        raise ForeignData(
            f"{target.name}: a loader takes in some segments of {series.path} and not {beside[0]}; {_NOTHING}"
        )
    for path in beside:
        copies.take(path)
    others = _rows_of(target.name, _lines(copies, beside), whole_floats=whole_floats)
    return Former(
        loaded.config,
        loaded.split,
        copies.infos(loaded.files),
        rows,
        others,
        card=card,
        there=tuple(copies.there.files),
    )


@dataclass(frozen=True)
class _Copies:
    """Copies of a revision's files in a folder, each with the digest of what was copied."""

    target: Target
    there: Revision
    root: Path
    taken: dict[str, FileInfo] = field(default_factory=dict)

    def content(self, path: str) -> bytes:
        """A small file, copied too; empty if there is none."""
        if path not in self.there.files:
            return b""
        self.take(path)
        return (self.root / path).read_bytes()

    def take(self, path: str) -> None:
        """Copy a file; of one that no loader reads as rows only the name counts."""
        if path in self.taken:
            return
        copy, digest, size = self.root / path, hashlib.sha256(), 0
        copy.parent.mkdir(parents=True, exist_ok=True)
        with copy.open("wb") as out:
            if path == CARD_PATH or _is_read(path):
                with closing(self.target.open(self.there, path)) as stream:
                    while chunk := stream.read(1 << 20):
                        size += out.write(chunk)
                        digest.update(chunk)
        self.taken[path] = FileInfo(size, sha256=digest.hexdigest())

    def infos(self, paths: Iterable[str]) -> dict[str, FileInfo]:
        return {path: self.taken[path] for path in paths}


def _is_read(path: str) -> bool:
    return path.endswith(tuple(suffix for suffixes in _FORMATS.values() for suffix in suffixes))


def _numbered(loaded: Loaded) -> Iterator[tuple[str, Any]]:
    for number, row in enumerate(loaded, 1):
        yield f"{loaded.config}/{loaded.split} row {number}", row


def _lines(copies: _Copies, paths: Iterable[str]) -> Iterator[tuple[str, Any]]:
    for path in paths:
        with (copies.root / path).open("rb") as stream:
            for number, (_, line) in enumerate(iter_lines(stream), 1):
                if line.strip():
                    yield f"{path} line {number}", _parsed(f"{path} line {number}", line)


def _parsed(where: str, line: bytes) -> Any:
    try:
        return parse_object(line)
    except ValueError:
        return Fault(where, "", f"{len(line)} bytes that are no JSON object", "one row a line")


def _rows_of(place: str, values: Iterable[tuple[str, Any]], *, whole_floats: bool) -> list[NewRow]:
    """The rows that these values are, or RowError with the faults of all."""
    faults, rows, bad, count = Faults(), [], 0, 0
    for count, (where, value) in enumerate(values, 1):
        row, found = checked(value, where, whole_floats=whole_floats)
        new = found or new_row(row, where)
        if isinstance(new, NewRow):
            rows.append(new)
        else:
            bad += 1
            faults.extend(new)
    what = f"{place}: {bad} of {count} rows there are no MITI-ST rows, so they can't be taken over"
    faults.raise_if_any(what, RowError, f"{_NOTHING}; correct them there, or append to another place")
    return rows


def _refuse_other_configs(place: str, former: Former, series: Series) -> None:
    """Raise ForeignData if another config of the card could not be loaded any more."""
    gone = {path for path in former.copied if path not in series}
    for name, patterns in declared_configs(former.card).configs.items():
        if name == former.config or not gone:
            continue
        for path in (path for path in former.there if any(matches(pattern, path) for pattern in patterns)):
            if path in gone:
                _refuse_config(place, name, f"takes in {path} too, which would go")
            if not path.endswith(_FORMATS["json"]):
                _refuse_config(place, name, f"is made of {path}, and `datasets` reads all configs of a card alike")


def _refuse_config(place: str, name: str, why: str) -> NoReturn:
    raise ForeignData(
        f"{place}: the card's config {name!r} {why}; {_NOTHING}; take that config out of the card, or append to another "
        "place"
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
    from .lines import read_lines

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


def _deletions(base: Snapshot, series: Series, former: Former, growth: Growth) -> Iterator[Delete]:
    """The files that were read, and segments that the growing file no longer has."""
    for path, info in former.copied.items():
        if path not in series:
            yield Delete(path, info)
    for path in series.ordered(base.files):
        if path not in growth.sizes:
            yield Delete(path, former.copied.get(path) or base.files[path])


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
        raise AdoptionError(f"the rows could not be loaded after an adoption: {error}; {_NOTHING}") from None
    return Counter(row.id for row in _rows_of("the adopted rows", _numbered(loaded), whole_floats=False))


def _proven(
    place: str, series: Series, former: Former, new: Sequence[NewRow], after: Counter[bytes], deleted: Sequence[str]
) -> Adoption:
    """Raise AdoptionError unless exactly the rows from before and the new ones are read."""
    before = [row.id for row in former.rows]
    wanted = Counter([*before, *(row.id for row in new)])
    if after != wanted:
        lost, more = (wanted - after).total(), (after - wanted).total()
        raise AdoptionError(f"{place}: {lost} rows would be lost and {more} others read after an adoption; {_NOTHING}")
    return Adoption(
        path=series.path,
        before=len(before),
        after=after.total(),
        new=len(new),
        ids=ids_digest(before),
        config=former.config,
        split=former.split,
        files=tuple(former.copied),
        deleted=tuple(deleted),
        plain=former.plain,
        beside=len(former.beside),
        repeats=len(before) - len(set(before)),
    )
