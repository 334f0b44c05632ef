"""counsel-chat: questions to licensed US therapists and their answers, read from a table.

The columns are those of the edition on the Hub. An older edition has an unnamed index and `split` beside
them: unknown columns are ignored and named in the result. Cells are text: `NA` and `None` are words that
somebody typed, an id `007` keeps its zeros, and no-break spaces stay where they are (line breaks become
one line feed, as in all our tables).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ..core.archives import SourceFiles, open_source
from ..core.cells import TableRow
from ..core.tables import SUFFIXES, is_table, read_table
from ..errors import Fault, Faults, describe
from .no_rows import no_rows

REQUIRED_COLUMNS = ("questionID", "questionTitle", "questionText", "therapistInfo", "answerText")
OPTIONAL_COLUMNS = ("questionLink", "topic", "therapistURL", "upvotes", "views")
COLUMNS = (*REQUIRED_COLUMNS, *OPTIONAL_COLUMNS)

_WHOLE = re.compile(r"\d{1,18}\Z", re.ASCII)


@dataclass(frozen=True)
class Answer:
    """One therapist's answer. `upvotes` and `views` are None where the cell is blank or missing."""

    therapist: str
    text: str
    url: str = ""
    upvotes: int | None = None
    views: int | None = None


@dataclass(frozen=True)
class Question:
    """One question, its answers in the source's order; `key` is unique even where `question_id` recurs."""

    question_id: str
    title: str
    text: str
    topic: str
    prompt: str
    answers: tuple[Answer, ...]
    key: str


@dataclass(frozen=True)
class CounselChat:
    """What one source holds. `digest` depends on ids, texts and therapists, not on format, order or path."""

    questions: tuple[Question, ...]
    duplicates: int
    """Answers left out because the same therapist had given the same text to the same question before."""
    ignored_columns: tuple[str, ...]
    ignored_files: tuple[str, ...]
    digest: str
    fetched: bool = False
    """Was it read from upstream's own repo on the Hub?"""

    @property
    def answers(self) -> int:
        """Number of distinct answers, blank ones included."""
        return sum(len(question.answers) for question in self.questions)


def read_counsel_chat(source: str | Path) -> CounselChat:
    """Read CSV, TSV, JSON, JSON Lines, XLSX or Parquet: a file, or a folder or archive of such files.

    Raises SourceError where there is nothing to read, and InputError with every fault where rows are wrong.
    """
    faults, grouping, reading = Faults(), _Grouping(), _Reading(Path(source))
    for row in reading.rows(faults):
        before = faults.count
        head, answer = _parse(row, faults)
        if faults.count == before:
            grouping.add(head, answer)
    hint = "nothing was read; mend these and run again (README, 'bad input')"
    faults.raise_if_any(f"counsel-chat table {Path(source).name}", hint=hint)
    if not grouping.heads:
        raise no_rows(reading.files, f"answers under {', '.join(REQUIRED_COLUMNS)}", "get the table again")
    return CounselChat(
        questions=tuple(grouping.questions()),
        duplicates=grouping.duplicates,
        ignored_columns=tuple(sorted(reading.ignored_columns)),
        ignored_files=tuple(reading.ignored_files),
        digest=grouping.digest(),
    )


def prompt_text(title: str, text: str) -> str:
    """Title, an empty line, text. A blank part is left out; a text that repeats the title is left out too."""
    if not text.strip() or text.strip() == title.strip():
        return title
    return f"{title}\n\n{text}" if title.strip() else text


def question_key(question_id: str, prompt: str) -> str:
    """Id and the start of the prompt's digest: some ids stand before two different questions."""
    return f"{question_id}:{_sha256(prompt)[:12]}"


@dataclass(frozen=True)
class _Head:
    question_id: str
    title: str
    text: str
    topic: str
    prompt: str


@dataclass
class _Reading:
    """The rows of every table in a source, and what beside them was left aside."""

    path: Path
    ignored_columns: set[str] = field(default_factory=set)
    ignored_files: list[str] = field(default_factory=list)

    @cached_property
    def files(self) -> SourceFiles:
        return open_source(self.path)

    def rows(self, faults: Faults) -> Iterator[TableRow]:
        files = self.files
        self.ignored_files = [name for name in files.names() if not is_table(name)]
        tables = 0
        for name, data in files.members(accept=is_table):
            tables += 1
            # UTF-8 only: as CP932 the curly quotes of a Windows-1252 file would turn into kanji unnoticed
            yield from self._checked(read_table(name, data, faults, fallback=None), faults)
        if not tables:
            raise no_rows(files, f"a table ({', '.join(SUFFIXES)})", "save yours as one of these")

    def _checked(self, rows: Iterator[TableRow], faults: Faults) -> Iterator[TableRow]:
        for number, row in enumerate(rows):
            missing = [column for column in REQUIRED_COLUMNS if column not in row.cells]
            if missing:
                got, step = f"a row without {', '.join(missing)}", "give counsel-chat's own column names"
                faults.add(Fault(row.where, "", got, ", ".join(REQUIRED_COLUMNS), step))
                if number == 0:
                    # another kind of table altogether: one fault says it for all of its rows
                    return
                continue
            self.ignored_columns.update(row.cells.keys() - {*COLUMNS})
            yield row


def _parse(row: TableRow, faults: Faults) -> tuple[_Head, Answer]:
    def text(column: str) -> str:
        value = row.cells.get(column, "")
        if isinstance(value, str):
            return value
        faults.add(Fault(row.where, column, describe(value), "text"))
        return ""

    def count(column: str) -> int | None:
        value = text(column).strip()
        # a column of whole numbers with gaps leaves pandas as floats with NaN in the gaps
        if value in ("", "nan"):
            return None
        if _WHOLE.match(value):
            return int(value)
        faults.add(Fault(row.where, column, describe(value, show=True), "a whole number, 0 or more, or nothing"))
        return None

    question_id, title, body = text("questionID"), text("questionTitle"), text("questionText")
    if not question_id.strip():
        faults.add(Fault(row.where, "questionID", "nothing", "an id", "answers are grouped by it"))
    prompt = prompt_text(title, body)
    if not prompt.strip():
        faults.add(Fault(row.where, "questionTitle", "no title and no text", "at least one of the two"))
    answer = Answer(text("therapistInfo"), text("answerText"), text("therapistURL"), count("upvotes"), count("views"))
    return _Head(question_id, title, body, text("topic"), prompt), answer


@dataclass
class _Grouping:
    """Answers by (id, prompt), in the order in which questions first appear."""

    heads: dict[tuple[str, str], _Head] = field(default_factory=dict)
    answers: dict[tuple[str, str], dict[tuple[str, str], Answer]] = field(default_factory=dict)
    duplicates: int = 0

    def add(self, head: _Head, answer: Answer) -> None:
        key = (head.question_id, head.prompt)
        self.heads.setdefault(key, head)
        siblings = self.answers.setdefault(key, {})
        # No-break spaces and line ends differ between exports of the same answer, so the key is folded.
        same = (answer.therapist, " ".join(answer.text.split()))
        if same in siblings:
            self.duplicates += 1
        else:
            siblings[same] = answer

    def questions(self) -> Iterable[Question]:
        for (question_id, prompt), head in self.heads.items():
            answers = tuple(self.answers[question_id, prompt].values())
            key = question_key(question_id, prompt)
            yield Question(question_id, head.title, head.text, head.topic, prompt, answers, key)

    def digest(self) -> str:
        lines = sorted(
            f"{question_id}\0{_sha256(prompt)}\0{answer.therapist}\0{_sha256(answer.text)}"
            for (question_id, prompt), siblings in self.answers.items()
            for answer in siblings.values()
        )
        return _sha256("\n".join(lines))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
