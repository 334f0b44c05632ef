"""send_spooled: what appends left in a spool goes out now, through append_rows and its gate, and in no other way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from pathlib import Path

from ..core.jsonl import parse_object
from ..core.patience import Patience
from ..errors import KokoroError, UsageError
from ..policy import Policy, read_policy
from ..policy.gate import check_kinds
from ..policy.notes import Notes, parse_note
from .append import AppendReport, append_rows
from .resolve import HubOptions, resolve_target
from .spool import Spool, SpoolEntry
from .target import ExtraFiles, Target


class SendError(KokoroError):
    """Some entries were not sent and wait on; `reports` are of those that were."""

    def __init__(self, message: str, reports: list[AppendReport]) -> None:
        self.reports = reports
        super().__init__(message)


def send_spooled(
    folder: str | PathLike[str],
    *,
    ids: Iterable[str] = (),
    target: Target | None = None,
    allow: Iterable[str] = (),
    redact: bool | None = None,
    policy: str | PathLike[str] | Policy | None = None,
    dry_run: bool = False,
    segment_bytes: int | None = None,
    mix_rubrics: bool = False,
    extra_operations: Callable[[str, str], ExtraFiles | None] = lambda target, path: None,
    token: str | None = None,
    patience: Patience | None = None,
    max_wait: float | None = None,
    done: Callable[[AppendReport], None] = lambda report: None,
) -> list[AppendReport]:
    """Append the entries of a spool (those named by `ids`, else all), oldest first, and drop what arrived.

    Entries that another process is sending are left to it. With a `target` only its entries are sent, through it;
    else each goes where it was to go, and a repo that must be made is made private. `allow`, `redact`, `policy`,
    `dry_run`, `segment_bytes`, `mix_rubrics`, `token`, `patience` and `max_wait` are those of `append_rows`;
    `extra_operations` gives them for (target, path). `done` is called after each entry. Raises UsageError for an
    unknown kind or id, and SendError if entries could not be sent, after all were tried. Interrupted, it keeps the
    entry that it was at and the others.
    """
    kinds, rules, wanted = check_kinds(allow), read_policy(policy), tuple(ids)
    max_wait = rules.or_given("max_wait", max_wait)
    spool = Spool(Path(folder).expanduser())
    entries = spool.chosen(wanted) if wanted else spool.entries()
    reports: list[AppendReport] = []
    failures: list[str] = []
    for entry in _held(spool, entries):
        if target is not None and entry.route != target.route:
            continue
        try:
            place = target or _target_of(entry, token, max_wait)
            kept = entry.read()
            report = append_rows(
                place,
                [parse_object(row.line) for row in kept],
                entry.path,
                allow=kinds,
                redact=redact,
                policy=rules,
                dry_run=dry_run,
                segment_bytes=segment_bytes,
                mix_rubrics=mix_rubrics,
                extra_operations=extra_operations(entry.target, entry.path),
                notes=Notes(dict(parse_note(row.note, entry.id) for row in kept if row.note)),
                patience=patience,
                max_wait=max_wait,
            )
        except KokoroError as error:
            failures.append(f"{entry.id} ({entry.rows} rows for {entry.target}): {error}")
            continue
        if not dry_run:
            spool.drop(entry)
        reports.append(report)
        done(report)
    if failures:
        told = "\n".join(f"  {failure}" for failure in failures)
        raise SendError(f"{len(failures)} of {len(failures) + len(reports)} entries wait on:\n{told}", reports)
    return reports


def _held(spool: Spool, entries: Iterable[SpoolEntry]) -> Iterator[SpoolEntry]:
    """Each entry that no other process is sending, held while the caller is at it."""
    for entry in entries:
        if spool.hold(entry):
            try:
                yield entry
            finally:
                spool.release(entry)


def _target_of(entry: SpoolEntry, token: str | None, max_wait: float | None) -> Target:
    """Where an entry was to go. Raises SourceError, UsageError if that is another server than today's."""
    from .remote import PROPOSE

    entry.read()
    place = resolve_target(entry.target, HubOptions(token=token, pr=entry.route.startswith(PROPOSE), max_wait=max_wait))
    if place.route != entry.route:
        raise UsageError(f"it is to {entry.route}, and this would {place.route}; set HF_ENDPOINT to that server")
    return place
