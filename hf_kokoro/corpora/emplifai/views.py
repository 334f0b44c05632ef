"""EmplifAI's views. Everything that depends on a config's name stands here, once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..views import View, fixed
from . import published, schema
from .emotions import EMOTION_NAMES
from .measures import measure_rows

CHAT_ROLE = {"patient": "user", "supporter": "assistant"}
_LABELLED = ("text-classification", "multi-class-classification")


@dataclass(frozen=True, kw_only=True)
class RecordView(View):
    """A view of records as `read_emplifai` gives them."""

    rows: Callable[[Iterator[dict[str, Any]], Any], Iterator[dict[str, Any]]]
    """Records and the config's options to rows."""


def _identity(record: Mapping[str, Any]) -> dict[str, Any]:
    return {"dialogue_id": record["dialogue_id"], "situation_id": record["situation_id"]}


def _label(record: Mapping[str, Any]) -> int:
    return EMOTION_NAMES.index(record["emotion"])


def _text(record: Mapping[str, Any]) -> str:
    transcript = "\n".join(f"{schema.SPEAKER_JA[t['speaker']]}：{t['text']}" for t in record["turns"])
    return f"状況：{record['situation']}\n{transcript}"


def _dialogues(records: Iterator[dict[str, Any]], config: Any) -> Iterator[dict[str, Any]]:
    for record in records:
        turns = [{"speaker": schema.SPEAKERS.index(t["speaker"]), "text": t["text"]} for t in record["turns"]]
        yield {**_identity(record), "emotion": _label(record), "situation": record["situation"], "turns": turns}


def _sft(records: Iterator[dict[str, Any]], config: Any) -> Iterator[dict[str, Any]]:
    for record in records:
        said = [{"role": CHAT_ROLE[t["speaker"]], "content": t["text"]} for t in record["turns"]]
        messages = [{"role": "system", "content": f"患者の状況：{record['situation']}"}, *said]
        what: dict[str, Any] = {"messages": messages} if config.conversational else {"text": _text(record)}
        yield {**what, **_identity(record), "emotion": _label(record)}


def _emotion(records: Iterator[dict[str, Any]], config: Any) -> Iterator[dict[str, Any]]:
    for record in records:
        yield {"text": _text(record), "label": _label(record), **_identity(record)}


def _situations(records: Iterator[dict[str, Any]], config: Any) -> Iterator[dict[str, Any]]:
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for record in records:
        key = (record["emotion"], record["situation_id"])
        row = found.setdefault(
            key,
            {
                "situation_id": record["situation_id"],
                "emotion": EMOTION_NAMES.index(record["emotion"]),
                "situation": record["situation"],
                "dialogues": 0,
            },
        )
        row["dialogues"] += 1
    return iter(found.values())


VIEWS = (
    RecordView(
        name="dialogues",
        description="one row a dialogue: emotion, situation, four turns",
        features=fixed(schema.DIALOGUES_FEATURES),
        measure=measure_rows,
        published=published.figures,
        rows=_dialogues,
    ),
    RecordView(
        name="situations",
        description="one row a situation with its number of dialogues",
        features=fixed(schema.SITUATIONS_FEATURES),
        task=_LABELLED,
        rows=_situations,
    ),
    RecordView(
        name="sft",
        description="one row a dialogue to train on, the situation first",
        features=lambda c: schema.sft_features(c.conversational),
        options=("conversational",),
        defaults={"split_by": "situation"},
        trains=("sft",),
        rows=_sft,
    ),
    RecordView(
        name="emotion",
        description="situation and dialogue as text, one of 28 labels",
        features=fixed(schema.EMOTION_FEATURES),
        defaults={"split_by": "situation"},
        task=_LABELLED,
        rows=_emotion,
    ),
)
