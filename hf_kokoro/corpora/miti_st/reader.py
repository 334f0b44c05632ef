"""Published MITI-ST rows (`data/pilot.jsonl` and its segments) to rows in this package's spelling.

The exact keys of the copy on the Hub could not be seen, so reading accepts aliases through one table; writing
always uses the names of `schema.miti_st`. A key that is neither is dropped and said: the typed views have no
place for it.
"""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

import orjson

from ...core.archives import FolderFiles, SingleFile, SourceFiles
from ...core.jsonl import numbered_lines
from ...core.series import Series, grown_order
from ...errors import Fault, Faults, SourceError, describe
from ...miti import contract as schema
from ..no_rows import no_rows

logger = logging.getLogger(__name__)

PUBLISHED = (Series(schema.DATA_PATH), Series(PurePosixPath(schema.DATA_PATH).name))
"""Where rows are in a published folder, and in its `data` alone."""
ANSWER_ALIASES: dict[str, tuple[str, ...]] = {
    "text": ("answer", "answer_text", "answerText", "response"),
    "therapist": ("therapist_id", "therapistInfo"),
    "total": ("score", "total_score"),
}
"""Our key to the other spellings that are read. The five scores may also lie nested under `scores`."""
_HINT = "see README 'Files' for the row schema"
_SPELLINGS = {alias: name for name, aliases in ANSWER_ALIASES.items() for alias in aliases}


class RowReader:
    """Reads rows of one source; collects faults. After reading: `faults` and `dropped_keys` (key to count)."""

    def __init__(self, files: SourceFiles) -> None:
        self.files = files
        self.faults = Faults()
        self.dropped_keys: dict[str, int] = {}

    def names(self) -> list[str]:
        """The row files of the source, in the order they grew (see `row_files`)."""
        return row_files(self.files.names())

    def read(self, names: list[str] | None = None) -> Iterator[dict[str, Any]]:
        """Yield good rows, keys as in `schema.ROW_KEYS`. Raises SourceError if there is no row at all."""
        wanted = self.names() if names is None else names
        if not wanted:
            raise self._nothing_found()
        count = 0
        for where, line in self._lines(wanted):
            row = self._row(where, line)
            if row is not None:
                count += 1
                yield row
        if not count and not self.faults:
            raise self._nothing_found()
        for key, count in self.dropped_keys.items():
            logger.warning(
                "%s: key %s of %d rows or answers is not part of the row schema and was left out",
                self.files.path.name,
                key,
                count,
            )

    def _nothing_found(self) -> SourceError:
        looked_for = f"MITI-ST rows, one JSON object a line, in {schema.DATA_PATH} or other .jsonl files"
        return no_rows(self.files, looked_for, "make rows with `hf-kokoro pair`, or give the folder that holds them")

    def _lines(self, names: list[str]) -> Iterator[tuple[str, bytes]]:
        # an archive yields its members in its own order, so they are taken one by one
        for name in names:
            if isinstance(self.files, FolderFiles | SingleFile):
                folder = self.files.path if isinstance(self.files, FolderFiles) else self.files.path.parent
                with open(folder / name, "rb") as file:
                    yield from numbered_lines(file, name)
            else:
                for _, data in self.files.members(names=[name]):
                    yield from numbered_lines(io.BytesIO(data), name)

    def _row(self, where: str, line: bytes) -> dict[str, Any] | None:
        try:
            document = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            self.faults.add(
                Fault(
                    where,
                    "",
                    f"broken JSON at column {error.colno}",
                    "one JSON object a line in UTF-8",
                    _HINT,
                )
            )
            return None
        row = self._spelled(document)
        faults = schema.row_faults(row, where)
        self.faults.extend(faults)
        return None if faults else row

    def _spelled(self, document: Any) -> Any:
        """The row in our spelling; what can't be spelled is left for the schema to name."""
        if not isinstance(document, dict):
            return document
        row = {key: document[key] for key in schema.ROW_KEYS if key in document}
        self._drop(set(document) - set(schema.ROW_KEYS))
        if isinstance(row.get("question_id"), int) and not isinstance(row["question_id"], bool):
            row["question_id"] = str(row["question_id"])
        if isinstance(row.get("all_answers"), list):
            row["all_answers"] = [self._answer(answer) for answer in row["all_answers"]]
        return row

    def _answer(self, answer: Any) -> Any:
        if not isinstance(answer, dict):
            return answer
        nested = answer.get("scores")
        flat = {**answer, **nested} if isinstance(nested, dict) else dict(answer)
        flat.pop("scores", None)
        spelled: dict[str, Any] = {}
        for key, value in flat.items():
            name = _SPELLINGS.get(key, key)
            if name not in spelled or key == name:  # our own spelling wins over an alias
                spelled[name] = int(value) if isinstance(value, bool) and name in schema.DIMENSIONS else value
        self._drop(set(spelled) - set(schema.ANSWER_KEYS))
        result = {key: spelled[key] for key in schema.ANSWER_KEYS if key in spelled}
        scores = [result.get(name) for name in schema.DIMENSIONS]
        if "total" not in result and all(type(score) is int for score in scores):
            result["total"] = sum(score for score in scores if score is not None)
            result = {key: result[key] for key in schema.ANSWER_KEYS if key in result}
        return result

    def _drop(self, keys: set[Any]) -> None:
        for key in keys:
            name = describe(key, show=True)
            self.dropped_keys[name] = self.dropped_keys.get(name, 0) + 1


def row_files(names: list[str]) -> list[str]:
    """The row files among `names`: the published series if it is there, oldest segment first, else every `.jsonl`."""
    published = next(filter(None, (series.ordered(names) for series in PUBLISHED)), None)
    return published or sorted(
        (name for name in names if name.endswith(".jsonl") and not name.startswith(".")), key=grown_order
    )


def warn_of_strays(files: SourceFiles) -> None:
    """Log what only looks like a row file of a published folder, and is left alone."""
    names = files.names()
    for series in PUBLISHED:
        if series.ordered(names):
            series.warn_of_strays(names, files.path.name)
