"""The counsel-chat source: grouping, duplicates, text that stays text, formats, faults."""

from __future__ import annotations

import csv
import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hf_kokoro.corpora.counsel_chat import prompt_text, read_counsel_chat
from hf_kokoro.errors import InputError, KokoroError, SourceError

COLUMNS = [
    "questionID",
    "questionTitle",
    "questionText",
    "questionLink",
    "topic",
    "therapistInfo",
    "therapistURL",
    "answerText",
    "upvotes",
    "views",
]


def record(**cells: object) -> dict[str, object]:
    """One answer with every column filled, except as given."""
    base: dict[str, object] = {
        "questionID": "7",
        "questionTitle": "Why now?",
        "questionText": "I moved in May and sleep badly.",
        "questionLink": "https://example.org/q/7",
        "topic": "sleep",
        "therapistInfo": "Ada Reed, LPC",
        "therapistURL": "https://example.org/t/ada",
        "answerText": "May was a big month for you.",
        "upvotes": "2",
        "views": "31",
    }
    return base | cells


def write_csv(path: Path, records: list[dict[str, object]], columns: list[str] | None = None) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns or COLUMNS)
        writer.writeheader()
        writer.writerows(records)
    return path


def test_answers_to_different_questions_under_one_id_are_never_grouped(tmp_path: Path) -> None:
    path = write_csv(
        tmp_path / "t.csv",
        [
            record(answerText="One."),
            record(questionText="My brother drinks.", answerText="Two."),
            record(answerText="Three.", therapistInfo="Bo Lim"),
        ],
    )
    questions = read_counsel_chat(path).questions
    assert [(q.question_id, len(q.answers)) for q in questions] == [("7", 2), ("7", 1)]
    assert len({q.key for q in questions}) == 2
    assert all(q.key.startswith("7:") for q in questions)


def test_the_same_answer_of_one_therapist_appears_once_and_is_counted(tmp_path: Path) -> None:
    path = write_csv(
        tmp_path / "t.csv",
        [
            record(answerText="Sleep comes\u00a0back."),
            record(answerText="Sleep comes back."),
            record(answerText="Sleep comes back.", therapistInfo="Bo Lim"),
            record(answerText="Another thought."),
        ],
    )
    chat = read_counsel_chat(path)
    assert chat.duplicates == 1
    assert [(a.therapist, a.text) for a in chat.questions[0].answers] == [
        ("Ada Reed, LPC", "Sleep comes\u00a0back."),
        ("Bo Lim", "Sleep comes back."),
        ("Ada Reed, LPC", "Another thought."),
    ]


def test_words_for_nothing_zeros_of_ids_and_no_break_spaces_stay_text(tmp_path: Path) -> None:
    path = write_csv(
        tmp_path / "t.csv",
        [
            record(
                questionID="007",
                questionTitle="NA",
                questionText="null",
                topic="None",
                answerText="a\u00a0b  c",
            )
        ],
    )
    question = read_counsel_chat(path).questions[0]
    assert (question.question_id, question.title, question.text, question.topic) == (
        "007",
        "NA",
        "null",
        "None",
    )
    assert question.prompt == "NA\n\nnull"
    assert question.answers[0].text == "a\u00a0b  c"


@pytest.mark.parametrize(
    ("title", "text", "prompt"),
    [
        ("T", "Body", "T\n\nBody"),
        ("T", " \n", "T"),
        ("", "Body", "Body"),
        ("T?", "T? ", "T?"),
    ],
)
def test_the_prompt_is_title_and_text_with_blank_or_repeated_parts_left_out(title: str, text: str, prompt: str) -> None:
    assert prompt_text(title, text) == prompt


def test_every_format_gives_the_same_questions_and_the_same_digest(tmp_path: Path) -> None:
    records = [record(), record(questionID="8", answerText='Says "so",\nand more', upvotes="0")]
    typed = [r | {"questionID": int(str(r["questionID"])), "upvotes": int(str(r["upvotes"]))} for r in records]
    write_csv(tmp_path / "t.csv", records)
    (tmp_path / "bom.csv").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "t.csv").read_bytes())
    (tmp_path / "t.json").write_text(json.dumps(typed), "utf-8")
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(r) + "\n" for r in typed), "utf-8")
    pq.write_table(pa.Table.from_pylist(typed), tmp_path / "t.parquet")
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.write(tmp_path / "t.csv", "deep/t.csv")
        archive.writestr("deep/notes.md", "not a table")
    read = {
        name: read_counsel_chat(tmp_path / name)
        for name in ("t.csv", "bom.csv", "t.json", "t.jsonl", "t.parquet", "t.zip")
    }
    expected = read["t.csv"].questions
    assert [q.question_id for q in expected] == ["7", "8"]
    assert (expected[1].answers[0].upvotes, expected[1].answers[0].views) == (0, 31)
    for name, chat in read.items():
        assert chat.questions == expected, name
        assert chat.digest == read["t.csv"].digest, name
    assert read["t.zip"].ignored_files == ("deep/notes.md",)


def test_the_digest_ignores_row_order_and_follows_every_text(tmp_path: Path) -> None:
    rows = [record(), record(questionID="8")]
    forward = read_counsel_chat(write_csv(tmp_path / "a.csv", rows)).digest
    assert read_counsel_chat(write_csv(tmp_path / "b.csv", rows[::-1])).digest == forward
    changed = [rows[0], record(questionID="8", answerText="May was a big month for you!")]
    assert read_counsel_chat(write_csv(tmp_path / "c.csv", changed)).digest != forward


def test_columns_of_the_older_edition_are_ignored_and_named(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "t.csv", [record(**{"": "0", "split": "train"})], ["", *COLUMNS, "split"])
    assert read_counsel_chat(path).ignored_columns == ("column 1", "split")


def test_missing_optional_columns_and_blank_counts_are_no_faults(tmp_path: Path) -> None:
    columns = ["questionID", "questionTitle", "questionText", "therapistInfo", "answerText", "upvotes"]
    cells = {k: v for k, v in record(upvotes="").items() if k in columns}
    answer = read_counsel_chat(write_csv(tmp_path / "t.csv", [cells], columns)).questions[0].answers[0]
    assert (answer.url, answer.upvotes, answer.views) == ("", None, None)


def test_a_blank_answer_is_kept_for_the_judge_to_flag(tmp_path: Path) -> None:
    chat = read_counsel_chat(write_csv(tmp_path / "t.csv", [record(answerText=" \u3000")]))
    assert chat.questions[0].answers[0].text == " \u3000"


def test_all_faults_come_together_and_never_quote_a_text(tmp_path: Path) -> None:
    secret = "the words of a client"
    path = write_csv(
        tmp_path / "t.csv",
        [
            record(questionID=" ", answerText=secret),
            record(questionTitle="", questionText=" ", answerText=secret),
            record(upvotes=secret),
            record(views="-3"),
            record(views="1.5"),
        ],
    )
    with pytest.raises(InputError) as caught:
        read_counsel_chat(path)
    assert caught.value.count == 5
    assert [fault.field for fault in caught.value.faults] == [
        "questionID",
        "questionTitle",
        "upvotes",
        "views",
        "views",
    ]
    assert "t.csv row 2" in caught.value.faults[0].where
    assert secret not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("no-answers.csv", (",".join(COLUMNS) + "\n").encode()),
        ("other.csv", b"id,text\n1,hello\n"),
        ("empty.csv", b""),
        ("page.csv", b"<!DOCTYPE html><html><body>Sign in</body></html>"),
        ("cut.json", b'[{"questionID": "1", "questionTitle": "T'),
        ("object.json", b'{"rows": 3}'),
        ("list.jsonl", b"[1, 2]\n"),
        ("cp1252.csv", (",".join(COLUMNS) + "\n7,Why\x92s,x,l,t,A,u,Body,1,2\n").encode("latin-1")),
        ("quote.csv", (",".join(COLUMNS) + '\n7,"never closed,x,l,t,A,u,Body,1,2\n').encode()),
        ("cells.csv", (",".join(COLUMNS) + "\n7,Why,x\n").encode()),
        ("not.parquet", b"PAR1 not really"),
        ("notes.md", b"# a heading"),
        (
            "surrogate.jsonl",
            b'{"questionID": "1", "questionTitle": "T", "questionText": "", '
            b'"therapistInfo": "A", "answerText": "\\ud800"}',
        ),
    ],
)
def test_a_file_that_is_no_such_table_gives_one_clear_error_with_its_name(
    tmp_path: Path, name: str, data: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(KokoroError) as caught:
        read_counsel_chat(path)
    assert isinstance(caught.value, InputError | SourceError)
    assert name in str(caught.value)


def test_a_missing_file_and_an_empty_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="nowhere"):
        read_counsel_chat(tmp_path / "nowhere.csv")
    with pytest.raises(SourceError, match=r"not one row; looked for a table .*found an empty folder"):
        read_counsel_chat(tmp_path)


@pytest.mark.real_data
def test_the_real_edition_gives_the_known_figures(real_data_dir: Path) -> None:
    chat = read_counsel_chat(real_data_dir / "counsel-chat" / "20200325_counsel_chat.csv")
    answers = [answer for question in chat.questions for answer in question.answers]
    by_id: dict[str, int] = {}
    for question in chat.questions:
        by_id[question.question_id] = by_id.get(question.question_id, 0) + len(question.answers)
    texts: dict[str, set[str]] = {}
    for question in chat.questions:
        texts.setdefault(question.question_id, set()).add(question.text)
    therapists = [answer.therapist for answer in answers]
    assert (chat.answers, len(by_id), len(set(therapists))) == (2129, 815, 307)
    assert max(map(therapists.count, set(therapists))) == 423
    assert sum(len(found) > 1 for found in texts.values()) == 18
    # by id alone 201 have three answers; told apart by their text, 207 of 833 do
    assert sum(count >= 3 for count in by_id.values()) == 201
    assert (len(chat.questions), sum(len(q.answers) >= 3 for q in chat.questions)) == (833, 207)
    assert sum("\u00a0" in answer.text for answer in answers) == 1357
