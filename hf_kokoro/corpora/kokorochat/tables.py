"""Checked KokoroChat dialogues to Arrow tables, one function per view; `wanted` is the view's Arrow schema.

The plain view moves whole columns; the others, which merge text, go through Dialogue records.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, groupby
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from . import schema
from .columns import child_arrays
from .reader import Dialogue

CHAT_ROLE = {"client": "user", "counselor": "assistant"}
SPEAKER_JA = {"client": "相談者", "counselor": "カウンセラー"}
RUN_JOINER = "\n"
"""Consecutive utterances of one speaker become one turn, joined by a line break."""

SCORE_INSTRUCTION = (
    "次のカウンセリング対話を読み、相談者がカウンセラーを評価した20項目の点数を予測してください。"
    "各項目は0から5の整数です。項目名を鍵、点数を値とするJSONオブジェクトだけを出力してください。"
)


@dataclass(frozen=True, slots=True)
class Turn:
    """One speaker's run of utterances."""

    role: str
    time: str
    text: str
    utterances: int


def merge_runs(dialogue: Dialogue) -> list[Turn]:
    """Merge consecutive utterances of one speaker; the turn's time is its first utterance's."""
    turns, start = [], 0
    for role, run in groupby(dialogue.roles):
        length = len(list(run))
        text = RUN_JOINER.join(dialogue.texts[start : start + length])
        turns.append(Turn(role, dialogue.times[start], text, length))
        start += length
    return turns


def to_messages(turns: Iterable[Turn]) -> list[dict[str, str]]:
    """Client = user, counselor = assistant."""
    return [{"role": CHAT_ROLE[turn.role], "content": turn.text} for turn in turns]


def to_transcript(turns: Iterable[Turn]) -> str:
    """One line break between turns, each opened by its speaker's name."""
    return "\n".join(f"{SPEAKER_JA[turn.role]}：{turn.text}" for turn in turns)


def source_table(dialogues: Sequence[Dialogue], wanted: pa.Schema) -> pa.Table:
    """Upstream's documents as they are."""
    return pa.Table.from_pylist([d.document for d in dialogues], schema=wanted)


def dialogues_table(source: pa.Table, wanted: pa.Schema) -> pa.Table:
    """One row a dialogue, utterances nested, from a table of upstream's documents: columns are moved, not rebuilt."""
    review = child_arrays(source["review_by_client_en"].chunk(0))
    topic = child_arrays(source["topic"].chunk(0))
    items = [review[item.source_en].cast(pa.int8()) for item in schema.ITEMS]
    arrays = {
        "dialogue_id": review["evaluation_id"],
        "client_id": review["client_id"],
        "counselor_id": review["counselor_id"],
        "score": review["score"],
        "item_sum": _sum([review[item.source_en] for item in schema.ITEMS]),
        "created_at": review["evaluation_created_at"].cast(pa.timestamp("s")),
        "topic": _class_labels(topic["main_en"], list(schema.TOPICS)),
        "topic_sub": topic["sub"],
        "items": _struct(items, wanted.field("items").type),
        "screening": _struct([review[f.source_en].is_valid() for f in schema.FLAGS], wanted.field("screening").type),
        "utterances": _utterances(source["dialogue"].chunk(0), wanted.field("utterances").type),
    }
    return pa.Table.from_arrays([arrays[name] for name in wanted.names], schema=wanted)


def _utterances(dialogue: pa.ListArray, kind: pa.ListType) -> pa.ListArray:
    columns = child_arrays(dialogue.flatten())
    renamed = {
        "role": _class_labels(columns["role"], list(schema.ROLES)),
        "time": columns["time"].cast(pa.timestamp("s")),
        "text": columns["utterance"],
    }
    struct = _struct([renamed[field.name] for field in kind.value_type], kind.value_type)
    return pa.ListArray.from_arrays(dialogue.offsets, struct, type=kind)


def translated_dialogues_table(dialogues: Sequence[Dialogue], wanted: pa.Schema) -> pa.Table:
    """The same for a translation, whose text may fall back to the Japanese original."""
    topics = list(schema.TOPICS)
    rows = [
        {
            **_identity_row(d),
            "item_sum": d.item_sum,
            "created_at": datetime.fromisoformat(d.created_at),
            "topic": topics.index(d.topic),
            "topic_sub": d.topic_sub,
            "items": dict(zip(schema.ITEM_NAMES, d.items, strict=True)),
            "screening": dict(zip(schema.FLAG_NAMES, d.screening, strict=True)),
            "utterances": [
                {
                    "role": schema.ROLES.index(r),
                    "time": datetime.fromisoformat(t),
                    "text": x,
                    "origin": o,
                    "untranslated": u,
                }
                for r, t, x, o, u in zip(d.roles, d.times, d.texts, d.origins, d.untranslated, strict=True)
            ],
        }
        for d in dialogues
    ]
    return pa.Table.from_pylist(rows, schema=wanted)


def turns_table(dialogues: Sequence[Dialogue], wanted: pa.Schema) -> pa.Table:
    """One row a merged turn."""
    merged = [merge_runs(d) for d in dialogues]
    turns = list(chain.from_iterable(merged))
    arrays = {
        "dialogue_id": pa.array([d.dialogue_id for d, m in zip(dialogues, merged, strict=True) for _ in m], pa.int32()),
        "turn": pa.array([number for m in merged for number in range(len(m))], pa.int32()),
        "role": pa.array([schema.ROLES.index(turn.role) for turn in turns], pa.int64()),
        "time": pa.array([turn.time for turn in turns], pa.string()).cast(pa.timestamp("s")),
        "utterances": pa.array([turn.utterances for turn in turns], pa.int32()),
        "text": pa.array([turn.text for turn in turns], pa.string()),
    }
    return pa.Table.from_arrays([arrays[name] for name in wanted.names], schema=wanted)


def response_generation_table(dialogues: Sequence[Dialogue], wanted: pa.Schema) -> pa.Table:
    """One row a dialogue: all merged turns as messages or text."""
    topics = list(schema.TOPICS)
    rows = []
    for dialogue in dialogues:
        turns = merge_runs(dialogue)
        text = {"messages": to_messages(turns)} if "messages" in wanted.names else {"text": to_transcript(turns)}
        rows.append({**text, **_identity_row(dialogue), "topic": topics.index(dialogue.topic)})
    return pa.Table.from_pylist(rows, schema=wanted)


def next_turn_table(dialogues: Sequence[Dialogue], wanted: pa.Schema) -> pa.Table:
    """One row a counsellor turn that answers a client turn; an opening counsellor turn answers nothing."""
    rows = [
        {**pair, "dialogue_id": dialogue.dialogue_id, "turn": turn}
        for dialogue in dialogues
        for turn, pair in _next_turns(dialogue, _is_plain(wanted))
    ]
    return pa.Table.from_pylist(rows, schema=wanted)


def unpaired_table(dialogues: Sequence[tuple[Dialogue, bool, float]], wanted: pa.Schema) -> pa.Table:
    """`next_turn` rows with the label and the score that decided it, given with each dialogue."""
    rows = [
        {**pair, "label": label, **_identity_row(dialogue), "turn": turn, "label_score": label_score}
        for dialogue, label, label_score in dialogues
        for turn, pair in _next_turns(dialogue, _is_plain(wanted))
    ]
    return pa.Table.from_pylist(rows, schema=wanted)


def score_prediction_table(dialogues: Sequence[Dialogue], wanted: pa.Schema) -> pa.Table:
    """The whole dialogue as prompt, its 20 item scores as completion and as columns."""
    rows = []
    for dialogue in dialogues:
        items = dict(zip(schema.ITEM_NAMES, dialogue.items, strict=True))
        prompt = f"{SCORE_INSTRUCTION}\n\n{to_transcript(merge_runs(dialogue))}"
        completion = json.dumps(items, indent=None)
        if not _is_plain(wanted):
            pair: dict[str, Any] = {
                "prompt": [{"role": "user", "content": prompt}],
                "completion": [{"role": "assistant", "content": completion}],
            }
        else:
            pair = {"prompt": prompt + "\n\n", "completion": completion}
        rows.append({**pair, **items, **_identity_row(dialogue)})
    return pa.Table.from_pylist(rows, schema=wanted)


def _next_turns(dialogue: Dialogue, plain: bool) -> Iterable[tuple[int, dict[str, Any]]]:
    turns = merge_runs(dialogue)
    messages = to_messages(turns)
    for number, turn in enumerate(turns):
        if turn.role != "counselor" or number == 0:
            continue
        if plain:
            prompt = f"{to_transcript(turns[:number])}\n{SPEAKER_JA['counselor']}："
            yield number, {"prompt": prompt, "completion": turn.text}
        else:
            yield number, {"prompt": messages[:number], "completion": messages[number : number + 1]}


def _is_plain(wanted: pa.Schema) -> bool:
    return bool(pa.types.is_string(wanted.field("prompt").type))


def _identity_row(dialogue: Dialogue) -> dict[str, int]:
    return {
        "dialogue_id": dialogue.dialogue_id,
        "client_id": dialogue.client_id,
        "counselor_id": dialogue.counselor_id,
        "score": dialogue.score,
    }


def _class_labels(names: pa.StringArray, labels: list[str]) -> pa.Int64Array:
    return pc.index_in(names, value_set=pa.array(labels)).cast(pa.int64())


def _sum(columns: Sequence[pa.Array]) -> pa.Array:
    total = columns[0]
    for column in columns[1:]:
        total = pc.add(total, column)
    return total


def _struct(arrays: Sequence[pa.Array], kind: pa.StructType) -> pa.StructArray:
    return pa.StructArray.from_arrays(list(arrays), fields=list(kind))
