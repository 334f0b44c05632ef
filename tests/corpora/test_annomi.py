"""AnnoMI's rows from a table written by us: utterances with several coders, dialogues, splits, what bad rows say."""

from __future__ import annotations

import csv
import io
import json
import logging
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import hf_kokoro as hk
from hf_kokoro.corpora.annomi.reader import COLUMNS, read_annomi
from hf_kokoro.corpora.leaks import find_leaks
from hf_kokoro.corpora.load import get_builder
from hf_kokoro.errors import InputError, SourceError

SAMPLE = files("hf_kokoro").joinpath("samples/annomi.csv")
THERAPIST = {
    "mi_quality": "high",
    "transcript_id": "8",
    "video_title": "A title",
    "video_url": "https://videos.example/watch?v=x",
    "topic": "sleep",
    "utterance_id": "0",
    "interlocutor": "therapist",
    "timestamp": "00:01:30",
    "utterance_text": "You lie awake.",
    "annotator_id": "3",
    "therapist_input_exists": "False",
    "therapist_input_subtype": "n/a",
    "reflection_exists": "True",
    "reflection_subtype": "simple",
    "question_exists": "False",
    "question_subtype": "n/a",
    "main_therapist_behaviour": "reflection",
    "client_talk_type": "n/a",
}
CLIENT = {
    **THERAPIST,
    "utterance_id": "1",
    "interlocutor": "client",
    "utterance_text": "Every night.",
    **{
        f"{name}_{part}": "n/a"
        for name in ("therapist_input", "reflection", "question")
        for part in ("exists", "subtype")
    },
    "main_therapist_behaviour": "n/a",
    "client_talk_type": "sustain",
}


def table(*rows: dict[str, str], name: str = "a.csv") -> tuple[str, bytes]:
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return name, buffer.getvalue().encode()


def fault(*rows: dict[str, str]) -> str:
    with pytest.raises(InputError) as caught:
        read_annomi([table(*rows)])
    assert caught.value.count == 1
    return str(caught.value.faults[0])


def load(config: str, **options: Any) -> Any:
    return hk.load_dataset("annomi", config, source=str(SAMPLE), **options)


def test_a_row_is_an_utterance_with_the_codes_of_its_only_annotator() -> None:
    first, second = read_annomi([table(THERAPIST, CLIENT)])
    assert first | {"codes": None} == {
        "dialogue_id": "8",
        "quality": "high",
        "topic": "sleep",
        "video_title": "A title",
        "video_url": "https://videos.example/watch?v=x",
        "utterance": 0,
        "speaker": "therapist",
        "seconds": 90,
        "text": "You lie awake.",
        "codes": None,
    }
    given = {"annotator": "3", "reflection": "simple", "therapist_input": "none", "question": "none"}
    assert first["codes"] == [{**given, "behaviour": "reflection", "client_talk": None}]
    nothing = dict.fromkeys(("reflection", "therapist_input", "question", "behaviour"))
    assert second["codes"] == [{"annotator": "3", **nothing, "client_talk": "sustain"}]


def test_several_annotators_make_shares_and_a_majority_and_keep_their_codes(tmp_path: Path) -> None:
    rows = load("utterances", split="train", cache_dir=tmp_path)
    by_place = {(row["dialogue_id"], row["utterance"]): row for row in rows}
    names = rows.features["codes"].feature["reflection"].names
    # dialogue 3 of the sample: three people; the first and the third heard a reflection in utterance 0
    opening = by_place["3", 0]
    assert opening["annotators"] == 3
    assert [names[codes["reflection"]] for codes in opening["codes"]] == ["simple", "none", "simple"]
    assert opening["reflection"] == pytest.approx(2 / 3)
    assert opening["question"] == 1
    assert opening["therapist_input"] == 0
    assert rows.features["behaviour"].int2str(opening["behaviour"]) == "question"
    # utterance 8: complex, simple, other; two of three heard one, of whatever kind
    assert by_place["3", 8]["reflection"] == pytest.approx(2 / 3)
    assert by_place["3", 1]["reflection"] is None
    assert rows.features["client_talk"].int2str(by_place["3", 1]["client_talk"]) == "sustain"


def test_no_majority_is_empty_not_a_guess(tmp_path: Path) -> None:
    other = {**THERAPIST, "annotator_id": "4", "main_therapist_behaviour": "other"}
    (tmp_path / "a.csv").write_bytes(table(THERAPIST, other)[1])
    rows = hk.load_dataset("annomi", "utterances", source=tmp_path / "a.csv", split="train", cache_dir=tmp_path / "c")
    assert rows["behaviour"] == [None]
    assert rows["reflection"] == [1.0]


def test_dialogues_have_their_utterances_in_order_and_runs_of_one_speaker_joined(tmp_path: Path) -> None:
    dialogues = {row["dialogue_id"]: row for row in load("dialogues", split="train", cache_dir=tmp_path)}
    # its last row stands at the end of the file
    assert dialogues["1"]["turns"][-1]["text"] == "Walking home on Thursday, that is your plan."
    assert dialogues["1"]["utterances"] == len(dialogues["1"]["turns"]) == 11
    assert dialogues["4"]["utterances"] == 10
    assert len(dialogues["4"]["turns"]) == 9
    assert dialogues["4"]["turns"][0] == {
        "speaker": 0,
        "text": "Before you ask, no, I did not use the blue one every day.\nI feel fine without it.",
    }


def test_dialogues_of_one_video_and_of_one_topic_stay_on_one_side(tmp_path: Path) -> None:
    for option, column in (("video", "video_url"), ("topic", "topic")):
        for seed in range(8):
            found = load("dialogues", split_by=option, seed=seed, cache_dir=tmp_path)
            sides = [set(rows[column]) for rows in found.values()]
            assert sum(map(len, sides)) == len(set().union(*sides))


def test_a_dialogue_with_topics_of_two_sides_is_left_out_and_counted(tmp_path: Path) -> None:
    # the sample's dialogue 3 has two topics, "less coffee" and "better sleep"
    for seed in range(40):
        options: dict[str, Any] = {"source": str(SAMPLE), "split_by": "topic", "seed": seed, "cache_dir": tmp_path}
        kept = {d for rows in hk.load_dataset("annomi", "dialogues", **options).values() for d in rows["dialogue_id"]}
        left = get_builder("annomi", "dialogues", **options).left_out()
        assert kept >= {"1", "2", "4", "5", "6"}
        assert left == ({} if "3" in kept else {"dialogues whose topics are on two sides of the split": 1})
        if left:
            return
    pytest.fail("no seed put the two topics on two sides")


def test_leaks_are_told_by_video_and_topic_and_what_no_shared_topic_costs(tmp_path: Path) -> None:
    report = find_leaks("annomi", "dialogues", source=str(SAMPLE), split_by="video", cache_dir=tmp_path)
    assert {(shared.group, shared.rows) for shared in report.shared if shared.group == "video"} == {("video", 0)}
    # dialogues 1 and 2 are of one video, so they are not what the two sides share
    assert sum(report.chosen.splits.values()) == 6
    assert [other.split_by for other in report.alternatives] == ["topic"]


def test_json_parquet_and_what_pandas_saves_give_the_same_records(tmp_path: Path) -> None:
    import pandas

    name, data = table(THERAPIST, CLIENT)
    expected = read_annomi([(name, data)])
    # pandas takes n/a for missing: it is NaN in the frame and null or nothing in the files
    frame = pandas.read_csv(io.BytesIO(data))
    frame.to_csv(tmp_path / "b.csv", index=False)
    frame.to_parquet(tmp_path / "b.parquet")
    frame.to_json(tmp_path / "b.json", orient="records")
    for file in ("b.csv", "b.parquet", "b.json"):
        assert read_annomi([(file, (tmp_path / file).read_bytes())]) == expected
    assert read_annomi([("a.json", json.dumps([THERAPIST, CLIENT]).encode())]) == expected


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"mi_quality": "fair"}, "a.csv row 2 mi_quality: got 'fair'; allowed: 'low', 'high'"),
        ({"interlocutor": "nurse"}, "interlocutor: got 'nurse'; allowed: 'client', 'therapist'"),
        ({"utterance_id": "1.5"}, "utterance_id: got text of 3 characters; allowed: a whole number"),
        ({"utterance_text": "  "}, "utterance_text: got a blank cell; allowed: text"),
        ({"reflection_exists": "maybe"}, "reflection_exists: got 'maybe'; allowed: 'true', 'false'"),
        ({"reflection_subtype": "n/a"}, "reflection_subtype: got text of 3 characters; allowed: 'simple', 'complex'"),
        ({"question_subtype": "open"}, "question_subtype: got 'open'; allowed: 'n/a', '', 'nan'"),
        ({"client_talk_type": "change"}, "client_talk_type: got 'change'; allowed: 'n/a', '', 'nan'"),
        ({"main_therapist_behaviour": "n/a"}, "allowed: 'reflection', 'question', 'therapist_input', 'other'"),
    ],
)
def test_a_value_that_contradicts_is_a_fault(changed: dict[str, str], says: str) -> None:
    assert says in fault({**THERAPIST, **changed})


def test_rows_that_contradict_each_other_are_faults() -> None:
    second = {**THERAPIST, "annotator_id": "4"}
    assert "another speaker or text than in a.csv row 2" in fault(THERAPIST, {**second, "utterance_text": "Other."})
    assert "another quality, topic or video than in a.csv row 2" in fault(THERAPIST, {**second, "topic": "work"})
    assert "an annotator who coded it already" in fault(THERAPIST, THERAPIST)


def test_faults_quote_no_word_of_an_utterance() -> None:
    assert "awake" not in fault(THERAPIST, {**THERAPIST, "annotator_id": "4", "utterance_text": "Not awake at all."})


def test_another_table_is_one_fault_for_all_of_its_rows() -> None:
    short = {key: value for key, value in THERAPIST.items() if key != "annotator_id"}
    assert "a row without annotator_id" in fault(short, short)


def test_no_row_at_all_says_what_was_looked_for() -> None:
    with pytest.raises(SourceError, match="not one row; looked for AnnoMI's utterances under mi_quality"):
        read_annomi([("a.csv", ",".join(COLUMNS).encode())])


def test_gaps_and_odd_timestamps_are_said_and_kept(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        [record, _] = read_annomi([table({**THERAPIST, "timestamp": "00:01:030"}, {**CLIENT, "utterance_id": "2"})])
    assert record["seconds"] is None
    assert "timestamps that are no time like 00:01:30: 1" in caplog.text
    assert "utterances are missing in 1 dialogues (first: 8)" in caplog.text


@pytest.mark.real_data
def test_the_transcripts_with_even_ids_have_the_counts_that_were_measured(real_data_dir: Path, tmp_path: Path) -> None:
    source = real_data_dir / "annomi" / "AnnoMI-full-even.csv"
    rows = hk.load_dataset("annomi", "utterances", source=source, split="train", cache_dir=tmp_path)
    therapist = [row for row in rows if row["speaker"] == 1]
    assert (len(rows), sum(row["annotators"] == 10 for row in therapist)) == (5065, 115)
    spoken = [row for row in therapist if len(row["text"].split()) >= 5]
    assert len(spoken) == 1713
    assert sum(row["reflection"] > 0.5 for row in spoken) / len(spoken) == pytest.approx(0.42, abs=0.005)
    dialogues = hk.load_dataset("annomi", "dialogues", source=source, split="train", cache_dir=tmp_path)
    assert (len(dialogues), sum(dialogues["quality"])) == (67, 55)
