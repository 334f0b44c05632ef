"""Verdicts and the rubric: what a journal line holds, and that nothing unscored is a number."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hf_kokoro.core.shipped import shipped_text
from hf_kokoro.judging import Item, Opinion, is_blank, load_rubric, text_sha256
from hf_kokoro.judging.rubric import RubricError, parse_rubric
from hf_kokoro.judging.verdicts import VerdictError, make_verdict, parse_verdict
from hf_kokoro.miti.contract import DIMENSIONS

SCORES = {"empathy": 4, "partnership": 3, "reflection_present": 1, "no_persuade": 0, "no_confront": 1}
ITEM = Item("007", "Why?", "Ada", "Because\u2028you asked.")


def line(**changes: Any) -> str:
    fields = json.loads(make_verdict(ITEM, Opinion("scored", SCORES, "fine", "{}"), "m", "r").line())
    fields |= changes
    return json.dumps({key: value for key, value in fields.items() if value != "(gone)"})


def test_a_line_has_the_documented_keys_in_their_order() -> None:
    fields = json.loads(make_verdict(ITEM, Opinion("scored", SCORES, "fine", "{}"), "m", "r").line())
    assert list(fields) == [
        *("question_id", "question_sha256", "answer_sha256", "therapist", "judge_model", "rubric"),
        *("rubric_sha256", "status", "empathy", "partnership", "reflection_present", "no_persuade"),
        *("no_confront", "total", "reason", "raw", "created_at"),
    ]
    assert fields["total"] == 9
    assert fields["rubric"] == "MITI-ST v1"
    # printf 'Why?' | sha256sum
    assert fields["question_sha256"] == "5d8a995a6fa7cf7c577cc9d49ca9e00d4aee4d0bcd5e2ad5caff27e2a8097276"


@pytest.mark.parametrize("status", ["refused", "incomplete", "invalid", "blank"])
def test_an_unscored_line_holds_no_number_at_all(status: str) -> None:
    fields = json.loads(make_verdict(ITEM, Opinion(status, raw="6 of 5"), "m", "r").line())
    assert not {*DIMENSIONS, "total"} & fields.keys()
    assert fields["raw"] == "6 of 5"


def test_a_line_reads_back_as_the_same_verdict_whatever_the_reply_holds() -> None:
    raw = 'cut \ud83d reply, "quotes",\nnew line, \u2028 and \x00'
    verdict = make_verdict(ITEM, Opinion("scored", SCORES, "r", raw), "m", "r", repeat=2)
    text = verdict.line()
    assert text.count("\n") == 1
    assert parse_verdict(text, "x") == verdict


@pytest.mark.parametrize(
    "scores",
    [
        SCORES | {"empathy": 6},
        SCORES | {"empathy": 0},
        SCORES | {"no_confront": 2},
        SCORES | {"empathy": "4"},
        SCORES | {"empathy": 3.0},
        SCORES | {"empathy": True},
        SCORES | {"empathy": None},
        {name: SCORES[name] for name in list(SCORES)[:4]},
        SCORES | {"warmth": 3},
    ],
)
def test_scores_out_of_range_of_another_type_missing_or_extra_are_refused(scores: dict[str, Any]) -> None:
    with pytest.raises(VerdictError):
        Opinion("scored", scores)


def test_status_and_scores_must_agree() -> None:
    with pytest.raises(VerdictError):
        Opinion("scored")
    with pytest.raises(VerdictError):
        Opinion("refused", SCORES)
    with pytest.raises(VerdictError):
        Opinion("zero")


@pytest.mark.parametrize(
    "text",
    [
        "not json",
        "[]",
        line().replace('"empathy": ', f'"empathy": {"1" * 5000}'),
        line(total=13),
        line(empathy=9),
        line(empathy="(gone)"),
        line(status="refused"),
        line(rubric="MITI-ST v2"),
        line(created_at=5),
        line(repeat=-1),
        line(judge_model="(gone)"),
        json.dumps({"prompt": "p", "chosen": "c"}),
    ],
)
def test_a_line_that_contradicts_itself_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(VerdictError, match=r"j\.jsonl line 3"):
        parse_verdict(text, "j.jsonl line 3")


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u3000\u3000", "\u00a0", "\u200b\ufeff", "\u2060 \u00ad\x00"])
def test_text_that_shows_nothing_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", [".", "0", "None", "NA", "\u200bx", "。"])
def test_text_that_shows_something_is_not_blank(text: str) -> None:
    assert not is_blank(text)


def test_texts_are_identified_as_they_stand_without_folding() -> None:
    assert text_sha256("a b") != text_sha256("a\u00a0b")
    assert text_sha256("\ud800") == text_sha256("\ud800")


def test_the_rubric_has_anchors_a_rule_of_doubt_and_valid_examples_of_every_code() -> None:
    rubric = load_rubric()
    for dimension in rubric.dimensions:
        low, high = DIMENSIONS[dimension.name]
        assert sorted(dimension.anchors) == list(range(low, high + 1))
        assert all(anchor in rubric.text for anchor in dimension.anchors.values())
        assert dimension.doubt in rubric.text
    assert rubric.version == "2.0"
    assert len(rubric.examples) >= 12
    for code in ("reflection_present", "no_persuade", "no_confront"):
        assert {example.scores[code] for example in rubric.examples} == {0, 1}
    for example in rubric.examples:
        Opinion("scored", example.scores)
        assert example.answer in rubric.text


def test_any_change_of_the_rubric_changes_its_digest() -> None:
    toml = shipped_text("hf_kokoro.judging", "rubric.toml")
    assert parse_rubric(toml) == load_rubric()
    assert parse_rubric(toml.replace("passing nod", "passing  nod")).sha256 != load_rubric().sha256


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('3 = "Takes up', '9 = "Takes up'),
        ('name = "empathy"', 'name = "warmth"'),
        ("[[dimension]]", "[[dimensions]]"),
        ("version =", "version"),
        ("scores = { empathy = 5,", "scores = { empathy = 6,"),
        ("scores = { empathy = 5,", "scores = {"),
    ],
)
def test_a_rubric_that_lacks_something_is_refused(old: str, new: str) -> None:
    toml = shipped_text("hf_kokoro.judging", "rubric.toml")
    assert old in toml
    with pytest.raises(RubricError):
        parse_rubric(toml.replace(old, new, 1))
