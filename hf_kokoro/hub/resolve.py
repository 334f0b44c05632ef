"""What a caller names as a target, as the Target that it means."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike

from ..core.places import HubRepo, one_branch, read_place
from ..errors import UsageError
from .local import LocalTarget
from .remote import HubTarget
from .target import Target


@dataclass(frozen=True)
class HubOptions:
    """What only a Hub repo has: the branch, the token, pull requests, and whether a new repo is private; and how many
    seconds may be waited for it in all."""

    branch: str | None = None
    token: str | None = field(default=None, repr=False)
    pr: bool = False
    private: bool = True
    max_wait: float | None = None


def resolve_target(target: str | PathLike[str] | Target, options: HubOptions | None = None) -> Target:
    """`./folder`, `user/repo`, `user/repo@branch`, a Hub address, a Path or a Target to a Target (see `read_place`).

    As in `datasets.load_dataset`, an existing folder wins over a repo of the same name. Raises UsageError for
    what is no place, and for Hub options with a folder, or with a Target, which has its own.
    """
    options = options or HubOptions()
    if isinstance(target, str | PathLike):
        place = read_place(target)
        if isinstance(place, HubRepo):
            return _hub_target(place, options)
    if options.pr or options.branch is not None or not options.private:
        raise UsageError(
            f"{target}: a branch, pull request or public repo only exists on the Hub; leave those options out, or "
            "write the target as user/repo"
        )
    if isinstance(target, str | PathLike):
        return LocalTarget(target, **({} if options.max_wait is None else {"lock_seconds": options.max_wait}))
    return target


def _hub_target(place: HubRepo, options: HubOptions) -> Target:
    branch = one_branch(place.branch, options.branch) or "main"
    return HubTarget(
        place.repo_id,
        branch,
        options.token,
        pr=options.pr,
        private=options.private,
        max_wait=options.max_wait,
    )
