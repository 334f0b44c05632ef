"""What can go wrong between rows and a target. Whether to try again is decided by the class."""

from __future__ import annotations

from ..errors import KokoroError


class TargetError(KokoroError):
    """The target can't be used as asked; nothing was changed. `unsent` says which rows of an append are not there."""

    unsent = ""

    def __str__(self) -> str:
        return super().__str__() + (f"; {self.unsent}" if self.unsent else "")


class LockedError(TargetError):
    """Another process kept the target's lock for longer than we wait."""


class BaseFormatError(TargetError):
    """The file that should grow isn't JSON Lines of objects: a torn line, another format, or not UTF-8."""

    def __init__(self, message: str, offset: int) -> None:
        self.offset = offset
        super().__init__(message)


class ForeignData(TargetError):
    """The place holds another dataset: a loader would take in other files than those to be written."""


class SpellingError(TargetError):
    """The rows of the file that should grow are spelled in several ways, or new ones can't be spelled as they are."""


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


class CommitRace(TargetError):
    """Somebody else committed first (409, 412): prove the new head and merge again."""

    retryable = True


class RateLimited(TargetError):
    """429: try again after `wait` seconds (None: the server didn't say)."""

    retryable = True

    def __init__(self, message: str, wait: float | None) -> None:
        self.wait = wait
        super().__init__(message)


class OutcomeUnknown(TargetError):
    """5xx, a dropped connection, a time-out: the commit may be there or not, so look before sending again."""

    retryable = True


class AccessError(TargetError):
    """401, 403 or 404: no right to read or write there, or nothing there by that name."""


class AppendFailed(TargetError):
    """The tries or the time are used up, always by errors that may pass: the same rows may be sent again."""
