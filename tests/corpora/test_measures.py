"""What is counted of a corpus for its card and against its paper."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import datasets
import numpy as np

import hf_kokoro as hk
from hf_kokoro.corpora.emplifai.measures import measure_rows as measure_emplifai
from hf_kokoro.corpora.kokorochat.measures import measure_dialogues, measure_rows
from hf_kokoro.corpora.kokorochat.schema import DIALOGUES_FEATURES, FLAG_NAMES, ITEM_NAMES


def dialogues_of(name: str, source: Path) -> datasets.Dataset:
    return hk.load_dataset(name, "dialogues", source=source, split="train")


def test_kokorochat_measures_are_those_counted_from_the_files(samples: Path) -> None:
    dialogues = [json.loads(file.read_bytes()) for file in sorted((samples / "kokorochat").iterdir())]
    reviews = [dialogue["review_by_client_en"] for dialogue in dialogues]
    measured = measure_dialogues(dialogues_of("kokorochat", samples / "kokorochat").with_format("arrow").iter(2))
    assert sorted(measured.score) == sorted(review["score"] for review in reviews) == [31, 57, 74, 83, 98, 99]
    assert measured.flagged == sum(any(review[flag] for flag in FLAG_NAMES) for review in reviews) == 1
    spoken = [u["role"] for dialogue in dialogues for u in dialogue["dialogue"]]
    assert tuple(measured.utterances.sum(axis=0)) == (spoken.count("client"), spoken.count("counselor"))
    assert measured.topics.total() == 6
    matrix = measured.item_correlations()
    assert matrix.shape == (len(ITEM_NAMES), len(ITEM_NAMES))
    varied = ~np.isnan(np.diag(matrix))
    assert np.allclose(np.diag(matrix)[varied], 1.0)


def test_response_time_is_the_wait_for_the_first_counsellor_utterance_after_a_client() -> None:
    start = np.datetime64("2024-01-01T10:00:00")
    spoken = [("counselor", 0), ("client", 10), ("client", 20), ("counselor", 50), ("counselor", 99), ("client", 100)]
    utterances = [
        {"role": role, "text": "ab", "time": (start + np.timedelta64(s, "s")).astype(object)} for role, s in spoken
    ]
    row = {
        "dialogue_id": 1,
        "score": 60,
        "item_sum": 60,
        "created_at": start.astype(object),
        "topic": "Others",
        "topic_sub": "",
        "client_id": 1,
        "counselor_id": 2,
        "utterances": utterances,
        "screening": dict.fromkeys(FLAG_NAMES, False),
        "items": dict.fromkeys(ITEM_NAMES, 3),
    }
    one = datasets.Dataset.from_list([row], features=DIALOGUES_FEATURES)
    correlates = measure_rows(one).correlates()
    assert {name: values.tolist() for name, values in correlates.items()} == {
        "client characters": [6],
        "counsellor characters": [6],
        "client utterances": [3],
        "counsellor utterances": [3],
        "counsellor mean response time": [30.0],
    }


def test_emplifai_measures_are_those_counted_from_the_file(samples: Path) -> None:
    table = list(csv.DictReader(io.StringIO((samples / "emplifai.csv").read_text("utf-8"))))
    measured = measure_emplifai(dialogues_of("emplifai", samples / "emplifai.csv"))
    assert measured.total == len(table)
    assert measured.patient_characters == sum(len(row["patient_1"]) + len(row["patient_2"]) for row in table)
    assert sum(len(s) for s in measured.situations.values()) == len({row["situation_id"] for row in table})
