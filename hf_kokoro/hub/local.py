"""A local folder as a target: all files of a commit and its history line change together or not at all.

A commit is written in this order, each step on disk before the next:
1. the new versions of the files, in `.hf_kokoro/staged/`;
2. `.hf_kokoro/commit.json`, which lists them: from here on the commit counts;
3. the renames, the history line, and the removal of `commit.json`.
A process that dies before 2 leaves staged files, which the next one deletes; one that dies later leaves
`commit.json`, which the next one carries out to the end.
"""

from __future__ import annotations

import filecmp
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from ..core.atomic import delete_temporaries, make_folders, sync_folder, write_atomically, write_synced
from ..core.disk import disk_errors, reason
from ..core.hubclient import Traffic
from ..core.patience import Patience
from ..core.series import Series
from .errors import CommitRace, HistoryError, NotKept, TargetError, UnwritableError, VerifyError
from .files import Notes, file_chunks, file_matches, locked, prefix_digests, write_grown
from .ledger import Declared, Entry, Ledger, new_entry, read_declared, read_entry
from .ours import first_line_of, refuse_foreign
from .target import CARD_PATH, LEDGER, Change, Commit, FileInfo, Grow, Ours, Remove, Revision, Snapshot

FOLDER = ".hf_kokoro"
LOCK_SECONDS = 600.0
AUTHORS = {"append": "append_rows", "adopt": "append_rows (adopted)", "found": "(elsewhere)"}
"""What the audit shows for the kinds of entries: a folder has no user accounts."""


class LocalTarget:
    """A folder that `datasets.load_dataset(folder)` reads; its history is in the hidden `.hf_kokoro`."""

    remote = False

    def __init__(self, folder: str | os.PathLike[str], lock_seconds: float = LOCK_SECONDS) -> None:
        self.folder = Path(folder).expanduser()
        if self.folder.exists() and not self.folder.is_dir():
            raise TargetError(f"target {str(folder)!r} is a file; allowed: a folder (name the file with --path)")
        self.name = self.route = str(folder)
        self.traffic, self.patience = Traffic(), Patience()
        self._hidden = self.folder / FOLDER
        self._lock_seconds = lock_seconds
        self.ledger = Ledger(self._hidden / "history.jsonl")
        self._notes = Notes(self._hidden / "proven.json")

    def __repr__(self) -> str:
        return f"LocalTarget({self.name!r})"

    @property
    def untouched(self) -> bool:
        """Is nothing of ours there yet? Then what would fail is looked at first, so that a failure leaves nothing."""
        return not self._hidden.exists()

    def index_dir(self, *, readonly: bool = False) -> Path | None:
        return None if readonly else self._hidden / "index"

    @contextmanager
    def exclusive(self, ours: Ours | None = None, *, readonly: bool = False) -> Iterator[None]:
        if not self._hidden.exists():
            self._refuse_foreign(ours)
        if readonly:
            yield
            return
        with locked(self._hidden, self._lock_seconds, self.name, "check the folder's rights"):
            self._recover()
            yield

    def snapshot(self, series: Series, ours: Ours | None = None, *, readonly: bool = False) -> Snapshot:
        with disk_errors(self.name, "nothing was written", UnwritableError):
            return self._snapshot(series, ours, readonly=readonly)

    def _snapshot(self, series: Series, ours: Ours | None, *, readonly: bool) -> Snapshot:
        self._refuse_foreign(ours)
        last = self.ledger.last()
        files, local = {}, {}
        listed = self._listed(series)
        for paths in (series.ordered(listed), LEDGER.ordered(self._listed(LEDGER))):
            for path in paths:
                file = self._file(path)
                known = last.files.get(path) if last else None
                files[path] = self._proven(path, file, known, sealed=path != paths[-1], readonly=readonly)
                local[path] = file
        for path, info in last.files.items() if last else ():
            if (path in series or path in LEDGER) and path not in files:
                raise HistoryError(
                    f"{self.name}: {path} had {info.size} bytes at the last append and is gone; put it "
                    "back, or see what the audit says",
                    0,
                )
        missing = "" if self.folder.exists() else f"the folder {self.name}"
        return Snapshot(last.id if last else "", files, local, self._card(), series.strays(listed), missing)

    def listing(self, base: Snapshot) -> Sequence[str]:
        files = (file for file in self.folder.rglob("*") if file.is_file())
        found = sorted(file.relative_to(self.folder).as_posix() for file in files)
        return [path for path in found if not path.startswith(f"{FOLDER}/")]

    def same(self, base: Snapshot, files: Mapping[str, bytes | Path]) -> set[str]:
        return {path for path, content in files.items() if _is_same(content, self.folder / path)}

    def commit(self, base: Snapshot, changes: Iterable[Change], message: str, *, adopted: int | None = None) -> Commit:
        last = self.ledger.last()
        if (last.id if last else "") != base.revision:
            raise CommitRace(f"{self.name}: another process appended in between")
        changes = [*changes]
        tails = [c.tail for c in changes if isinstance(c, Grow) and c.path not in LEDGER]
        added = sum(bool(line) for tail in tails for line in tail.split(b"\n")) - (adopted or 0)
        staged: dict[str, Path] = {}
        grown = dict(base.files)
        removed, deleted = list[str](), dict[str, str]()
        try:
            for change in changes:
                if isinstance(change, Remove):
                    if change.info is None:
                        removed.append(change.path)
                    else:
                        deleted[change.path] = self._still(change.path, change.info)
                        grown.pop(change.path, None)
                    continue
                staged[change.path] = self._staging_name(change.path)
                if isinstance(change, Grow):
                    grown[change.path] = self._stage_growth(change, base, staged[change.path])
                else:
                    _stage(change.content, staged[change.path])
            sync_folder(self._staged)
            entries = self._entries(last, base, grown, rows_added=added, deleted=deleted, adopted=adopted)
            names = {path: file.name for path, file in staged.items()} | dict.fromkeys(removed, "")
            self._declare(entries, names, deleted)
        except BaseException as error:
            # an interrupt may come when the commit counts already; then the next append carries it out
            declared = self._declared.exists()
            for file in () if declared else staged.values():
                file.unlink(missing_ok=True)
            if isinstance(error, OSError):
                what = "the next append will finish this one" if declared else "nothing was written"
                raise UnwritableError(f"{self.name}: can't be written ({reason(error)}); {what}") from error
            raise
        self._carry_out()
        for path, info in grown.items():
            if self._file(path).stat().st_size != info.size:
                raise VerifyError(f"{self.name}: {path} is not {info.size} bytes after the commit; is it being edited?")
        return Commit(entries[-1].id)

    def history(self, series: Series) -> Iterator[Revision]:
        """The recorded revisions; then one called "now" if the files hold more than the last of them.

        Only the last one has a card: a folder doesn't keep old cards.
        """
        parent, last = "", None
        recorded: dict[str, FileInfo] = {}
        for entry in self._complete_ledger():
            if entry.parent != parent or entry.computed_id() != entry.id:
                raise HistoryError(
                    f"{self.ledger.path}: entry {entry.id[:12]} does not follow from the one before it, so "
                    "the history itself was edited; put it back from a copy",
                    0,
                )
            if last is not None:
                yield last
            parent = entry.id
            recorded = {path: info for path, info in entry.files.items() if path in series or path in LEDGER}
            last = Revision(entry.id, entry.time, AUTHORS[entry.kind], recorded, adopted=entry.adopted)
        listed = self._listed(series)
        paths = [*series.ordered(listed), *LEDGER.ordered(self._listed(LEDGER))]
        now = {path: FileInfo(self._file(path).stat().st_size) for path in paths}
        if {path: info.size for path, info in now.items()} != {p: info.size for p, info in recorded.items()}:
            if last is not None:
                yield last
            last = Revision("now", "", AUTHORS["found"], now)
        if last is not None:
            card = self._file(CARD_PATH)
            extra = {CARD_PATH: FileInfo(card.stat().st_size)} if card.is_file() else {}
            yield replace(last, files={**last.files, **extra}, strays=series.strays(listed))

    def open(self, revision: Revision, path: str) -> BinaryIO:
        file = self._file(path)
        if path not in revision.files or not file.is_file() or file.stat().st_size != revision.files[path].size:
            raise NotKept(f"{self.name}: {path} at {revision.id[:12]} is not kept; a folder has only the newest bytes")
        return file.open("rb")

    def everything(self, revision: str) -> Mapping[str, FileInfo]:
        files = {file.relative_to(self.folder).as_posix(): file for file in self.folder.rglob("*") if file.is_file()}
        return {path: FileInfo(file.stat().st_size) for path, file in files.items() if not path.startswith(FOLDER)}

    def _still(self, path: str, info: FileInfo) -> str:
        """The sha256 of a file that goes. Raises CommitRace if it is not the one whose rows were read."""
        file = self._file(path)
        if info.sha256 is None or not file.is_file() or not file_matches(file, info):
            raise CommitRace(f"{self.name}: {path} changed while it was read")
        return info.sha256

    def _file(self, path: str) -> Path:
        # resolved, so that a data file or folder that is a link stays one
        return Path(os.path.realpath(self.folder / path))

    def _refuse_foreign(self, ours: Ours | None) -> None:
        if ours is None or not self.folder.is_dir():
            return
        found = (file for file in self.folder.rglob("*") if file.is_file())
        paths = (file.relative_to(self.folder).as_posix() for file in found)
        first_line = lambda path: first_line_of(file_chunks(self._file(path)))  # noqa: E731
        refuse_foreign(self.name, ours, self._card(), lambda: paths, first_line)

    def _card(self) -> bytes | None:
        card = self._file(CARD_PATH)
        return card.read_bytes() if card.is_file() else None

    def _listed(self, series: Series) -> list[str]:
        """The JSON Lines files in the folder of the series."""
        if not self.folder.is_dir():
            return []
        folder = (self.folder / series.path).parent
        found = {file.relative_to(self.folder).as_posix(): file for file in folder.glob("*.jsonl")}
        for path in series.ordered(found):
            self._refuse_folder(path)
        return [path for path, file in found.items() if file.is_file()]

    def _refuse_folder(self, path: str) -> None:
        if self._file(path).is_dir():
            raise TargetError(f"{self.name}: {path} is a folder; nothing was written; allowed: a file, or nothing yet")

    def _proven(self, path: str, file: Path, known: FileInfo | None, *, sealed: bool, readonly: bool) -> FileInfo:
        """Size and sha256 of the file, after checking that it starts with the bytes on record."""
        size = file.stat().st_size
        if sealed and known and size == known.size and self._notes.holds(path, file, known.sha256):
            return known
        digests = prefix_digests(file, {size, known.size} if known else {size})
        if known and (known.size not in digests or digests[known.size].hex() != known.sha256):
            offset = min(size, known.size)
            raise HistoryError(
                f"{self.name}: the first {known.size} bytes of {path} are no longer those of the last append "
                f"(the file has {size} bytes now); nothing was written; put the file back from a copy (the "
                f"audit shows what broke), or, if the change is wanted, delete {FOLDER}/ for a new history",
                offset,
            )
        proven = FileInfo(size, sha256=digests[size].hex())
        if sealed and not readonly:
            self._notes.add(path, file, proven.sha256)
        return proven

    def _stage_growth(self, change: Grow, base: Snapshot, staged: Path) -> FileInfo:
        """Write old bytes + tail to the staged file and check that the old bytes were the proven ones."""
        known = base.files.get(change.path)
        if change.anew and known:
            self._still(change.path, known)
            known = None
        copied, info = write_grown(base.local[change.path] if known else None, change.tail, staged)
        if known and copied != known.sha256:
            raise CommitRace(f"{self.name}: {change.path} changed while it was read")
        if change.path not in LEDGER:
            self.traffic.sent += len(change.tail)
        return info

    def _staging_name(self, path: str) -> Path:
        """A name for the new version of a file, on the file system where a rename can put it in place."""
        self._refuse_folder(path)
        folder = self._file(path).parent
        make_folders(folder)
        make_folders(self._staged)
        if folder.stat().st_dev != self._staged.stat().st_dev:
            raise TargetError(
                f"{self.name}: {path} is a link to another disk, where it can't be replaced in one step; "
                "append to a folder that is on one disk"
            )
        return self._staged / f"{uuid.uuid4().hex[:12]}.{Path(path).name}"

    @property
    def _staged(self) -> Path:
        return self._hidden / "staged"

    @property
    def _declared(self) -> Path:
        return self._hidden / "commit.json"

    def _entries(
        self,
        last: Entry | None,
        base: Snapshot,
        grown: Mapping[str, FileInfo],
        *,
        rows_added: int,
        deleted: Iterable[str],
        adopted: int | None,
    ) -> list[Entry]:
        """The history lines of a commit: one for bytes that others wrote before it, if any, and its own.

        Only a commit puts found bytes on record: until then a torn line may still be repaired.
        """
        entries, kept = [], dict(last.files) if last else {}
        if any(kept.get(path) != info for path, info in base.files.items()):
            kept |= base.files
            entries.append(new_entry(base.revision, "found", 0, kept))
        parent = entries[-1].id if entries else base.revision
        left = {path: info for path, info in {**kept, **grown}.items() if path not in set(deleted)}
        return [*entries, new_entry(parent, "append" if adopted is None else "adopt", rows_added, left, adopted)]

    def _declare(self, entries: Sequence[Entry], names: Mapping[str, str], deleted: Mapping[str, str]) -> None:
        lines = [entry.line().decode() for entry in entries]
        write_atomically(self._declared, Declared(names, self.ledger.size(), lines, deleted).content())

    def _carry_out(self) -> None:
        """Do what `commit.json` says; every step may have been done already."""
        with disk_errors(self.name, "the next append goes on from here", UnwritableError):
            self._carry_out_plan()

    def _carry_out_plan(self) -> None:
        plan = read_declared(self._declared)
        for path, name in plan.files.items():
            destination = self._file(path)
            if not name:
                destination.unlink(missing_ok=True)
            elif (self._staged / name).exists():
                os.replace(self._staged / name, destination)
                sync_folder(destination.parent)
        for path, sha256 in plan.deleted.items():
            file = self._file(path)
            # what somebody wrote there since is none of ours
            if file.is_file() and file_matches(file, FileInfo(file.stat().st_size, sha256=sha256)):
                file.unlink()
                sync_folder(file.parent)
        entry = read_entry(plan.entries[-1].encode(), self._declared, 0)
        for path, info in entry.files.items():
            size = self._file(path).stat().st_size if self._file(path).exists() else 0
            if size < info.size:
                raise HistoryError(
                    f"{self.name}: an append was interrupted and can't be finished: {path} has {size} of {info.size} "
                    f"bytes; put the file back from a copy, or delete {FOLDER}/ to start a new history",
                    size,
                )
        self.ledger.write("".join(plan.entries).encode(), plan.ledger_size)
        self._declared.unlink()
        sync_folder(self._hidden)

    def _recover(self) -> None:
        """After a crash: finish a declared commit, delete what was never declared."""
        if self._declared.exists():
            self._carry_out()
        delete_temporaries(self._hidden)
        for leftover in self._staged.glob("*"):
            leftover.unlink(missing_ok=True)

    def _complete_ledger(self) -> Iterator[Entry]:
        """The ledger as it will be once a declared commit is carried out."""
        if self._declared.exists():
            with self.exclusive():
                pass
        yield from self.ledger


def _is_same(content: bytes | Path, file: Path) -> bool:
    if not file.is_file():
        return False
    return filecmp.cmp(content, file, shallow=False) if isinstance(content, Path) else file.read_bytes() == content


def _stage(content: bytes | Path, destination: Path) -> None:
    if isinstance(content, Path):
        write_grown(content, b"", destination)
    else:
        write_synced(destination, content)
