"""Files that spell the row's keys otherwise: a row stays the same row, new lines follow the file, old indices go."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from datasets import load_dataset

import hf_kokoro as hk
from hf_kokoro import append_rows, audit
from hf_kokoro.cards import write_card
from hf_kokoro.cli import main
from hf_kokoro.hub.errors import ForeignData, SpellingError

from .places import LocalPlace, Place
from .rows import numbers, row, rows

DATA = "data/pilot.jsonl"
SCORES = ("empathy", "partnership", "reflection_present", "no_persuade", "no_confront")
BINARY = SCORES[2:]

Answer = dict[str, Any]


def renamed(names: dict[str, str]) -> Callable[[Answer], Answer]:
    return lambda answer: {names.get(key, key): value for key, value in answer.items()}


def nested(answer: Answer) -> Answer:
    scores = {key: answer[key] for key in (*SCORES, "total")}
    return {"therapist": answer["therapist"], "text": answer["text"], "scores": scores}


def half_nested(answer: Answer) -> Answer:
    scores = {key: answer[key] for key in SCORES}
    return {
        "response": answer["text"],
        "therapistInfo": answer["therapist"],
        "scores": scores,
        "score": answer["total"],
    }


def booleans(answer: Answer) -> Answer:
    return {key: bool(value) if key in BINARY else value for key, value in answer.items()}


def without_total(answer: Answer) -> Answer:
    return {key: value for key, value in answer.items() if key != "total"}


SPELLINGS: dict[str, Callable[[Answer], Answer]] = {
    **{name: renamed({"text": name}) for name in ("answer", "answer_text", "answerText", "response")},
    **{name: renamed({"therapist": name}) for name in ("therapist_id", "therapistInfo")},
    **{name: renamed({"total": name}) for name in ("score", "total_score")},
    "nested": nested,
    "half nested": half_nested,
    "booleans": booleans,
    "without total": without_total,
}


def spelled(number: int, spelling: str) -> dict[str, Any]:
    return {**row(number), "all_answers": [SPELLINGS[spelling](answer) for answer in row(number)["all_answers"]]}


def lines(*values: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(value, ensure_ascii=False).encode() + b"\n" for value in values)


def parsed(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.decode().split("\n")[:-1]]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_rows_that_are_there_in_another_spelling_are_not_added_and_new_ones_follow_it(
    tmp_path: Path, spelling: str
) -> None:
    place = LocalPlace(tmp_path / "folder")
    base = lines(spelled(1, spelling), spelled(2, spelling))
    place.write(DATA, base)
    same = append_rows(place.target(), rows(1, 2))
    assert (same.added, same.duplicates, place.files()[DATA]) == (0, 2, base)
    report = append_rows(place.target(), [row(2), row(3), spelled(4, "nested")])
    assert (report.added, report.duplicates, report.rows_total) == (2, 1, 4)
    assert parsed(place.files()[DATA]) == [spelled(n, spelling) for n in (1, 2, 3, 4)]
    assert place.files()[DATA].startswith(base)
    # a plain loader reads old and new lines alike, with one type for each column
    found = load_dataset(str(place.folder), cache_dir=str(tmp_path / "cache"))["train"]
    assert list(found) == [spelled(n, spelling) for n in (1, 2, 3, 4)]
    checked = audit(place.folder)
    assert checked.ok, checked.faults
    assert (checked.rows, checked.own_names) == (4, False)
    assert checked.spelling.startswith("4 rows: ")


def test_an_aliased_file_grows_on_the_hub_as_in_a_folder(place: Place) -> None:
    place.write(DATA, lines(*(spelled(n, "half nested") for n in (1, 2))))
    assert append_rows(place.target(), rows(1, 2)).added == 0
    place.forget()
    assert append_rows(place.target(), rows(1, 2, 3)).added == 1
    assert parsed(place.files()[DATA])[-1] == spelled(3, "half nested")
    assert append_rows(place.target(), [spelled(3, "booleans")]).added == 0
    report = audit(place.target())
    assert report.ok
    assert "response for text" in report.spelling
    assert "empathy, partnership, reflection_present, no_persuade, no_confront under scores" in report.spelling


def test_rows_come_in_any_spelling_and_are_written_in_our_own(place: Place) -> None:
    report = append_rows(place.target(), [spelled(n, name) for n, name in enumerate(SPELLINGS)])
    assert report.added == len(SPELLINGS)
    assert place.files()[DATA] == lines(*(row(n) for n in range(len(SPELLINGS))))


def test_a_row_twice_in_two_spellings_is_found_by_the_audit(tmp_path: Path) -> None:
    place = LocalPlace(tmp_path)
    place.write(DATA, lines(row(1), spelled(1, "booleans")))
    said = " | ".join(map(str, audit(tmp_path).faults))
    assert "line 2: got the row of data/pilot.jsonl line 1 again" in said
    assert "rows spelled in 2 ways" in said
    assert "--adopt" in said


def test_question_ids_that_are_numbers_stay_numbers(tmp_path: Path) -> None:
    place = LocalPlace(tmp_path / "folder")
    place.write(DATA, lines({**row(1), "question_id": 12}))
    assert append_rows(place.target(), [{**row(1), "question_id": "12"}]).added == 0
    append_rows(place.target(), [{**row(2), "question_id": "34"}])
    assert [line["question_id"] for line in parsed(place.files()[DATA])] == [12, 34]
    before = place.files()
    for other in ("q5", "007", "½"):
        with pytest.raises(SpellingError, match="--adopt"):
            append_rows(place.target(), [{**row(3), "question_id": other}])
    assert place.files() == before


def test_booleans_are_only_for_the_three_0_1_dimensions(tmp_path: Path) -> None:
    batch = [row(1)]
    batch[0]["all_answers"][0]["partnership"] = True
    with pytest.raises(hk.KokoroError, match=r"all_answers\.0\.partnership: got True"):
        append_rows(tmp_path / "folder", batch)


def test_two_keys_for_one_thing_that_differ_are_a_fault_and_the_same_twice_is_not(tmp_path: Path) -> None:
    double = row(1)
    double["all_answers"] = [{**answer, "answer": answer["text"]} for answer in double["all_answers"]]
    assert append_rows(tmp_path, [double]).added == 1
    assert append_rows(tmp_path, rows(1)).added == 0
    double["all_answers"][0]["answer"] = "something else"
    with pytest.raises(hk.KokoroError, match="unknown key"):
        append_rows(tmp_path, [double])


def test_an_index_of_an_older_version_is_not_trusted(tmp_path: Path) -> None:
    place = LocalPlace(tmp_path / "folder")
    place.write(DATA, lines(spelled(1, "answer")))
    append_rows(place.target(), rows(2))
    (index,) = (place.folder / ".hf_kokoro" / "index").glob("*.ids")
    content = index.read_bytes()
    # the former version: another magic, no spellings, and ids of the raw lines
    index.write_bytes(b"hfkidx02" + content[8:])
    assert append_rows(place.target(), rows(1, 2)).added == 0
    index.write_bytes(content[:8] + content[8:40] + b"\0" * 36)
    assert append_rows(place.target(), rows(1, 2)).added == 0


def test_card_and_derived_configs_of_an_aliased_file_are_those_of_its_rows(tmp_path: Path) -> None:
    for name, values in (("ours", rows(1, 2)), ("theirs", [spelled(n, "half nested") for n in (1, 2)])):
        LocalPlace(tmp_path / name).write(DATA, lines(*values))
        write_card(tmp_path / name, figures=False)
    for path in ("pairs/train.jsonl", "unpaired/train.jsonl"):
        assert (tmp_path / "ours" / path).read_bytes() == (tmp_path / "theirs" / path).read_bytes()


def test_what_is_loaded_has_the_id_that_is_appended(tmp_path: Path) -> None:
    LocalPlace(tmp_path / "folder").write(DATA, lines(spelled(1, "nested"), spelled(2, "nested")))
    found = hk.load_dataset("miti_st_dpo", "rows", source=tmp_path / "folder", cache_dir=str(tmp_path / "cache"))
    assert append_rows(tmp_path / "folder", found["train"]).added == 0


@pytest.mark.parametrize("adopt", [False, True])
def test_a_named_path_beside_a_foreign_file_without_a_card_is_refused(place: Place, adopt: bool) -> None:
    place.write("chats.jsonl", lines({"messages": []}))
    before = place.files()
    with pytest.raises(hk.KokoroError) as refused:
        append_rows(place.target(), rows(1), "data/mine.jsonl", adopt=adopt)
    assert "chats.jsonl" in str(refused.value) or "no MITI-ST rows" in str(refused.value)
    with pytest.raises(SpellingError):
        append_rows(place.target(), rows(1), "chats.jsonl")
    assert place.files() == before


def test_a_named_path_beside_rows_of_any_spelling_grows(place: Place) -> None:
    place.write("other.jsonl", lines(spelled(1, "answer")))
    append_rows(place.target(), rows(2), "data/mine.jsonl")
    assert numbers(place.files()["data/mine.jsonl"]) == [2]


def test_the_default_path_beside_another_file_is_refused_as_ever(place: Place) -> None:
    place.write("other.jsonl", lines(spelled(1, "answer")))
    with pytest.raises(ForeignData, match=r"other\.jsonl"):
        append_rows(place.target(), rows(2))


def test_the_audit_verb_names_the_spelling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    LocalPlace(tmp_path).write(DATA, lines(spelled(1, "answer")))
    monkeypatch.setattr("sys.argv", ["hf-kokoro", "audit", str(tmp_path)])
    with pytest.raises(SystemExit, match="0"):
        main()
    assert "spelling: 1 row: answer for text" in capsys.readouterr().out
