"""Whether a place holds, for a loader, the dataset that is about to be written: `datasets.load_dataset(place)` decides.

A card that names the data files decides alone. Without one a loader takes in what it finds, so there any other data
file stops us: added rows could be invisible beside it, or its rows be taken for ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from ..core.jsonl import parse_object
from ..miti.spelling import read_spelled
from .card import Declared, declared_configs, matches, unreadable
from .errors import ForeignData, UnreadableCard
from .target import Ours

_TABLES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".geoparquet", ".gpq", ".arrow", ".lance", ".xml")
_ARCHIVES = (".zip", ".tar", ".tgz", ".h5", ".hdf5")
_NO_DATA = ("README.md", "croissant.json", "dataset_infos.json", "dataset_info.json", "config.json")
"""What `datasets` passes over, and what is written beside the data by us."""
_SHOWN = 3


def refuse_foreign(
    place: str,
    ours: Ours,
    card: bytes | None,
    paths: Callable[[], Iterable[str]],
    first_line: Callable[[str], bytes],
) -> None:
    """Raise ForeignData, which names what is there, unless a loader takes in `ours`.

    `paths` lists all files; it is called only where the card doesn't say which ones are data. `first_line` gives the
    one of a file that may stand beside a path that the caller named, without a card that tells what it is.
    """
    if fault := unreadable(card or b""):
        raise UnreadableCard(
            f"{place}: {fault}, so nobody can tell what a loader takes in; nothing was written; mend the card's YAML"
        )
    declared = declared_configs(card or b"")
    if declared.configs and not declared.inferred:
        _check_declared(place, ours, declared, paths)
        return
    there = [path for path in paths() if _visible(path) and _name(path) not in _NO_DATA]
    own, found = [path for path in there if path in ours], [path for path in there if path not in ours]
    beside = [path for path in own if ours.named and not ours.grows(path) and not _is_row(first_line(path))]
    other = [path for path in found if _is_data(path)] or beside or _taken_instead(ours, own, found)
    if other:
        raise ForeignData(
            f"{place}: holds {_listed(other)}, which `datasets` would load beside or instead of {ours.first[0]}; "
            f"nothing was written; {_way_out(ours)}"
        )


def _check_declared(place: str, ours: Ours, declared: Declared, paths: Callable[[], Iterable[str]]) -> None:
    default = declared.default
    names = list(declared.configs) if ours.named or default is None else [default]
    taking = [name for name in names if any(matches(p, path) for p in declared.configs[name] for path in ours.first)]
    if taking and (default is not None or ours.named):
        _refuse_mixture(place, ours, [pattern for name in taking for pattern in declared.configs[name]], paths)
        return
    if default is None:
        what = f"the card has no default config among {_listed(declared.configs)}"
        step = f"mark the one of {taking[0]!r} with default: true" if taking else _way_out(ours)
    else:
        what = f"the card's config {default!r} is made of {_listed(declared.configs[default]) or 'no files'}"
        step = _way_out(ours)
    raise ForeignData(f"{place}: {what}, so nobody would see {ours.first[0]}; nothing was written; {step}")


def _refuse_mixture(place: str, ours: Ours, patterns: Sequence[str], paths: Callable[[], Iterable[str]]) -> None:
    """Raise ForeignData if the config of our file takes in files of another format too: no loader reads both.

    Other JSON Lines beside ours are strays, which are named and not refused.
    """
    known = {*ours.first, *(ours.series.patterns + ours.series.former_patterns if ours.series else ())}
    wider = [pattern for pattern in patterns if pattern not in known]
    if not wider:
        return
    there = (path for path in paths() if _is_data(path) and not path.endswith(".jsonl") and path not in ours)
    if other := [path for path in there if any(matches(pattern, path) for pattern in wider)]:
        raise ForeignData(
            f"{place}: the card's config of {ours.first[0]} takes in {_listed(other)} as well, so no loader could read "
            f"it; nothing was written; {_way_out(ours)}"
        )


def _way_out(ours: Ours) -> str:
    return (
        "allowed: a folder, repo or branch that is empty or holds this dataset; use another one, or, if the card is "
        f"yours, let its config default name {ours.first[0]} under data_files; rows that are there can be taken over "
        "with --adopt (adopt=True)"
    )


def _listed(names: Iterable[str]) -> str:
    found = list(names)
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ", ".join(name[:100] for name in found[:_SHOWN]) + more


def first_line_of(chunks: Iterable[bytes]) -> bytes:
    """The first line that is not blank, of which no more is read than it takes."""
    held = b""
    for chunk in chunks:
        held = (held + chunk).lstrip()
        if b"\n" in held:
            break
    return held.split(b"\n", 1)[0]


def _is_row(line: bytes) -> bool:
    """Whether this is the line of a row in any spelling; a file without a line says nothing against it."""
    try:
        return not line or bool(read_spelled(parse_object(line)).spellings)
    except ValueError:
        return False


def _visible(path: str) -> bool:
    return not any(part.startswith((".", "__")) for part in path.split("/"))


def _name(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _is_data(path: str) -> bool:
    return any(suffix.lower() in (*_TABLES, *_ARCHIVES) for suffix in PurePosixPath(path).suffixes)


def _taken_instead(ours: Ours, own: Iterable[str], found: Sequence[str]) -> list[str]:
    """Those of `found`, none of them a table, that a loader takes for the data: many images, names of splits.

    Only the names of the files count, so empty files of those names are shown to the loader itself.
    """
    if not found:
        return []
    from datasets import load_dataset_builder

    with TemporaryDirectory() as work:
        root = Path(work, "data").resolve()
        for path in {*ours.first, *own, *found}:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).touch()
        try:
            files = load_dataset_builder(str(root), cache_dir=str(Path(work, "cache"))).config.data_files or {}
        except Exception:  # the loader raises what it likes where it can't tell what the data are
            return list(found)
        taken = {Path(file).relative_to(root).as_posix() for split in files.values() for file in split}
    return [] if taken & set(ours.first) else sorted(taken)
