"""EmplifAI from what its authors hand a user: CSV, TSV, XLSX, JSON (Lines) or Parquet, one row a dialogue.

The files are not openly released, so nothing is assumed about their layout beyond the paper: columns are
matched by name (`emplifai_columns`), labels by English name, Japanese name or alias, utterances as four
columns, a list, or one text with speaker marks (`emplifai_turns`). Stored text is never changed except for
the line-break rule of `tables` and the space around speaker marks.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ...core.archives import SourceFiles
from ...core.cells import TableRow
from ...core.tables import is_table, read_table
from ...errors import Fault, Faults, InputError, SourceError, describe
from ..no_rows import no_rows
from .columns import FIELDS, Columns, check_columns, is_foreign, match_columns, unread_columns
from .emotions import EMOTION_NAMES, emotion_name
from .turns import TurnsError, turns_from_cell, turns_from_columns

logger = logging.getLogger(__name__)

_LABEL_PARTS = re.compile(r"[()（）/／・,、:：\s]+")
_EMOTIONS_ALLOWED = f"one of the {len(EMOTION_NAMES)} labels by English or Japanese name, such as joy or 喜び"
_HINT = "nothing was read; repair the rows, or pass columns= if the columns were taken for others"

Record = dict[str, Any]
"""{dialogue_id, situation_id, emotion, situation: str; turns: 4 x {speaker, text}}"""


def read_emplifai(
    members: Iterable[tuple[str, bytes]], columns: Columns | None = None, source: SourceFiles | None = None
) -> Iterator[Record]:
    """Yield one record a dialogue, in file order: dialogue_id, situation_id, emotion, situation, turns.

    `members` are (name, bytes); files that are no tables, or tables without one known column, are logged
    and skipped. `columns` maps fields to
    header names where the alias table does not fit, or to None to derive the id instead. A blank or absent
    id is derived from the content by sha256, so it is the same on every machine; any other blank is a
    fault. Raises InputError after the last row with every fault found (dialogue ids that repeat
    included), SourceError if there is no dialogue (it
    says what `source` holds, if that is given), UsageError for an unknown field in `columns`.
    """
    check_columns(columns or {})
    reader = _Reader(columns or {})
    for name, data in members:
        if is_table(name):
            for row in read_table(name, data, reader.faults):
                if record := reader.record(row):
                    yield record
        else:
            logger.warning("%s: not a table, skipped", name)
    reader.faults.raise_if_any("EmplifAI", InputError, _HINT)
    if not reader.dialogues:
        foreign = f" ({len(reader.foreign)} tables have not one of these columns)" if reader.foreign else ""
        looked_for = f"EmplifAI dialogues, one row a dialogue in a table with a header: {', '.join(FIELDS)}{foreign}"
        step = "rename the columns, or pass columns="
        if source is None:
            raise SourceError(f"EmplifAI: not one row; looked for {looked_for}; {step}")
        raise no_rows(source, looked_for, step)


def situation_key(emotion: str, situation: str) -> str:
    """The id of a situation that has none: 16 hex digits of sha256 over (emotion, text, outer space off)."""
    return _digest(emotion, situation.strip())


@dataclass
class _Reader:
    columns: Columns
    faults: Faults = field(default_factory=Faults)
    dialogues: dict[str, str] = field(default_factory=dict)
    """dialogue_id to where it stands."""
    situations: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    """situation_id to (emotion, situation, where it was first seen)."""
    headers: dict[tuple[str, ...], dict[str, str] | None] = field(default_factory=dict)
    foreign: list[str] = field(default_factory=list)

    def record(self, row: TableRow) -> Record | None:
        fields = self._fields(row)
        if fields is None:
            return None
        before = self.faults.count
        emotion = self._emotion(row, fields)
        situation = self._situation(row, fields)
        turns = self._turns(row, fields)
        situation_id, dialogue_id = (
            self._id(row, fields, "situation_id"),
            self._id(row, fields, "dialogue_id"),
        )
        if self.faults.count > before:
            return None
        situation_id = situation_id or situation_key(emotion, situation)
        texts = (turn["text"] for turn in turns)
        dialogue_id = dialogue_id or _digest(emotion, situation.strip(), *texts)
        self._check_situation(row.where, situation_id, emotion, situation)
        self._check_dialogue(row.where, dialogue_id)
        if self.faults.count > before:
            return None
        return {
            "dialogue_id": dialogue_id,
            "situation_id": situation_id,
            "emotion": emotion,
            "situation": situation,
            "turns": turns,
        }

    def _fields(self, row: TableRow) -> dict[str, str] | None:
        header = tuple(row.cells)
        if header not in self.headers and is_foreign(header, self.columns):
            logger.warning("%s: not one known column, table skipped", row.where)
            self.foreign.append(row.where)
            self.headers[header] = None
        elif header not in self.headers:
            found = self.headers[header] = match_columns(row.where, header, self.columns, self.faults)
            if found is not None and (unread := unread_columns(header, found)):
                logger.warning("%s: columns that are not read: %s", row.where, unread)
        return self.headers[header]

    def _emotion(self, row: TableRow, fields: dict[str, str]) -> str:
        cell = row.cells[fields["emotion"]]
        label = _label(cell) if isinstance(cell, str) else None
        if label is None:
            got = "a blank cell" if cell == "" else describe(cell, show=True)
            self.faults.add(Fault(row.where, "emotion", got, _EMOTIONS_ALLOWED))
        return label or ""

    def _situation(self, row: TableRow, fields: dict[str, str]) -> str:
        cell = row.cells[fields["situation"]]
        if isinstance(cell, str) and cell.strip():
            return cell
        got = "a blank cell" if cell == "" or isinstance(cell, str) else describe(cell)
        step = "fill it in every row (merged cells hold their text in the first row only)"
        self.faults.add(Fault(row.where, "situation", got, "text", step))
        return ""

    def _turns(self, row: TableRow, fields: dict[str, str]) -> list[dict[str, str]]:
        try:
            if "turns" in fields:
                return turns_from_cell(row.cells[fields["turns"]])
            return turns_from_columns(row.cells, fields)
        except TurnsError as error:
            self.faults.add(Fault(row.where, error.field, error.got, error.allowed))
            return []

    def _id(self, row: TableRow, fields: dict[str, str], name: str) -> str:
        cell = row.cells[fields[name]] if name in fields else ""
        if isinstance(cell, str):
            return cell.strip()
        self.faults.add(Fault(row.where, name, describe(cell), "text or a number"))
        return ""

    def _check_situation(self, where: str, situation_id: str, emotion: str, situation: str) -> None:
        first = self.situations.setdefault(situation_id, (emotion, situation.strip(), where))
        if first[:2] != (emotion, situation.strip()):
            got = f"the id of another situation (first in {first[2]})"
            step = "number situations across all labels, or pass columns={'situation_id': None} to derive ids"
            self.faults.add(Fault(where, "situation_id", got, "one emotion and one text for an id", step))

    def _check_dialogue(self, where: str, dialogue_id: str) -> None:
        first = self.dialogues.setdefault(dialogue_id, where)
        if first != where:
            got = f"an id (or, without ids, a dialogue) that stands in {first} already"
            step = "remove one of the two, or pass columns={'dialogue_id': None} to derive ids"
            self.faults.add(Fault(where, "dialogue_id", got, "each dialogue once", step))


def _label(text: str) -> str | None:
    """The label that a cell names, also when it names it twice: `joy（喜び）`."""
    if label := emotion_name(text):
        return label
    labels = {emotion_name(part) for part in _LABEL_PARTS.split(text) if part}
    return labels.pop() if len(labels) == 1 else None


def _digest(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()[:16]
