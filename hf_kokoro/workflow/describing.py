"""`card` and `publish`: what a dataset says of itself, and the way to the Hub."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from .. import cards
from ..cards.check_files import folder_problems
from ..core.places import read_place
from ..core.reports import Report
from ..policy import Policy, read_policy

if TYPE_CHECKING:
    from ..cards import CardReport, PublishReport
    from ..hub import Target


@dataclass(frozen=True)
class BuiltCardReport(Report):
    """What is wrong with the card of a folder that `build` made; no problem: it fits its files."""

    target: str
    problems: tuple[str, ...]


def card(
    target: str | PathLike[str] | Target,
    *,
    figures: bool = True,
    check: bool = False,
    croissant: bool = False,
    agreement: str | PathLike[str] | None = None,
    validity: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
    policy: str | PathLike[str] | Policy | None = None,
    max_wait: float | None = None,
) -> CardReport | BuiltCardReport:
    """Render README.md, the derived configs and the figures of a growing dataset from its rows.

    With `check` nothing is written: `changed` of the report says what does not fit the rows; for a folder that
    `build` made the report lists every problem of its card. `croissant` adds a validated croissant.json; `agreement`
    is the file of a report of `agree`, `validity` are those of one or several of `validate`. Every wait for the Hub is
    logged, `max_wait` bounds all of them, in seconds; of `policy` that is all that counts here: the rows of a card
    passed the gate when they came. Raises what `hf_kokoro.cards.write_card` raises.
    """
    max_wait = read_policy(policy).or_given("max_wait", max_wait)
    place = read_place(target) if isinstance(target, str | PathLike) else None
    if check and isinstance(place, Path) and _is_built(place):
        return BuiltCardReport(str(place), tuple(str(problem) for problem in folder_problems(place)))
    return cards.write_card(
        target,
        figures=figures,
        check=check,
        croissant=croissant,
        agreement=agreement,
        validity=[validity] if isinstance(validity, str | PathLike) else validity,
        max_wait=max_wait,
    )


def _is_built(folder: Path) -> bool:
    """A local folder with a card and without growing rows."""
    return (folder / "README.md").is_file() and not (folder / "data" / "pilot.jsonl").exists()


def publish(
    folder: str | PathLike[str],
    to: str | PathLike[str] | Target,
    *,
    public: bool = False,
    private: bool = False,
    holds_licence: bool = False,
    allow: Sequence[str] = (),
    redact: bool | None = None,
    policy: str | PathLike[str] | Policy | None = None,
    figures: bool = True,
    dry_run: bool = False,
    max_wait: float | None = None,
    token: str | None = None,
) -> PublishReport:
    """Publish a dataset folder: licence, privacy and card are checked first, then data and card go in one commit.

    `public`: a repo that does not exist yet is made public (else private). `holds_licence`, with `private`: the
    caller holds a licence for sources that do not allow publishing. `allow` names kinds of private data that may
    stay, `redact` replaces the others, the file `policy` decides what they leave open. Every wait for the Hub is
    logged, `max_wait` bounds all of them, in seconds; `token` is used instead of the saved login. Raises what
    `hf_kokoro.cards.publish` raises.
    """
    options = cards.PublishOptions(
        public, private, holds_licence, tuple(allow), redact, figures, dry_run, policy, max_wait, token
    )
    return cards.publish(folder, to, options)
