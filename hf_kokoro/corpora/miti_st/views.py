"""The views of MITI-ST rows. Everything that depends on a config's name stands here, once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...miti.features import ANSWERS_FEATURES, ROWS_FEATURES, pairs_features, unpaired_features
from ...miti.views import pair_view, unpaired_view
from ..views import View, fixed
from . import published

_ANSWER_CONTEXT = ("question_id", "topic", "prompt", "judge_model", "rubric")


@dataclass(frozen=True, kw_only=True)
class RowView(View):
    """A view of rows, or of their answers."""

    row: Callable[[dict[str, Any], int | None, float, Any], dict[str, Any]]
    """A row, the number of its answer (None: the row itself), its weight and the config's options to one row."""
    per_answer: bool = False
    weighted: bool = False


def _pair(row: dict[str, Any], unit: int | None, weight: float, config: Any) -> dict[str, Any]:
    return pair_view(row, weight=weight, conversational=config.conversational)


def _unpaired(row: dict[str, Any], unit: int | None, weight: float, config: Any) -> dict[str, Any]:
    chat, minimum = config.conversational, config.desirable_min
    return unpaired_view(row, row["all_answers"][unit], weight=weight, desirable_min=minimum, conversational=chat)


def _answer(row: dict[str, Any], unit: int | None, weight: float, config: Any) -> dict[str, Any]:
    return {**{key: row[key] for key in _ANSWER_CONTEXT}, **row["all_answers"][unit]}


_TRAINED = ("conversational", "weights")
VIEWS = (
    RowView(
        name="rows",
        description="the published schema",
        features=fixed(ROWS_FEATURES),
        published=published.figures,
        row=lambda row, unit, weight, config: row,
    ),
    RowView(
        name="pairs",
        description="prompt, chosen, rejected with margin and weight",
        features=lambda c: pairs_features(c.conversational),
        options=_TRAINED,
        trains=("dpo", "reward"),
        row=_pair,
        weighted=True,
    ),
    RowView(
        name="reward",
        description="the same as pairs, for reward models",
        features=lambda c: pairs_features(c.conversational),
        options=_TRAINED,
        row=_pair,
        weighted=True,
    ),
    RowView(
        name="unpaired",
        description="one row an answer with a desirable-or-not label, for KTO",
        features=lambda c: unpaired_features(c.conversational),
        options=(*_TRAINED, "desirable_min"),
        trains=("kto",),
        row=_unpaired,
        per_answer=True,
        weighted=True,
    ),
    RowView(
        name="answers",
        description="one row an answer: the N x 5 score matrix",
        features=fixed(ANSWERS_FEATURES),
        row=_answer,
        per_answer=True,
    ),
)
