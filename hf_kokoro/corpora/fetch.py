"""A source given as a Hub dataset id, fetched into the Hub cache at one commit."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..core.disk import disk_errors
from ..core.places import HubRepo, UnknownPlace, one_branch, read_place
from ..errors import SourceError


def local_source(
    source: str | os.PathLike[str],
    patterns: Sequence[str],
    revision: str | None = None,
    token: str | bool | None = None,
) -> Path:
    """Return a local path for `source`: itself if it exists, else the snapshot of that Hub dataset.

    Args:
        source: folder, file, archive, `user/repo[@revision]`, `hf://datasets/user/repo[@revision]` or the repo's web
            address (see `read_place`).
        patterns: file patterns to fetch from a Hub dataset.
        revision: branch, tag or commit of the Hub dataset.

    Raises UsageError for other addresses and two revisions, SourceError if there is neither such a path nor such a
    dataset, or it can't be reached.
    """
    try:
        place = read_place(source, "source")
    except UnknownPlace:
        place = Path(source).expanduser()
    if isinstance(place, HubRepo):
        return _snapshot(place.repo_id, patterns, one_branch(place.branch, revision, "revision"), token)
    if not place.exists():
        text = os.fspath(source)
        raise SourceError(f"{text}: not found; give a folder, a file, an archive or a Hub dataset id such as user/repo")
    return place.absolute()


def origin(path: Path) -> str:
    """What `local_source` found, without a path of this machine: `hf://datasets/user/repo@commit`, or a name."""
    repo, snapshots, commit = path.parts[-3:] if len(path.parts) > 2 else ("", "", "")
    if snapshots == "snapshots" and repo.startswith("datasets--"):
        return f"hf://datasets/{repo.removeprefix('datasets--').replace('--', '/', 1)}@{commit}"
    return path.name


def _snapshot(repo_id: str, patterns: Sequence[str], revision: str | None, token: str | bool | None) -> Path:
    from ..core.hub_errors import GaveUp, TargetError
    from ..core.hub_snapshot import Snapshot

    cache = "nothing but the cache was touched; HF_HOME names another place for it"
    try:
        with disk_errors("the Hub's cache", cache, SourceError):
            # a commit first: a download at a branch may silently fall back to old cached files
            snapshot = Snapshot.of(repo_id, revision, token)
            folder = snapshot.download(patterns)
    except TargetError as error:
        if isinstance(error, GaveUp):
            said = f"{repo_id}: the Hub can't be reached: {error}; give"
        else:
            said = f"{error}; check the id, the revision and that your token may read it, or give"
        raise SourceError(f"{said} a local folder or archive") from error
    if folder is None:
        held = snapshot.files
        shown = ", ".join(held[:5]) + (f" and {len(held) - 5} more" if len(held) > 5 else "")
        raise SourceError(
            f"{repo_id}: not one row; looked for files named {', '.join(patterns)}; found {shown or 'no file'}; "
            "check the id and the revision"
        )
    return folder
