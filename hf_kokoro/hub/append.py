"""append_rows: the whole way of a batch, for any target.

Check the rows, then: pin a revision, prove the bytes there, drop what is already in them, commit old bytes +
new lines on top of that revision, read back. If somebody else was faster, or the outcome isn't known, start
again from the newest revision: rows that turn out to be there are not sent twice. So whoever holds the rows (a
file, a journal) may send them again at any time; nothing is kept here unless the caller names a spool.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from ..core.patience import Patience, Tries, patiently, persistently
from ..core.reports import Report
from ..core.series import Series
from ..miti.contract import DATA_PATH
from ..policy import Gate, Policy, read_policy
from ..policy.notes import Notes
from .adopt import plan_adoption
from .adoption import Adoption
from .errors import (
    AppendFailed,
    ForeignData,
    LockedError,
    OutcomeUnknown,
    RateLimited,
    SpellingError,
    TargetError,
    UnreadableCard,
    UnwritableError,
    VerifyError,
)
from .incoming import Rows
from .local import LocalTarget
from .plan import Plan, describe_changes, plan_append
from .provenance import refuse_second_rubric
from .resolve import HubOptions, resolve_target
from .rows import NewRow, read_batch, refuse_if_faulty, write_rejects
from .spool import Spool
from .target import Commit, ExtraFiles, Ours, Snapshot, Target


@dataclass(frozen=True)
class AppendReport(Report):
    """What an append did.

    `revision` is the target's newest revision after it ("" if there is none). `duplicates` counts rows that
    were there already or came twice. `bytes_sent` and `bytes_received` are body bytes of the Hub's client (for
    a folder: the bytes of the new lines, and 0). `files` maps data files to the bytes they grew by.
    `findings` says, a line a kind, what in the texts may point to people and stays in them (on the Hub: because
    it was allowed); `redacted` counts what was replaced. `preview` is what a dry run would change; `missing` is what
    isn't there (a repo, a branch, a folder) and wasn't made, because there was nothing to add or in a dry run.
    `adopted` is the proof of an adoption (`hub.adoption.Adoption` as plain data), None where nothing was taken over.
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
    findings: Sequence[str] = ()
    redacted: int = 0
    preview: Sequence[str] = ()
    missing: str = ""
    allowed: Sequence[str] = ()
    decided: Sequence[str] = ()
    adopted: Mapping[str, Any] | None = None

    @property
    def proof(self) -> Sequence[str]:
        """The proof of an adoption in words; none where nothing was taken over."""
        return Adoption(**self.adopted).lines() if self.adopted else ()


def append_rows(
    target: str | PathLike[str] | Target,
    rows: Rows,
    path: str = DATA_PATH,
    *,
    allow: Iterable[str] = (),
    redact: bool | None = None,
    policy: str | PathLike[str] | Policy | None = None,
    strict: bool = False,
    skip_invalid: bool = False,
    whole_floats: bool = False,
    adopt: bool = False,
    mix_rubrics: bool = False,
    rejects: str | PathLike[str] = "rejects.jsonl",
    dry_run: bool = False,
    segment_bytes: int | None = None,
    message: str | None = None,
    extra_operations: ExtraFiles | None = None,
    notes: Notes | None = None,
    branch: str | None = None,
    pr: bool = False,
    private: bool = True,
    token: str | None = None,
    spool: str | PathLike[str] | None = None,
    patience: Patience | None = None,
    max_wait: float | None = None,
) -> AppendReport:
    """Add rows to a growing data file: old bytes + new lines, each row once, or no change at all.

    `rows` are mappings of the MITI-ST schema in any spelling that is read, a DataFrame, a `datasets.Dataset`, an Arrow
    table, or the path of a file (JSON Lines, JSON, Parquet, CSV, TSV, XLSX; in text cells `all_answers` is JSON). Rows
    that are in the target already are passed over, so the same call again writes nothing; new ones are spelled as
    those there. `whole_floats` takes 2.0, as pandas makes it, for 2. With `skip_invalid` faulty rows go to the file
    `rejects` (or a numbered one beside it, if that is taken) instead of refusing the batch. With `segment_bytes` a file
    that would grow past that size is sealed and the next segment begun.

    With `adopt` a place that holds its rows in another layout (such as that of `push_to_hub`) or in several spellings
    is taken over first: all of its rows and the new ones are in the growing file after one commit, which is proven with
    the plain loader before it is made. Its rows are not asked about private data again: they lie where they lay.
    `extra_operations` may add files (the card) to the same commit.

    Rows that another rubric or another judge scored than those there (by the digests that notes hold of the judge's
    instructions) are refused, or taken in with `mix_rubrics`.

    Who said what about each new row goes into `.hf_kokoro/provenance.jsonl`, in the same commit: what `notes` (and the
    file that `pair` leaves beside a rows file) say, as far as the answers' digests bear it out; else what a row states.

    Nothing leaves for the Hub whose texts may point to people: `allow` names kinds (email, phone, url, digits,
    name) that may stay, `redact` replaces the others by `[kind]`. In a folder findings are only reported, unless
    `strict`. `policy` (a file, see `hf_kokoro.policy.policy_file`) decides what these two leave open, single rows, and
    how long may be waited.

    On the Hub: `branch`, `pr`, `private` (for a repo that doesn't exist yet) and `token`. Every wait is logged;
    `max_wait` bounds the seconds of all of them (`patience` has all the limits). A failed or interrupted append says
    how many rows are not there, or that it isn't known; the same call again sends what is missing. With a folder
    `spool` the rows are kept there as well once it was given up for a reason that may pass; `send_spooled` (or
    `hf-kokoro spool send`) sends them, no other append does.

    Raises RowError (all faults listed), PrivacyError, ClaimError (rows that don't state their source and licence),
    LicenceError (rows of which nothing may be shared), SourceError (a file or notes that can't be read, no row),
    ForeignData, MixedRubrics, SpellingError, AdoptionError, BaseFormatError, HistoryError, AccessError, AppendFailed or
    another TargetError; then nothing in the target was changed, unless it is a VerifyError.
    """
    rules = read_policy(policy)
    max_wait = rules.or_given("max_wait", max_wait)
    place = resolve_target(target, HubOptions(branch, token, pr, private, max_wait))
    series = Series(path)
    gate = Gate(allow, redact=redact, policy=rules, stops=place.remote or strict)
    batch = read_batch(rows, gate, notes, path, whole_floats=whole_floats)
    if not skip_invalid:
        refuse_if_faulty(batch)
    gate.check()
    rejects_file = write_rejects(batch, Path(rejects)) if batch.rejects and not dry_run else None
    sent, received = place.traffic.sent, place.traffic.received
    options = _Options(segment_bytes, message, extra_operations, adopt, whole_floats, mix_rubrics)
    limits = (patience or place.patience).within(max_wait)
    run = _Run(place, series, options, limits)
    # a folder is written by this process: there is nothing that may pass
    kept_in = Spool(Path(spool)) if spool is not None and place.remote else None
    outcome = run.preview(batch.rows) if dry_run else run.append(batch.rows, kept_in)
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
        findings=tuple(gate.staying.lines()),
        redacted=gate.redacted,
        preview=outcome.preview,
        adopted=asdict(outcome.adoption) if outcome.adoption else None,
        missing=outcome.missing,
        allowed=gate.allowed,
        decided=gate.decided,
    )


@dataclass(frozen=True)
class _Outcome:
    commit: Commit
    added: int
    duplicates: int
    rows_total: int
    attempts: int
    files: Mapping[str, int]
    adoption: Adoption | None = None
    preview: Sequence[str] = ()
    missing: str = ""


_IN_DOUBT = (OutcomeUnknown, RateLimited, VerifyError, KeyboardInterrupt)
_SAFE = "the rows are safe: the next try looks first which have arrived, and sends the others"


@dataclass
class _Way:
    """How far an append came: the last plan, and the rows and the adoption that may have arrived though no reply said
    so."""

    plan: Plan | None = None
    in_doubt: frozenset[bytes] = frozenset()
    adoption: Adoption | None = None

    def unsent(self, rows: int, *, again: bool) -> str:
        """Which of the rows are not there, and, if the same helps `again`, what sends them."""
        if not rows:
            return ""
        if self.in_doubt:
            what = f"it is not known whether {_rows(len(self.in_doubt))} arrived"
        elif self.plan is not None:
            what = f"{_rows(self.plan.added)} {'is' if self.plan.added == 1 else 'are'} not there"
        else:
            what = f"nothing of {_rows(rows)} was sent"
        return f"{what}: the same command again sends what is missing and passes over what is there" if again else what


@dataclass(frozen=True)
class _Options:
    """What the caller decided of a commit."""

    segment_bytes: int | None
    message: str | None
    extra: ExtraFiles | None
    adopt: bool
    whole_floats: bool
    mix_rubrics: bool


@dataclass(frozen=True)
class _Run:
    """One way to one target."""

    target: Target
    series: Series
    options: _Options
    patience: Patience

    @property
    def ours(self) -> Ours:
        return Ours.growing(self.series, DATA_PATH)

    def preview(self, rows: Sequence[NewRow]) -> _Outcome:
        """What `append` would do now, without doing it."""
        return patiently(lambda: self._preview(rows), self.patience)

    def _preview(self, rows: Sequence[NewRow]) -> _Outcome:
        with self._exclusive(readonly=True):
            base, plan = self._planned(rows, readonly=True)
            self.series.warn_of_strays(base.strays, self.target.name)
            proof = plan.adoption.lines() if plan.adoption else []
            preview = [*proof, *describe_changes(base, plan.changes, plan.rows)]
            made = _outcome(plan, Commit(base.revision), _Way(), 0)
            return replace(made, preview=preview, missing=base.missing)

    def append(self, rows: Sequence[NewRow], spool: Spool | None) -> _Outcome:
        """Until the rows are there; or the error says which are not, and an AppendFailed leaves them in the spool."""
        way = _Way()
        try:
            if self.options.adopt and not rows:
                # with nothing to add and nothing to adopt nothing is made
                looked = self.preview(rows)
                if looked.adoption is None:
                    return replace(looked, preview=())
            outcome = self._until_done(rows, way)
        except KeyboardInterrupt as error:
            error.add_note(f"interrupted; {way.unsent(len(rows), again=True) or 'there was no row to send'}")
            raise
        except TargetError as error:
            passes = isinstance(error, AppendFailed | VerifyError | LockedError | UnwritableError)
            error.unsent = way.unsent(len(rows), again=passes)
            if spool is not None and rows and isinstance(error, AppendFailed):
                error.unsent += f"; {self._keep(rows, spool)}"
            raise
        if spool is not None:
            spool.forget(self.target.route, self.series.path, {row.id for row in rows})
        return outcome

    def _keep(self, rows: Sequence[NewRow], spool: Spool) -> str:
        try:
            spool.keep(self.target.name, self.target.route, self.series.path, rows)
        except OSError as error:
            return f"{spool.folder}: they could not be kept there ({error.strerror})"
        return f"they are kept in {spool.folder}: `hf-kokoro spool send {spool.folder}` sends them as well"

    def _until_done(self, rows: Sequence[NewRow], way: _Way) -> _Outcome:
        """Try until the rows are there, or Tries has enough."""
        if isinstance(self.target, LocalTarget) and self.target.untouched:
            # whatever fails in a folder that nothing of ours is in yet, fails before anything is made there
            with self._exclusive(readonly=True):
                self._planned(rows, readonly=True)

        def once(tries: Tries) -> _Outcome:
            plan = None
            # without rows there is nothing for which a place would have to be made
            readonly = not rows and not self.options.adopt
            try:
                with self._exclusive(readonly=readonly):
                    base, plan = self._planned(rows, readonly=readonly)
                    tries.head, way.plan = base.revision, plan
                    commit = Commit(base.revision)
                    if plan.changes:
                        adopted = plan.adoption.before if plan.adoption else None
                        commit = self.target.commit(base, plan.changes, self._message(plan), adopted=adopted)
            except (TargetError, KeyboardInterrupt) as error:
                # these may have arrived though no reply said so; if they are there next time, they are ours
                if plan is not None and isinstance(error, _IN_DOUBT):
                    way.in_doubt |= plan.new
                    way.adoption = plan.adoption or way.adoption
                raise
            self.series.warn_of_strays(base.strays, self.target.name)
            done = _outcome(plan, commit, way, tries.attempts)
            return done if plan.changes else replace(done, missing=base.missing)

        return persistently(once, Tries(self.patience, _SAFE))

    def _exclusive(self, *, readonly: bool) -> AbstractContextManager[None]:
        return self.target.exclusive(None if self.options.adopt else self.ours, readonly=readonly)

    def _planned(self, rows: Sequence[NewRow], *, readonly: bool) -> tuple[Snapshot, Plan]:
        """The target at its newest revision, and what is to be changed; two rubrics only meet on purpose."""
        base, plan = self._looked_up(rows, readonly=readonly)
        if not self.options.mix_rubrics:
            refuse_second_rubric(base, plan.rows, self.series.path)
        return base, plan

    def _looked_up(self, rows: Sequence[NewRow], *, readonly: bool) -> tuple[Snapshot, Plan]:
        """The target, and the plan of growing it; adopted is only what can't be grown."""
        try:
            base = self.target.snapshot(self.series, self.ours, readonly=readonly)
            return base, self._plan(base, rows, readonly=readonly)
        except (ForeignData, SpellingError) as refusal:
            if not self.options.adopt or isinstance(refusal, UnreadableCard):
                raise
            base = self.target.snapshot(self.series, readonly=readonly)
            if not self.target.listing(base):
                raise  # a branch that is yet to be made
            segments, extra = self.options.segment_bytes, self.options.extra
            whole = self.options.whole_floats
            return base, plan_adoption(
                self.target, base, self.series, rows, segment_bytes=segments, extra=extra, whole_floats=whole
            )

    def _plan(self, base: Snapshot, rows: Sequence[NewRow], *, readonly: bool = False) -> Plan:
        return plan_append(
            base,
            self.series,
            rows,
            index_dir=self.target.index_dir(readonly=readonly),
            segment_bytes=self.options.segment_bytes,
            extra=self.options.extra,
        )

    def _message(self, plan: Plan) -> str:
        if plan.adoption:
            return plan.adoption.message(self.options.message)
        return self.options.message or f"Add {_rows(plan.added)} to {self.series.path}"


def _rows(count: int) -> str:
    return f"{count} row{'s' if count != 1 else ''}"


def _outcome(plan: Plan, commit: Commit, way: _Way, attempts: int) -> _Outcome:
    """The numbers of a finished append; what arrived in an earlier try counts as done now."""
    total, adoption = plan.rows_total, plan.adoption or way.adoption
    if commit.existed:
        landed = len(way.in_doubt & plan.new)
        return _Outcome(commit, landed, plan.duplicates + plan.added - landed, total, attempts, {}, adoption)
    landed = len(way.in_doubt - plan.new)
    added, duplicates = plan.added + landed, plan.duplicates - landed
    return _Outcome(commit, added, duplicates, total, attempts, plan.grown, adoption)
