"""EmplifAI's rows from every layout the paper's authors might hand a user, and what bad rows say."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import logging
from collections import Counter
from importlib.resources import files
from typing import Any

import pytest

from hf_kokoro.corpora.emplifai.emotions import EMOTIONS
from hf_kokoro.corpora.emplifai.reader import read_emplifai
from hf_kokoro.errors import FAULTS_SHOWN, InputError, SourceError, UsageError

openpyxl = pytest.importorskip("openpyxl")

HEADER = ["situation_id", "emotion", "situation", "patient_1", "supporter_1", "patient_2", "supporter_2"]
ROW = [
    "007",
    "joy",
    "退院の日が決まった。",
    "やっと帰れます。",
    "それはよかったですね。",
    "はい、本当に。",
    "お祝いですね。",
]
TEXTS = ROW[3:]
SPEAKERS = ["patient", "supporter", "patient", "supporter"]
TURNS = [{"speaker": s, "text": t} for s, t in zip(SPEAKERS, TEXTS, strict=True)]
BASE = {"situation_id": "007", "emotion": "joy", "situation": ROW[2]}


def table(*lines: list[str], name: str = "a.csv", encoding: str = "utf-8") -> tuple[str, bytes]:
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows(lines)
    return name, buffer.getvalue().encode(encoding)


def one(member: tuple[str, bytes], **options: Any) -> dict[str, Any]:
    [record] = read_emplifai([member], **options)
    return record


def objects(*items: Any, name: str = "a.json") -> tuple[str, bytes]:
    return name, json.dumps(items, ensure_ascii=False).encode()


def faults(*members: tuple[str, bytes], **options: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        list(read_emplifai(members, **options))
    return caught.value


def test_the_bundled_sample_has_every_label_and_four_turns_each() -> None:
    data = files("hf_kokoro").joinpath("samples/emplifai.csv").read_bytes()
    expected = list(csv.DictReader(io.StringIO(data.decode("utf-8"), newline="")))
    records = list(read_emplifai([("emplifai.csv", data)]))
    assert [r["situation"] for r in records] == [row["situation"] for row in expected]
    assert [[t["text"] for t in r["turns"]] for r in records] == [[row[f] for f in HEADER[3:]] for row in expected]
    assert Counter(r["emotion"] for r in records) == Counter(row["emotion"] for row in expected)
    assert {r["emotion"] for r in records} == {emotion.name for emotion in EMOTIONS}
    assert len({r["dialogue_id"] for r in records}) == len(expected)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp932", "utf-16"])
def test_the_same_record_from_every_encoding(encoding: str) -> None:
    texts = ["①階から来ました～", "髙橋さん、ようこそ。", "㈱に勤めています。", "そうですか。"]
    record = one(table(HEADER, [*ROW[:3], *texts], encoding=encoding))
    assert [turn["text"] for turn in record["turns"]] == texts
    assert record["situation_id"] == "007"


def test_the_same_record_from_a_workbook() -> None:
    book = openpyxl.Workbook()
    book.active.append(HEADER)
    book.active.append(ROW)
    buffer = io.BytesIO()
    book.save(buffer)
    assert one(("a.xlsx", buffer.getvalue())) == one(table(HEADER, ROW))


@pytest.mark.parametrize(
    "header",
    [
        ["状況ID", "感情", "状況", "患者1", "支援者1", "患者2", "支援者2"],
        ["状況ＩＤ", "感情ラベル", "シチュエーション", "患者１", "支援者１", "患者２", "支援者２"],
        ["Situation ID", "Emotion", "SITUATION", "Patient 1", "Supporter 1", "Patient 2", "Supporter 2"],
        [
            "situation-id",
            "Label",
            "scenario",
            "patient_utterance_1",
            "supporter_utterance_1",
            "patient_utterance_2",
            "supporter_utterance_2",
        ],
        ["場面番号", "ラベル", "場面", "患者の発話1", "支援者の発話1", "患者の発話2", "支援者の発話2"],
        ["状況id", "感情", "状況文", "発話1", "発話2", "発話3", "発話4"],
        ["状況id", "感情", "状況文", "発話1（患者）", "発話1（支援者）", "発話2（患者）", "発話2（支援者）"],
    ],
)
def test_columns_are_found_by_english_and_japanese_names_in_any_width_and_case(header: list[str]) -> None:
    record = one(table(header, ROW))
    assert record["situation_id"] == "007"
    assert record["emotion"] == "joy"
    assert record["turns"] == TURNS


def test_columns_are_found_in_any_order_among_others() -> None:
    header = ["", "memo", *reversed(HEADER)]
    assert one(table(header, ["0", "x", *reversed(ROW)]))["turns"] == TURNS


def test_columns_that_are_not_read_are_said_with_the_field_they_may_stand_for(caplog: Any) -> None:
    mistyped = ["situaton_id", *HEADER[1:], "note"]
    with caplog.at_level(logging.WARNING):
        record = one(table(mistyped, [*ROW, "x"]))
    assert record["situation_id"] != ROW[0]
    assert "columns that are not read: situaton_id (did you mean 'situation_id'?), note" in caplog.text


@pytest.mark.parametrize("mark", ["\ufeff", "\ufeff\ufeff", "\u200b"])
def test_a_byte_order_mark_in_a_header_is_no_part_of_its_name(mark: str) -> None:
    assert one(table([mark + HEADER[0], *HEADER[1:]], ROW))["situation_id"] == ROW[0]
    book = openpyxl.Workbook()
    book.active.append([mark + HEADER[0], *HEADER[1:]])
    book.active.append(ROW)
    buffer = io.BytesIO()
    book.save(buffer)
    assert one(("a.xlsx", buffer.getvalue()))["situation_id"] == ROW[0]


def test_an_explicit_mapping_is_used_where_names_do_not_fit() -> None:
    header = ["番号", "気分", "状況", "あ", "い", "う", "え"]
    columns = {"situation_id": "番号", "emotion": "気分"} | dict(zip(HEADER[3:], header[3:], strict=True))
    record = one(table(header, ROW), columns=columns)
    assert record["turns"] == TURNS
    assert record["situation_id"] == "007"
    assert record["emotion"] == "joy"


def test_a_mapping_to_none_leaves_the_column_alone_and_derives_the_id() -> None:
    expected = hashlib.sha256(json.dumps(["joy", ROW[2]], ensure_ascii=False).encode()).hexdigest()[:16]
    assert one(table(HEADER, ROW), columns={"situation_id": None})["situation_id"] == expected


def test_an_unknown_field_in_the_mapping_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'emotion'"):
        list(read_emplifai([table(HEADER, ROW)], columns={"emotoin": "x"}))


@pytest.mark.parametrize("emotion", EMOTIONS, ids=lambda e: e.name)
def test_a_label_is_known_by_english_name_japanese_name_and_every_alias(emotion: Any) -> None:
    spellings = (emotion.name, emotion.name.upper(), f" {emotion.name} ", emotion.name_ja, *emotion.aliases)
    both = (f"{emotion.name}（{emotion.name_ja}）", f"{emotion.name_ja} / {emotion.name}")
    for spelling in (*spellings, *both):
        assert one(table(HEADER, [ROW[0], spelling, *ROW[2:]]))["emotion"] == emotion.name


@pytest.mark.parametrize(
    "text",
    [
        "患者：{0}\n支援者：{1}\n患者：{2}\n支援者：{3}",
        "患者:{0} 支援者:{1} 患者:{2} 支援者:{3}",
        "患者：{0}支援者：{1}患者：{2}支援者：{3}",
        "患者1：{0}\n支援者1：{1}\n患者2：{2}\n支援者2：{3}",
        "【患者】{0}\n【支援者】{1}\n【患者】{2}\n【支援者】{3}\n",
        "[患者] {0}\r\n[支援者] {1}\r\n[患者] {2}\r\n[支援者] {3}",
        "Patient: {0}\nSupporter: {1}\nPatient: {2}\nSupporter: {3}",
        "　患者 ： {0}　支援者 ： {1}　患者 ： {2}　支援者 ： {3}",
    ],
)
def test_one_text_with_speaker_marks_gives_the_four_turns(text: str) -> None:
    record = one(table([*HEADER[:3], "対話"], [*ROW[:3], text.format(*TEXTS)]))
    assert record["turns"] == TURNS


@pytest.mark.parametrize(
    "turns",
    [
        TEXTS,
        TURNS,
        [{"role": s, "content": t} for s, t in zip(["user", "assistant"] * 2, TEXTS, strict=True)],
        [{"話者": s, "発話": t} for s, t in zip(["患者", "支援者"] * 2, TEXTS, strict=True)],
        [{"text": t} for t in TEXTS],
        [f"{s}：{t}" for s, t in zip(["患者", "支援者"] * 2, TEXTS, strict=True)],
    ],
)
def test_a_list_gives_the_four_turns_in_json_json_lines_and_as_text_in_a_csv_cell(turns: list[Any]) -> None:
    item = {**BASE, "turns": turns}
    assert one(objects(item))["turns"] == TURNS
    assert one(("a.jsonl", json.dumps(item).encode()))["turns"] == TURNS
    cell = json.dumps(turns, ensure_ascii=False)
    assert one(table([*HEADER[:3], "turns"], [*ROW[:3], cell]))["turns"] == TURNS


def test_a_number_among_the_utterances_is_its_digits() -> None:
    assert one(objects({**BASE, "turns": [*TEXTS[:3], 5]}))["turns"][3]["text"] == "5"


def test_stored_text_is_not_folded_or_stripped() -> None:
    texts = [" ﾜｶﾞﾊｲ（ネコ）！ ", "ＡＢＣ", "①\n②", "NA"]
    situation = "ｼﾁｭｴｰｼｮﾝ １"
    record = one(table(HEADER, ["1", "ｊｏｙ", situation, *texts]))
    assert [turn["text"] for turn in record["turns"]] == texts
    assert record["situation"] == situation
    assert record["emotion"] == "joy"


@pytest.mark.parametrize("word", ["NA", "None", "null", "nan"])
def test_words_that_other_readers_take_for_missing_are_kept(word: str) -> None:
    record = one(table(["dialogue_id", *HEADER], [word, word, "joy", word, word, word, word, word]))
    assert record["dialogue_id"] == record["situation_id"] == record["situation"] == word
    assert {turn["text"] for turn in record["turns"]} == {word}


def test_blank_ids_are_derived_as_if_the_column_were_missing_and_007_stays_text() -> None:
    header = ["dialogue_id", *HEADER]
    blank = one(table(header, ["", "", *ROW[1:]]))
    absent = one(table(HEADER[1:], ROW[1:]))
    assert blank == absent
    assert len(blank["dialogue_id"]) == 16
    given = one(table(header, ["007", "0010", *ROW[1:]]))
    assert (given["dialogue_id"], given["situation_id"]) == ("007", "0010")


def test_derived_ids_follow_the_content_and_not_the_file_or_the_order() -> None:
    other = [*ROW[1:3], "別の話です。", *ROW[4:]]
    both = list(read_emplifai([table(HEADER[1:], ROW[1:], other)]))
    swapped = list(read_emplifai([table(HEADER[1:], other, name="x.csv"), table(HEADER[1:], ROW[1:], name="y.csv")]))
    assert {r["dialogue_id"] for r in both} == {r["dialogue_id"] for r in swapped}
    assert len({r["dialogue_id"] for r in both}) == 2
    assert len({r["situation_id"] for r in both}) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"emotion": ""}, "a.csv row 2 emotion: got a blank cell"),
        ({"emotion": "joyful"}, "a.csv row 2 emotion: got 'joyful'; allowed: one of the 28 labels"),
        ({"emotion": "joy/anger"}, "a.csv row 2 emotion: got text of 9 characters"),
        ({"situation": "  "}, "a.csv row 2 situation: got a blank cell; allowed: text; fill it in every row"),
        ({"patient_1": ""}, "a.csv row 2 patient_1: got a blank cell"),
        ({"supporter_2": " \n"}, "a.csv row 2 supporter_2: got a blank cell"),
    ],
)
def test_a_blank_or_unknown_cell_names_row_field_and_what_is_allowed(change: dict[str, str], said: str) -> None:
    row = {**dict(zip(HEADER, ROW, strict=True)), **change}
    assert said in str(faults(table(HEADER, list(row.values()))))


@pytest.mark.parametrize(
    ("turns", "said"),
    [
        ([], "0 utterances"),
        (TEXTS[:3], "3 utterances"),
        ([*TEXTS, "もう一つ"], "5 utterances"),
        ([*TEXTS[:3], " "], "turns 4: got a blank utterance"),
        ([*TEXTS[:3], ["x"]], "turns 4: got a list of 1"),
        (
            [{"speaker": "nurse", "text": "x"}] * 4,
            "turns 1 speaker: got 'nurse'; allowed: patient, supporter",
        ),
        ([{"speaker": "患者"}] * 4, "turns 1: got an object with the keys 'speaker'"),
        (list(reversed(TURNS)), "4 utterances (supporter, patient, supporter, patient)"),
        ("患者：a 支援者：b 患者：c", "3 utterances (patient, supporter, patient)"),
        ("患者：a 患者：b 支援者：c 支援者：d", "4 utterances (patient, patient, supporter, supporter)"),
        ("前置き 患者：a 支援者：b 患者：c 支援者：d", "does not start with a speaker mark"),
        ("印のない文", "does not start with a speaker mark"),
        ("", "turns: got a blank cell"),
        ("[not json", "starts like a JSON list"),
        ({"a": "b"}, "turns: got an object with 1 keys"),
    ],
)
def test_utterances_that_are_not_two_turns_each_say_what_was_found(turns: Any, said: str) -> None:
    message = str(faults(objects({**BASE, "turns": turns})))
    assert "a.json record 1" in message
    assert said in message


def test_missing_columns_are_named_once_and_headers_with_prose_are_not_quoted() -> None:
    secret = "患者さんが昨日こっそり話してくれた長い長い秘密の話"
    error = faults(
        table(["emotion", secret, "patient_1", "supporter_1"], ["joy", "x", "y", "z"], ["joy", "x", "y", "z"])
    )
    assert error.count == 2
    assert "situation: got columns 'emotion', text of" in str(error)
    assert "no patient_2, supporter_2" in str(error)
    assert secret not in str(error)


def test_two_columns_for_one_field_are_a_fault_that_the_mapping_settles() -> None:
    member = table([*HEADER, "label"], [*ROW, "anger"])
    assert "emotion: got two columns for it: 'emotion', 'label'" in str(faults(member))
    assert one(member, columns={"emotion": "label"})["emotion"] == "anger"


def test_a_mapped_column_that_is_not_there_is_a_fault() -> None:
    assert "emotion: got no column 'mood'" in str(faults(table(HEADER, ROW), columns={"emotion": "mood"}))


def test_a_repeated_dialogue_id_is_a_fault_that_names_both_places_also_across_files() -> None:
    header = ["dialogue_id", *HEADER]
    first, second = (
        table(header, ["d1", *ROW], name="a.csv"),
        table(header, ["d1", *ROW[:-1], "別の返事"], name="b.csv"),
    )
    assert "b.csv row 2 dialogue_id: got an id" in str(error := faults(first, second))
    assert "stands in a.csv row 2 already" in str(error)
    assert "a.csv row 3 dialogue_id" in str(faults(table(HEADER, ROW, ROW)))


def test_a_situation_id_with_two_situations_is_a_fault() -> None:
    other = [ROW[0], "anger", "別の状況。", *ROW[3:]]
    message = str(faults(table(HEADER, ROW, other)))
    assert "a.csv row 3 situation_id: got the id of another situation (first in a.csv row 2)" in message
    assert len(list(read_emplifai([table(HEADER, ROW, other)], columns={"situation_id": None}))) == 2


def test_all_faults_are_counted_twenty_are_shown_and_good_rows_come_first() -> None:
    bad = [["1", "no such label", "x", "", "", "", ""]] * 30
    stream = read_emplifai([table(HEADER, ROW, *bad)])
    assert next(stream)["turns"] == TURNS
    with pytest.raises(InputError) as caught:
        list(stream)
    assert caught.value.count == 60
    assert len(caught.value.faults) == FAULTS_SHOWN
    assert "... and 40 more" in str(caught.value)


def test_faults_of_every_file_are_reported_together() -> None:
    error = faults(
        ("a.csv", b""),
        ("b.json", b"<html>"),
        ("c.jsonl", b'{"emotion": "jo'),
        table(HEADER, ROW[:4], name="d.csv"),
        table(HEADER, [ROW[0], "?", *ROW[2:]], name="e.csv"),
    )
    assert [fault.where.split()[0] for fault in error.faults] == [
        "a.csv",
        "b.json",
        "c.jsonl",
        "d.csv",
        "e.csv",
    ]


def test_other_files_are_said_and_not_fatal(caplog: pytest.LogCaptureFixture) -> None:
    others = [("README.md", b"text"), ("image.png", b"\x89PNG"), ("package.json", b'[{"name": "x"}]')]
    with caplog.at_level(logging.WARNING):
        assert len(list(read_emplifai([*others, table(HEADER, ROW)]))) == 1
    said = "\n".join(record.getMessage() for record in caplog.records)
    assert all(name in said for name, _ in others)


@pytest.mark.parametrize("members", [[], [("README.md", b"x")], [table(HEADER)], [("p.json", b'[{"name": "x"}]')]])
def test_a_source_without_a_dialogue_is_an_error(members: list[tuple[str, bytes]]) -> None:
    with pytest.raises(SourceError, match=r"not one row; looked for EmplifAI dialogues"):
        list(read_emplifai(members))


def test_no_fault_quotes_a_patient() -> None:
    secret = "誰にも言えない悩み"
    members = [
        table(HEADER, ["1", secret, "", secret, "", secret, secret], name="a.csv"),
        table([*HEADER[:3], "対話"], ["2", "joy", secret, f"{secret} 患者：{secret}"], name="b.csv"),
        objects({**BASE, "situation_id": "3", "turns": [{"speaker": secret, "text": secret}] * 4}, name="c.json"),
        objects({**BASE, "situation_id": "4", "turns": [{secret: secret}] * 4}, name="d.json"),
    ]
    error = faults(*members)
    assert error.count >= 5
    assert secret not in str(error)
