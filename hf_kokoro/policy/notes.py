"""Notes: one line a row of who said what about it, which no loader takes for data.

A growing dataset keeps them in `.hf_kokoro/provenance.jsonl`. Before that they lie beside a rows file: `rows.jsonl`
has `rows.provenance`. A line holds the row's id, its claim, its judge, the digest of the judge's rubric where it is
known, and what was done to the texts since; no time, so that the same append makes the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..core.jsonl import numbered_lines, parse_object
from ..errors import SourceError
from ..miti.contract import NOT_STATED
from .claims import Claim, claim_of

REDACTED = "redacted"
"""What was done to texts that the gate replaced findings in."""
SUFFIX = ".provenance"


@dataclass(frozen=True)
class Note:
    """What is known of one row: its claim, its judge, the digest of the judge's rubric, what was done to its texts."""

    claim: Claim = field(default_factory=Claim)
    judge_model: str = ""
    rubric_sha256: str = ""
    text: str = ""

    def line(self, row_id: str, path: str = "") -> bytes:
        """The note as a line; `path` is the file that the row is in. What is not known is left out."""
        rest = {"judge_model": self.judge_model, "rubric_sha256": self.rubric_sha256, "text": self.text}
        place = {"row_id": row_id, **({"path": path} if path else {})}
        fields = {**place, **self.claim._asdict(), **{key: value for key, value in rest.items() if value}}
        return json.dumps(fields, ensure_ascii=False).encode() + b"\n"


@dataclass(frozen=True)
class Notes:
    """Notes by row id (hex); `written_by` is what the caller declares of rows that nothing else says it of."""

    of_rows: Mapping[str, Note] = field(default_factory=dict)
    written_by: str = NOT_STATED

    def of(self, row: Mapping[str, Any], row_id: str) -> Note:
        """What may be said of a row: what is noted of it, as far as its answers bear it out."""
        noted = self.of_rows.get(row_id, Note())
        said = noted.claim
        if said.written_by == NOT_STATED and not said.proven:
            said = said._replace(written_by=self.written_by)
        claim = claim_of(row, said, converted=bool(noted.text))
        return replace(noted, claim=claim, judge_model=str(row["judge_model"]))

    def beside(self, rows: Path) -> Notes:
        """These, and those that lie beside a rows file."""
        found = dict(read_notes(beside)) if (beside := notes_path(rows)).is_file() else {}
        return replace(self, of_rows={**found, **self.of_rows})


def notes_path(rows: Path) -> Path:
    """The file of notes beside a rows file."""
    return rows.with_suffix(SUFFIX)


def read_notes(file: Path) -> Iterator[tuple[str, Note]]:
    """(row id, note) of each line. Raises SourceError naming a line that is none, or a file that can't be read."""
    try:
        with file.open("rb") as stream:
            for where, line in numbered_lines(stream, file.name):
                yield parse_note(line, where)
    except OSError as error:
        raise SourceError(f"{file}: can't be read ({error.strerror})") from None


def parse_note(line: bytes, where: str) -> tuple[str, Note]:
    """(row id, note). Raises SourceError if it is no line of ours."""
    try:
        fields = parse_object(line)
        claim = Claim(*(fields[name] for name in Claim._fields))
        rest = [fields.get(name, "") for name in ("judge_model", "rubric_sha256", "text")]
        if not all(isinstance(value, str) for value in (fields["row_id"], *claim, *rest)):
            raise ValueError
    except (ValueError, KeyError):
        raise SourceError(
            f"{where}: no note of where a row is from; put the file back as it was written, or take it away: "
            "then only what rows state and their answers' digests count"
        ) from None
    return fields["row_id"], Note(claim, *rest)


def notes_file(notes: Iterable[tuple[str, Note]]) -> bytes:
    """The content of a file of notes beside rows."""
    return b"".join(note.line(row_id) for row_id, note in notes)
