"""Who rates dialogues: Claude on the judging machinery (back-off, budget), or a script; and who may not."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ..errors import UsageError
from ..judging.claude import ClaudeJudge, unsendable
from ..judging.messages import Unanswered, answer_text
from ..judging.scripted import script_lines
from ..judging.verdicts import Opinion
from .dialogue_rubric import read_ratings, request_parameters, rubric_sha256
from .two_turn import GeneratedDialogue, transcript

FAMILIES = {
    "claude": ("claude", "anthropic"),
    "gpt": ("gpt", "chatgpt", "openai", "davinci"),
    "gemini": ("gemini", "gemma", "palm"),
    "llama": ("llama", "swallow", "vicuna", "elyza"),
    "qwen": ("qwen", "qwq"),
    "mistral": ("mistral", "mixtral", "magistral"),
    "deepseek": ("deepseek",),
    "phi": ("phi",),
}
"""Model family to the words in a model's name that show it; a derived model belongs to its base's family."""


@dataclass(frozen=True)
class Rating:
    """`scores` (metric to 1-5) exactly if `status` is scored; else refused, incomplete or invalid."""

    status: str
    scores: Mapping[str, int] | None = None
    reason: str = ""
    raw: str = ""


class DialogueRater(Protocol):
    """Rates one dialogue at a time; up to `concurrency` are in flight."""

    judge_model: str
    rubric_sha256: str
    concurrency: int

    async def rate(self, dialogue: GeneratedDialogue) -> Rating:
        """Rate a dialogue that kept the format. Raises a KokoroError if nobody answered."""

    async def aclose(self) -> None:
        """Give back connections."""


class ClaudeRater(ClaudeJudge):
    """ClaudeJudge's transport (shared waiting, budget, error rules) with the dialogue rubric."""

    def __init__(self, argument: str = "", **options: Any) -> None:
        super().__init__(argument, **options)
        self.rubric_sha256 = rubric_sha256()

    async def rate(self, dialogue: GeneratedDialogue) -> Rating:
        """One request, and one more if the reply is cut off or can't be read."""
        text = transcript(dialogue.turns or ())
        if (refused := unsendable(dialogue.situation, text)) is not None:
            return _rating_of(refused)
        judge, situation, emotion = self.judge_model, dialogue.situation, dialogue.emotion

        def request(max_tokens: int) -> dict[str, Any]:
            return request_parameters(judge, situation, emotion, text, max_tokens)

        size = len(json.dumps(request(self.max_tokens), ensure_ascii=False).encode("utf-8"))
        return await self.ask(request, size, _read_message, _rating_of)


def _rating_of(opinion: Opinion) -> Rating:
    return Rating(opinion.status, reason=opinion.reason, raw=opinion.raw)


def _read_message(message: Mapping[str, Any]) -> Rating:
    """A Messages API reply as a rating."""
    text = answer_text(message)
    if isinstance(text, Unanswered):
        return Rating(text.status, reason=text.reason, raw=text.raw)
    return _rating(text)


def _rating(text: str) -> Rating:
    scores = read_ratings(text)
    if scores is None:
        return Rating("invalid", reason="the reply is not seven ratings from 1 to 5", raw=text)
    return Rating("scored", scores, str(json.loads(text).get("reason", "")), text)


class ScriptedRater:
    """Replies from a file (`scripted:FILE`, one a line) or a list, in order, over and over: for tests and replays."""

    concurrency = 1

    def __init__(self, script: str | Path | Sequence[str], judge_model: str = "scripted") -> None:
        self._replies = script_lines(script, "scripted rater")
        if not self._replies:
            raise UsageError("scripted rater: no reply in the script; give at least one line of JSON")
        self.judge_model = judge_model
        self.rubric_sha256 = hashlib.sha256("\n".join(self._replies).encode()).hexdigest()
        self._next = 0

    async def rate(self, dialogue: GeneratedDialogue) -> Rating:
        """The next reply of the script."""
        reply = self._replies[self._next % len(self._replies)]
        self._next += 1
        return _rating(reply)

    async def aclose(self) -> None:
        """Nothing to give back."""


def model_family(name: str) -> str | None:
    """The family that a model's name shows (its words, in order), or None."""
    for word in re.findall(r"[a-z]+", name.lower()):
        for family, words in FAMILIES.items():
            if word in words:
                return family
    return None


def check_self_judging(judge: str, writer: str | None, allowed: bool) -> None:
    """Raise UsageError where a judge would rate text of its own family: models prefer their own."""
    family = model_family(judge)
    if allowed or family is None:
        return
    if writer is None:
        raise UsageError(
            f"judge {judge}: it is not known which model wrote these dialogues; name it with --writer, "
            "or give --allow-self-judging"
        )
    if model_family(writer) == family:
        raise UsageError(
            f"judge {judge} would rate text of its own family ({writer}), and models prefer their own; "
            "take another judge, or give --allow-self-judging"
        )
