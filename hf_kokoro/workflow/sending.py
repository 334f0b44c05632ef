"""`send_spooled`: what appends left in a spool, sent with its card renewed, told entry by entry."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

from ..core.reports import Report
from .appending import card_hook

if TYPE_CHECKING:
    from ..hub import AppendReport
    from ..policy import Policy


@dataclass(frozen=True)
class SendReport(Report):
    """What became of a spool's entries: one report each of those that were sent, and why the others wait on."""

    folder: str
    sent: tuple[AppendReport, ...]
    failure: str | None = None

    @property
    def added(self) -> int:
        """Rows that were added (or would be, in a dry run)."""
        return sum(report.added for report in self.sent)

    def as_dict(self) -> dict[str, Any]:
        """Plain data: the reports of the entries as `append --json` prints them."""
        return {"folder": self.folder, "sent": [one.as_dict() for one in self.sent], "failure": self.failure}


def send_spooled(
    folder: str | PathLike[str],
    *,
    ids: Iterable[str] = (),
    allow: Iterable[str] = (),
    redact: bool | None = None,
    policy: str | PathLike[str] | Policy | None = None,
    dry_run: bool = False,
    segment_bytes: int | None = None,
    mix_rubrics: bool = False,
    card: bool | None = None,
    token: str | None = None,
    max_wait: float | None = None,
    done: Callable[[AppendReport], None] = lambda report: None,
) -> SendReport:
    """Append the entries of a spool (those named by `ids`, else all), oldest first, and drop what arrived.

    A repo that must be made is made private. The options are those of `append_rows`; `done` is called after each entry.
    Entries that can't be sent wait on, and the report's `failure` says why. Raises UsageError for an unknown kind or
    id, SourceError for a folder that can't be read or written.
    """
    from .. import hub

    failure = None
    try:
        reports = hub.send_spooled(
            folder,
            ids=ids,
            allow=allow,
            redact=redact,
            policy=policy,
            dry_run=dry_run,
            segment_bytes=segment_bytes,
            mix_rubrics=mix_rubrics,
            extra_operations=partial(card_hook, wanted=card),
            token=token,
            max_wait=max_wait,
            done=done,
        )
    except hub.SendError as error:
        reports, failure = error.reports, str(error)
    return SendReport(str(folder), tuple(reports), failure)
