"""Following a journal that another process writes, for `append --watch`."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from ..miti.contract import DATA_PATH
from . import joining as join
from .appending import appender
from .growing import Growing, GrowReport
from .stamps import declared_by, told_of

if TYPE_CHECKING:
    from ..hub import AppendReport
    from ..policy import Policy

logger = logging.getLogger(__name__)

QUIET_LOOKS = 12
"""Looks at a watched journal without a new verdict after which fewer than `every` are appended too."""


def grow(
    journal: str | PathLike[str],
    to: str,
    path: str = DATA_PATH,
    *,
    source: str | None = None,
    once: bool = False,
    every: int = 50,
    poll_seconds: float = 5.0,
    judge_model: str | None = None,
    min_answers: int = 3,
    source_dataset: str | None = None,
    license_name: str | None = None,
    written_by: str | None = None,
    card: bool | None = None,
    allow: Sequence[str] = (),
    redact: bool | None = None,
    segment_bytes: int | None = None,
    mix_rubrics: bool = False,
    message: str | None = None,
    branch: str | None = None,
    private: bool = True,
    token: str | None = None,
    spool: str | PathLike[str] | None = None,
    max_wait: float | None = None,
    policy: str | PathLike[str] | Policy | None = None,
    appended: Callable[[AppendReport], None] = lambda report: None,
) -> GrowReport:
    """Make rows of the complete questions of a journal that another process writes, and append them to `to`.

    Best against worst, as `pair` makes them: after every so many verdicts, after a minute without one, and on
    Ctrl-C, which ends it (the report is `interrupted`); with `once` it ends after one look. `appended` is called after
    each append. From `card` on the options are those of `append_rows`, and count for each append. A target that can't
    be reached is tried again, and said in the report's `failure`.

    Raises JournalError, SourceError, UsageError, ForeignData, ClaimError.
    """
    from ..judging.journal import verdicts_behind
    from ..policy import read_policy

    rules = read_policy(policy)
    book, growing = Path(journal), None
    # what the target is may be wrong now; the journal may take a while
    append = appender(
        to,
        path,
        card,
        branch=branch,
        private=private,
        token=token,
        max_wait=max_wait,
        allow=tuple(allow),
        redact=redact,
        policy=rules,
        segment_bytes=segment_bytes,
        mix_rubrics=mix_rubrics,
        message=message,
        spool=spool,
    )
    try:
        if once:
            verdicts_behind(book, 0)
        else:
            _wait_for(book, source, poll_seconds)
        growing = Growing.on(
            book,
            join.source_of_journal(book, source)[1],
            to=to,
            declared=declared_by(rules, source_dataset, license_name, written_by),
            append=append,
            judge_model=judge_model,
            min_answers=min_answers,
            every=every,
            appended=appended,
            decided=told_of(rules, source_dataset, license_name, written_by),
        )
        if not once:
            _follow(growing, poll_seconds)
    except KeyboardInterrupt:
        if growing is None:
            return GrowReport(began=False, interrupted=True)
        growing.finish(interrupted=True)
        return replace(growing.report(), interrupted=True)
    else:
        growing.read()
        growing.finish()
    return growing.report()


def _wait_for(journal: Path, source: str | None, poll_seconds: float) -> None:
    """Until `judge` has made the journal and, unless it is given, noted the source beside it."""
    if not journal.exists():
        logger.warning("%s: not there yet; waiting for `hf-kokoro judge` to make it", journal)
    while not (journal.exists() and (source is not None or join.origin_path(journal).exists())):
        time.sleep(poll_seconds)


def _follow(growing: Growing, poll_seconds: float) -> None:
    new = quiet = 0
    while True:
        found = growing.read()
        new, quiet = new + found, 0 if found else quiet + 1
        if new >= growing.every or (quiet >= QUIET_LOOKS and (new or growing.waiting)):
            growing.flush(wait=True)
            new = quiet = 0
        time.sleep(poll_seconds)
