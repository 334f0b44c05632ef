"""append_rows: the whole way of a batch, for any target.

Check the rows, then: pin a revision, prove the bytes there, drop what is already in them, commit old bytes +
new lines on top of that revision, read back. If somebody else was faster, or the outcome isn't known, start
again from the newest revision: rows that turn out to be there are not sent twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path

from ..schema.miti_st import DATA_PATH
from .batch import Batch, NewRow, Rows, read_batch, refuse_if_faulty, write_rejects
from .errors import CommitRace, TargetError
from .growth import ExtraFiles
from .ours import Ours
from .patience import Patience, Tries
from .plan import Plan, plan_append
from .preview import describe_changes
from .segments import Series
from .spool import Spool, default_spool
from .target import Commit, HubOptions, Snapshot, Target, resolve_target


@dataclass(frozen=True)
class AppendReport:
    """What an append did.

    `revision` is the target's newest revision after it ("" if there is none). `duplicates` counts rows that
    were there already or came twice. `bytes_sent` and `bytes_received` are body bytes of the Hub's client (for
    a folder: the bytes of the new lines, and 0). `files` maps data files to the bytes they grew by.
    `from_spool` counts rows of former runs that were sent along; `preview` is what a dry run would change.
    """

    added: int
    duplicates: int
    revision: str
    rows_total: int
    bytes_sent: int
    bytes_received: int
    attempts: int
    target: str = ""
    files: Mapping[str, int] = field(default_factory=dict)
    rejected: int = 0
    rejects_file: str | None = None
    dry_run: bool = False
    pr_url: str | None = None
    from_spool: int = 0
    preview: Sequence[str] = ()


def append_rows(
    target: str | PathLike[str] | Target,
    rows: Rows,
    path: str = DATA_PATH,
    *,
    skip_invalid: bool = False,
    rejects: str | PathLike[str] = "rejects.jsonl",
    dry_run: bool = False,
    segment_bytes: int | None = None,
    message: str | None = None,
    extra_operations: ExtraFiles | None = None,
    branch: str | None = None,
    pr: bool = False,
    private: bool = True,
    token: str | None = None,
    spool: str | PathLike[str] | None = None,
    patience: Patience | None = None,
) -> AppendReport:
    """Add rows to a growing data file: old bytes + new lines, each row once, or no change at all.

    `rows` are mappings of the MITI-ST schema, or the path of a JSON Lines file. Rows that are in the target
    already are passed over, so the same call again writes nothing. With `skip_invalid` faulty rows go to the
    file `rejects` (or a numbered one beside it, if that is taken) instead of refusing the batch. With
    `segment_bytes` a file that would grow past that size is sealed and the next segment begun.
    `extra_operations` may add files (the card) to the same commit.

    On the Hub: `branch`, `pr`, `private` (for a repo that doesn't exist yet) and `token`. Rows are kept in
    the folder `spool` until they are known to be there; the next run sends what a former one could not.

    Raises RowError (all faults listed), ForeignData, BaseFormatError, HistoryError, AccessError, AppendFailed or
    another TargetError; then nothing in the target was changed, unless it is a VerifyError.
    """
    place = resolve_target(target, HubOptions(branch, token, pr, private))
    series = Series(path)
    batch = read_batch(rows)
    if not skip_invalid:
        refuse_if_faulty(batch)
    rejects_file = write_rejects(batch, Path(rejects)) if batch.rejects and not dry_run else None
    sent, received = place.traffic.sent, place.traffic.received
    run = _Run(place, series, segment_bytes, message, extra_operations, patience or place.patience)
    outcome = run.preview(batch) if dry_run else run.append(batch, _spool_for(place, spool))
    return AppendReport(
        added=outcome.added,
        duplicates=outcome.duplicates + batch.repeats,
        revision=outcome.commit.revision,
        rows_total=outcome.rows_total,
        bytes_sent=place.traffic.sent - sent,
        bytes_received=place.traffic.received - received,
        attempts=outcome.attempts,
        target=place.name,
        files=outcome.files,
        rejected=len(batch.rejects),
        rejects_file=str(rejects_file) if rejects_file else None,
        dry_run=dry_run,
        pr_url=outcome.commit.pr_url,
        from_spool=outcome.from_spool,
        preview=outcome.preview,
    )


def _spool_for(place: Target, folder: str | PathLike[str] | None) -> Spool | None:
    # a folder is written by this process: there is no way on which rows could be lost
    if not place.remote:
        return None
    return Spool(Path(folder)) if folder is not None else default_spool()


@dataclass(frozen=True)
class _Outcome:
    commit: Commit
    added: int
    duplicates: int
    rows_total: int
    attempts: int
    files: Mapping[str, int]
    from_spool: int = 0
    preview: Sequence[str] = ()


@dataclass(frozen=True)
class _Run:
    """One way to one target."""

    target: Target
    series: Series
    segment_bytes: int | None
    message: str | None
    extra: ExtraFiles | None
    patience: Patience

    @property
    def ours(self) -> Ours:
        return Ours.growing(self.series, DATA_PATH)

    def preview(self, batch: Batch) -> _Outcome:
        """What `append` would do now, without doing it."""
        with self.target.exclusive(self.ours, readonly=True):
            base = self.target.snapshot(self.series, self.ours, readonly=True)
            plan = self._plan(base, batch.rows, readonly=True)
            preview = describe_changes(base, plan.changes, plan.rows)
            return replace(_outcome(plan, Commit(base.revision), frozenset(), 0), preview=preview)

    def append(self, batch: Batch, spool: Spool | None) -> _Outcome:
        if spool is None:
            return self._until_done(batch.rows, Tries(self.patience))
        with ExitStack() as stack:
            entries = spool.take(self.target.route, self.series.path)
            for entry in entries:
                stack.callback(spool.release, entry)
            former = {row.id: row for entry in entries for row in entry.read()}
            new = [row for row in batch.rows if row.id not in former]
            if new:
                entries.append(spool.put(self.target.name, self.target.route, self.series.path, new))
                stack.callback(spool.release, entries[-1])
            try:
                outcome = self._until_done([*former.values(), *new], Tries(self.patience))
            except TargetError as error:
                error.kept = f"unsent rows are kept in {spool.folder}; the next append sends them first"
                raise
            for entry in entries:
                spool.drop(entry)
            repeats = len(batch.rows) - len(new)
            return replace(outcome, duplicates=outcome.duplicates + repeats, from_spool=len(former))

    def _until_done(self, rows: Sequence[NewRow], tries: Tries) -> _Outcome:
        """Try until the rows are there, or Tries has enough."""
        in_doubt: frozenset[bytes] = frozenset()
        while True:
            tries.begin()
            plan, head = None, None
            try:
                with self.target.exclusive(self.ours):
                    base = self.target.snapshot(self.series, self.ours)
                    head = base.revision
                    plan = self._plan(base, rows)
                    commit = Commit(base.revision)
                    if plan.changes:
                        commit = self.target.commit(base, plan.changes, self._message(plan))
                return _outcome(plan, commit, in_doubt, tries.attempts)
            except TargetError as error:
                if not error.retryable:
                    raise
                if plan is not None and not isinstance(error, CommitRace):
                    # these may have arrived though no reply said so; if they are there next time, they are ours
                    in_doubt |= plan.new
                tries.after(error, head)

    def _plan(self, base: Snapshot, rows: Sequence[NewRow], *, readonly: bool = False) -> Plan:
        return plan_append(
            base,
            self.series,
            rows,
            index_dir=self.target.index_dir(readonly=readonly),
            segment_bytes=self.segment_bytes,
            extra=self.extra,
        )

    def _message(self, plan: Plan) -> str:
        return self.message or f"Add {plan.added} row{'s' if plan.added != 1 else ''} to {self.series.path}"


def _outcome(plan: Plan, commit: Commit, in_doubt: frozenset[bytes], attempts: int) -> _Outcome:
    """The numbers of a finished append; rows that arrived in an earlier try count as added."""
    if commit.existed:
        landed = len(in_doubt & plan.new)
        return _Outcome(commit, landed, plan.duplicates + plan.added - landed, plan.rows_total, attempts, {})
    landed = len(in_doubt - plan.new)
    added, duplicates = plan.added + landed, plan.duplicates - landed
    return _Outcome(commit, added, duplicates, plan.rows_total, attempts, plan.grown)
