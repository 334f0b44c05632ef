"""What can go wrong between rows and a target, beside what can go wrong with the Hub (`core.hub_errors`)."""

from __future__ import annotations

from ..core.hub_errors import AccessError, CommitRace, GaveUp, OutcomeUnknown, RateLimited, TargetError

__all__ = [
    "AccessError",
    "AppendFailed",
    "BaseFormatError",
    "CommitRace",
    "ForeignData",
    "GaveUp",
    "HistoryError",
    "LockedError",
    "NotKept",
    "OutcomeUnknown",
    "RateLimited",
    "TargetError",
    "UnwritableError",
    "VerifyError",
]


class LockedError(TargetError):
    """Another process kept the target's lock for longer than we wait."""


class UnwritableError(TargetError):
    """A folder or file here can't be written: full, read-only, no right to."""


class BaseFormatError(TargetError):
    """The file that should grow isn't JSON Lines of objects: a torn line, another format, or not UTF-8."""

    def __init__(self, message: str, offset: int) -> None:
        self.offset = offset
        super().__init__(message)


class ForeignData(TargetError):
    """The place holds another dataset: a loader would take in other files than those to be written."""


class SpellingError(TargetError):
    """The rows of the file that should grow are spelled in several ways, or new ones can't be spelled as they are."""


class MixedRubrics(TargetError):
    """Rows scored by other instructions than those that are there: their scores don't mean the same."""


class UnreadableCard(ForeignData):
    """The card's YAML can't be read, so nobody knows what a loader would take in."""


class AdoptionError(TargetError):
    """What would be written is not exactly what was read: the proof of an adoption failed, and nothing was changed."""


class HistoryError(TargetError):
    """The file's bytes no longer start with the bytes that are on record: somebody rewrote or cut it."""

    def __init__(self, message: str, offset: int) -> None:
        self.offset = offset
        super().__init__(message)


class VerifyError(TargetError):
    """The target took the commit, but what can be read back is not what was sent."""


class NotKept(TargetError):
    """A former revision's bytes can't be had any more: a folder has only its newest ones."""


AppendFailed = GaveUp
"""The tries or the time of an append are used up: the same rows may be sent again."""
