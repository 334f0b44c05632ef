"""AnnoMI from the user's copy of `AnnoMI-full.csv` (or the same table in another format).

The file has a row for every utterance and annotator; a record here is an utterance with the codes of all who coded
it. Stored text is never changed except for the line-break rule of `tables`. What contradicts itself (two texts of one
utterance, a code without its kind, one annotator twice) is a fault; a timestamp that is no time and a number that is
missing in a dialogue are said in the log.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ...core.archives import SourceFiles
from ...core.cells import TableRow
from ...core.tables import is_table, read_table
from ...errors import Fault, Faults, InputError, SourceError, describe
from ..no_rows import no_rows
from .schema import ABSENT, BEHAVIOURS, CLIENT_TALK, KINDS, QUALITIES, SPEAKERS

logger = logging.getLogger(__name__)

COLUMNS = (
    *("mi_quality", "transcript_id", "video_title", "video_url", "topic", "utterance_id", "interlocutor"),
    *("timestamp", "utterance_text", "annotator_id"),
    *(f"{name}_{part}" for name in ("therapist_input", "reflection", "question") for part in ("exists", "subtype")),
    *("main_therapist_behaviour", "client_talk_type"),
)
"""Upstream's columns, all needed; others are left alone."""

# "n/a" read and written by pandas comes back as a blank or as nan
_NOT_APPLICABLE = ("n/a", "", "nan")
_WHOLE = re.compile(r"\d{1,9}\Z", re.ASCII)
_TIME = re.compile(r"(\d{1,2}):([0-5]\d):([0-5]\d)\Z", re.ASCII)
_HINT = "nothing was read; get the file again, or mend these rows"

Record = dict[str, Any]
"""{dialogue_id, quality, topic, video_title, video_url, speaker, text: str; utterance: int; seconds: int | None;
codes: list of {annotator: str; reflection, therapist_input, question, behaviour, client_talk: str | None}}"""


def read_annomi(members: Iterable[tuple[str, bytes]], source: SourceFiles | None = None) -> list[Record]:
    """All utterances with their codes: dialogues in the order in which they first appear, utterances by number.

    `members` are (name, bytes); files that are no tables are logged and skipped. Raises InputError with every fault
    found, SourceError if there is no utterance (it says what `source` holds, if that is given).
    """
    reader = _Reader()
    for name, data in members:
        if is_table(name):
            reader.read(name, data)
        else:
            logger.warning("%s: not a table, skipped", name)
    reader.faults.raise_if_any("AnnoMI", InputError, _HINT)
    if not reader.utterances:
        looked_for = f"AnnoMI's utterances under {', '.join(COLUMNS[:6])}, ..."
        step = "give AnnoMI-full.csv"
        if source is None:
            raise SourceError(f"AnnoMI: not one row; looked for {looked_for}; {step}")
        raise no_rows(source, looked_for, step)
    reader.say_what_is_odd()
    return reader.records()


def majority(record: Record, name: str) -> str | None:
    """What more than half of an utterance's annotators gave for the code `name`; None where there is no such."""
    given = [codes[name] for codes in record["codes"]]
    return next((value for value in given if 2 * given.count(value) > len(given)), None)


def share(record: Record, name: str) -> float | None:
    """The share of an utterance's annotators who gave any kind of the code `name`; None for a client's utterance."""
    given = [codes[name] for codes in record["codes"]]
    return None if given[0] is None else sum(kind != ABSENT for kind in given) / len(given)


@dataclass
class _Reader:
    faults: Faults = field(default_factory=Faults)
    dialogues: dict[str, tuple[tuple[str, ...], str]] = field(default_factory=dict)
    """dialogue_id to (what all of its rows must say, where it was first seen)."""
    utterances: dict[tuple[str, int], tuple[Record, str]] = field(default_factory=dict)
    no_times: int = 0

    def read(self, name: str, data: bytes) -> None:
        # UTF-8 only: as CP932 the curly quotes of a Windows-1252 file would turn into kanji unnoticed
        for row in read_table(name, data, self.faults, fallback=None):
            if missing := [column for column in COLUMNS if column not in row.cells]:
                got, step = f"a row without {', '.join(missing)}", "give AnnoMI-full.csv with upstream's column names"
                self.faults.add(Fault(row.where, "", got, "AnnoMI's columns", step))
                # one fault says it for all rows of this table
                return
            self._row(row)

    def records(self) -> list[Record]:
        order = {dialogue_id: position for position, dialogue_id in enumerate(self.dialogues)}
        keys = sorted(self.utterances, key=lambda key: (order[key[0]], key[1]))
        return [self.utterances[key][0] for key in keys]

    def say_what_is_odd(self) -> None:
        if self.no_times:
            logger.warning(
                "AnnoMI: timestamps that are no time like 00:01:30: %d; seconds is empty there", self.no_times
            )
        numbers: dict[str, set[int]] = {}
        for dialogue_id, number in self.utterances:
            numbers.setdefault(dialogue_id, set()).add(number)
        if gaps := [key for key, found in numbers.items() if len(found) <= max(found)]:
            logger.warning("AnnoMI: utterances are missing in %d dialogues (first: %s)", len(gaps), gaps[0])

    def _row(self, row: TableRow) -> None:
        before, cells = self.faults.count, _Cells(row, self.faults)
        record = _utterance(cells)
        codes = _codes(cells, record["speaker"])
        if self.faults.count > before:
            return
        self._check_dialogue(row.where, record)
        known, _ = self.utterances.setdefault((record["dialogue_id"], record["utterance"]), (record, row.where))
        if known is record:
            self.no_times += record["seconds"] is None
        self._check_utterance(row.where, known, record)
        if any(codes["annotator"] == other["annotator"] for other in known["codes"]):
            self.faults.add(Fault(row.where, "annotator_id", "an annotator who coded it already", "each once"))
        known["codes"].append(codes)

    def _check_dialogue(self, where: str, record: Record) -> None:
        says = tuple(record[name] for name in ("quality", "topic", "video_title", "video_url"))
        first, seen = self.dialogues.setdefault(record["dialogue_id"], (says, where))
        if first != says:
            got = f"another quality, topic or video than in {seen}"
            self.faults.add(Fault(where, "transcript_id", got, "one of each for a transcript"))

    def _check_utterance(self, where: str, known: Record, record: Record) -> None:
        if any(known[name] != record[name] for name in ("speaker", "text")):
            seen = self.utterances[record["dialogue_id"], record["utterance"]][1]
            got = f"another speaker or text than in {seen}"
            self.faults.add(Fault(where, "utterance_id", got, "one utterance for a number"))


@dataclass(frozen=True)
class _Cells:
    """The cells of one row, checked as they are asked for."""

    row: TableRow
    faults: Faults

    def text(self, column: str) -> str:
        value = self.row.cells[column]
        if isinstance(value, str) and value.strip():
            return value
        self.wrong(column, "a blank cell" if isinstance(value, str) else describe(value), "text")
        return ""

    def number(self, column: str) -> int:
        value = self.text(column).strip()
        if _WHOLE.match(value):
            return int(value)
        if value:
            self.wrong(column, describe(value, show=True), "a whole number")
        return 0

    def one_of(self, column: str, allowed: tuple[str, ...]) -> str:
        value = self.row.cells[column]
        word = value.strip().casefold() if isinstance(value, str) else ""
        if word in allowed:
            return word
        self.wrong(column, describe(value, show=True), ", ".join(map(repr, allowed)))
        return ""

    def not_applicable(self, *columns: str) -> None:
        for column in columns:
            self.one_of(column, _NOT_APPLICABLE)

    def wrong(self, column: str, got: str, allowed: str) -> None:
        self.faults.add(Fault(self.row.where, column, got, allowed))


def _utterance(cells: _Cells) -> Record:
    time = _TIME.match(cells.text("timestamp").strip())
    return {
        "dialogue_id": cells.text("transcript_id").strip(),
        "quality": cells.one_of("mi_quality", QUALITIES),
        "topic": cells.text("topic"),
        "video_title": cells.text("video_title"),
        "video_url": cells.text("video_url"),
        "utterance": cells.number("utterance_id"),
        "speaker": cells.one_of("interlocutor", SPEAKERS),
        "seconds": int(time[1]) * 3600 + int(time[2]) * 60 + int(time[3]) if time else None,
        "text": cells.text("utterance_text"),
        "codes": [],
    }


def _codes(cells: _Cells, speaker: str) -> dict[str, str | None]:
    found: dict[str, str | None] = {"annotator": cells.text("annotator_id").strip()}
    if speaker == "client":
        for name in KINDS:
            cells.not_applicable(f"{name}_exists", f"{name}_subtype")
        cells.not_applicable("main_therapist_behaviour")
        talk = cells.one_of("client_talk_type", CLIENT_TALK)
        return found | dict.fromkeys((*KINDS, "behaviour")) | {"client_talk": talk}
    cells.not_applicable("client_talk_type")
    found |= {name: _kind(cells, name, kinds) for name, kinds in KINDS.items()}
    return found | {"behaviour": cells.one_of("main_therapist_behaviour", BEHAVIOURS), "client_talk": None}


def _kind(cells: _Cells, name: str, kinds: tuple[str, ...]) -> str:
    given = cells.one_of(f"{name}_exists", ("true", "false"))
    if given == "true":
        return cells.one_of(f"{name}_subtype", kinds[1:])
    if given == "false":
        cells.not_applicable(f"{name}_subtype")
    return ABSENT
