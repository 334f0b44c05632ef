"""append_rows: the whole way of a batch, for any target.

Check the rows, then: pin a revision, prove the bytes there, drop what is already in them, commit old bytes +
new lines on top of that revision, read back. If somebody else was faster, start again from the new revision.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

from ..schema.miti_st import DATA_PATH
from .atomic import write_atomically
from .batch import Batch, Rows, read_batch, refuse_if_faulty
from .errors import CommitRace
from .plan import ExtraFiles, Plan, plan_append
from .segments import Series
from .target import Commit, Snapshot, Target, resolve_target

TRIES = 12


@dataclass(frozen=True)
class AppendReport:
    """What an append did.

    `revision` is the target's newest revision after it ("" if there is none). `duplicates` counts rows that
    were there already or came twice. `bytes_sent` and `bytes_received` are body bytes on the network (for a
    folder: the bytes of the new lines, and 0). `files` maps data files to the bytes they grew by.
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
) -> AppendReport:
    """Add rows to a growing data file: old bytes + new lines, each row once, or no change at all.

    `rows` are mappings of the MITI-ST schema, or the path of a JSON Lines file. Rows that are in the target
    already are passed over, so the same call again writes nothing. With `skip_invalid` faulty rows go to the
    file `rejects` instead of refusing the batch. With `segment_bytes` a file that would grow past that size
    is sealed and the next segment begun. `extra_operations` may add files (the card) to the same commit.

    Raises RowError (all faults listed), BaseFormatError, HistoryError or another TargetError; then nothing in
    the target was changed.
    """
    place, series = resolve_target(target), Series(path)
    batch = read_batch(rows)
    if not skip_invalid:
        refuse_if_faulty(batch)
    if batch.rejects and not dry_run:
        write_atomically(Path(rejects), b"".join(line.rstrip(b"\n") + b"\n" for line in batch.rejects), 0o600)
    sent, received = place.traffic.sent, place.traffic.received
    run = _Run(place, series, batch, segment_bytes, message, extra_operations)
    outcome = run.preview() if dry_run else run.append()
    return AppendReport(
        added=outcome.plan.added,
        duplicates=outcome.plan.duplicates + batch.repeats,
        revision=outcome.commit.revision,
        rows_total=outcome.plan.rows_total,
        bytes_sent=place.traffic.sent - sent,
        bytes_received=place.traffic.received - received,
        attempts=outcome.attempts,
        target=place.name,
        files=outcome.plan.grown,
        rejected=len(batch.rejects),
        rejects_file=str(rejects) if batch.rejects and not dry_run else None,
        dry_run=dry_run,
        pr_url=outcome.commit.pr_url,
    )


@dataclass(frozen=True)
class _Outcome:
    plan: Plan
    commit: Commit
    attempts: int


@dataclass(frozen=True)
class _Run:
    """One batch on its way to one target."""

    target: Target
    series: Series
    batch: Batch
    segment_bytes: int | None
    message: str | None
    extra: ExtraFiles | None

    def preview(self) -> _Outcome:
        """What `append` would do now; reads only, and remembers nothing."""
        base = self.target.snapshot(self.series, readonly=True)
        return _Outcome(self._plan(base, remember=False), Commit(base.revision), 0)

    def append(self) -> _Outcome:
        with self.target.exclusive():
            for attempt in range(1, TRIES + 1):
                base = self.target.snapshot(self.series)
                plan = self._plan(base, remember=True)
                if not plan.changes:
                    return _Outcome(plan, Commit(base.revision), attempt)
                try:
                    commit = self.target.commit(base, plan.changes, self._message(plan))
                except CommitRace:
                    if attempt == TRIES:
                        raise
                else:
                    return _Outcome(plan, commit, attempt)
        raise AssertionError("the last try returns or raises")

    def _plan(self, base: Snapshot, *, remember: bool) -> Plan:
        return plan_append(
            base,
            self.series,
            self.batch.rows,
            index_dir=self.target.index_dir() if remember else None,
            segment_bytes=self.segment_bytes,
            extra=self.extra,
        )

    def _message(self, plan: Plan) -> str:
        return self.message or f"Add {plan.added} row{'s' if plan.added != 1 else ''} to {self.series.path}"
