"""Published MITI-ST rows (`data/pilot.jsonl` and its segments) to rows in this package's spelling.

Reading accepts every spelling of `miti.spelling`. A key that is in none is dropped and said: the typed views have no
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
from ...core.jsonl import Refused, numbered_lines, refuse_repeated_keys
from ...core.series import Series, grown_order
from ...errors import Fault, Faults, SourceError, describe
from ...miti import contract as schema
from ...miti.spelling import canonical_row
from ..no_rows import no_rows

logger = logging.getLogger(__name__)

PUBLISHED = (Series(schema.DATA_PATH), Series(PurePosixPath(schema.DATA_PATH).name))
"""Where rows are in a published folder, and in its `data` alone."""
_HINT = "see README 'Files' for the row schema"


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
            refuse_repeated_keys(line, document)
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
        except Refused as error:
            self.faults.add(Fault(where, "", str(error), "each key once in an object", _HINT))
            return None
        row = self._spelled(document)
        faults = schema.row_faults(row, where)
        self.faults.extend(faults)
        return None if faults else row

    def _spelled(self, document: Any) -> Any:
        """The row in our spelling; what can't be spelled is left for the schema to name."""
        row = canonical_row(document)
        if not isinstance(row, dict):
            return row
        row = self._known(row, schema.ROW_KEYS)
        if isinstance(row.get("all_answers"), list):
            row["all_answers"] = [
                self._known(answer, schema.ANSWER_KEYS) if isinstance(answer, dict) else answer
                for answer in row["all_answers"]
            ]
        return row

    def _known(self, found: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
        self._drop(found.keys() - set(keys))
        return {key: found[key] for key in keys if key in found}

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
