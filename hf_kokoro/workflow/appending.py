"""`append_rows`: rows into a growing dataset, its card and derived configs renewed in the same commit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol

from ..miti.contract import DATA_PATH

if TYPE_CHECKING:
    from ..hub import AppendReport, ExtraFiles, Growth, Patience, Target
    from ..hub.incoming import Rows
    from ..policy import Policy
    from ..policy.notes import Notes

Row = Mapping[str, Any]
_CARD_MARK = b"<!-- yours:"
"""What every card of `hf-kokoro card` has, and hardly any other: places for the owner's own text."""


def append_rows(
    target: str | PathLike[str] | Target,
    rows: Rows,
    path: str = DATA_PATH,
    *,
    card: bool | None = None,
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
    written_by: str | None = None,
    branch: str | None = None,
    pr: bool = False,
    private: bool = True,
    token: str | None = None,
    spool: str | PathLike[str] | None = None,
    patience: Patience | None = None,
    max_wait: float | None = None,
) -> AppendReport:
    """Add rows to a growing dataset: each row once, old bytes untouched, or no change at all.

    `card` renews card, derived configs and figures in the same commit: None where `card` wrote the card that is there,
    True always, False never; files of `extra_operations` go along. `notes` say what is known of rows beside their keys,
    as the file beside a rows file of `pair` does; `written_by` is what you declare of the rows that nothing else says
    it of. All else is as for `hf_kokoro.hub.append_rows`: what `rows` may be, taking over another layout (`adopt`), and
    the errors it raises.
    """
    from .. import hub
    from ..hub.resolve import HubOptions
    from ..policy.claims import declared_claim
    from ..policy.notes import Notes

    declared = declared_claim(None, None, written_by)
    place = hub.resolve_target(target, HubOptions(branch, token, pr, private, max_wait))
    return hub.append_rows(
        place,
        rows,
        path,
        allow=allow,
        redact=redact,
        policy=policy,
        strict=strict,
        skip_invalid=skip_invalid,
        whole_floats=whole_floats,
        adopt=adopt,
        mix_rubrics=mix_rubrics,
        rejects=rejects,
        dry_run=dry_run,
        segment_bytes=segment_bytes,
        message=message,
        extra_operations=_together(card_hook(place, path, card), extra_operations),
        notes=replace(notes or Notes(), written_by=declared.written_by),
        spool=spool,
        patience=patience,
        max_wait=max_wait,
    )


def _together(first: ExtraFiles | None, second: ExtraFiles | None) -> ExtraFiles | None:
    if first is None or second is None:
        return first or second
    card, more = first, second
    return lambda growth: {**card(growth), **more(growth)}


class Append(Protocol):
    """`append_rows` with everything settled but the rows and how long to try."""

    def __call__(self, rows: list[Row], *, patience: Patience | None, notes: Notes) -> AppendReport: ...


def appender(
    to: str,
    path: str,
    card: bool | None = None,
    *,
    branch: str | None = None,
    private: bool = True,
    token: str | None = None,
    max_wait: float | None = None,
    **options: Any,
) -> Append:
    """Appends to `to`, the card renewed in the same commit; `options` are those of `append_rows`.

    Raises UsageError now for what can't be meant, and ForeignData if it holds another dataset; what else may be wrong
    with it (it may be out of reach for a while) is said by the appends.
    """
    from ..hub import Patience, append_rows, resolve_target
    from ..hub.errors import ForeignData, TargetError
    from ..hub.resolve import HubOptions
    from ..policy import read_policy
    from ..policy.gate import check_kinds

    check_kinds(options.get("allow", ()))
    options["policy"] = read_policy(options.get("policy"))
    place = resolve_target(to, HubOptions(branch, token, private=private, max_wait=max_wait))
    try:
        append_rows(place, [], path, dry_run=True, patience=Patience(faults=2, seconds=10.0, longest_wait=1.0))
    except ForeignData:
        raise
    except TargetError:
        pass
    hook = card_hook(place, path, card)

    def append(rows: list[Row], *, patience: Patience | None, notes: Notes) -> AppendReport:
        patience = patience or Patience()
        if max_wait is not None:
            patience = patience.within(min(max_wait, patience.seconds))
        return append_rows(place, rows, path, extra_operations=hook, patience=patience, notes=notes, **options)

    return append


def card_hook(to: str | PathLike[str] | Target, path: str, wanted: bool | None) -> ExtraFiles | None:
    """Renews card, derived configs and figures together with the rows, so that they never say old numbers."""
    from importlib.util import find_spec

    from ..cards import card_files
    from ..hub import resolve_target

    if wanted is False or (wanted is None and path != DATA_PATH):
        return None
    repo = getattr(resolve_target(to), "repo_id", None)

    def files(growth: Growth) -> Mapping[str, bytes]:
        card = growth.card or b""
        if wanted is None and _CARD_MARK not in card:
            return {}
        figures = find_spec("matplotlib") is not None and (wanted is True or b"assets/" in card)
        return card_files(growth, repo=repo, figures=figures) if repo else card_files(growth, figures=figures)

    return files
