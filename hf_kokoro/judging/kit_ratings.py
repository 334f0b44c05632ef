"""Reading what raters filled in, whatever the form: tables, Label Studio's export, Argilla's records."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core.tables import is_table, read_table
from ..errors import Fault, Faults, describe
from ..miti.contract import DIMENSIONS


@dataclass(frozen=True)
class KeyEntry:
    """What an item of a kit stands for, kept from the raters."""

    rater: str
    question_id: str
    question_sha256: str
    answer_sha256: str
    therapist: str
    repeat: int = 0


@dataclass
class Filled:
    """Ratings by item, with the note; `untouched` files hold none."""

    scores: dict[str, dict[str, int]] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    untouched: list[str] = field(default_factory=list)


def read_filled(files: Iterable[Path], key: Mapping[str, KeyEntry], faults: Faults) -> Filled:
    """Every rating of the files; what is unknown, half filled, out of range or contradicts itself goes to `faults`.

    Files that are no tables (pages, codebook) are passed over, and so are lists that nobody filled in.
    """
    found = Filled()
    for file in files:
        if not is_table(file.name) or file.name == "key.json":
            continue
        rated = 0
        for where, item, cells, note in _rows(file, faults):
            if all(not cell.strip() for cell in cells.values()):
                continue
            rated += 1
            scores = _scores(where, cells, faults)
            if item not in key:
                got = describe(item) if item else "nothing"
                faults.add(Fault(where, "item", got, "an item of this kit", "is it another kit's list?"))
            elif found.scores.setdefault(item, scores) != scores:
                faults.add(Fault(where, "", f"a second, other rating of item {item}", "one rating an item"))
            elif note:
                found.notes[item] = note
        if not rated:
            found.untouched.append(file.name)
    return found


def _rows(file: Path, faults: Faults) -> Iterator[tuple[str, str, dict[str, str], str]]:
    """(where, item, level by dimension as text, note) of every row, in any of the forms."""
    for where, cells in read_table(file.name, file.read_bytes(), faults):
        if "annotations" in cells:
            yield from _label_studio(where, cells, faults)
        elif "responses" in cells:
            responses = cells["responses"] if isinstance(cells["responses"], dict) else {}
            given = {name: _first_value(where, name, responses.get(name), faults) for name in DIMENSIONS}
            yield where, str(cells.get("id", "")), given, ""
        else:
            given = {name: str(cells.get(name, "")) for name in DIMENSIONS}
            yield where, str(cells.get("item", cells.get("id", ""))).strip(), given, str(cells.get("note", "")).strip()


def _label_studio(
    where: str, cells: Mapping[str, Any], faults: Faults
) -> Iterator[tuple[str, str, dict[str, str], str]]:
    data = cells.get("data")
    item = str(data.get("item", "")) if isinstance(data, dict) else ""
    annotations = [one for one in cells["annotations"] or [] if isinstance(one, dict)]
    kept = [one for one in annotations if str(one.get("was_cancelled", "")).lower() != "true"]
    if len(kept) > 1:
        faults.add(Fault(where, "annotations", f"{len(kept)} annotations", "one: a list is one person's"))
    for annotation in kept[:1]:
        given = dict.fromkeys(DIMENSIONS, "")
        for result in annotation.get("result") or []:
            if isinstance(result, dict) and result.get("from_name") in given:
                choices = (result.get("value") or {}).get("choices") or [""]
                given[result["from_name"]] = str(choices[0])
        yield where, item, given, ""


def _first_value(where: str, name: str, responses: Any, faults: Faults) -> str:
    values = [str(one.get("value", "")) for one in responses or [] if isinstance(one, dict)]
    if len(values) > 1:
        faults.add(Fault(where, name, f"{len(values)} responses", "one: a list is one person's"))
    return values[0] if values else ""


def _scores(where: str, cells: Mapping[str, str], faults: Faults) -> dict[str, int]:
    scores = {}
    for name, (low, high) in DIMENSIONS.items():
        text = unicodedata.normalize("NFKC", cells[name]).strip()
        level = int(text) if text.isascii() and text.isdigit() and len(text) < 3 else -1
        if low <= level <= high:
            scores[name] = level
        else:
            # a level is three characters at most; what is longer may be somebody's words
            shown = repr(text) if len(text) <= 3 else describe(text)
            got = shown if text else "nothing, where other scales of the item are filled in"
            faults.add(Fault(where, name, got, f"a whole number from {low} to {high}"))
    return scores
