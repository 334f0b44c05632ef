"""The privacy check finds patterns, lets public help lines pass, and never quotes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    expected = "I am at [email], [phone], [url]; my name is [name]. Crisis: 800-273-8255"
    assert redact(text) == expected
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


PRIVATE = ("787-555-0178", "+44 7700 900123", "090-0000-1234", "０８０－００００－１２３４")
LINES = (
    *("988", "911", "741741", "1-800-273-8255", "1-800-273-TALK", "(800) 273-8255", "116 123", "0800 1111", "13 11 14"),
    *("0570-783-556", "0120-783-556", "0120-279-338", "0120-061-338", "0120 279 338", "119", "110", "+81-120-783-556"),
    *("９８８", "１－８００－２７３－８２５５", "０５７０－７８３－５５６", "０１２０－２７９－３３８", "１１９"),
)


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("private", PRIVATE)
def test_a_help_line_stays_and_the_private_number_beside_it_goes(line: str, private: str) -> None:
    for text in (f"{line}、または {private} へ", f"call {private} or {line}.", f"Call {line}, or me on {private}."):
        assert redact(text) == text.replace(private, "[phone]")


@pytest.mark.parametrize("number", [n for numbers in HELP_LINES.values() for n in numbers if len(n) >= 10])
def test_a_number_with_a_help_lines_digits_and_more_is_no_help_line(number: str) -> None:
    longer = f"{number[:4]}-{number[4:7]}-{number[7:]}"
    assert set(kinds(f"call {longer} now")) == {"help line"}
    assert "help line" not in kinds(f"call {longer}7 now")
    assert "help line" not in kinds(f"call 5-{longer} now")
    assert set(kinds(f"call {longer}7 now")) & {"phone", "digits", "id_number"}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("see https://988lifeline.org/chat, www.samaritans.org or inochinodenwa.org", []),
        ("write to jo@samaritans.org", []),
        ("see https://samaritans.org.example.com", ["url"]),
        ("see 988lifeline.example.org", ["url"]),
    ],
)
def test_pages_of_help_lines_stay_and_pages_that_only_look_like_them_do_not(text: str, left: list[str]) -> None:
    assert [kind for kind in kinds(text) if kind in KINDS] == left


def test_findings_are_told_by_their_places_in_the_text_as_it_was_written() -> None:
    text = "書いて: ｊｏｈｎ＠ｅｘａｍｐｌｅ．ｃｏｍ、７８７\u200b－５５５－０１７８"
    assert [(kind, text[start:end]) for kind, start, end in scan_text(text)] == [
        ("email", "ｊｏｈｎ＠ｅｘａｍｐｌｅ．ｃｏｍ"),
        ("phone", "７８７\u200b－５５５－０１７８"),
    ]


def test_a_whole_name_is_redacted_wherever_it_stands_again() -> None:
    text = "My name is Alice Johnson. Johnson is my father's name, Alice my aunt's."
    assert redact(text) == "My name is [name]. [name] is my father's name, [name] my aunt's."


def test_a_therapists_name_is_no_finding_in_its_own_place_and_one_in_a_text() -> None:
    signed = "Robin Hale, LMFT"
    report = PrivacyReport()
    assert not report.add("r", {"chosen_therapist": signed, "all_answers": [{"therapist": signed, "text": "Be well."}]})
    assert not report
    assert redact({"therapist": signed}) == {"therapist": signed}
    assert report.add("r", {"chosen": f"Be well. {signed}"}) == {"name"}


PIECES = st.sampled_from(
    [
        *("My name is ", "Ada North", ", PhD", "\n", " ", "787-555-0178", "988", "+44 7700 900123", "0120-783-556"),
        *(
            "@ada_n",
            "a@example.org",
            "http://example.org/a",
            "[name]",
            "[phone]",
            "田中さん",
            "と申します",
            "1",
            "-",
            ".",
        ),
        *(
            "東京都新宿区例町1-2-3",
            "〒100-0000",
            "1990年3月4日",
            "生まれ",
            "born ",
            "March 3, 1990",
            ",",
            "（",
            ")",
            "、",
        ),
        *("4111 1111 1111 1111", "passport number ", "X1234567", "LINE ID: ", "my wife ", "Ann", "Best, ", "12 Elm St"),
        *("を", "\u200b", "：", "#1234"),
    ]
)


@given(st.lists(PIECES | st.text(max_size=4), max_size=12).map("".join))
def test_redacted_text_has_no_finding_and_findings_never_overlap(text: str) -> None:
    last = 0
    for start, end in sorted((start, end) for _, start, end in scan_text(text)):
        assert last <= start < end <= len(text)
        last = end
    once = redact(text)
    assert [kind for kind in kinds(once) if kind in KINDS] == []
    assert redact(once) == once


LONG = (
    *("a", "1", "話", "@", "a.", "1-", "1,", "1 ", "www.", "((", "+1", "A1 ", "Aa "),
    *("787-555-0178 ", "田中さん", "〒123-4567", "市1", "[name]"),
)


def test_a_text_of_a_million_characters_is_looked_through() -> None:
    """One run of each piece: whatever takes the square of a run's length would not end within the suite's time."""
    text = "\n".join(piece * (1_000_000 // len(LONG) // len(piece)) for piece in LONG)
    assert len(text) > 990_000
    assert {"phone", "name", "address"} <= set(kinds(text))
