"""Kits for people and their ratings: the draw, every form filled in and read back, what is refused, adjudication."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hf_kokoro.errors import InputError, UsageError
from hf_kokoro.judging import load_rubric, read_journal
from hf_kokoro.judging.kit_files import COLUMNS
from hf_kokoro.miti.contract import DIMENSIONS
from hf_kokoro.workflow import annotate_adjudicate, annotate_export, annotate_import, validate

from ..judging.judging_support import SAMPLE, run

FIVE = {"empathy": "3", "partnership": "4", "reflection_present": "1", "no_persuade": "0", "no_confront": "1"}
Fill = Callable[[str], dict[str, str]]


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    annotate_export(SAMPLE, tmp_path / "kit", questions=6, raters=["anna", "ben", "chie"], repeats=0.2, seed=7)
    return tmp_path / "kit"


def key_of(kit: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads((kit / "key.json").read_text())["items"]
    return found


def items_of(kit: Path, rater: str) -> list[str]:
    with (kit / f"{rater}.csv").open(encoding="utf-8-sig", newline="") as file:
        return [row["item"] for row in csv.DictReader(file)]


def fill(kit: Path, rater: str, given: Fill = lambda item: FIVE) -> Path:
    path = kit / f"{rater}.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = [row | given(row["item"]) for row in csv.DictReader(file)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_whole_questions_go_to_all_raters_blind_and_in_orders_of_their_own(kit: Path) -> None:
    key = key_of(kit)
    by_rater = {rater: [key[item] for item in items_of(kit, rater)] for rater in ("anna", "ben", "chie")}
    answers = {rater: {(e["question_sha256"], e["answer_sha256"]) for e in found} for rater, found in by_rater.items()}
    assert answers["anna"] == answers["ben"] == answers["chie"]
    assert len({question for question, _ in answers["anna"]}) == 6
    firsts = {rater: [e["answer_sha256"] for e in found if not e["repeat"]] for rater, found in by_rater.items()}
    assert firsts["anna"] != firsts["ben"]
    therapists = {entry["therapist"] for entry in key.values()}
    for path in kit.iterdir():
        if path.suffix not in (".json", ".xlsx") or "label" in path.name:
            text = path.read_text("utf-8")
            assert not any(name in text for name in therapists if len(name) > 6), path.name
    # a question's answers stand together, and repeats come behind all of them, under other ids
    questions = [e["question_sha256"] for e in by_rater["anna"] if not e["repeat"]]
    assert len([1 for a, b in pairwise(questions) if a != b]) == 5
    repeats = [e["repeat"] for e in by_rater["anna"]]
    assert repeats == sorted(repeats)
    assert sum(repeats) == round(0.2 * len(questions))


def test_questions_without_overlap_are_shared_out_evenly(tmp_path: Path) -> None:
    annotate_export(SAMPLE, tmp_path / "kit", questions=7, raters=3, overlap=1 / 7, repeats=0)
    key = key_of(tmp_path / "kit")
    raters = Counter(question for question, _ in {(e["question_sha256"], e["rater"]) for e in key.values()})
    assert sorted(raters.values()) == [1] * 6 + [3]


def test_the_same_seed_draws_the_same_kit_and_another_one_another(tmp_path: Path) -> None:
    for name, seed in (("one", 1), ("two", 1), ("three", 2)):
        annotate_export(SAMPLE, tmp_path / name, questions=5, seed=seed)
    assert (tmp_path / "one" / "rater-2.csv").read_bytes() == (tmp_path / "two" / "rater-2.csv").read_bytes()
    assert key_of(tmp_path / "one") != key_of(tmp_path / "three")


def test_filled_lists_become_verdicts_and_repeats_a_second_pass(kit: Path, tmp_path: Path) -> None:
    for rater in ("anna", "ben", "chie"):
        fill(kit, rater)
    report = annotate_import(kit, tmp_path / "people.jsonl")
    assert report.written == len(key_of(kit))
    assert report.missing == {}
    verdicts = read_journal(tmp_path / "people.jsonl")
    assert {v.judge_model for v in verdicts} == {"human/anna", "human/ben", "human/chie"}
    assert {v.rubric_sha256 for v in verdicts} == {load_rubric().sha256}
    assert all(v.scores == {name: int(level) for name, level in FIVE.items()} for v in verdicts)
    assert sum(v.repeat for v in verdicts) == sum(report.repeats.values()) > 0
    assert annotate_import(kit, tmp_path / "people.jsonl").written == 0, "the same again writes nothing"


def test_a_changed_rating_counts_from_then_on(kit: Path, tmp_path: Path) -> None:
    fill(kit, "anna")
    annotate_import(kit, tmp_path / "people.jsonl")
    fill(kit, "anna", lambda item: FIVE | {"empathy": "5"})
    report = annotate_import(kit, tmp_path / "people.jsonl")
    assert report.written == len(items_of(kit, "anna"))
    assert {(v.scores or {})["empathy"] for v in read_journal(tmp_path / "people.jsonl")} == {5}


def workbook(kit: Path, items: list[str]) -> None:
    import openpyxl

    book = openpyxl.load_workbook(kit / "anna.xlsx")
    sheet = book.active
    for row in range(2, sheet.max_row + 1):
        assert sheet.cell(row, 1).value in items
        for column, name in enumerate(COLUMNS, start=1):
            if name in FIVE:
                # as a spreadsheet keeps a number, and as a Japanese keyboard types it
                sheet.cell(row, column).value = int(FIVE[name]) if row % 2 else FIVE[name].translate({51: "３"})
    book.save(kit / "anna.xlsx")


def label_studio(kit: Path, items: list[str]) -> None:
    tasks = json.loads((kit / "anna.label-studio.json").read_text("utf-8"))
    for task in tasks:
        assert task["data"]["item"] in items
        result = [
            {"from_name": name, "to_name": "answer", "type": "choices", "value": {"choices": [level]}}
            for name, level in FIVE.items()
        ]
        skipped = {"completed_by": 1, "was_cancelled": True, "result": []}
        task["annotations"] = [skipped, {"completed_by": 1, "was_cancelled": False, "result": result}]
    (kit / "export.json").write_text(json.dumps(tasks), "utf-8")


def argilla(kit: Path, items: list[str]) -> None:
    records = [json.loads(line) for line in (kit / "anna.argilla.jsonl").read_text("utf-8").splitlines()]
    for record in records:
        assert record["id"] in items
        record["responses"] = {name: [{"value": int(level), "user_id": "u"}] for name, level in FIVE.items()}
    (kit / "records.jsonl").write_text("\n".join(map(json.dumps, records)) + "\n", "utf-8")


def page(kit: Path, items: list[str]) -> None:
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(["item", *DIMENSIONS, "note"])
    writer.writerows([item, *FIVE.values(), "a remark, with a comma"] for item in items)
    (kit / "anna.ratings.csv").write_text(out.getvalue(), "utf-8")


@pytest.mark.parametrize("form", [workbook, label_studio, argilla, page])
def test_every_form_is_read_back(kit: Path, tmp_path: Path, form: Callable[[Path, list[str]], None]) -> None:
    form(kit, items_of(kit, "anna"))
    report = annotate_import(kit, tmp_path / "people.jsonl")
    assert report.written == len(items_of(kit, "anna"))
    assert all(
        v.scores == {n: int(level) for n, level in FIVE.items()} for v in read_journal(tmp_path / "people.jsonl")
    )


def test_what_is_wrong_is_all_named_and_nothing_is_written(kit: Path, tmp_path: Path) -> None:
    one, two, three, *_ = items_of(kit, "anna")
    bad = {one: FIVE | {"empathy": "6"}, two: FIVE | {"no_persuade": "yes"}, three: FIVE | {"partnership": ""}}
    fill(kit, "anna", lambda item: bad.get(item, FIVE))
    with (kit / "anna.csv").open("a", encoding="utf-8", newline="") as file:
        csv.writer(file).writerow(["0123456789ab", "q", "a", *FIVE.values(), ""])
    with pytest.raises(InputError) as caught:
        annotate_import(kit, tmp_path / "people.jsonl")
    text = str(caught.value)
    for part in (
        "empathy: got '6'; allowed: a whole number from 1 to 5",
        "no_persuade: got 'yes'",
        "partnership: got nothing",
    ):
        assert part in text
    assert "an item of this kit" in text
    assert not (tmp_path / "people.jsonl").exists()


def test_missing_ratings_are_named_by_rater_and_taken_only_on_purpose(kit: Path, tmp_path: Path) -> None:
    last = items_of(kit, "ben")[-1]
    fill(kit, "ben", lambda item: {} if item == last else FIVE)
    with pytest.raises(UsageError, match=rf"ben left out 1 items \({last}\)"):
        annotate_import(kit, tmp_path / "people.jsonl")
    report = annotate_import(kit, tmp_path / "people.jsonl", allow_missing=True)
    assert report.missing == {"ben": 1}
    assert "anna" not in report.rated, "who gave nothing back yet is not missing items"


def test_two_files_that_contradict_each_other_are_refused(kit: Path, tmp_path: Path) -> None:
    fill(kit, "anna")
    page(kit, items_of(kit, "anna"))
    annotate_import(kit, tmp_path / "people.jsonl")
    fill(kit, "anna", lambda item: FIVE | {"empathy": "1"})
    with pytest.raises(InputError, match="a second, other rating"):
        annotate_import(kit, tmp_path / "people.jsonl")


def test_a_text_that_a_spreadsheet_would_calculate_is_quoted(tmp_path: Path) -> None:
    with (tmp_path / "s.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(
            ["questionID", "questionTitle", "questionText", "topic", "therapistInfo", "answerText", "upvotes", "views"]
        )
        for number in range(3):
            table.writerow(["q", "", "A question?", "t", f"t{number}", f"=HYPERLINK({number}) I hear you.", 0, 0])
    annotate_export(tmp_path / "s.csv", tmp_path / "kit", questions=1, raters=1, repeats=0)
    with (tmp_path / "kit" / "rater-1.csv").open(encoding="utf-8-sig", newline="") as file:
        assert all(row["answer"].startswith("'=") for row in csv.DictReader(file))


def test_the_page_asks_nobody_for_anything_and_holds_its_texts_as_data(kit: Path) -> None:
    text = (kit / "anna.html").read_text("utf-8")
    assert "default-src 'none'" in text
    assert not re.search(r"""(?:src|href)\s*=\s*["']?\s*(?:https?:)?//""", text)
    data = re.search(r'<script type="application/json" id="kit">(.*?)</script>', text, re.DOTALL)
    assert data is not None
    assert "<" not in data[1]
    kept = json.loads(data[1])
    assert [item["id"] for item in kept["items"]] == items_of(kit, "anna")
    assert set(kept["items"][0]) == {"id", "question", "answer"}


def test_a_folder_with_something_in_it_and_names_that_are_none_are_refused(kit: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not an empty folder"):
        annotate_export(SAMPLE, kit, questions=2)
    for raters in (["a", "a"], ["../x"], 0):
        with pytest.raises(UsageError, match="--raters"):
            annotate_export(SAMPLE, tmp_path / "other", questions=2, raters=raters)
    with pytest.raises(UsageError, match="--questions 9999"):
        annotate_export(SAMPLE, tmp_path / "other", questions=9999)
    with pytest.raises(UsageError, match=r"key\.json"):
        annotate_import(tmp_path, tmp_path / "people.jsonl")


def test_where_people_differ_one_more_list_settles_it(kit: Path, tmp_path: Path) -> None:
    key, journal = key_of(kit), tmp_path / "people.jsonl"
    odd = {e["answer_sha256"] for e in list(key.values())[:2]}
    for rater in ("anna", "ben", "chie"):
        levels = FIVE | {"no_persuade": "1"} if rater == "ben" else FIVE
        fill(
            kit,
            rater,
            lambda item, levels=levels: levels if key[item]["answer_sha256"] in odd else FIVE | {"empathy": "3"},
        )
    annotate_import(kit, journal)
    report = annotate_adjudicate(journal, tmp_path / "settle")
    assert report.answers == len(odd)
    fill(tmp_path / "settle", "adjudicated")
    assert annotate_import(tmp_path / "settle", journal).written == len(odd)
    assert "human/adjudicated" in {v.judge_model for v in read_journal(journal)}


def test_a_kit_three_made_up_raters_and_a_judge_are_validated_by_the_verbs_alone(tmp_path: Path) -> None:
    def done(*words: object) -> str:
        found = run(*words, cwd=tmp_path)
        assert found.returncode == 0, found.stderr
        return found.stdout

    done("judge", "--source", SAMPLE, "--judge", "rule", "--journal", "verdicts.jsonl")
    out = done("annotate", "export", "--source", SAMPLE, "--questions", 8, "--raters", "anna,ben,chie", "--out", "kit")
    assert "keep key.json" in out
    for rater in ("anna", "ben", "chie"):
        fill(tmp_path / "kit", rater)
    out = done("annotate", "import", "kit", "--journal", "people.jsonl")
    assert "anna: " in out
    report = json.loads(done("validate", "verdicts.jsonl", "--people", "people.jsonl", "--json"))
    assert report == json.loads(json.dumps(validate(tmp_path / "verdicts.jsonl", tmp_path / "people.jsonl").as_dict()))
    assert report["dimensions"]["empathy"]["n"] > 20
    assert report["people"] == ["human/anna", "human/ben", "human/chie"]
