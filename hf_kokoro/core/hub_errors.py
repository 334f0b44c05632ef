"""What can go wrong between us and the Hub, or a folder that is used as one. Whether to try again is decided by the
class."""

from __future__ import annotations

from ..errors import KokoroError


class TargetError(KokoroError):
    """The target can't be used as asked; nothing was changed. `unsent` says which rows of an append are not there."""

    unsent = ""

    def __str__(self) -> str:
        return super().__str__() + (f"; {self.unsent}" if self.unsent else "")


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


class GaveUp(TargetError):
    """The tries or the time are used up, always by errors that may pass."""
