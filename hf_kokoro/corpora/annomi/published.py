"""What the papers say of AnnoMI (Wu et al. 2022, 2023): its sizes, beside those of the file at hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..published import Figure
from . import schema


def figures(rows: Iterable[Mapping[str, Any]]) -> list[Figure]:
    """The papers' sizes, from rows of the `utterances` view."""
    quality: dict[str, str] = {}
    utterances = coded_by_all = 0
    for row in rows:
        quality[row["dialogue_id"]] = schema.QUALITIES[row["quality"]]
        by_therapist = schema.SPEAKERS[row["speaker"]] == "therapist"
        utterances += 1
        coded_by_all += by_therapist and row["annotators"] == schema.EXPERTS
    found = list(quality.values())
    return [
        Figure("dialogues", 133, len(found)),
        Figure("dialogues of high quality", 110, found.count("high")),
        Figure("dialogues of low quality", 23, found.count("low")),
        Figure("utterances", 9_699, utterances),
        Figure("therapist utterances coded by all ten experts", 216, coded_by_all),
    ]
