"""Repos, commits and blobs of the Hub double. Blobs lie in a folder, so that large files cost no memory."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Blob:
    """A file's bytes at a commit. `git` is the blob id that the Hub gives as `oid`."""

    size: int
    sha256: str
    git: str
    lfs: bool


@dataclass(frozen=True)
class Commit:
    oid: str
    parent: str | None
    title: str
    author: str
    date: datetime
    tree: Mapping[str, Blob]
    message: str = ""


@dataclass
class PullRequest:
    number: int
    title: str
    status: str = "open"


class ParentMoved(Exception):
    """The parent commit that was named is not the head."""


class Repo:
    """One repo: refs to commits, each with its whole tree; `prefix` stands before its id in addresses of pages."""

    def __init__(self, store: Store, repo_id: str, private: bool, prefix: str) -> None:
        self.store, self.id, self.private, self.prefix = store, repo_id, private, prefix
        self.commits: dict[str, Commit] = {}
        self.refs: dict[str, str] = {}
        self.pull_requests: list[PullRequest] = []
        first = self.store.put(b"*.parquet filter=lfs diff=lfs merge=lfs -text\n", lfs=False)
        self._add("refs/heads/main", None, "initial commit", "author", {".gitattributes": first})

    def head(self, branch: str = "main") -> Commit:
        return self.commits[self.refs[ref_name(branch)]]

    def at(self, revision: str) -> Commit | None:
        """The commit of a branch, pull request or commit id; None if there is none."""
        oid = self.refs.get(ref_name(revision), revision)
        return self.commits.get(oid)

    def log(self, revision: str) -> Iterator[Commit]:
        """Newest first."""
        commit = self.at(revision)
        while commit is not None:
            yield commit
            commit = self.commits.get(commit.parent) if commit.parent else None

    def commit(
        self,
        files: Mapping[str, bytes | None],
        *,
        branch: str = "main",
        author: str = "another",
        title: str = "by hand",
        lfs: bool = False,
    ) -> Commit:
        """Commit as another writer would: path to content, None deletes."""
        blobs = {path: None if data is None else self.store.put(data, lfs=lfs) for path, data in files.items()}
        with self.store.lock:
            return self.apply(blobs, branch=branch, parent=None, author=author, title=title)

    def apply(
        self,
        blobs: Mapping[str, Blob | None],
        *,
        branch: str,
        parent: str | None,
        author: str,
        title: str,
        message: str = "",
    ) -> Commit:
        """Put a commit on a branch. Raises ParentMoved. The store's lock is held by the caller."""
        head = self.head(branch)
        if parent is not None and parent != head.oid:
            raise ParentMoved
        tree = {path: blob for path, blob in {**head.tree, **blobs}.items() if blob is not None}
        return self._add(ref_name(branch), head.oid, title, author, tree, message)

    def propose(self, blobs: Mapping[str, Blob | None], *, parent: str, author: str, title: str) -> PullRequest:
        """Open a pull request with a commit on top of `parent`."""
        request = PullRequest(len(self.pull_requests) + 1, title)
        self.pull_requests.append(request)
        tree = {path: blob for path, blob in {**self.commits[parent].tree, **blobs}.items() if blob is not None}
        self._add(f"refs/pr/{request.number}", parent, title, author, tree)
        return request

    def read(self, path: str, revision: str = "main") -> bytes:
        commit = self.at(revision)
        assert commit is not None
        return self.store.read(commit.tree[path])

    def _add(
        self, ref: str, parent: str | None, title: str, author: str, tree: Mapping[str, Blob], message: str = ""
    ) -> Commit:
        number = len(self.commits)
        content = repr((parent, title, number, sorted((p, b.sha256) for p, b in tree.items()), self.id))
        oid = hashlib.sha1(content.encode()).hexdigest()
        commit = Commit(oid, parent, title, author, EPOCH + timedelta(minutes=number), dict(tree), message)
        self.commits[oid] = commit
        self.refs[ref] = oid
        return commit


@dataclass
class Store:
    """All repos and blobs."""

    folder: Path
    repos: dict[str, Repo] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def create(self, repo_id: str, private: bool = False, prefix: str = "datasets/") -> Repo:
        self.repos[repo_id] = Repo(self, repo_id, private, prefix)
        return self.repos[repo_id]

    def put(self, content: bytes, *, lfs: bool) -> Blob:
        blob = Blob(len(content), hashlib.sha256(content).hexdigest(), git_id(content), lfs)
        self.file(blob.sha256).write_bytes(content)
        return blob

    def has(self, sha256: str) -> bool:
        return self.file(sha256).exists()

    def lfs_blob(self, sha256: str) -> Blob:
        """The blob of an uploaded LFS object; as on the Hub its git id is that of the pointer file."""
        size = self.file(sha256).stat().st_size
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {size}\n"
        return Blob(size, sha256, git_id(pointer.encode()), True)

    def file(self, sha256: str) -> Path:
        return self.folder / sha256

    def read(self, blob: Blob) -> bytes:
        return self.file(blob.sha256).read_bytes()


def ref_name(revision: str) -> str:
    return revision if revision.startswith("refs/") else f"refs/heads/{revision}"


def git_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
