"""The MITI-ST v1 rubric as data: what `rubric.toml` says, and the prompt made of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..core.shipped import shipped_text
from ..errors import KokoroError
from ..miti.contract import DIMENSIONS, RUBRIC, scores_fault


class RubricError(KokoroError):
    """The rubric file does not describe the five dimensions."""


@dataclass(frozen=True)
class Dimension:
    """One dimension: what it asks, what to do in doubt, and an anchor for every level of its range."""

    name: str
    asks: str
    doubt: str
    anchors: Mapping[int, str]


@dataclass(frozen=True)
class Example:
    """A worked example: question, answer, its five scores and the reason in one sentence."""

    question: str
    answer: str
    scores: Mapping[str, int]
    why: str


@dataclass(frozen=True)
class Rubric:
    """The rubric; `text` is exactly what a judge reads and `sha256` its digest."""

    version: str
    task: str
    dimensions: tuple[Dimension, ...]
    examples: tuple[Example, ...]

    @property
    def text(self) -> str:
        """The rubric in words, the same for every answer, so that it can be one cached block."""
        parts = [f"{RUBRIC}, rubric version {self.version}", self.task.strip()]
        for dimension in self.dimensions:
            low, high = DIMENSIONS[dimension.name]
            anchors = [f"  {level}: {text}" for level, text in sorted(dimension.anchors.items())]
            parts.append(
                "\n".join(
                    [f"{dimension.name} ({low}-{high}). {dimension.asks}", *anchors, f"  In doubt: {dimension.doubt}"]
                )
            )
        for number, example in enumerate(self.examples, start=1):
            scores = ", ".join(f"{name} {example.scores[name]}" for name in DIMENSIONS)
            parts.append(
                f"Example {number}\nQuestion: {example.question}\nAnswer: {example.answer}\n"
                f"Scores: {scores}\nReason: {example.why}"
            )
        return "\n\n".join(parts) + "\n"

    @property
    def sha256(self) -> str:
        """Digest of `text`, in hex."""
        return hashlib.sha256(self.text.encode("utf-8")).hexdigest()


@cache
def load_rubric() -> Rubric:
    """The rubric that ships with the package."""
    return parse_rubric(shipped_text(__package__, "rubric.toml"))


def parse_rubric(toml: str) -> Rubric:
    """Read a rubric. Raises RubricError unless every level of every dimension has an anchor."""
    import tomllib

    try:
        data: dict[str, Any] = tomllib.loads(toml)
        dimensions = tuple(
            Dimension(d["name"], d["asks"], d["doubt"], {int(level): text for level, text in d["anchors"].items()})
            for d in data["dimension"]
        )
        examples = tuple(Example(e["question"], e["answer"], e["scores"], e["why"]) for e in data["example"])
        rubric = Rubric(data["version"], data["task"], dimensions, examples)
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise RubricError(f"rubric: can't be read ({type(error).__name__}: {error})") from error
    if [dimension.name for dimension in dimensions] != [*DIMENSIONS]:
        raise RubricError(f"rubric: other dimensions or another order; allowed: {', '.join(DIMENSIONS)}")
    for dimension in dimensions:
        low, high = DIMENSIONS[dimension.name]
        if sorted(dimension.anchors) != [*range(low, high + 1)]:
            raise RubricError(f"rubric {dimension.name}: an anchor for each level from {low} to {high} is needed")
    if fault := next(filter(None, (scores_fault(example.scores) for example in examples)), None):
        raise RubricError(f"rubric: an example's {fault}")
    return rubric
