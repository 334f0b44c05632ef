"""Tables from every format people save: same rows from all, no cell lost, one clear fault for bad input."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import zipfile
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hf_kokoro.core.tables import is_table, read_table
from hf_kokoro.errors import Faults

openpyxl = pytest.importorskip("openpyxl")

HEADER = ["id", "label", "text"]
# characters of CP932 that Shift_JIS lacks: circled digit, ideograph in brackets, ladder-form 高, wave dash
EXTENSION_ROWS = [["001", "喜び", "①㈱ 髙さん～"], ["002", "怒り", "half ｶﾅ and ＦＵＬＬ"]]


def rows(name: str, data: bytes, **options: object) -> list[dict[str, object]]:
    faults = Faults()
    found = [row.cells for row in read_table(name, data, faults, **options)]  # type: ignore[arg-type]
    assert not faults, list(map(str, faults))
    return found


def faults_of(name: str, data: bytes, **options: object) -> list[str]:
    faults = Faults()
    list(read_table(name, data, faults, **options))  # type: ignore[arg-type]
    return list(map(str, faults))


def csv_bytes(table: list[list[str]], encoding: str = "utf-8", delimiter: str = ",") -> bytes:
    return "".join(delimiter.join(line) + "\r\n" for line in table).encode(encoding)


def xlsx_bytes(table: list[list[object]], change: object = None) -> bytes:
    book = openpyxl.Workbook()
    for line in table:
        book.active.append(line)
    if callable(change):
        change(book)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def parquet_bytes(columns: dict[str, list[object]]) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp932", "utf-16"])
def test_extension_characters_give_the_same_rows_from_every_encoding(encoding: str) -> None:
    expected = [dict(zip(HEADER, line, strict=True)) for line in EXTENSION_ROWS]
    assert rows("a.csv", csv_bytes([HEADER, *EXTENSION_ROWS], encoding)) == expected


def test_extension_characters_give_the_same_rows_from_every_format() -> None:
    expected = [dict(zip(HEADER, line, strict=True)) for line in EXTENSION_ROWS]
    objects = json.dumps(expected, ensure_ascii=False)
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in expected)
    columns = {name: [row[name] for row in expected] for name in HEADER}
    assert rows("a.tsv", csv_bytes([HEADER, *EXTENSION_ROWS], delimiter="\t")) == expected
    assert rows("a.xlsx", xlsx_bytes([HEADER, *EXTENSION_ROWS])) == expected
    assert rows("a.json", objects.encode()) == expected
    assert rows("a.json", lines.encode("cp932")) == expected
    assert rows("a.jsonl", lines.encode("utf-8-sig")) == expected
    assert rows("a.parquet", parquet_bytes(columns)) == expected


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp932"])
@pytest.mark.parametrize("broken", [0x80, 0xA0, 0xFD, 0xFE, 0xFF])
def test_one_broken_byte_is_a_fault_with_file_and_line_and_no_row_is_made_up(encoding: str, broken: int) -> None:
    data = bytearray(csv_bytes([HEADER, *EXTENSION_ROWS, ["003", "愛", "おわり"]], encoding))
    position = data.index("怒".encode(encoding.replace("-sig", "")))
    data[position : position + 1] = bytes([broken])
    [fault] = faults_of("folder/a.csv", bytes(data))
    # UTF-8 breaks at the byte itself or at the first half of it; a CP932 pair is named by its first byte
    assert re.match(rf"folder/a.csv line 3 \(byte {position}\): got byte 0x", fault), fault
    assert "UTF-8" in fault


def test_a_damaged_utf8_file_is_never_read_as_cp932() -> None:
    whole = "text\n悲しい気持ち\n".encode()
    for position in range(13, 23):
        data = whole[:position] + whole[position + 1 :]
        # nothing would complain: the rest is valid CP932 by accident
        assert data.decode("cp932")
        [fault] = faults_of("a.csv", data)
        assert "a.csv line 2 (byte" in fault
        assert "not UTF-8" in fault


def test_every_line_of_cp932_text_is_read_as_cp932_however_short() -> None:
    # half-width kana pairs and rare kanji hold byte runs that are valid UTF-8 too
    for text in ("悲しい", "ﾂｱｱ", "ｶﾞﾝﾊﾞﾙ", "縺縲", "大丈夫です。①", "薬"):
        assert rows("a.csv", f"text\n{text}\n".encode("cp932")) == [{"text": text}]


@pytest.mark.parametrize(
    ("encoding", "text", "name"),
    [
        ("euc_jp", "今日は少し楽になりました。ありがとう。", "EUC-JP"),
        ("euc_jp", "つらい", "EUC-JP"),
        ("gbk", "我今天感觉好一点了。", "GBK"),
        ("gbk", "我累了", "GBK"),
        ("iso2022_jp", "今日は少し楽です。", "ISO-2022-JP"),
        ("iso2022_jp", "薬", "ISO-2022-JP"),
    ],
)
def test_another_encoding_is_refused_and_guessed_however_short(encoding: str, text: str, name: str) -> None:
    data = f"text\n{text}\n".encode(encoding)
    [fault] = faults_of("a.csv", data)
    assert "a.csv line 2 (byte" in fault
    assert f"it looks like {name}" in fault
    assert "save the file again as UTF-8" in fault


def test_windows_1252_quotes_are_a_fault_and_not_kanji_where_only_utf8_is_allowed() -> None:
    data = "text\nI’m fine\n".encode("cp1252")
    assert "a.csv line 2 (byte 6)" in faults_of("a.csv", data, fallback=None)[0]


@pytest.mark.parametrize("word", ["NA", "None", "null", "nan", "N/A", "", "TRUE", "-", "007", "1.10", "1e5"])
@pytest.mark.parametrize("kind", ["csv", "xlsx", "json", "jsonl", "parquet"])
def test_a_text_cell_stays_the_text_that_was_written(word: str, kind: str) -> None:
    data = {
        "csv": f"id,text\nx,{word}\n".encode,
        "xlsx": lambda: xlsx_bytes([["id", "text"], ["x", word]]),
        "json": lambda: json.dumps([{"id": "x", "text": word}]).encode(),
        "jsonl": lambda: json.dumps({"id": "x", "text": word}).encode(),
        "parquet": lambda: parquet_bytes({"id": ["x"], "text": [word]}),
    }[kind]()
    assert rows(f"a.{kind}", data) == [{"id": "x", "text": word}]


def test_numbers_become_their_digits_and_never_floats() -> None:
    sheet = [["a", "b", "c"], [7, 12.0, 2.5]]
    assert rows("a.xlsx", xlsx_bytes(sheet)) == [{"a": "7", "b": "12", "c": "2.5"}]
    big = "9" * 5000
    found = rows("a.json", f'[{{"a": 7, "b": 12.0, "c": 1.10, "d": {big}, "e": null, "f": true}}]'.encode())
    assert found == [{"a": "7", "b": "12", "c": "1.10", "d": big, "e": "", "f": "true"}]
    columns: dict[str, list[object]] = {"a": [7], "b": [12.0], "c": [None], "d": [date(2020, 3, 25)]}
    assert rows("a.parquet", parquet_bytes(columns)) == [{"a": "7", "b": "12", "c": "", "d": "2020-03-25"}]


def test_a_number_shown_with_leading_zeros_keeps_them() -> None:
    def zeros(book: object) -> None:
        book.active["A2"].number_format = "000"  # type: ignore[attr-defined]

    assert rows("a.xlsx", xlsx_bytes([["id", "n"], [7, 8]], zeros)) == [{"id": "007", "n": "8"}]


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r", "_x000D_\n", "_x000D_", "_x000d_\r\n"])
def test_line_breaks_inside_a_cell_become_one_line_feed_and_one_row_is_one_record(line_break: str) -> None:
    text = f"first{line_break}second"
    expected = [{"id": "1", "text": "first\nsecond"}, {"id": "2", "text": "x"}]
    assert rows("a.csv", f'id,text\r\n1,"{text}"\r\n2,x\r\n'.encode()) == expected
    assert rows("a.json", json.dumps([{"id": "1", "text": text}, {"id": "2", "text": "x"}]).encode()) == expected
    assert rows("a.xlsx", xlsx_bytes([["id", "text"], ["1", text], ["2", "x"]])) == expected


def test_a_stored_carriage_return_of_a_real_workbook_becomes_a_line_feed() -> None:
    # what Excel writes for a cell pasted with CR LF: the escape stands in the stored string
    data = _with_stored_text(xlsx_bytes([["text"], ["one@two"]]), "one@two", "one_x000D_\ntwo")
    assert rows("a.xlsx", data) == [{"text": "one\ntwo"}]


def _with_stored_text(data: bytes, old: str, new: str) -> bytes:
    buffer = io.BytesIO()
    replaced = 0
    with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(buffer, "w") as after:
        for info in before.infolist():
            content = before.read(info)
            replaced += content.count(old.encode())
            after.writestr(info.filename, content.replace(old.encode(), new.encode()))
    assert replaced == 1
    return buffer.getvalue()


def test_blank_rows_are_skipped_and_row_numbers_count_them() -> None:
    data = b"id,text\n1,a\n,\n\n2,b\n,  \n"
    found = list(read_table("a.csv", data, Faults()))
    assert [(row.where, row.cells["id"]) for row in found] == [("a.csv row 2", "1"), ("a.csv row 5", "2")]


@pytest.mark.parametrize(("line", "cells"), [("1", 1), ("1,2,3", 3)])
def test_a_ragged_row_is_a_fault_and_its_neighbours_are_read(line: str, cells: int) -> None:
    faults = Faults()
    found = [row.cells["a"] for row in read_table("a.csv", f"a,b\n0,x\n{line}\n9,y\n".encode(), faults)]
    assert found == ["0", "9"]
    assert str(faults.kept[0]).startswith(f"a.csv row 3: got {cells} cells; allowed: 2, as in the header")


def test_a_cell_beyond_the_header_of_a_sheet_is_a_fault() -> None:
    assert "row 2: got 3 cells" in faults_of("a.xlsx", xlsx_bytes([["a", "b"], ["1", "2", "stray"]]))[0]


def test_a_repeated_header_is_a_fault_and_a_nameless_one_is_numbered() -> None:
    assert "column 3 has the name of column 1 ('id')" in faults_of("a.csv", b"id,text, id \n1,2,3\n")[0]
    assert rows("a.csv", b",text\n0,x\n") == [{"column 1": "0", "text": "x"}]


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_the_delimiter_is_the_one_the_header_uses(delimiter: str) -> None:
    assert rows("a.csv", f"a{delimiter}b\n1{delimiter}2\n".encode()) == [{"a": "1", "b": "2"}]


def test_a_tsv_keeps_commas_and_semicolons() -> None:
    assert rows("a.tsv", b"a,b;c\td\n1,2\t3\n") == [{"a,b;c": "1,2", "d": "3"}]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.json", "a.jsonl", "a.xlsx", "a.parquet"])
@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "an empty file"),
        (b" \r\n\n", "an empty file"),
        (b"<!DOCTYPE html><html><body>Sign in</body></html>", "a web page"),
        (b"\xef\xbb\xbf\n<html lang='ja'>", "a web page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a Git LFS pointer"),
    ],
)
def test_a_file_that_is_something_else_says_what_it_is(name: str, data: bytes, said: str) -> None:
    [fault] = faults_of(name, data)
    assert said in fault
    assert name in fault


@pytest.mark.parametrize(
    ("name", "data", "where", "said"),
    [
        ("a.json", b'[{"a": "x"},\n{"a": "y"', "a.json line 2", "breaks at column"),
        ("a.jsonl", b'{"a": "x"}\n\n{"a": "y', "a.jsonl line 3", "breaks at column"),
        ("a.json", b'"text"', "a.json", "text of 4 characters"),
        ("a.json", b'[{"a": "x"}, 5]', "a.json record 2", "an object"),
        ("a.json", b'[{"a": NaN}]', "a.json line 1", "the constant NaN"),
        ("a.jsonl", b'{"a": "x", "a": "y"}', "a.jsonl line 1", "the key 'a' twice"),
        ("a.json", b'[{"a": "\\ud800"}]', "a.json record 1 'a'", "lone surrogate"),
        ("a.json", b"[" * 100_000, "a.json line 1", "nested too deeply"),
        ("a.csv", b'a,b\n1,"open\n2,x\n', "a.csv line 3", "breaks off after row 1"),
        ("a.csv", b'a,b\n1,"x"y\n', "a.csv line 2", "breaks off after row 1"),
        ("a.csv", b"a,b\n1,x\0y\n", "a.csv line 2 (byte 7)", "a NUL byte"),
        ("a.csv", "a,b\n1,あ\n".encode("utf-16-le"), "a.csv line 1", "a NUL byte"),
        ("a.xlsx", b"id,text\n1,x\n", "a.xlsx", "not a workbook"),
        ("a.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"x" * 600, "a.xlsx", "password"),
        ("a.parquet", b"PAR1 cut off", "a.parquet", "can't be read"),
        ("a.docx", b"text", "a.docx", "a file of type '.docx'"),
    ],
)
def test_a_broken_file_is_one_fault_that_names_file_and_place(name: str, data: bytes, where: str, said: str) -> None:
    [fault] = faults_of(name, data)
    assert fault.startswith(where)
    assert said in fault


def test_a_truncated_workbook_or_parquet_file_is_a_fault_and_no_row() -> None:
    for name, data in (
        ("a.xlsx", xlsx_bytes([["a"], ["x"]])),
        ("a.parquet", parquet_bytes({"a": ["x"] * 1000})),
    ):
        for cut in (10, len(data) // 2, len(data) - 10):
            faults = Faults()
            assert list(read_table(name, data[:cut], faults)) == []
            assert faults.count == 1


def test_rows_before_a_broken_json_line_are_kept() -> None:
    faults = Faults()
    found = list(read_table("a.jsonl", b'{"a": "1"}\n{"a": \n{"a": "3"}\n', faults))
    assert [row.cells["a"] for row in found] == ["1", "3"]
    assert faults.count == 1


def test_unicode_line_separators_do_not_end_a_json_line() -> None:
    assert rows("a.jsonl", '{"a": "x\u2028y\u0085z"}\n'.encode()) == [{"a": "x\u2028y\u0085z"}]


def test_nested_lists_and_objects_keep_their_shape_with_text_leaves() -> None:
    value = {
        "turns": [
            {"speaker": "patient", "n": 1, "text": "a\r\nb"},
            {"speaker": "supporter", "n": None, "text": ""},
        ]
    }
    expected = [
        {
            "turns": [
                {"speaker": "patient", "n": "1", "text": "a\nb"},
                {"speaker": "supporter", "n": "", "text": ""},
            ]
        }
    ]
    assert rows("a.json", json.dumps([value]).encode()) == expected
    assert rows("a.parquet", parquet_bytes({"turns": [value["turns"]]})) == expected


def test_every_visible_sheet_is_read_and_named_and_hidden_ones_are_not() -> None:
    def more(book: object) -> None:
        for title in ("second", "third"):
            book.create_sheet(title).append(["a"])  # type: ignore[attr-defined]
            book[title].append([title])  # type: ignore[index]
        book["third"].sheet_state = "hidden"  # type: ignore[index]

    found = list(read_table("a.xlsx", xlsx_bytes([["a"], ["first"]], more), Faults()))
    assert [(row.where, row.cells["a"]) for row in found] == [
        ("a.xlsx sheet 1 row 2", "first"),
        ("a.xlsx sheet 2 row 2", "second"),
    ]


def test_formulas_without_a_value_and_error_cells_are_faults_and_not_blanks() -> None:
    data = xlsx_bytes([["a", "b"], ["x", "=A2"], ["y", "#N/A"], ["z", "kept"]])
    faults = Faults()
    assert [row.cells["a"] for row in read_table("a.xlsx", data, faults)] == ["z"]
    assert "a.xlsx row 2 column B: got a formula without a stored value" in str(faults.kept[0])
    assert "a.xlsx row 3 column B: got the error value #N/A" in str(faults.kept[1])


def test_xlsx_without_openpyxl_gives_the_pip_line() -> None:
    program = """
import sys
sys.modules["openpyxl"] = None
from hf_kokoro.errors import Faults, MissingExtraError
from hf_kokoro.core.tables import read_table
try:
    list(read_table("a.xlsx", sys.stdin.buffer.read(), Faults()))
except MissingExtraError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], input=xlsx_bytes([["a"], ["x"]]), capture_output=True, check=True
    )
    assert "pip install 'hf-kokoro[xlsx]'" in done.stdout.decode()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("data/a.CSV", True),
        ("a.parquet", True),
        ("README.md", False),
        ("~$a.xlsx", False),
        ("__MACOSX/a.csv", False),
        (".a.csv", False),
    ],
)
def test_lock_files_and_system_files_are_no_tables(name: str, expected: bool) -> None:
    assert is_table(name) is expected


def test_faults_never_quote_a_cell() -> None:
    secret = "わたしの秘密"
    for name, data in (
        ("a.csv", f"a,b\n{secret},{secret},{secret}\n".encode()),
        ("a.csv", f'a,b\n"{secret}\n'.encode()),
        ("a.csv", f"{secret},{secret}\n".encode()),
        ("a.json", f'[{{"a": "{secret}"'.encode()),
        ("a.json", f'{{"{secret}": 1, "{secret}": 2}}'.encode()),
    ):
        [fault] = faults_of(name, data)
        assert secret not in fault
