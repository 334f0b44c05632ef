"""Lines of bytes with their places, and objects read leniently or strictly."""

from __future__ import annotations

import io
from typing import Any

import pytest

from hf_kokoro.core import jsonl
from hf_kokoro.core.replies import ReplyError
from hf_kokoro.core.replies import parse_object as parse_reply


@pytest.mark.parametrize("chunk", [1, 3, 1 << 20])
def test_lines_come_with_their_offsets_whatever_the_size_of_the_reads(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl, "CHUNK", chunk)
    data = "a\n\nb\u2028c\r\nlast".encode()
    found = list(jsonl.iter_lines(io.BytesIO(data), 10))
    assert found == [(10, b"a\n"), (12, b"\n"), (13, "b\u2028c\r\n".encode()), (20, b"last")]


def test_numbered_lines_leave_out_blank_ones_and_the_byte_order_mark() -> None:
    data = b"\xef\xbb\xbf{}\n \r\n\xef\xbb\xbf{}"
    assert list(jsonl.numbered_lines(io.BytesIO(data), "a.jsonl")) == [
        ("a.jsonl line 1", b"{}\n"),
        ("a.jsonl line 3", b"\xef\xbb\xbf{}"),
    ]


@pytest.mark.parametrize("chunk", [4, 1 << 20])
def test_a_line_over_the_limit_is_named_by_its_place_and_one_at_the_limit_is_read(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl, "CHUNK", chunk)
    monkeypatch.setattr(jsonl, "LINE_LIMIT", 1_000)
    ok, long = b"x" * 999 + b"\n", b"x" * 1_000 + b"\n"
    assert len(list(jsonl.iter_lines(io.BytesIO(ok + ok)))) == 2
    for read, says in (
        (jsonl.iter_lines(io.BytesIO(ok + long)), "byte 1000: longer than 1,000 bytes"),
        (jsonl.numbered_lines(io.BytesIO(ok + long), "a.jsonl"), "a.jsonl line 2: longer than 1,000 bytes"),
    ):
        with pytest.raises(jsonl.LineTooLong, match=says) as caught:
            list(read)  # type: ignore[call-overload]
        assert caught.value.offset == 1_000


def test_an_object_is_read_as_it_stands_from_bytes_or_text() -> None:
    assert jsonl.parse_object(b' {"a": 1, "a": 2}\r\n') == {"a": 2}
    assert jsonl.parse_object('{"a": [null]}') == {"a": [None]}


@pytest.mark.parametrize(
    ("line", "error", "says"),
    [
        (b"[1, 2]", jsonl.NoObject, "a list of 2, no object"),
        (b'"secret"', jsonl.NoObject, "text of 6 characters, no object"),
        (b"\xff", UnicodeDecodeError, "utf-8"),
        (b"{", ValueError, "Expecting"),
        (b"9" * 5_000, ValueError, "digits"),
        (b"[" * 100_000, ValueError, "nested too deeply"),
    ],
)
def test_whatever_is_no_object_is_a_value_error_that_quotes_no_text(
    line: bytes, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says) as caught:
        jsonl.parse_object(line)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"empathy": 1, "x": {"b": 2, "b": 2}}', "the key 'b' twice in one object"),
        ('{"my own words": 1, "my own words": 1}', "the key text of 12 characters twice in one object"),
        ('{"empathy": NaN}', "the constant NaN"),
        ('{"empathy": -Infinity}', "the constant -Infinity"),
        ("[]", "a list of 0, no object"),
        ("I would say 5", "JSONDecodeError"),
        ("[" * 100_000, "ValueError"),
    ],
)
def test_a_reply_is_read_strictly_and_its_fault_told_without_its_words(text: str, says: str) -> None:
    with pytest.raises(ReplyError) as caught:
        parse_reply(text)
    assert str(caught.value) == says


def test_a_reply_that_is_one_object_is_that_object() -> None:
    assert parse_reply('{"empathy": 5, "reason": "said \\u2028"}\n') == {"empathy": 5, "reason": "said \u2028"}


@pytest.mark.parametrize(
    ("value", "text"),
    [({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}'), ({"ä": "\u2028"}, '{"ä":"\u2028"}')],
)
def test_there_is_one_spelling_of_a_value(value: dict[str, Any], text: str) -> None:
    assert jsonl.canonical_json(value) == text
    with pytest.raises(ValueError, match="Out of range"):
        jsonl.canonical_json({**value, "c": float("nan")})
