"""The row contract: JSON Schema and invariants, every fault at once."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from hf_kokoro.miti import contract as schema
from hf_kokoro.miti.features import ROWS_FEATURES


def answer(therapist: str, text: str, *scores: int) -> dict[str, Any]:
    return {
        "therapist": therapist,
        "text": text,
        **dict(zip(schema.DIMENSIONS, scores, strict=True)),
        "total": sum(scores),
    }


def good_row() -> dict[str, Any]:
    answers = [
        answer("A", "warm", 5, 4, 1, 1, 1),
        answer("B", "cold", 1, 2, 0, 0, 1),
        answer("C", "mild", 3, 3, 1, 0, 1),
    ]
    return {
        "question_id": "7", "topic": "grief", "prompt": "How?", "chosen": "warm", "rejected": "cold",
        "chosen_score": 12, "rejected_score": 4, "chosen_therapist": "A", "rejected_therapist": "B",
        "all_answers": answers, "rubric": "MITI-ST v1", "judge_model": "m", "source_dataset": "s", "license": "MIT",
    }  # fmt: skip


def faults(row: Any) -> list[str]:
    return [str(fault) for fault in schema.row_faults(row, "row 1")]


def test_the_shipped_schema_is_a_valid_2020_12_schema_with_the_keys_of_the_features() -> None:
    Draft202012Validator.check_schema(schema.row_schema())
    assert schema.row_schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert list(schema.row_schema()["properties"]) == list(ROWS_FEATURES) == list(schema.ROW_KEYS)
    answers = schema.row_schema()["$defs"]["answer"]["properties"]
    assert list(answers) == list(ROWS_FEATURES["all_answers"].feature) == list(schema.ANSWER_KEYS)
    for name, (low, high) in schema.DIMENSIONS.items():
        assert (answers[name]["minimum"], answers[name]["maximum"]) == (low, high)


def test_a_good_row_has_no_fault() -> None:
    assert faults(good_row()) == []


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("question_id", 7, "question_id: got 7; allowed: string"),
        ("question_id", "", "question_id: got text of 0 characters; allowed: text that is not blank"),
        ("prompt", " \u3000", "prompt: got text of 2 characters; allowed: text that is not blank"),
        ("rubric", "MITI-ST v2", "allowed: 'MITI-ST v1'"),
        ("chosen_score", 14, "chosen_score: got 14; allowed: at most 13"),
        ("chosen_score", 12.0, "chosen_score: got 12.0; allowed: an integer"),
        ("chosen_score", True, "chosen_score: got True; allowed: integer"),
        ("chosen_score", None, "chosen_score: got None; allowed: integer"),
        ("surprise", 1, "'surprise': got an unknown key"),
        ("all_answers", [], "all_answers: got a list of 0; allowed: at least 2 answers"),
        ("all_answers.1.empathy", 6, "all_answers.1.empathy: got 6; allowed: at most 5"),
        ("all_answers.1.empathy", 0, "all_answers.1.empathy: got 0; allowed: at least 1"),
        ("all_answers.1.no_confront", 2, "all_answers.1.no_confront: got 2; allowed: at most 1"),
        ("all_answers.1.note", "x", "all_answers.1.'note': got an unknown key"),
        ("all_answers.0.total", 11, "all_answers.0.total: got 11; allowed: 12, the sum of the five scores"),
        ("chosen_score", 11, "chosen_score: got 11; allowed: 12, the total of that answer"),
        ("chosen", "mild", "chosen: got a text and therapist that no answer has together"),
        ("chosen_therapist", "C", "chosen: got a text and therapist that no answer has together"),
        ("prompt", "\ud800", "prompt: got text with a lone surrogate"),
    ],
)
def test_a_fault_names_field_got_and_allowed(path: str, value: Any, says: str) -> None:
    row = good_row()
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    place: Any = row
    for part in parents:
        place = place[part]
    place[last] = value
    assert any(says in fault for fault in faults(row)), faults(row)


@pytest.mark.parametrize("key", schema.ROW_KEYS)
def test_every_key_is_required(key: str) -> None:
    row = good_row()
    del row[key]
    assert faults(row) == [f"row 1 {key}: got nothing; allowed: a value (the key is required)"]


def test_all_faults_of_a_row_come_at_once() -> None:
    row = good_row() | {"chosen_score": 99, "license": 4, "extra": 1}
    del row["topic"]
    assert len(faults(row)) == 4


@pytest.mark.parametrize("value", [None, 3, "text", [], [good_row()]])
def test_a_row_that_is_no_object_is_one_fault(value: Any) -> None:
    assert len(faults(value)) == 1


def test_chosen_must_be_the_highest_total_and_ties_go_to_empathy() -> None:
    row = good_row()
    row["all_answers"].append(answer("D", "tied", 4, 5, 1, 1, 1))  # 12 too, with less empathy
    assert faults(row) == []
    row |= {"chosen": "tied", "chosen_therapist": "D"}
    assert faults(row) == ["row 1 chosen: got another answer; allowed: the highest total (ties: empathy), 12 here"]


def test_rejected_must_be_the_lowest_total_and_lower_than_chosen() -> None:
    row = good_row() | {"rejected": "mild", "rejected_therapist": "C", "rejected_score": 8}
    assert faults(row) == ["row 1 rejected: got another answer; allowed: the lowest total (ties: empathy), 4 here"]
    equal = good_row()
    equal["all_answers"] = [answer("A", "warm", 5, 4, 1, 1, 1), answer("B", "cold", 4, 5, 1, 1, 1)]
    equal["rejected_score"] = 12
    assert faults(equal) == ["row 1 chosen_score: got 12 against 12; allowed: a higher score than rejected_score"]


def test_chosen_and_rejected_must_differ_in_text() -> None:
    row = good_row()
    row["all_answers"][1]["text"] = row["rejected"] = "warm"
    assert any("the same text as chosen" in fault for fault in faults(row))


def test_the_row_id_ignores_key_order_and_nothing_else() -> None:
    row = good_row()
    backwards = dict(reversed(row.items()))
    assert schema.row_id(backwards) == schema.row_id(row)
    changed = copy.deepcopy(row)
    changed["all_answers"][2]["text"] += " "
    assert schema.row_id(changed) != schema.row_id(row)


def test_a_line_has_the_keys_in_order_and_characters_as_they_are() -> None:
    row = good_row() | {"prompt": "眠れません\u2028 “help”"}
    line = schema.row_line(dict(reversed(row.items())))
    assert line.endswith("}\n")
    assert line.count("\n") == 1
    assert "眠れません" in line
    assert list(json.loads(line)) == list(schema.ROW_KEYS)
    assert list(json.loads(line)["all_answers"][0]) == list(schema.ANSWER_KEYS)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(key=st.sampled_from(schema.ROW_KEYS), value=JSON)
def test_no_value_makes_the_check_itself_fail(key: str, value: Any) -> None:
    found = schema.row_faults(good_row() | {key: value}, "row 1")
    assert all(fault.where == "row 1" for fault in found)
