"""A dataset repo on the Hub as a target."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import BinaryIO

from huggingface_hub import CommitOperationAdd, CommitOperationDelete, GitCommitInfo, HfApi

from ..core.disk import disk_errors
from ..core.hubclient import LEAST_SECONDS, READ_SECONDS, OwnClient, Traffic
from ..core.patience import Patience, patiently
from ..core.secrets import masked
from ..core.series import Series
from .adoption import adopted_rows
from .dataset_repo import DatasetRepo, Operation
from .errors import CommitRace, TargetError, UnwritableError, VerifyError
from .files import content_matches, file_matches, locked, write_grown
from .mirror import Mirror, cache_root, folder_name
from .ours import first_line_of, refuse_foreign
from .pinned import PinnedStream
from .target import CARD_PATH, LEDGER, Change, Commit, FileInfo, Grow, Ours, Remove, Revision, Snapshot

_PULL_REQUESTS_LOOKED_AT = 20
_WAY_OUT = "it is the mirror; free some space there, or set HF_KOKORO_CACHE to another folder"
PROPOSE = "propose to"
"""How the route of a target begins whose appends are pull requests."""


class HubTarget:
    """One branch of a dataset repo.

    `token=None` uses the saved login. `pr=True` opens a pull request instead of committing to the branch. A repo or
    branch that doesn't exist is made by the first commit, the repo private unless `private=False`. `max_wait` bounds
    the seconds of waiting: for an answer, between tries, for another process.
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
        max_wait: float | None = None,
    ) -> None:
        self.repo_id, self.branch, self.pr, self.private = repo_id, branch, pr, private
        self.name = masked(f"hf://datasets/{repo_id}" + ("" if branch == "main" else f"@{branch}"))
        self.traffic, self.patience = Traffic(), (patience or Patience()).within(max_wait)
        if max_wait is not None:
            lock_seconds = min(lock_seconds, max_wait)
            read_seconds = min(read_seconds, max(max_wait, LEAST_SECONDS))
        api = HfApi(endpoint=endpoint, token=token)
        way = PROPOSE if pr else "commit to"
        self.route = masked(f"{way} {api.endpoint}/datasets/{repo_id}@{branch}")
        self._lock_seconds = lock_seconds
        own = OwnClient(self.traffic, read_seconds, token)
        self._repo = DatasetRepo(self.name, repo_id, branch, api=api, token=token, own=own)
        root = Path(cache_dir) if cache_dir is not None else cache_root()
        self._folder = root / "mirrors" / folder_name(api.endpoint, repo_id, branch)
        self.mirror = Mirror(self._folder)

    def __repr__(self) -> str:
        return f"HubTarget({self.name!r})"

    def index_dir(self, *, readonly: bool = False) -> Path | None:
        return self._folder / "index"

    @contextmanager
    def exclusive(self, ours: Ours | None = None, *, readonly: bool = False) -> Iterator[None]:
        """One append at a time for each mirror; other machines are kept apart by the parent commit.

        Looking alone needs no mirror: where there can't be one, the files go to a temporary folder.
        """
        with ExitStack() as stack:
            try:
                stack.enter_context(locked(self._folder, self._lock_seconds, self.name, _WAY_OUT))
                self.mirror.clean()
            except UnwritableError:
                if not readonly:
                    raise
                self.mirror = Mirror(Path(stack.enter_context(TemporaryDirectory())))
                stack.callback(setattr, self, "mirror", Mirror(self._folder))
            yield

    def snapshot(self, series: Series, ours: Ours | None = None, *, readonly: bool = False) -> Snapshot:
        with disk_errors(self.mirror.folder, f"nothing was sent; {_WAY_OUT}", UnwritableError):
            revision, missing = self._repo.head(self.private)
            if not revision:
                if gone := next((path for path in self.mirror.held() if path in series or path in LEDGER), None):
                    raise self.mirror.removed(gone)
                return Snapshot("", {}, {}, missing=missing)
            card = self._card(revision)
            if ours is not None:
                pinned = self._repo.pinned(revision)
                first_line = lambda path: first_line_of(pinned.fetch(path, 0))  # noqa: E731
                refuse_foreign(self.name, ours, card, partial(self._repo.files, revision), first_line)
            listed, noted = self._listed(series, revision), self._listed(LEDGER, revision)
            files = {path: listed[path] for path in series.ordered(listed)}
            files |= {path: noted[path] for path in LEDGER.ordered(noted)}
            for path in self.mirror.held():
                if (path in series or path in LEDGER) and path not in files:
                    raise self.mirror.removed(path)
            fetch = self._repo.pinned(revision).fetch
            local = {path: self.mirror.prove(path, info, fetch) for path, info in files.items()}
            return Snapshot(revision, files, local, card, series.strays(listed), missing)

    def listing(self, base: Snapshot) -> Sequence[str]:
        return list(self._repo.files(base.revision)) if base.revision else []

    def same(self, base: Snapshot, files: Mapping[str, bytes | Path]) -> set[str]:
        known = self.infos(files, base.revision) if base.revision else {}
        return {path for path, info in known.items() if _holds(files[path], info)}

    def commit(self, base: Snapshot, changes: Iterable[Change], message: str, *, adopted: int | None = None) -> Commit:
        sent: dict[str, bytes | Path] = {}
        grown: list[str] = []
        removed: list[str] = []
        try:
            with disk_errors(self._folder, f"nothing was sent; {_WAY_OUT}", UnwritableError):
                for change in changes:
                    if isinstance(change, Remove):
                        removed.append(change.path)
                    elif isinstance(change, Grow):
                        grown.append(change.path)
                        sent[change.path] = staged = self.mirror.staging(change.path)
                        former = None if change.anew else base.local.get(change.path)
                        write_grown(former, change.tail, staged)
                    else:
                        sent[change.path] = change.content
            # what grew decides: a card may have been dated since
            wanted = {path: sent[path] for path in grown} or sent
            if self.pr and base.revision and (already := self._same_pull_request(wanted)):
                return already
            operations: list[Operation] = [CommitOperationAdd(path, _sendable(sent[path])) for path in sent]
            operations += [CommitOperationDelete(path, is_folder=False) for path in removed]
            commit = self._repo.commit(self._made(base), operations, message, pr=self.pr)
            there = self._read_back(commit.revision, sent, removed)
            if not self.pr:
                self._adopt({path: sent[path] for path in grown}, there)
                for path in removed:
                    self.mirror.forget(path)
            return commit
        finally:
            self.mirror.clean()

    def history(self, series: Series) -> Iterator[Revision]:
        """The commits of the branch, oldest first. Reading is tried again a few times."""
        for commit in reversed(patiently(self._repo.commits, self.patience)):
            yield patiently(partial(self._revision, commit, series), self.patience)

    def open(self, revision: Revision, path: str) -> BinaryIO:
        if path not in revision.files:
            raise TargetError(f"{self.name}: no {path} at {revision.id[:12]}")
        fetch, size = self._repo.pinned(revision.id).fetch, revision.files[path].size
        return io.BufferedReader(PinnedStream(fetch, path, size, self.patience), 1 << 20)

    def everything(self, revision: str) -> dict[str, FileInfo]:
        return self._repo.files(revision) if revision else {}

    def infos(self, paths: Iterable[str], revision: str) -> dict[str, FileInfo]:
        """Size and digest of those files that exist at a revision; nothing is downloaded."""
        return self._repo.infos(paths, revision)

    def is_private(self) -> bool | None:
        """None if there is no such repo, or none that the token can see."""
        return patiently(self._repo.is_private, self.patience)

    def _revision(self, commit: GitCommitInfo, series: Series) -> Revision:
        listed, noted = self._listed(series, commit.commit_id), self._listed(LEDGER, commit.commit_id)
        files = {path: listed[path] for path in series.ordered(listed)} | self.infos([CARD_PATH], commit.commit_id)
        files |= {path: noted[path] for path in LEDGER.ordered(noted)}
        time = commit.created_at.isoformat(timespec="seconds")
        adopted = adopted_rows(f"{commit.title}\n{commit.message}", series.path)
        return Revision(commit.commit_id, time, ", ".join(commit.authors), files, series.strays(listed), adopted)

    def _card(self, revision: str) -> bytes | None:
        """The card at a commit; None if there is none."""
        info = self.infos([CARD_PATH], revision).get(CARD_PATH)
        return self.mirror.small(CARD_PATH, info, self._repo.pinned(revision).fetch) if info else None

    def _listed(self, series: Series, revision: str) -> dict[str, FileInfo]:
        """The files at a commit in the folder of the series."""
        return self._repo.files(revision, str(PurePosixPath(series.path).parent))

    def _made(self, base: Snapshot) -> str:
        """The commit to go on from, once the repo or branch that `base` misses is made.

        Raises CommitRace if somebody else made the repo meanwhile and put something in.
        """
        if not base.missing:
            return base.revision
        revision = self._repo.make(base.revision, base.missing, self.private)
        if not base.revision and [path for path in self._repo.files(revision) if not path.startswith(".")]:
            raise CommitRace(f"{self.name}: somebody else made the repo meanwhile")
        return revision

    def _adopt(self, grown: Mapping[str, bytes | Path], there: Mapping[str, FileInfo]) -> None:
        """Take what was committed as the new copy; where that can't be, the next append fetches it."""
        with suppress(OSError):
            for path, file in grown.items():
                if isinstance(file, Path):
                    self.mirror.adopt(path, file, there[path])

    def _read_back(
        self, revision: str, sent: Mapping[str, bytes | Path], removed: Sequence[str]
    ) -> dict[str, FileInfo]:
        """Sizes and digests at the new commit, after checking that they are those of what was sent."""
        found = self.infos([*sent, *removed], revision)
        wrong = {path: f"{found[path].size} bytes" for path in removed if path in found}
        for path, content in sent.items():
            if path not in found or not _holds(content, found[path]):
                wrong[path] = f"{found[path].size} other bytes" if path in found else "no file"
        for path, got in wrong.items():
            raise VerifyError(
                f"{self.name}: commit {revision[:12]} was accepted, but {path} reads back as {got}; "
                "look at that commit on the Hub before the next append"
            )
        return found

    def _same_pull_request(self, wanted: Mapping[str, bytes | Path]) -> Commit | None:
        """An open pull request that proposes exactly these files: ours, if a reply was lost or on a second run."""
        for ref in self._repo.pull_requests()[:_PULL_REQUESTS_LOOKED_AT]:
            there = self.infos(wanted, ref.target_commit)
            if all(path in there and _holds(content, there[path]) for path, content in wanted.items()):
                details = self._repo.pull_request(ref)
                if details.status == "open":
                    return Commit(ref.target_commit, masked(details.url), existed=True)
        return None


def _holds(content: bytes | Path, info: FileInfo) -> bool:
    return file_matches(content, info) if isinstance(content, Path) else content_matches(content, info)


def _sendable(content: bytes | Path) -> bytes | str:
    return str(content) if isinstance(content, Path) else content
