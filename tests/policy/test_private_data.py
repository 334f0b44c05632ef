"""The privacy check finds patterns, lets public help lines pass, and never quotes."""

from __future__ import annotations

import pytest

from hf_kokoro.policy.help_lines import HELP_LINES, is_help_line
from hf_kokoro.policy.private_data import KINDS, PrivacyReport, redact, scan_text


def kinds(text: str) -> list[str]:
    return [kind for kind, _, _ in scan_text(text)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("write to ada.north+x@mail.example.org", "email"),
        ("メールは ada@example.co.jp まで", "email"),
        ("call 787-555-0178 today", "phone"),
        ("call (787) 555-0178", "phone"),
        ("call +1 787.555.0178", "phone"),
        ("call 787 555 0178", "phone"),
        ("電話は03-5555-0123です", "phone"),
        ("携帯は090-5555-0123", "phone"),
        ("携帯は０９０－５５５５－０１２３です", "phone"),
        ("+81 90 5555 0123", "phone"),
        ("see https://example.org/a?b=c.", "url"),
        ("see www.example.org/page", "url"),
        ("my account is 123456789012", "digits"),
        ("Hello, my name is Ada and", "name"),
        ("My name's Ada", "name"),
        ("私の名前は田中です", "name"),
        ("名前は田中と申します", "name"),
    ],
)
def test_each_kind_is_found(text: str, kind: str) -> None:
    assert kinds(text) == [kind]


@pytest.mark.parametrize(
    "text",
    [
        "I was born in 1990-1995 and moved",
        "from 2019 400 people came",
        "it costs 1,300 dollars or 20 000",
        "on 2020-03-25 at 10:30",
        "MITI 4.2.1, scored 5-5-1-1-1",
        "my name is not important",
        "in 20-30 minutes, 3-4 times",
        "90210-1234",
        "score 12.3456789",
        "名前は大切です",
        "@home at 5pm",
    ],
)
def test_plain_numbers_dates_and_phrases_are_not_findings(text: str) -> None:
    assert kinds(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "800-273-8255",
        "1-800-273-8255",
        "+1 800-273-8255",
        "(800) 273-8255",
        "1-800-273-TALK",
        "0120-279-338",
        "+81 120-279-338",
        "0570-064-556",
        "116 123",
        "0800 1111",
    ],
)
def test_public_help_lines_are_known_in_every_spelling(text: str) -> None:
    assert is_help_line(text)
    assert set(kinds(f"please call {text} now")) <= {"help line"}


def test_other_numbers_are_no_help_lines() -> None:
    assert not is_help_line("787-555-0178")
    assert not is_help_line("800-273-8256")
    assert all(number.isdigit() for numbers in HELP_LINES.values() for number in numbers)


def test_a_report_counts_and_names_rows_once_and_never_quotes() -> None:
    rows = [
        ("r1", {"prompt": "mail a@example.org and b@example.org", "all_answers": [{"text": "call 800-273-8255"}]}),
        ("r2", {"prompt": "plain", "topic": "a@example.org"}),
        ("r3", {"chosen": "see http://example.org", "all_answers": [{"text": "see http://example.org"}]}),
    ]
    report = PrivacyReport()
    for row_id, row in rows:
        report.add(row_id, row)
    assert list(report.lines()) == ["email: 3 in 2 rows (r1, r2)", "url: 1 in 1 row (r3)"]
    assert report.help_lines == 1
    assert not report.without(["email", "url"])
    assert "example" not in "".join(report.lines())


def test_long_lists_of_rows_are_cut_and_counted() -> None:
    report = PrivacyReport()
    for n in range(25):
        report.add(f"r{n}", {"prompt": "a@example.org"})
    [line] = report.lines()
    assert line.startswith("email: 25 in 25 rows (r0, r1")
    assert line.endswith("r19 and 5 more)")


def test_redaction_replaces_every_kind_keeps_help_lines_and_is_the_same_everywhere() -> None:
    text = "I am at a@example.org, 787-555-0178, http://example.org; my name is Ada. Crisis: 800-273-8255"
    expected = "I am at [email], [phone], [url] [name]. Crisis: 800-273-8255"
    assert redact(text).replace("[url];", "[url]") == expected
    assert redact({"a": [text, 5, None]}) == {"a": [redact(text), 5, None]}
    assert kinds(redact(text)) == ["help line"]
    assert "a@example.org" in redact(text, [kind for kind in KINDS if kind != "email"])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("090\N{MINUS SIGN}1234\N{MINUS SIGN}5678", "phone"),
        ("090\N{HYPHEN}1234\N{HYPHEN}5678", "phone"),
        ("090\N{EN DASH}1234\N{EN DASH}5678", "phone"),
        ("ｊｏｈｎ@example.com", "email"),
        ("john.secret@ｅｘａｍｐｌｅ.com", "email"),
        ("ｊｏｈｎ＠ｅｘａｍｐｌｅ．ｃｏｍ", "email"),
    ],
)
def test_what_japanese_keyboards_write_is_found(text: str, kind: str) -> None:
    assert [found for found, _, _ in scan_text(f"連絡先は {text} です")] == [kind]
