"""What a judge is, and finding one by name.

Judges are found through the entry-point group `hf_kokoro.judges`, the built-in ones too, so that a package of
yours can add its own. A judge's class is called with what stands behind the colon in `--judge NAME:ARGUMENT`
(nothing, if there is no colon).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ..core.suggest import allowed
from ..errors import UsageError
from .verdicts import Opinion

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "hf_kokoro.judges"

_BUILT_IN = {
    "claude": "hf_kokoro.judging.claude:ClaudeJudge",
    "rule": "hf_kokoro.judging.rule:RuleJudge",
    "scripted": "hf_kokoro.judging.scripted:ScriptedJudge",
}
"""The same lines as in pyproject.toml, for a checkout that was never installed."""


@runtime_checkable
class Judge(Protocol):
    """Scores one answer at a time, alone, never beside its siblings.

    `judge_model` names who judges, `rubric_sha256` the exact instructions that were followed: together with
    the texts they are the verdict's identity, so a change of either is new work.
    """

    judge_model: str
    rubric_sha256: str

    def score(self, question: str, answer: str) -> Opinion:
        """Give an opinion on an answer, which is no blank or placeholder text.

        An unreadable outcome is a status, not an exception.
        """


@runtime_checkable
class AsyncJudge(Protocol):
    """A judge that waits for others: many answers are in flight at once, at most `concurrency`."""

    judge_model: str
    rubric_sha256: str
    concurrency: int

    async def score(self, question: str, answer: str) -> Opinion:
        """As Judge.score. Raises a retryable KokoroError if nobody answered and the item stays unscored."""

    async def aclose(self) -> None:
        """Give back connections."""


def judge_names() -> list[str]:
    """Names that `resolve_judge` knows: built-in and installed."""
    return sorted({*_BUILT_IN, *_installed()})


def resolve_judge(spec: str, **options: Any) -> Any:
    """Make the judge that `NAME` or `NAME:ARGUMENT` names. Raises UsageError for an unknown name."""
    name, colon, argument = spec.partition(":")
    if name in _BUILT_IN:
        # ours win: a stale installed copy or another package must not take over a documented name
        module, _, attribute = _BUILT_IN[name].partition(":")
        make = getattr(import_module(module), attribute)
    elif entry := _installed().get(name):
        make = entry.load()
    else:
        raise UsageError(f"judge {name!r} is not known; {allowed(name, judge_names())}")
    return make(argument, **options) if colon else make(**options)


def _installed() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=GROUP)}
