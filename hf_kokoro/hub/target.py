"""Where rows go: one protocol for a local folder and a Hub repo.

An append is: look at the target at one revision (`snapshot`), hold exact copies of the files that grow
(`Snapshot.local`), and commit old bytes + new bytes on top of that revision or not at all (`commit`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Protocol, runtime_checkable

from ..core.hubclient import Traffic
from ..core.patience import Patience
from ..core.series import Series

CARD_PATH = "README.md"
LEDGER = Series(".hf_kokoro/provenance.jsonl", hidden=True)
"""Who said what about which row, beside the rows and where no loader looks."""


@dataclass(frozen=True)
class FileInfo:
    """Size and digest of a file: `sha256` (LFS, Xet, local) or `git`, the blob id of regular Hub files."""

    size: int
    sha256: str | None = None
    git: str | None = None


@dataclass(frozen=True)
class Snapshot:
    """A target at one revision. `revision` is "" while there is nothing.

    `files` are the segments of the series that exist, and of the ledger; `local` maps them to local copies whose
    bytes were proven to be the target's; `card` is the card's bytes, None without one.
    """

    revision: str
    files: Mapping[str, FileInfo]
    local: Mapping[str, Path]
    card: bytes | None = None
    strays: Sequence[str] = ()
    """What lies beside the segments and only looks like one."""
    missing: str = ""
    """What isn't there yet and would be made by a commit: "the private repo user/x"; "" if all is there."""


@dataclass(frozen=True)
class Grow:
    """Add `tail` after the last byte of a data file (a new file if `path` is not in the snapshot).

    With `anew`, in an adoption only, `tail` is all of the file, whatever was there.
    """

    path: str
    tail: bytes
    anew: bool = False


@dataclass(frozen=True)
class Put:
    """Write a file (card, figure) as a whole; a Path is copied, for what is too large to hold."""

    path: str
    content: bytes | Path


@dataclass(frozen=True)
class Remove:
    """Delete a file that a build made, or whose rows were adopted: then `info` is what it was when they were read."""

    path: str
    info: FileInfo | None = None


Change = Grow | Put | Remove


@dataclass(frozen=True)
class Commit:
    """A commit that was read back: its revision and, if it became a pull request, where that is."""

    revision: str
    pr_url: str | None = None
    existed: bool = False
    """True if nothing was sent because an open pull request proposes exactly this already."""


@dataclass(frozen=True)
class Revision:
    """One step of a target's history and the files it had, for `audit`. `time` is ISO 8601 or ""."""

    id: str
    time: str
    author: str
    files: Mapping[str, FileInfo]
    strays: Sequence[str] = ()
    adopted: int | None = None
    """Rows that this revision says it took over from files of another layout."""


@dataclass(frozen=True)
class Ours:
    """What is to be written: `first` are the files of which the default config must take in one.

    `also` are paths that may be there beside them without a card that names them.
    """

    first: Sequence[str]
    series: Series | None = None
    also: Sequence[str] = ()
    named: bool = False
    """True if the caller chose the path, which then may be that of any config, beside other growing files."""

    @classmethod
    def growing(cls, series: Series, default: str, also: Sequence[str] = ()) -> Ours:
        """A growing series; `default` is the path that is grown when nobody names one."""
        return cls((series.path,), series, also, named=series.path != default)

    def grows(self, path: str) -> bool:
        """Whether it is of the growing file itself."""
        return self.series is not None and path in self.series

    def __contains__(self, path: str) -> bool:
        beside = self.named and path.endswith(".jsonl")
        return path in self.first or path in self.also or beside or self.grows(path)


@dataclass(frozen=True)
class Growth:
    """What a commit is about to do, for whoever adds files to it (the card, figures).

    `tails` maps data files to the bytes they gain; `sizes` and `rows` describe every data file as it will be;
    `local` are the data files as they are now, `card` the card's bytes as they are now (None: there is none).
    """

    series: Series
    rows_added: int
    rows_total: int
    tails: Mapping[str, bytes]
    sizes: Mapping[str, int]
    rows: Mapping[str, int]
    local: Mapping[str, Path]
    card: bytes | None
    ledger: Mapping[str, Sequence[Path | bytes]] = field(default_factory=dict)
    """The ledger's files as they will be, each in pieces, oldest first."""


ExtraFiles = Callable[[Growth], Mapping[str, bytes]]
"""Gives more files (path in the target to content) for the same commit; called again after a conflict."""


@runtime_checkable
class Target(Protocol):
    """A place that holds append-only data files. `LocalTarget` and `HubTarget` implement it."""

    name: str
    """How the target is named in reports and messages."""
    route: str
    """Where rows go and how, to find it again for spooled rows: server, repo, branch, and whether appends commit or
    propose."""
    remote: bool
    """True if rows leave this machine: the gate stops them, and they can be stuck on this side."""
    traffic: Traffic
    patience: Patience
    """How long reading and appending are tried again."""

    def exclusive(self, ours: Ours | None = None, *, readonly: bool = False) -> AbstractContextManager[None]:
        """Keep other writers of this machine out. The lock belongs to the process and dies with it.

        With `readonly` the target itself is not touched, not even to finish what a killed process began. Raises
        ForeignData before a lock is put into a folder that holds another dataset than `ours`.
        """

    def snapshot(self, series: Series, ours: Ours | None = None, *, readonly: bool = False) -> Snapshot:
        """Pin the newest revision, prove the files of the series and hold them locally.

        Nothing is made, only a commit does that: a target that doesn't exist is an empty one, and a new branch begins
        as the main one is; `missing` says so. With `readonly` nothing is put on record either.
        Raises ForeignData if a loader takes in something else than `ours` there, before anything is made;
        HistoryError if bytes on record were changed, AccessError, OutcomeUnknown, RateLimited.
        """

    def commit(self, base: Snapshot, changes: Iterable[Change], message: str, *, adopted: int | None = None) -> Commit:
        """Apply all changes on top of `base` or none, and read them back. `message` may have a body after a blank line;
        `adopted` rows are put on record as taken over.

        Raises CommitRace if `base` is no longer the newest revision, OutcomeUnknown, VerifyError, ....
        """

    def listing(self, base: Snapshot) -> Sequence[str]:
        """Paths of all files at a snapshot."""

    def same(self, base: Snapshot, files: Mapping[str, bytes | Path]) -> set[str]:
        """Those of the paths whose content at a snapshot is the given one."""

    def index_dir(self, *, readonly: bool = False) -> Path | None:
        """Where the row index of this target may be kept; None if that would change the target."""

    def history(self, series: Series) -> Iterator[Revision]:
        """Every revision, oldest first, with the files of the series (and the card) it had."""

    def everything(self, revision: str) -> Mapping[str, FileInfo]:
        """All files at a revision; a folder has only those of now, of which only the size is told."""

    def open(self, revision: Revision, path: str) -> BinaryIO:
        """Stream a file as it was at a revision. Raises NotKept if that can't be had any more."""
