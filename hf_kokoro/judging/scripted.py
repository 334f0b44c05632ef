"""A judge that answers from a script: for tests, demonstrations, and verdicts that come from elsewhere.

The script is JSON Lines. A line is either five scores, `{"empathy": 3, ..., "no_confront": 1}`, or another
outcome, `{"status": "refused"}` (also incomplete, invalid, blank, placeholder); both may have `reason` and `raw`.
A line with `answer_sha256` is for that answer alone, wherever it comes (and for one question alone if it has
`question_sha256`); the others are given out in order, one an answer, and start again when they run out.
A first line `{"judge_model": "..."}` names the judge, so that two scripts can stand for two judges. A line
that is not in this form is a reply that can't be read: it gives `invalid`, with the line as `raw`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core.jsonl import parse_object
from ..errors import UsageError
from ..miti.contract import DIMENSIONS
from .verdicts import Opinion, VerdictError, text_sha256

DEFAULT_MODEL = "scripted"


class ScriptedJudge:
    """Replies from a file (`scripted:FILE`) or from a list of lines; see the module for their form."""

    def __init__(self, script: str | Path | Sequence[str]) -> None:
        lines = script_lines(script, "scripted judge")
        self.judge_model = DEFAULT_MODEL
        if lines and "judge_model" in (first := _parse(lines[0])):
            self.judge_model = str(first["judge_model"])
            lines = lines[1:]
        if not lines:
            raise UsageError("scripted judge: no reply in the script; give at least one line, see the README")
        self.rubric_sha256 = hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()
        self._pinned: dict[tuple[str, str], str] = {}
        self._turns: list[str] = []
        for line in lines:
            fields = _parse(line)
            if "answer_sha256" in fields:
                self._pinned[str(fields["answer_sha256"]), str(fields.get("question_sha256", ""))] = line
            else:
                self._turns.append(line)
        self._next = 0

    def score(self, question: str, answer: str) -> Opinion:
        """The line pinned to this answer, else the next one."""
        digest = text_sha256(answer)
        line = self._pinned.get((digest, text_sha256(question))) or self._pinned.get((digest, ""))
        if line is None:
            if not self._turns:
                return Opinion("invalid", reason="the script has no line for this answer")
            line = self._turns[self._next % len(self._turns)]
            self._next += 1
        return _opinion(line)


def script_lines(script: str | Path | Sequence[str], who: str) -> list[str]:
    """The replies of a script, a file or its lines. Raises UsageError, in the name of `who`, if it can't be read."""
    if isinstance(script, str | Path):
        try:
            script = Path(script).read_text("utf-8-sig").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{who}: {script} can't be read as UTF-8 text ({type(error).__name__})") from error
    return [line for line in script if line.strip()]


def _parse(line: str) -> dict[str, Any]:
    try:
        return parse_object(line)
    except ValueError:
        return {}


def _opinion(line: str) -> Opinion:
    fields = _parse(line)
    scores = {name: fields[name] for name in DIMENSIONS if name in fields}
    reason, raw = str(fields.get("reason", "")), str(fields.get("raw", line))
    try:
        return Opinion(str(fields.get("status", "scored")), scores or None, reason, raw)
    except VerdictError as error:
        return Opinion("invalid", reason=str(error), raw=raw)
