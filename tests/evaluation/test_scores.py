"""Score prediction: what counts as read, and ACC, ACC_soft and MAE against scikit-learn."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, mean_absolute_error

from hf_kokoro.corpora.kokorochat.schema import ITEM_NAMES, ITEMS
from hf_kokoro.errors import InputError
from hf_kokoro.evaluation.score_items import item_name, read_scores
from hf_kokoro.evaluation.scores import (
    UNREAD,
    ScoreRun,
    baseline_run,
    best_constant,
    read_score_run,
    score_report,
    spread_over_runs,
)

GOLD = {name: place % 6 for place, name in enumerate(ITEM_NAMES)}
JAPANESE = {item.source_ja: GOLD[item.name] for item in ITEMS}
FULL_WIDTH = str.maketrans("0123456789:", "０１２３４５６７８９：")


def lines(template: str, names: dict[str, int]) -> str:
    return "\n".join(template.format(n=n, k=k, v=v) for n, (k, v) in enumerate(names.items(), start=1))


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOLD),
        json.dumps({"scores": GOLD}),
        json.dumps({item.source_en: GOLD[item.name] for item in ITEMS}),  # upstream's misspelling
        "以下が予測です。\n```json\n" + json.dumps(JAPANESE, ensure_ascii=False, indent=2) + "\n```\n以上です。",
        json.dumps({name: str(score).translate(FULL_WIDTH) for name, score in GOLD.items()}),
        json.dumps([[name, score] for name, score in GOLD.items()]),
        json.dumps([{"item": name, "score": f"{score}点"} for name, score in JAPANESE.items()]),
        json.dumps([*GOLD.values()]),
        lines("{k}: {v}", GOLD),
        lines("{n}. {k}:{v}点", JAPANESE).translate(FULL_WIDTH),
        lines("| {n} | {k} | {v} |", GOLD),
        lines("- **D{n}** = {v}/5", GOLD),
        lines("D{n} {v}", GOLD),
        lines("{k}（予測） → {v}（理由は省略）", JAPANESE),
        lines("{k} - {v}", {name.replace("_", " ").title(): score for name, score in GOLD.items()}),
    ],
)
def test_twenty_scores_are_read_from_every_usual_shape(text: str) -> None:
    found = read_scores(text)
    assert found.faults == {}
    assert found.scores == GOLD


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "missing"),
        ("felt_respected", "missing"),
        ("felt_respected: 4 or 5", "missing"),
        ("felt_respected: 4〜5", "missing"),
        ("felt_respected: 四", "missing"),
        ("felt respect: 4", "missing"),
        ("2: 4", "missing"),
        ("felt_respected: 6", "out of range"),
        ("felt_respected: -1", "out of range"),
        ("felt_respected −１", "out of range"),
        ('{"felt_respected": 10000000000000000000000}', "out of range"),
        ("felt_respected: 3.5", "not a whole number"),
        ('{"felt_respected": true}', "not a whole number"),
        ('{"felt_respected": null}', "not a whole number"),
        ('{"felt_respected": "high"}', "not a whole number"),
        ('{"felt_respected": 1, "D2": 2}', "given twice with different scores"),
        ('{"felt_respected": 1, "felt_respected": 2}', "given twice with different scores"),
        ("{" * 3000, "missing"),
        ('{"felt_respected": ' + "1" * 5000 + "}", "missing"),
        (json.dumps([1] * 19), "missing"),
        (json.dumps([1] * 21), "missing"),
    ],
)
def test_what_cannot_be_read_is_a_fault_with_its_reason_and_never_a_number(text: str, fault: str) -> None:
    found = read_scores(text)
    assert "felt_respected" not in found.scores
    assert found.faults["felt_respected"] == fault


def test_the_same_score_given_twice_and_a_whole_decimal_are_read() -> None:
    assert read_scores("D2: 4\n尊重されたと感じた: 4.0").scores == {"felt_respected": 4}


@pytest.mark.parametrize(
    "text", ["Ｆｅｌｔ＿Ｒｅｓｐｅｃｔｅｄ", "尊重された と感じた。", "ｄ２", "felt-respected", "D2"]
)
def test_item_names_are_matched_with_width_case_and_marks_folded(text: str) -> None:
    assert item_name(text) == "felt_respected"


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=80))
def test_any_text_gives_for_each_item_a_score_in_range_or_a_fault(text: str) -> None:
    found = read_scores(text)
    assert found.scores.keys().isdisjoint(found.faults)
    assert {*found.scores, *found.faults} == {*ITEM_NAMES}
    assert all(0 <= score <= 5 for score in found.scores.values())


def run_of(gold: Any, predicted: Any) -> ScoreRun:
    return ScoreRun([str(i) for i in range(len(gold))], np.array(gold), np.array(predicted), Counter())


TABLES = st.integers(1, 6).flatmap(
    lambda n: st.tuples(
        st.lists(st.lists(st.integers(0, 5), min_size=20, max_size=20), min_size=n, max_size=n),
        st.lists(st.lists(st.integers(0, 5), min_size=20, max_size=20), min_size=n, max_size=n),
    )
)


@settings(max_examples=40, deadline=None)
@given(TABLES)
def test_acc_and_mae_equal_scikit_learns(tables: tuple[Any, Any]) -> None:
    gold, predicted = np.array(tables[0]), np.array(tables[1])
    report = score_report(run_of(gold, predicted))
    assert report.overall.acc == pytest.approx(accuracy_score(gold.ravel(), predicted.ravel()), abs=1e-6)
    assert report.overall.mae == pytest.approx(mean_absolute_error(gold.ravel(), predicted.ravel()), abs=1e-6)
    for place, name in enumerate(ITEM_NAMES):
        assert report.items[name].acc == pytest.approx(accuracy_score(gold[:, place], predicted[:, place]), abs=1e-6)
    assert report.overall.acc <= report.overall.acc_soft <= 1


def test_an_unread_item_is_wrong_for_acc_and_has_no_part_in_mae() -> None:
    gold = [[3] * 20]
    predicted = [[3] * 10 + [4] * 5 + [UNREAD] * 5]
    report = score_report(run_of(gold, predicted))
    assert (report.overall.acc, report.overall.acc_soft) == (0.5, 0.75)
    assert report.overall.mae == pytest.approx(5 / 15, abs=1e-6)
    assert (report.overall.unread, report.overall.pairs) == (5, 20)
    assert report.items[ITEM_NAMES[19]].mae is None
    assert report.unread_dialogues == ["0"]
    # minus one is no score: an unread item next to a gold score of 0 is not within one point
    assert score_report(run_of([[0] * 20], [[UNREAD] * 20])).overall.acc_soft == 0.0


def test_the_spread_over_seeds_is_the_sample_standard_deviation() -> None:
    runs = [run_of([[1] * 20], [[1] * right + [5] * (20 - right)]) for right in (10, 12, 14)]
    found = spread_over_runs([score_report(run) for run in runs])
    assert (found["acc"].mean, found["acc"].sd) == (0.6, 0.1)  # 0.5, 0.6, 0.7
    assert spread_over_runs([score_report(runs[0])])["acc"].sd is None


def test_baselines_are_worked_by_hand() -> None:
    first, *rest = ITEM_NAMES
    train = [{first: score} | dict.fromkeys(rest, 2) for score in (5, 5, 0)]
    test = run_of([[5] + [2] * 19], [[UNREAD] * 20])
    assert baseline_run("constant", train, test).predicted.tolist() == [[2] * 20]
    assert baseline_run("majority", train, test).predicted.tolist() == [[5] + [2] * 19]
    assert baseline_run("mean", train, test).predicted.tolist() == [[3] + [2] * 19]  # 10/3 = 3.33
    assert best_constant(test)[0] == 2
    half = [{first: score} | dict.fromkeys(rest, 2) for score in (3, 4)]
    assert baseline_run("mean", half, test).predicted[0, 0] == 4  # 3.5 goes up


def test_a_file_of_predictions_gives_the_report_and_names_what_was_not_read(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "prediction": json.dumps(GOLD), "reference": GOLD},
        {"id": "b", "prediction": json.dumps(GOLD)[:-8], "reference": json.dumps(GOLD)},
        {"id": "c", "prediction": "分かりません", "reference": GOLD},
    ]
    path = tmp_path / "predictions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    report = score_report(read_score_run(path))
    # b is torn JSON: nothing in it is read
    assert report.overall.acc == pytest.approx(1 / 3, abs=1e-6)
    assert report.unread_reasons == {"missing": 40}
    assert report.unread_dialogues == ["b", "c"]
    assert read_score_run(tmp_path).ids == ["a", "b", "c"]


def test_every_row_without_whole_gold_scores_is_reported(tmp_path: Path) -> None:
    rows = [
        {"prediction": "x", "reference": GOLD | {"felt_respected": 6}},
        {"prediction": "x"},
        {"prediction": 3, "reference": GOLD},
    ]
    path = tmp_path / "p.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    with pytest.raises(InputError, match="3 faults") as error:
        read_score_run(path)
    assert "p.jsonl line 1 reference" in str(error.value)
    assert "p.jsonl line 3 prediction: got 3" in str(error.value)
