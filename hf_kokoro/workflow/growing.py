"""Growing a dataset while its journal grows: complete questions become rows, appended some verdicts at a time.

The journal is the only state. Whatever an interrupted or failed append left out is paired from it again, and the
target passes over the rows that it has, so a flush may be repeated at any time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from ..core.reports import Report
from ..errors import KokoroError, UsageError
from ..policy import ClaimError, GateError, PrivacyError
from .appending import Append, Row
from .findings import say_findings

if TYPE_CHECKING:
    from ..corpora.counsel_chat import CounselChat
    from ..hub import AppendReport
    from ..hub.patience import Patience
    from ..judging import Verdict
    from .stamps import Stamp

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class GrowReport(Report):
    """What was appended while somebody judged; `waiting` rows are not in the target, for the reason of `failure`."""

    added: int = 0
    appends: int = 0
    waiting: int = 0
    target: str | None = None
    rows_total: int | None = None
    revision: str | None = None
    failure: str | None = None
    summary: str = "nothing to append: there was no journal yet"
    """All of it in a line or two, and how to go on."""
    decided: tuple[str, ...] = ()
    """What a policy file decided of the rows and of the last append, a line each."""
    began: bool = True
    """False if it was interrupted before there was a journal."""
    interrupted: bool = False
    """True if Ctrl-C ended it, after a last append."""

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as `--json` prints it."""
        names = ("added", "appends", "waiting", "target", "rows_total", "revision", "failure", "decided")
        return {name: getattr(self, name) for name in (names if self.began else names[:2])}


class Growing:
    """Follows one judge's verdicts in a journal and appends the rows of its complete questions.

    Appends run in a thread, one at a time; a failing one is said once and leaves its rows to the next. Use as a
    context manager around the scoring: leaving it, by Ctrl-C too, appends what is complete.
    """

    def __init__(
        self,
        journal: Path,
        stamp: Stamp,
        chat: CounselChat,
        append: Append,
        *,
        judge_model: str | None = None,
        min_answers: int = 3,
        every: int = 50,
        appended: Callable[[AppendReport], None] = lambda report: None,
        decided: tuple[str, ...] = (),
    ) -> None:
        from ..judging import text_sha256

        self.journal, self.every = journal, every
        self.failure: Exception | None = None
        self.added = self.appends = 0
        self.last: AppendReport | None = None
        self._stamp, self._append, self._appended = stamp, append, appended
        self._noted, self._decided = False, decided
        self._judge_model, self._min_answers = judge_model, min_answers
        self._questions = [(text_sha256(question.prompt), question) for question in chat.questions]
        self._offset = 0
        self._verdicts: dict[str, dict[str, Verdict]] = {}
        self._touched: set[str] = set()
        self._first: Verdict | None = None
        self._rows: list[Row] = []
        self._new = 0
        self._thread: Thread | None = None

    @classmethod
    def on(
        cls, journal: Path, chat: CounselChat, *, to: str, declared: tuple[str | None, str | None], **options: Any
    ) -> Self:
        """On a journal's source once it is read; `declared` are the rows' source_dataset and license, as for `pair`."""
        from .stamps import advice, stamp_of

        stamp = stamp_of(chat, *declared)
        refuse_unstated(to, stamp)
        if not stamp.stated:
            logger.warning("%s", advice(stamp))
        return cls(journal, stamp, chat, **options)

    @property
    def waiting(self) -> int:
        """Rows of complete questions that could not be appended yet."""
        return len(self._rows)

    def counting(self, progress: Callable[[int, int], None], *, wait: bool) -> Callable[[int, int], None]:
        """`progress` that also appends after every so many calls; `wait` holds the caller up meanwhile."""

        def count(done: int, total: int) -> None:
            progress(done, total)
            self._new += 1
            if self._new >= self.every:
                # a target that is away must not hold up the scoring
                self.flush(wait=wait and self.failure is None)

        return count

    def read(self) -> int:
        """Take in the journal's new verdicts; how many there were of this judge."""
        from ..judging.journal import verdicts_behind
        from . import joining as join

        found, offset = verdicts_behind(self.journal, self._offset)
        mine = join.verdicts_of(found, self._judge_model)
        if mine:
            self._first = self._first or mine[0]
            join.one_judge([self._first, *mine], self._judge_model, str(self.journal))
        for verdict in mine:
            self._verdicts.setdefault(verdict.question_sha256, {})[verdict.answer_sha256] = verdict
            self._touched.add(verdict.question_sha256)
        self._offset = offset
        return len(mine)

    def flush(self, *, wait: bool, patience: Patience | None = None) -> None:
        """Append the rows of all complete questions; without `wait` in the background, unless that is at it already."""
        if self._thread is not None and self._thread.is_alive():
            if not wait:
                return
            self._thread.join()
        self._new = 0
        # a daemon: a second Ctrl-C ends the program at once, as safely as a kill in the middle of an append
        self._thread = Thread(target=self._flush, args=(patience or _brief(),), name="append", daemon=True)
        self._thread.start()
        if wait:
            self._thread.join()

    def finish(self, *, interrupted: bool = False) -> None:
        """The last flush, with the target's own patience unless somebody waits at the keyboard."""
        from ..hub import Patience

        self.flush(wait=True, patience=None if interrupted else Patience())
        if self.failure is not None and not isinstance(self.failure, KokoroError):
            raise self.failure

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finish(interrupted=kind is not None)
        if kind is not None:
            logger.warning("%s", self.summary())

    def summary(self) -> str:
        """What came of it, and how to go on if rows are still waiting."""
        if self.failure is not None:
            rows = f"{self.waiting} rows are not appended yet" if self.waiting else "appending failed"
            return f"{rows}: {_told(self.failure)}{_next_step(self.failure)}"
        if self.last is None:
            return "nothing to append: no question is complete yet"
        state = f"{self.last.target} has {self.last.rows_total} rows, revision {self.last.revision[:12]}"
        if not self.added:
            return f"nothing written: no new rows; {state}"
        return f"added {self.added} rows in {self.appends} append{'s' if self.appends != 1 else ''}; {state}"

    def report(self) -> GrowReport:
        """What came of it, as it stands now."""
        last = self.last
        return GrowReport(
            self.added,
            self.appends,
            self.waiting,
            last.target if last else None,
            last.rows_total if last else None,
            last.revision if last else None,
            None if self.failure is None else str(self.failure),
            self.summary(),
            (*self._decided, *(last.decided if last else ())),
        )

    def _flush(self, patience: Patience) -> None:
        try:
            self.read()
            self._pair()
            if self._rows:
                self._take(self._append(self._rows, patience=patience))
        except Exception as error:
            # whatever it is, the scoring goes on; `finish` raises what is no error of ours
            if type(error) is not type(self.failure):
                stopped = "stopped, the journal is not affected"
                failed = "failed, the next append tries again"
                logger.warning("appending %s: %s", stopped if isinstance(error, GateError) else failed, _told(error))
            self.failure = error
        else:
            self.failure = None

    def _pair(self) -> None:
        """Rows of the complete ones among the questions with new verdicts."""
        from ..miti.pairing import make_rows
        from . import joining as join

        if self._first is None:
            return
        questions = [question for digest, question in self._questions if digest in self._touched]
        verdicts = [verdict for digest in self._touched for verdict in self._verdicts[digest].values()]
        sets = join.candidate_sets(questions, verdicts, self._first.judge_model).sets
        rows, _ = make_rows(
            sets,
            min_answers=max(2, self._min_answers),
            source_dataset=self._stamp.source_dataset,
            license_name=self._stamp.license,
        )
        self._touched.clear()
        self._rows += rows

    def _take(self, report: AppendReport) -> None:
        self._rows = []
        self.last = report
        self.added += report.added
        self.appends += bool(report.added)
        self._appended(report)
        if report.findings and not self._noted:
            self._noted = True
            say_findings(logger, report.findings, report.allowed)


def refuse_unstated(to: str, stamp: Stamp) -> None:
    """Raise ClaimError before anything is done for rows that would be stopped on their way to the Hub."""
    from ..hub import resolve_target
    from .stamps import advice

    if not stamp.stated and resolve_target(to).remote:
        raise ClaimError(f"nothing was done: {advice(stamp)}")


def _told(error: Exception) -> str:
    """An error without its advice to repeat the command, which is given here."""
    return str(error.args[0]) if getattr(error, "unsent", "") else str(error)


def _next_step(error: Exception) -> str:
    if isinstance(error, PrivacyError):
        return "; the same command with one of them goes on from the journal"
    if isinstance(error, GateError):
        return ""
    if _passes(error):
        return "; the same command again goes on from the journal"
    return "; the verdicts are in the journal, and rows are made from it again once that is put right"


def _passes(error: Exception) -> bool:
    """Whether the same command may do better the next time: not after 401, 403 or other data in the target."""
    from ..hub.errors import AccessError, BaseFormatError, ForeignData, HistoryError

    return not isinstance(error, AccessError | BaseFormatError | ForeignData | HistoryError | UsageError)


def _brief() -> Patience:
    """For appends between others: the next one sends what this one could not."""
    from ..hub import Patience

    return Patience(faults=3, seconds=60, longest_wait=5)
