"""Published rows in other spellings, other files beside them, and bad lines."""

from __future__ import annotations

import json
import logging
import zipfile
from pathlib import Path
from typing import Any

import pytest

import hf_kokoro as hk
from hf_kokoro.corpora.miti_st.reader import row_files
from hf_kokoro.errors import InputError, SourceError
from hf_kokoro.miti import contract as schema

ROWS = [json.loads(line) for line in (Path(__file__).parent / "rows.jsonl").read_text("utf-8").splitlines()]


def save(path: Path, *rows: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def load(source: Path, config: str = "rows", **options: Any) -> list[dict[str, Any]]:
    return list(hk.load_dataset("miti_st_dpo", config, source=source, split="train", **options))


def respelled(
    row: dict[str, Any], text: str, therapist: str, nested: bool, booleans: bool, total: str | None
) -> dict[str, Any]:
    answers = []
    for answer in row["all_answers"]:
        scores = {
            name: bool(answer[name]) if booleans and high == 1 else answer[name]
            for name, (_, high) in schema.DIMENSIONS.items()
        }
        one: dict[str, Any] = {therapist: answer["therapist"], text: answer["text"]}
        one |= {"scores": scores} if nested else scores
        if total:
            one[total] = answer["total"]
        answers.append(one)
    return {**row, "all_answers": answers}


@pytest.mark.parametrize("text", ["text", "answer", "answer_text", "answerText", "response"])
@pytest.mark.parametrize("therapist", ["therapist", "therapist_id", "therapistInfo"])
@pytest.mark.parametrize(
    ("nested", "booleans", "total"), [(False, False, "score"), (True, True, "total_score"), (True, False, None)]
)
def test_every_known_spelling_gives_the_same_rows(
    text: str, therapist: str, nested: bool, booleans: bool, total: str | None, tmp_path: Path
) -> None:
    path = save(
        tmp_path / "rows.jsonl", *(respelled(row, text, therapist, nested, booleans, total) for row in ROWS[:4])
    )
    assert load(path) == ROWS[:4]


def test_a_key_that_only_some_answers_have_is_left_out_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """C02: an answer without `comment` does not come back with a None that nobody wrote."""
    row = json.loads(json.dumps(ROWS[0]))
    row["all_answers"][0]["comment"] = "private"
    with caplog.at_level(logging.WARNING):
        assert load(save(tmp_path / "rows.jsonl", row)) == [ROWS[0]]
    assert "key 'comment' of 1 rows or answers is not part of the row schema" in caplog.text
    assert "private" not in caplog.text


def test_an_integer_question_id_is_read_as_text(tmp_path: Path) -> None:
    assert load(save(tmp_path / "rows.jsonl", {**ROWS[0], "question_id": 12}))[0]["question_id"] == "12"


def test_segments_are_read_in_the_order_in_which_they_grew(tmp_path: Path) -> None:
    for name, row in (("pilot-00001", ROWS[1]), ("pilot-00002", ROWS[2]), ("pilot", ROWS[0])):
        save(tmp_path / "data" / f"{name}.jsonl", row)
    save(tmp_path / "pairs" / "train.jsonl", {"not": "a row"})
    assert load(tmp_path) == ROWS[:3]
    assert row_files(["data/pilot-00001.jsonl", "data/pilot.jsonl", "x.jsonl"]) == [
        "data/pilot.jsonl",
        "data/pilot-00001.jsonl",
    ]


def test_segments_past_99999_come_last_and_what_only_looks_like_one_is_left_out() -> None:
    segments = ["pilot.jsonl", "pilot-00001.jsonl", "pilot-99999.jsonl", "pilot-100000.jsonl"]
    strays = ["pilot2.jsonl", "pilot-backup.jsonl", "pilot-0001.jsonl", "pilot-000001.jsonl"]
    for folder in ("data/", ""):
        there = [f"{folder}{name}" for name in sorted([*segments, *strays])]
        assert row_files(there) == [f"{folder}{name}" for name in segments]


def test_other_files_are_read_in_the_order_they_grew_each_with_its_segments() -> None:
    grown = ["a.jsonl", "a-00001.jsonl", "a-99999.jsonl", "a-100000.jsonl", "a-x.jsonl", "b-00001.jsonl"]
    assert row_files([*sorted(grown), ".hidden.jsonl", "b.txt"]) == grown


def test_an_archive_of_a_published_folder_reads_like_the_folder(tmp_path: Path) -> None:
    save(tmp_path / "repo" / "data" / "pilot.jsonl", *ROWS)
    with zipfile.ZipFile(tmp_path / "repo.zip", "w") as archive:
        archive.write(tmp_path / "repo" / "data" / "pilot.jsonl", "data/pilot.jsonl")
    assert load(tmp_path / "repo.zip") == load(tmp_path / "repo") == ROWS


def test_bad_lines_are_named_by_file_and_line_and_nothing_is_quoted(tmp_path: Path) -> None:
    path = save(tmp_path / "rows.jsonl", ROWS[0], {**ROWS[1], "chosen_score": 1})
    path.write_bytes(path.read_bytes() + b'{"question_id": "torn\n' + json.dumps([1]).encode() + b"\n\xff\n")
    with pytest.raises(InputError) as caught:
        load(path)
    message = str(caught.value)
    assert caught.value.count == 5  # a chosen_score of 1 is also no higher than the rejected one
    for says in (
        "line 2 chosen_score: got 1",
        "line 3: got broken JSON",
        "line 4: got a list of 1",
        "line 5: got broken JSON",
    ):
        assert says in message
    assert ROWS[1]["chosen"][:20] not in message


def test_blank_lines_and_a_byte_order_mark_are_no_rows(tmp_path: Path) -> None:
    path = save(tmp_path / "rows.jsonl", *ROWS[:2])
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\n\n"))
    assert load(path) == ROWS[:2]


def test_a_folder_without_rows_says_what_was_expected(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("empty")
    with pytest.raises(SourceError, match=r"not one row; looked for .*data/pilot\.jsonl.*found one file, README\.md"):
        load(tmp_path)


def test_a_resampled_question_gives_each_verdict_once_in_the_views_by_answer(tmp_path: Path) -> None:
    smaller = json.loads(json.dumps(ROWS[0]))
    best, worst = smaller["chosen"], smaller["rejected"]
    smaller["all_answers"] = [a for a in smaller["all_answers"] if a["text"] in (best, worst)]
    path = save(tmp_path / "rows.jsonl", ROWS[0], smaller)
    assert len(load(path)) == 2
    assert len(load(path, "pairs")) == 2
    assert len(load(path, "answers")) == len(ROWS[0]["all_answers"])
    assert len(load(path, "unpaired")) == len(ROWS[0]["all_answers"])


def resampled(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows, and each again with only its two answers, as `pair --strategy resample` makes them."""
    copies = json.loads(json.dumps(rows))
    for row in copies:
        best, worst = row["chosen"], row["rejected"]
        row["all_answers"] = [a for a in row["all_answers"] if a["text"] in (best, worst)]
    return [*rows, *copies]


@pytest.mark.parametrize("split_by", [None, "random", "question"])
def test_weights_of_unpaired_count_an_answer_once_however_often_its_question_was_sampled(
    tmp_path: Path, split_by: str | None
) -> None:
    path = save(tmp_path / "rows.jsonl", *resampled(ROWS))
    train = load(path, "unpaired", split_by=split_by, weights="inverse_frequency")
    assert sum(row["weight"] for row in train) / len(train) == pytest.approx(1, abs=1e-5)
    sums: dict[str, float] = {}
    for row in train:
        sums[row["therapist"]] = sums.get(row["therapist"], 0) + row["weight"]
    assert len(sums) > 1
    assert list(sums.values()) == pytest.approx([len(train) / len(sums)] * len(sums), rel=1e-4)


@pytest.mark.parametrize("config", ["unpaired", "answers"])
@pytest.mark.parametrize("seed", range(5))
def test_a_random_split_never_has_an_answer_on_two_sides(tmp_path: Path, config: str, seed: int) -> None:
    rejudged = [{**row, "judge_model": "another-judge"} for row in ROWS]
    path = save(tmp_path / "rows.jsonl", *resampled(ROWS), *rejudged)
    splits = hk.load_dataset("miti_st_dpo", config, source=path, split_by="random", seed=seed)
    text = "completion" if config == "unpaired" else "text"
    sides: dict[str, set[str]] = {}
    for name, part in splits.items():
        for row in part:
            sides.setdefault(json.dumps([row["prompt"], row[text]]), set()).add(name)
    assert {len(names) for names in sides.values()} == {1}
    answers = {(row["prompt"], answer["text"]) for row in ROWS for answer in row["all_answers"]}
    assert len(sides) == len(answers)
    assert len({*map(frozenset, sides.values())}) > 1, "the answers do fall on several sides"


def test_a_grown_file_gives_the_new_rows_in_the_same_process(tmp_path: Path) -> None:
    """C04: three rows, then five, then six, without a size error and never old rows."""
    path = save(tmp_path / "data" / "pilot.jsonl", *ROWS[:3])
    assert load(tmp_path) == ROWS[:3]
    for count in (5, 6):
        save(path, *ROWS[:count])
        assert load(tmp_path) == ROWS[:count]


def test_weights_have_mean_one_over_train_and_are_one_elsewhere(tmp_path: Path) -> None:
    path = save(tmp_path / "rows.jsonl", *ROWS)
    for weighting in ("margin", "inverse_frequency"):
        splits = hk.load_dataset("miti_st_dpo", "pairs", source=path, split_by="question", weights=weighting)
        train = splits["train"]["weight"]
        assert sum(train) / len(train) == pytest.approx(1, abs=1e-5)
        assert len(set(train)) > 1
        assert set(splits["test"]["weight"]) == {1.0}
    by_margin = hk.load_dataset("miti_st_dpo", "pairs", source=path, weights="margin", split="train")
    ratio = {round(w / m, 4) for w, m in zip(by_margin["weight"], by_margin["margin"], strict=True)}
    assert len(ratio) == 1


def test_pairs_carry_the_margin_in_points_and_plain_text_on_demand(tmp_path: Path) -> None:
    path = save(tmp_path / "rows.jsonl", ROWS[0])
    (chat,) = load(path, "pairs")
    (plain,) = load(path, "pairs", conversational=False)
    assert chat["margin"] == plain["margin"] == ROWS[0]["chosen_score"] - ROWS[0]["rejected_score"]
    assert chat["chosen"] == [{"role": "assistant", "content": plain["chosen"]}]
    assert chat["prompt"] == [{"role": "user", "content": ROWS[0]["prompt"]}]
    assert chat["row_id"] == schema.row_id(ROWS[0])


@pytest.mark.parametrize("key", ["chosen", "therapist"])
def test_a_key_that_stands_twice_in_a_row_is_a_fault_named_by_line(key: str, tmp_path: Path) -> None:
    path = save(tmp_path / "rows.jsonl", *ROWS[:2])
    first, second = path.read_text("utf-8").splitlines()
    path.write_text(f"{first}\n" + second.replace(f'"{key}": ', f'"{key}": "x", "{key}": ', 1) + "\n", "utf-8")
    with pytest.raises(InputError, match=rf"rows\.jsonl line 2.*'{key}' twice"):
        load(path)
