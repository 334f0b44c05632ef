"""KokoroChat's views. Everything that depends on a config's name stands here, once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ..views import View, fixed
from . import published, schema, tables
from .measures import measure_rows
from .splits import RESPONSE, SCORES

Table = Callable[..., pa.Table]
"""Dialogues, and the Arrow schema `wanted`, to one table."""
MoveColumns = Callable[[pa.Table, pa.Schema], pa.Table]


@dataclass(frozen=True, kw_only=True)
class DialogueView(View):
    """A view of dialogues."""

    table: Table
    translated_table: Table | None = None
    """For the translated edition, where it is made otherwise."""
    from_columns: MoveColumns | None = None
    """From a table in upstream's own form, for views that need no Python object per utterance."""
    paper_splits: str | None = None
    """The paper's rule of splits (`splits.SplitRule`); without one every dialogue is training."""
    labelled: bool = False
    """Are dialogues left out that `labels` says nothing of?"""
    expands: bool = False
    """Does a dialogue become many rows that repeat its text?"""


def _dialogues_table(dialogues: list[Any], wanted: pa.Schema) -> pa.Table:
    return tables.dialogues_table(tables.source_table(dialogues, schema.SOURCE_FEATURES.arrow_schema), wanted)


_TURNS = ("untranslated",)
_CHAT = ("untranslated", "conversational")
VIEWS = (
    DialogueView(
        name="source",
        description="upstream's documents, lossless, upstream's names",
        features=lambda c: schema.SOURCE_FEATURES if c.language == "ja" else schema.SOURCE_TRANSLATED_FEATURES,
        table=tables.source_table,
        from_columns=lambda table, wanted: table,
    ),
    DialogueView(
        name="dialogues",
        description="one typed row a dialogue",
        features=lambda c: schema.DIALOGUES_FEATURES if c.language == "ja" else schema.DIALOGUES_TRANSLATED_FEATURES,
        options=_TURNS,
        table=_dialogues_table,
        translated_table=tables.translated_dialogues_table,
        from_columns=tables.dialogues_table,
        measure=measure_rows,
        published=published.figures,
    ),
    DialogueView(
        name="turns",
        description="one row a turn, consecutive utterances of one speaker merged",
        features=fixed(schema.TURNS_FEATURES),
        options=_TURNS,
        table=tables.turns_table,
    ),
    DialogueView(
        name="response_generation",
        description="one row a dialogue, for response generation",
        features=lambda c: schema.response_generation_features(c.conversational),
        options=(*_CHAT, "pool"),
        trains=("sft",),
        table=tables.response_generation_table,
        paper_splits=RESPONSE,
    ),
    DialogueView(
        name="next_turn",
        description="the paper's expansion: whole history to the next counsellor turn",
        features=lambda c: schema.next_turn_features(c.conversational),
        options=(*_CHAT, "pool"),
        table=tables.next_turn_table,
        paper_splits=RESPONSE,
        expands=True,
    ),
    DialogueView(
        name="score_prediction",
        description="dialogue to the 20 item scores",
        features=lambda c: schema.score_prediction_features(c.conversational),
        options=_CHAT,
        task=("text-classification", "text-scoring"),
        table=tables.score_prediction_table,
        paper_splits=SCORES,
    ),
    DialogueView(
        name="unpaired",
        description="next_turn rows labelled desirable or not, for KTO",
        features=lambda c: schema.unpaired_features(c.conversational),
        options=(*_CHAT, "pool", "label_by", "desirable_min", "min_ratings"),
        trains=("kto",),
        table=tables.unpaired_table,
        paper_splits=RESPONSE,
        labelled=True,
        expands=True,
    ),
)
