"""Following a journal that another process writes, for `append --watch`."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..corpora.counsel_chat import CounselChat
    from .growing import Growing

logger = logging.getLogger(__name__)

QUIET_LOOKS = 12
"""Looks at a watched journal without a new verdict after which fewer than `every` are appended too."""


def watch(
    journal: Path, source: str | None, make: Callable[[CounselChat], Growing], poll_seconds: float, once: bool
) -> Growing | None:
    """Follow a journal that another process writes, until Ctrl-C or, with `once`, for one look.

    None if it was interrupted before there was a journal. Raises JournalError, SourceError, UsageError.
    """
    from ..judging.journal import verdicts_behind
    from . import joining as join

    growing = None
    try:
        if once:
            verdicts_behind(journal, 0)
        else:
            _wait_for(journal, source, poll_seconds)
        growing = make(join.source_of_journal(journal, source)[1])
        if not once:
            _follow(growing, poll_seconds)
    except KeyboardInterrupt:
        if growing is None:
            return None
        growing.finish(interrupted=True)
    else:
        growing.read()
        growing.finish()
    return growing


def _wait_for(journal: Path, source: str | None, poll_seconds: float) -> None:
    """Until `judge` has made the journal and, unless it is given, noted the source beside it."""
    from . import joining as join

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
