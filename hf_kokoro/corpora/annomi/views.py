"""AnnoMI's views: records of the reader to rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ..views import View, fixed
from . import published, schema
from .reader import Record, majority, share

_CODED = ("text-classification", "multi-class-classification")


@dataclass(frozen=True, kw_only=True)
class UtterancesView(View):
    """A view of utterances as `read_annomi` gives them."""

    rows: Callable[[Iterable[Record]], Iterator[dict[str, Any]]]
    """Records, dialogue by dialogue, to rows."""


def _head(record: Record) -> dict[str, Any]:
    return {
        "dialogue_id": record["dialogue_id"],
        "quality": schema.QUALITIES.index(record["quality"]),
        "topic": record["topic"],
    }


def _place(names: tuple[str, ...], value: str | None) -> int | None:
    return None if value is None else names.index(value)


def _codes(codes: dict[str, str | None]) -> dict[str, Any]:
    return {
        "annotator": codes["annotator"],
        **{name: _place(kinds, codes[name]) for name, kinds in schema.KINDS.items()},
        "behaviour": _place(schema.BEHAVIOURS, codes["behaviour"]),
        "client_talk": _place(schema.CLIENT_TALK, codes["client_talk"]),
    }


def utterance_rows(records: Iterable[Record]) -> Iterator[dict[str, Any]]:
    """Rows of `utterances`."""
    for record in records:
        yield {
            **_head(record),
            **{name: record[name] for name in ("utterance", "seconds", "text")},
            "speaker": schema.SPEAKERS.index(record["speaker"]),
            "annotators": len(record["codes"]),
            **{name: share(record, name) for name in schema.KINDS},
            "behaviour": _place(schema.BEHAVIOURS, majority(record, "behaviour")),
            "client_talk": _place(schema.CLIENT_TALK, majority(record, "client_talk")),
            "codes": [_codes(codes) for codes in record["codes"]],
        }


def dialogue_rows(records: Iterable[Record]) -> Iterator[dict[str, Any]]:
    """Rows of `dialogues`; the records of one dialogue stand together."""
    for _, group in groupby(records, key=lambda record: record["dialogue_id"]):
        said = list(group)
        runs = groupby(said, key=lambda record: record["speaker"])
        yield {
            **_head(said[0]),
            "video_title": said[0]["video_title"],
            "video_url": said[0]["video_url"],
            "utterances": len(said),
            "turns": [
                {"speaker": schema.SPEAKERS.index(speaker), "text": "\n".join(record["text"] for record in run)}
                for speaker, run in runs
            ],
        }


VIEWS = (
    UtterancesView(
        name="utterances",
        description="one row an utterance with the codes of everybody who coded it",
        features=fixed(schema.UTTERANCES_FEATURES),
        task=_CODED,
        published=published.figures,
        rows=utterance_rows,
    ),
    UtterancesView(
        name="dialogues",
        description="one row a dialogue: quality, topic, video, turns",
        features=fixed(schema.DIALOGUES_FEATURES),
        rows=dialogue_rows,
    ),
)
