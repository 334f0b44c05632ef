"""Rows in the forms that people have them in: tables on disk, DataFrames, Datasets, Arrow; one row has one id."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import Dataset, DatasetDict

import hf_kokoro as hk
from hf_kokoro.cli import main
from hf_kokoro.errors import RowError, SourceError, UsageError
from hf_kokoro.hub import append_rows as hub_append_rows

from .double import HubDouble
from .rows import changed, row, rows

DATA = "data/pilot.jsonl"
FORMS: dict[str, Callable[[Path, list[dict[str, Any]]], None]] = {}


def form(suffix: str) -> Callable[[Callable[[Path, list[dict[str, Any]]], None]], None]:
    def keep(write: Callable[[Path, list[dict[str, Any]]], None]) -> None:
        FORMS[suffix] = write

    return keep


@form(".parquet")
def _parquet(file: Path, values: list[dict[str, Any]]) -> None:
    pq.write_table(pa.Table.from_pylist(values), file)


@form(".json")
def _json(file: Path, values: list[dict[str, Any]]) -> None:
    file.write_text(json.dumps(values), "utf-8")


@form(".jsonl")
def _json_lines(file: Path, values: list[dict[str, Any]]) -> None:
    file.write_text("".join(json.dumps(value) + "\n" for value in values), "utf-8")


def _table(values: list[dict[str, Any]], delimiter: str) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(values[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows({**value, "all_answers": json.dumps(value["all_answers"])} for value in values)
    return out.getvalue()


@form(".csv")
def _csv(file: Path, values: list[dict[str, Any]]) -> None:
    file.write_bytes(_table(values, ",").encode("utf-8-sig"))


@form(".tsv")
def _tsv(file: Path, values: list[dict[str, Any]]) -> None:
    file.write_bytes(_table(values, "\t").encode())


@form(".xlsx")
def _workbook(file: Path, values: list[dict[str, Any]]) -> None:
    from openpyxl import Workbook

    book = Workbook()
    assert book.active is not None
    book.active.append(list(values[0]))
    for value in values:
        book.active.append([json.dumps(cell) if isinstance(cell, list) else cell for cell in value.values()])
    book.save(file)


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", ["hf-kokoro", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
    return int(stop.value.code or 0)


@pytest.mark.parametrize("suffix", FORMS)
def test_rows_of_a_file_are_the_rows_that_were_written_to_it(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, folder = tmp_path / f"rows{suffix}", tmp_path / "folder"
    FORMS[suffix](file, rows(1, 2))
    assert run(monkeypatch, "append", str(file), "--to", str(folder)) == 0
    assert [json.loads(line) for line in (folder / DATA).read_text("utf-8").split("\n")[:-1]] == rows(1, 2)
    assert hk.append_rows(folder, file).added == 0
    assert hub_append_rows(folder, file).added == 0
    assert hk.append_rows(folder, rows(1, 2)).added == 0


def test_line_ends_inside_texts_of_parquet_and_json_stay_as_they_are(tmp_path: Path) -> None:
    text = json.loads(json.dumps(row(1)).replace("number", "number\\r\\n"))
    for suffix in (".parquet", ".json", ".jsonl"):
        FORMS[suffix](tmp_path / f"rows{suffix}", [text])
        hk.append_rows(tmp_path / "folder", tmp_path / f"rows{suffix}")
    assert [json.loads(line) for line in (tmp_path / "folder" / DATA).read_text("utf-8").split("\n")[:-1]] == [text]


OBJECTS: dict[str, Callable[[list[dict[str, Any]]], Any]] = {
    "DataFrame": pd.DataFrame,
    "DataFrame of read_json": lambda values: pd.read_json(io.StringIO(json.dumps(values))),
    "DataFrame of Parquet": lambda values: Dataset.from_list(values).to_pandas(),
    "filtered DataFrame": lambda values: pd.DataFrame([*values, *values]).drop_duplicates("prompt"),
    "Dataset": Dataset.from_list,
    "Arrow table": pa.Table.from_pylist,
    "record batch": pa.RecordBatch.from_pylist,
    "generator": lambda values: (value for value in values),
    "tuple of tuples of answers": lambda values: tuple({**v, "all_answers": tuple(v["all_answers"])} for v in values),
    "numpy scalars": lambda values: [_numpy(value) for value in values],
}


def _numpy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _numpy(part) for key, part in value.items()}
    if isinstance(value, list):
        return np.array([_numpy(part) for part in value], dtype=object)
    return np.int64(value) if isinstance(value, int) else value


@pytest.mark.parametrize("door", [hk.append_rows, hub_append_rows], ids=["workflow", "hub"])
@pytest.mark.parametrize("name", OBJECTS)
def test_rows_of_an_object_are_the_rows_that_were_put_into_it(
    tmp_path: Path, name: str, door: Callable[..., Any]
) -> None:
    assert door(tmp_path, OBJECTS[name](rows(1, 2))).added == 2
    assert hk.append_rows(tmp_path, rows(1, 2)).added == 0


def test_numpy_booleans_are_0_and_1_where_booleans_are(tmp_path: Path) -> None:
    value = row(1)
    for answer in value["all_answers"]:
        answer["no_confront"] = np.bool_(answer["no_confront"])
    assert hk.append_rows(tmp_path, [value]).added == 1
    assert hk.append_rows(tmp_path, rows(1)).added == 0
    value["all_answers"][0]["empathy"] = np.bool_(True)
    with pytest.raises(RowError, match=r"all_answers\.0\.empathy"):
        hk.append_rows(tmp_path, [value])


def test_values_that_only_a_union_of_columns_has_are_no_keys(tmp_path: Path) -> None:
    other = row(2)
    other["all_answers"] = [
        {("answer" if key == "text" else key): value for key, value in answer.items()}
        for answer in other["all_answers"]
    ]
    assert hk.append_rows(tmp_path, pa.Table.from_pylist([row(1), other])).added == 2
    assert hk.append_rows(tmp_path, rows(1, 2)).added == 0


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".json", ".jsonl"])
def test_whole_floats_are_a_fault_that_names_the_way_and_are_taken_with_it(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, folder = tmp_path / f"rows{suffix}", tmp_path / "folder"
    FORMS[suffix](file, [changed(1, chosen_score=12.0)])
    with pytest.raises(RowError) as refused:
        hk.append_rows(folder, file)
    assert refused.value.count == 1
    assert "chosen_score: got 12.0; allowed: an integer; --whole-floats (whole_floats=True)" in str(refused.value)
    assert run(monkeypatch, "append", str(file), "--to", str(folder)) == 1
    assert "--whole-floats" in capsys.readouterr().err
    assert run(monkeypatch, "append", str(file), "--to", str(folder), "--whole-floats") == 0
    assert hk.append_rows(folder, rows(1)).added == 0


def test_whole_floats_does_not_round(tmp_path: Path) -> None:
    with pytest.raises(RowError, match=r"(?m)chosen_score: got 12\.5; allowed: an integer$"):
        hk.append_rows(tmp_path / "folder", [changed(1, chosen_score=12.5)], whole_floats=True)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("rows.jsonl", b"PAR1\x15\x04\n\n\x15\x10\n", r"rows\.jsonl: holds Parquet \(name it \.parquet\)"),
        ("rows.jsonl", b"[\n{},\n{}\n]\n", r"holds a JSON array \(name it \.json\)"),
        ("rows.jsonl", b"PK\x03\x04\x14\x00\n\x00\x00", "a zip archive or a workbook"),
        ("rows.jsonl", b"<!doctype html>\n<html>\n", "a web page"),
        ("rows.xml", b"<rows/>", r"rows\.xml: a file of type '\.xml'; allowed: a file of rows: \.csv"),
        ("rows", b"{}", "a file of type 'no type'"),
        ("rows.parquet", b"not parquet", "Parquet that can't be read"),
        ("rows.json", b'[{"a": 1}, ', r"rows\.json line 1: got JSON that breaks"),
        ("rows.json", b'[{"a": 1, "a": 2}]', "the key 'a' twice"),
        ("rows.json", b"[1, 2]", r"record 1: got 1; allowed: an object"),
        ("rows.csv", b"question_id,all_answers\n1,\"[{'text': 'x'}]\"\n", "json.dumps"),
    ],
)
def test_a_file_that_holds_no_rows_of_its_kind_is_said_at_once(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises((SourceError, RowError), match=said):
        hk.append_rows(tmp_path / "folder", tmp_path / name)
    assert not (tmp_path / "folder").exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rows.jsonl", b""),
        ("rows.jsonl", b"\n \n"),
        ("rows.jsonl", b"\xef\xbb\xbf"),
        ("rows.json", b"[]"),
        ("rows.csv", b""),
        ("rows.csv", b"question_id,topic\n"),
        ("rows.parquet", b""),
    ],
)
def test_a_file_without_rows_says_so_and_makes_no_repo(
    hub: HubDouble,
    tmp_path: Path,
    name: str,
    content: bytes,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", hub.endpoint)
    (tmp_path / name).write_bytes(content)
    for to in ("user/other", str(tmp_path / "folder")):
        assert run(monkeypatch, "append", str(tmp_path / name), "--to", to) == 1
        assert f"{name}: there are no rows in it; nothing was written" in capsys.readouterr().err
        with pytest.raises(SourceError, match="there are no rows in it"):
            hk.append_rows(to, tmp_path / name)
    assert hub.seen == []
    assert not (tmp_path / "folder").exists()


def test_no_rows_at_all_make_no_folder_and_no_repo(
    hub: HubDouble, hub_target: Callable[..., Any], tmp_path: Path
) -> None:
    for empty in ([], pd.DataFrame(), iter(())):
        assert hk.append_rows(tmp_path / "folder", empty).rows_total == 0
        assert hk.append_rows(hub_target(repo="user/other"), []).rows_total == 0
    assert not (tmp_path / "folder").exists()
    assert hub.requests("POST", "/repos/create") == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (DatasetDict({"train": Dataset.from_list(rows(1))}), r"DatasetDict of the splits train \(give one of them"),
        (row(1), "one mapping"),
        (7, "rows: got 7; allowed"),
        (b"rows.jsonl", "rows: got a bytes"),
        (None, "rows: got None"),
    ],
)
def test_what_is_no_batch_is_bad_usage(tmp_path: Path, given: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        hk.append_rows(tmp_path / "folder", given)
    assert not (tmp_path / "folder").exists()
