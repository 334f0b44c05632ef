"""A source given as a Hub dataset id, fetched into the Hub cache at one commit."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

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
    import huggingface_hub
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled

    try:
        # resolve to a commit first: a download at a branch may silently fall back to old cached files
        info = huggingface_hub.HfApi(token=token).dataset_info(repo_id, revision=revision, timeout=30)
        commit = info.sha
        folder = huggingface_hub.snapshot_download(
            repo_id, repo_type="dataset", revision=commit, allow_patterns=list(patterns), token=token
        )
    except OfflineModeIsEnabled as error:
        raise SourceError(
            f"{repo_id}: not found here, and the Hub client is offline; give a local folder or archive"
        ) from error
    except HfHubHTTPError as error:
        status = error.response.status_code if error.response is not None else "no status"
        raise SourceError(
            f"{repo_id}: the Hub answered {status}; check the id, the revision and that your token may read it, "
            "or give a local folder or archive"
        ) from error
    except (LocalEntryNotFoundError, OSError) as error:
        raise SourceError(
            f"{repo_id}: not found here, and the Hub can't be reached; give a local folder or archive"
        ) from error
    except Exception as error:
        # connection errors of the HTTP library share no base with the client's own
        if type(error).__module__.partition(".")[0].startswith("http"):
            raise SourceError(f"{repo_id}: the Hub can't be reached; give a local folder or archive") from error
        raise
    if not any(file.is_file() for file in Path(folder).rglob("*")):
        held = [file.rfilename for file in info.siblings or ()]
        shown = ", ".join(held[:5]) + (f" and {len(held) - 5} more" if len(held) > 5 else "")
        raise SourceError(
            f"{repo_id}: not one row; looked for files named {', '.join(patterns)}; found {shown or 'no file'}; "
            "check the id and the revision"
        )
    return Path(folder)
