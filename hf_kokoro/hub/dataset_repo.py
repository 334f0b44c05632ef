"""A dataset repo through huggingface_hub's API: each call bounded, counted, and told apart when it fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar

from huggingface_hub import (
    CommitOperationAdd,
    CommitOperationDelete,
    DiscussionWithDetails,
    GitCommitInfo,
    GitRefInfo,
    HfApi,
)
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils._runtime import is_xet_available

from ..core.hubclient import OwnClient
from ..core.secrets import masked
from ..core.told import asked
from .errors import AccessError, TargetError
from .pinned import Pinned
from .target import Commit, FileInfo

Operation = CommitOperationAdd | CommitOperationDelete
_T = TypeVar("_T")
_TYPE = "dataset"


class DatasetRepo:
    """One branch of a dataset repo. `name` is for messages. Every call may raise TargetError and is tried once."""

    def __init__(self, name: str, repo_id: str, branch: str, *, api: HfApi, token: str | None, own: OwnClient) -> None:
        self.name, self.repo_id, self.branch = name, repo_id, branch
        self._api, self._token, self._own = api, token, own
        self._seen = False

    def head(self, private: bool) -> tuple[str, str]:
        """Commit of the branch ("": there is no repo), and what would have to be made first, if something is missing.

        A new branch begins as the main one is. Raises AccessError for a repo that was there and is gone.
        """

        def look(branch: str | None) -> str:
            return self._api.dataset_info(self.repo_id, revision=branch, expand=["sha"]).sha or ""

        def find() -> tuple[str, str]:
            try:
                return look(self.branch), ""
            except RevisionNotFoundError:
                if self.branch.startswith("refs/"):
                    raise
                return look(None), f"the branch {masked(self.branch)}, which begins as the main one is"
            except RepositoryNotFoundError as error:
                # a gated or hidden repo is there, and must never be made
                if isinstance(error, GatedRepoError) or error.response.status_code == 401:
                    raise
                return "", f"the {'private' if private else 'public'} repo {self.repo_id}"

        revision, missing = self._ask("looking up the newest commit", find)
        if self._seen and not revision:
            raise AccessError(f"{self.name}: it was there and is gone (deleted, renamed, hidden); it is not made again")
        self._seen = self._seen or bool(revision)
        return revision, missing

    def make(self, start: str, missing: str, private: bool) -> str:
        """Make the repo (without a `start`) and the branch, and give the commit that the branch has then."""

        def make() -> str:
            if not start:
                self._api.create_repo(self.repo_id, repo_type=_TYPE, private=private, exist_ok=True)
            if self.branch != "main":
                self._api.create_branch(
                    self.repo_id, branch=self.branch, revision=start or None, repo_type=_TYPE, exist_ok=True
                )
            return start or self._api.dataset_info(self.repo_id, revision=self.branch, expand=["sha"]).sha or ""

        revision = self._ask(f"making {missing}", make)
        self._seen = True
        return revision

    def is_private(self) -> bool | None:
        """None if there is no such repo, or none that this token can see."""

        def look() -> bool | None:
            try:
                # a Hub that doesn't say is taken for one that says public
                return bool(self._api.dataset_info(self.repo_id, expand=["private"]).private)
            except RepositoryNotFoundError as error:
                if isinstance(error, GatedRepoError) or error.response.status_code == 401:
                    raise
                return None

        return self._ask("looking whether the repo is private", look)

    def commits(self) -> Sequence[GitCommitInfo]:
        """The commits of the branch, newest first."""
        return self._ask(
            "listing the commits",
            partial(self._api.list_repo_commits, self.repo_id, repo_type=_TYPE, revision=self.branch),
        )

    def files(self, revision: str, folder: str | None = None) -> dict[str, FileInfo]:
        """The files of one folder ("." is the top one) at a commit, or with None all files."""

        def tree() -> list[RepoFile]:
            path = None if folder in (None, ".") else folder
            try:
                entries = self._api.list_repo_tree(
                    self.repo_id, path, recursive=folder is None, revision=revision, repo_type=_TYPE
                )
                return [entry for entry in entries if isinstance(entry, RepoFile)]
            except EntryNotFoundError:
                return []

        return {entry.path: _info(entry) for entry in self._ask("listing the files", tree)}

    def infos(self, paths: Iterable[str], revision: str) -> dict[str, FileInfo]:
        """Size and digest of those files that exist at a revision; nothing is downloaded."""

        def info() -> list[RepoFile]:
            entries = self._api.get_paths_info(self.repo_id, list(paths), revision=revision, repo_type=_TYPE)
            return [entry for entry in entries if isinstance(entry, RepoFile)]

        return {entry.path: _info(entry) for entry in self._ask("reading sizes and digests", info)}

    def pinned(self, revision: str) -> Pinned:
        return Pinned(self.repo_id, revision, token=self._token, endpoint=self._api.endpoint, own=self._own)

    def pull_requests(self) -> Sequence[GitRefInfo]:
        """The refs of pull requests, newest first."""

        def refs() -> list[GitRefInfo]:
            found = self._api.list_repo_refs(self.repo_id, repo_type=_TYPE, include_pull_requests=True)
            return found.pull_requests or []

        return sorted(self._ask("listing pull requests", refs), key=lambda ref: _number(ref.ref), reverse=True)

    def pull_request(self, ref: GitRefInfo) -> DiscussionWithDetails:
        number = _number(ref.ref)
        return self._ask(
            "reading a pull request",
            partial(self._api.get_discussion_details, self.repo_id, number, repo_type=_TYPE),
        )

    def commit(self, parent: str, operations: Sequence[Operation], message: str, *, pr: bool) -> Commit:
        """Upload, then commit on top of `parent`. Two calls, so that each begins with the time limits in place."""
        files = [operation for operation in operations if isinstance(operation, CommitOperationAdd)]

        def upload() -> None:
            # several files over plain HTTP would go out in threads of the client's, without our time limits
            for additions in [files] if is_xet_available() else ([file] for file in files):
                self._api.preupload_lfs_files(
                    self.repo_id,
                    additions,
                    repo_type=_TYPE,
                    revision=self.branch,
                    create_pr=pr,
                    free_memory=False,
                )

        title, _, body = message.partition("\n\n")

        def commit() -> Commit:
            done = self._api.create_commit(
                self.repo_id,
                operations,
                commit_message=title,
                commit_description=body,
                repo_type=_TYPE,
                revision=self.branch,
                parent_commit=parent,
                create_pr=pr,
            )
            return Commit(done.oid, done.pr_url and masked(done.pr_url))

        self._ask("uploading", upload)
        for operation in files:
            # the client would leave such a file out of the commit with one line in the log
            if getattr(operation, "_should_ignore", False):
                raise TargetError(
                    f"{self.name}: {operation.path_in_repo} is ignored by the repo's .gitignore, so the Hub would "
                    "not take it; change .gitignore or use another --path"
                )
        return self._ask("committing", commit, commits=True)

    def _ask(self, doing: str, call: Callable[[], _T], *, commits: bool = False) -> _T:
        with self._own.used():
            return asked(f"{self.name}: {doing}", call, commits=commits)


def _info(entry: RepoFile) -> FileInfo:
    if entry.lfs is not None:
        return FileInfo(entry.lfs.size, sha256=entry.lfs.sha256)
    return FileInfo(entry.size, git=entry.blob_id)


def _number(ref: str) -> int:
    tail = ref.rsplit("/", 1)[-1]
    return int(tail) if tail.isdigit() else 0
