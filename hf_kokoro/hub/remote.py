"""A dataset repo on the Hub as a target."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO, TypeVar

from huggingface_hub import (
    CommitOperationAdd,
    CommitOperationDelete,
    DiscussionWithDetails,
    GitCommitInfo,
    GitRefInfo,
    HfApi,
)
from huggingface_hub.errors import EntryNotFoundError, RepositoryNotFoundError, RevisionNotFoundError
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils._runtime import is_xet_available

from ..core.series import Series
from .adoption import adopted_rows
from .client import READ_SECONDS, OwnClient
from .errors import TargetError, VerifyError
from .files import content_matches, file_matches, locked, write_grown
from .http import Pinned, PinnedStream, asked
from .mirror import Mirror, cache_root, folder_name
from .ours import first_line_of, refuse_foreign
from .patience import Patience, patiently
from .target import CARD_PATH, Change, Commit, Delete, FileInfo, Grow, Ours, Revision, Snapshot, Traffic

_T = TypeVar("_T")
_TYPE = "dataset"
_PULL_REQUESTS_LOOKED_AT = 20
PROPOSE = "propose to"
"""How the route of a target begins whose appends are pull requests."""


class HubTarget:
    """One branch of a dataset repo.

    `token=None` uses the saved login. `pr=True` opens a pull request instead of committing to the branch. A
    repo that doesn't exist is made on the first append, private unless `private=False`.
    """

    remote = True

    def __init__(
        self,
        repo_id: str,
        branch: str = "main",
        token: str | None = None,
        *,
        pr: bool = False,
        private: bool = True,
        endpoint: str | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        patience: Patience | None = None,
        lock_seconds: float = 900.0,
        read_seconds: float = READ_SECONDS,
    ) -> None:
        self.repo_id, self.branch, self.pr, self.private = repo_id, branch, pr, private
        self.name = f"hf://datasets/{repo_id}" + ("" if branch == "main" else f"@{branch}")
        self.traffic, self.patience = Traffic(), patience or Patience()
        self._api = HfApi(endpoint=endpoint, token=token)
        way = PROPOSE if pr else "commit to"
        self.route = f"{way} {self._api.endpoint}/datasets/{repo_id}@{branch}"
        self._token, self._lock_seconds = token, lock_seconds
        self._own = OwnClient(self.traffic, read_seconds)
        root = Path(cache_dir) if cache_dir is not None else cache_root()
        self._folder = root / "mirrors" / folder_name(self._api.endpoint, repo_id, branch)
        self.mirror = Mirror(self._folder)

    def __repr__(self) -> str:
        return f"HubTarget({self.name!r})"

    def index_dir(self, *, readonly: bool = False) -> Path | None:
        return self._folder / "index"

    @contextmanager
    def exclusive(self, ours: Ours | None = None, *, readonly: bool = False) -> Iterator[None]:
        """One append at a time for each mirror; other machines are kept apart by the parent commit."""
        way_out = "it is the mirror; set HF_KOKORO_CACHE to another folder"
        with locked(self._folder, self._lock_seconds, self.name, way_out):
            self.mirror.clean()
            yield

    def snapshot(self, series: Series, ours: Ours | None = None, *, readonly: bool = False) -> Snapshot:
        revision = self._head(ours, create=not readonly)
        if revision is None:
            return Snapshot("", {}, {})
        card = self._card(revision)
        self._refuse_foreign(ours, revision, card)
        listed = self._listed(series, revision)
        files = {path: listed[path] for path in series.ordered(listed)}
        for path in self.mirror.held():
            if path in series and path not in files:
                raise self.mirror.removed(path)
        fetch = self._pinned(revision).fetch
        local = {path: self.mirror.prove(path, info, fetch) for path, info in files.items()}
        return Snapshot(revision, files, local, card, series.strays(listed))

    def commit(self, base: Snapshot, changes: Iterable[Change], message: str, *, adopted: int | None = None) -> Commit:
        staged: dict[str, Path] = {}
        sent: dict[str, FileInfo | bytes | Path] = {}
        operations: list[CommitOperationAdd] = []
        deleted: list[str] = []
        try:
            for change in changes:
                if isinstance(change, Delete):
                    deleted.append(change.path)
                elif isinstance(change, Grow):
                    staged[change.path] = self.mirror.staging(change.path)
                    former = None if change.anew else base.local.get(change.path)
                    _, sent[change.path] = write_grown(former, change.tail, staged[change.path])
                    operations.append(CommitOperationAdd(change.path, str(staged[change.path])))
                else:
                    sent[change.path] = change.content
                    operations.append(CommitOperationAdd(change.path, change.content))
            if self.pr and (already := self._same_pull_request(base, staged)):
                return already
            commit = self._send(base, operations, deleted, message)
            read_back = self._read_back(commit.revision, staged, sent, deleted)
            if not self.pr:
                for path, file in staged.items():
                    self.mirror.adopt(path, file, read_back[path])
                for path in deleted:
                    self.mirror.forget(path)
            return commit
        finally:
            self.mirror.clean()

    def history(self, series: Series) -> Iterator[Revision]:
        """The commits of the branch, oldest first. Reading is tried again a few times."""

        def commits() -> list[GitCommitInfo]:
            return self._api.list_repo_commits(self.repo_id, repo_type=_TYPE, revision=self.branch)

        newest_first = patiently(lambda: self._ask("listing the commits", commits), self.patience)
        for commit in reversed(newest_first):
            yield patiently(partial(self._revision, commit, series), self.patience)

    def open(self, revision: Revision, path: str) -> BinaryIO:
        if path not in revision.files:
            raise TargetError(f"{self.name}: no {path} at {revision.id[:12]}")
        fetch, size = self._pinned(revision.id).fetch, revision.files[path].size
        return io.BufferedReader(PinnedStream(fetch, path, size, self.patience), 1 << 20)

    def everything(self, revision: str) -> dict[str, FileInfo]:
        def tree() -> dict[str, FileInfo]:
            entries = self._api.list_repo_tree(self.repo_id, recursive=True, revision=revision, repo_type=_TYPE)
            return {entry.path: _info(entry) for entry in entries if isinstance(entry, RepoFile)}

        return self._ask("listing the files", tree) if revision else {}

    def infos(self, paths: Iterable[str], revision: str) -> dict[str, FileInfo]:
        """Size and digest of those files that exist at a revision; nothing is downloaded."""
        return {path: _info(entry) for path, entry in self._paths(list(paths), revision).items()}

    def _ask(self, doing: str, call: Callable[[], _T], *, commits: bool = False) -> _T:
        with self._own.used():
            return asked(f"{self.name}: {doing}", call, commits=commits)

    def _pinned(self, revision: str) -> Pinned:
        return Pinned(self.repo_id, revision, token=self._token, endpoint=self._api.endpoint, own=self._own)

    def _revision(self, commit: GitCommitInfo, series: Series) -> Revision:
        listed = self._listed(series, commit.commit_id)
        files = {path: listed[path] for path in series.ordered(listed)} | self.infos([CARD_PATH], commit.commit_id)
        time = commit.created_at.isoformat(timespec="seconds")
        adopted = adopted_rows(f"{commit.title}\n{commit.message}", series.path)
        return Revision(commit.commit_id, time, ", ".join(commit.authors), files, series.strays(listed), adopted)

    def _head(self, ours: Ours | None, create: bool) -> str | None:
        """Commit of the branch. With `create` a missing repo or branch is made, else it gives None.

        A new branch begins as the main one is, so that has to hold `ours`.
        """

        def look(branch: str | None = self.branch) -> str | None:
            return self._api.dataset_info(self.repo_id, revision=branch, expand=["sha"]).sha

        def look_or_create() -> str | None:
            try:
                return look()
            except RevisionNotFoundError:
                if self.branch.startswith("refs/"):
                    raise
                if ours is not None and (main := look(None)):
                    self._refuse_foreign(ours, main, self._card(main))
                if create:
                    self._api.create_branch(self.repo_id, branch=self.branch, repo_type=_TYPE, exist_ok=True)
            except RepositoryNotFoundError as error:
                if error.response.status_code == 401:
                    raise
                if create:
                    self._api.create_repo(self.repo_id, repo_type=_TYPE, private=self.private, exist_ok=True)
                    if self.branch != "main":
                        self._api.create_branch(self.repo_id, branch=self.branch, repo_type=_TYPE, exist_ok=True)
            return look() if create else None

        return self._ask("looking up the newest commit", look_or_create)

    def _card(self, revision: str) -> bytes | None:
        """The card at a commit; None if there is none."""
        info = self.infos([CARD_PATH], revision).get(CARD_PATH)
        return self.mirror.small(CARD_PATH, info, self._pinned(revision).fetch) if info else None

    def _refuse_foreign(self, ours: Ours | None, revision: str, card: bytes | None) -> None:
        if ours is not None:
            fetch = self._pinned(revision).fetch
            refuse_foreign(
                self.name,
                ours,
                card,
                lambda: self.everything(revision),
                lambda path: first_line_of(fetch(path, 0)),
            )

    def _listed(self, series: Series, revision: str) -> dict[str, FileInfo]:
        """The files at a commit in the folder of the series."""
        folder = str(PurePosixPath(series.path).parent)

        def tree() -> list[RepoFile]:
            try:
                entries = self._api.list_repo_tree(
                    self.repo_id, None if folder == "." else folder, revision=revision, repo_type=_TYPE
                )
                return [entry for entry in entries if isinstance(entry, RepoFile)]
            except EntryNotFoundError:
                return []

        return {entry.path: _info(entry) for entry in self._ask("listing the data files", tree)}

    def _paths(self, paths: list[str], revision: str) -> dict[str, RepoFile]:
        def info() -> dict[str, RepoFile]:
            entries = self._api.get_paths_info(self.repo_id, paths, revision=revision, repo_type=_TYPE)
            return {entry.path: entry for entry in entries if isinstance(entry, RepoFile)}

        return self._ask("reading sizes and digests", info)

    def _send(self, base: Snapshot, operations: list[CommitOperationAdd], deleted: list[str], message: str) -> Commit:
        """Upload, then commit on top of `base`. Two calls, so that each begins with the time limits in place."""

        def upload() -> None:
            # several files over plain HTTP would go out in threads of the client's, without our time limits
            for additions in [operations] if is_xet_available() else ([operation] for operation in operations):
                self._api.preupload_lfs_files(
                    self.repo_id,
                    additions,
                    repo_type=_TYPE,
                    revision=self.branch,
                    create_pr=self.pr,
                    free_memory=False,
                )

        title, _, body = message.partition("\n\n")

        def commit() -> Commit:
            done = self._api.create_commit(
                self.repo_id,
                [*operations, *map(CommitOperationDelete, deleted)],
                commit_message=title,
                commit_description=body,
                repo_type=_TYPE,
                revision=self.branch,
                parent_commit=base.revision,
                create_pr=self.pr,
            )
            return Commit(done.oid, done.pr_url)

        self._ask("uploading", upload)
        for operation in operations:
            # the client would leave such a file out of the commit with one line in the log
            if getattr(operation, "_should_ignore", False):
                raise TargetError(
                    f"{self.name}: {operation.path_in_repo} is ignored by the repo's .gitignore, so the Hub would "
                    "not take it; change .gitignore or use another --path"
                )
        return self._ask("committing", commit, commits=True)

    def _read_back(
        self,
        revision: str,
        staged: Mapping[str, Path],
        sent: Mapping[str, FileInfo | bytes | Path],
        deleted: list[str],
    ) -> dict[str, FileInfo]:
        """Sizes and digests at the new commit, after checking that they are those of what was sent."""
        there = self._paths([*sent, *deleted], revision)
        if left := [path for path in deleted if path in there]:
            raise VerifyError(f"{self.name}: commit {revision[:12]} was accepted, but {left[0]} is still there")
        found = {}
        for path, ours in sent.items():
            info = _info(there[path]) if path in there else None
            same = info is not None and (
                content_matches(ours, info)
                if isinstance(ours, bytes)
                else file_matches(ours if isinstance(ours, Path) else staged[path], info)
            )
            if info is None or not same:
                got = f"{info.size} other bytes" if info else "no file"
                raise VerifyError(
                    f"{self.name}: commit {revision[:12]} was accepted, but {path} reads back as {got}; "
                    "look at that commit on the Hub before the next append"
                )
            found[path] = info
        return found

    def _same_pull_request(self, base: Snapshot, staged: Mapping[str, Path]) -> Commit | None:
        """An open pull request that proposes exactly these files: ours, if a reply was lost or on a second run."""

        def refs() -> list[GitRefInfo]:
            found = self._api.list_repo_refs(self.repo_id, repo_type=_TYPE, include_pull_requests=True)
            return found.pull_requests or []

        newest_first = sorted(self._ask("listing pull requests", refs), key=lambda r: _number(r.ref), reverse=True)
        for ref in newest_first[:_PULL_REQUESTS_LOOKED_AT]:
            there = self._paths(list(staged), ref.target_commit)
            if all(path in there and file_matches(file, _info(there[path])) for path, file in staged.items()):
                details = self._ask("reading a pull request", partial(self._details, _number(ref.ref)))
                if details.status == "open":
                    return Commit(ref.target_commit, details.url, existed=True)
        return None

    def _details(self, number: int) -> DiscussionWithDetails:
        return self._api.get_discussion_details(self.repo_id, number, repo_type=_TYPE)


def _info(entry: RepoFile) -> FileInfo:
    if entry.lfs is not None:
        return FileInfo(entry.lfs.size, sha256=entry.lfs.sha256)
    return FileInfo(entry.size, git=entry.blob_id)


def _number(ref: str) -> int:
    tail = ref.rsplit("/", 1)[-1]
    return int(tail) if tail.isdigit() else 0
