"""What is an answer and what only stands in its place."""

from __future__ import annotations

import pytest

from hf_kokoro.miti.no_answers import is_placeholder, no_answer, usual_spellings


@pytest.mark.parametrize(
    "text",
    [
        *("[removed]", "[deleted]", "[ Removed ]", "removed", "Deleted.", "[removed by moderator]", "<deleted>"),
        *(
            "nan",
            "NaN",
            "N/A",
            "n/a",
            "Ｎ／Ａ",
            "NA",
            "#N/A",
            "<NA>",
            "null",
            "NULL",
            "\\N",
            "None",
            "none",
            "nil",
            "[none]",
        ),
        *(
            "-",
            "--",
            "—",
            "...",
            "…",
            "。",
            "?!",
            "*",
            "ー",
            "・・・",
            "\u200b-\u200b",
            "  [removed]\n",
            "[re\u200bmoved]",
        ),
        *("👍", "❤️", "🙏🏽 🙏🏽", "(^^)", "This comment has been removed.", "_[deleted]_", '"[removed]"', "[redacted]"),
        *(
            "削除済み",
            "（削除済み）",
            "【削除】",
            "この回答は削除されました。",
            "該当なし",
            "なし",
            "未回答",
            "ﾅｼ",
            "已删除",
        ),
        *(
            "なし。",
            "特になし。",
            "コメントは削除されました。",
            "この投稿は、運営により削除されました。",
            "削除済みのコメント",
        ),
        *("Comment deleted by user", "[deleted by user]", "(removed)", "this answer has been removed", "n / a", "."),
        *("The comment was removed.", "Message withdrawn by the author.", "reply hidden by a moderator", "回答なし"),
        *("<br>", "<br /> <br/>", "<p></p>", "<p>[removed]</p>", "&nbsp;", '<p class="x">-</p>', "<p>なし</p>"),
    ],
)
def test_a_text_that_only_marks_a_missing_answer_is_a_placeholder(text: str) -> None:
    assert no_answer(text) == "placeholder"


@pytest.mark.parametrize(
    "text",
    [
        *("No.", "OK", "はい", "いいえ", "うん", "0", "988", "None.", "Nah", "missing", "empty", "好", "a", "\ud800"),
        *(
            "[removed] is what I saw too.",
            "I removed it.",
            "Deleted scenes help me.",
            "👍 yes",
            "N/A is no answer to that.",
        ),
        "なしで大丈夫ですよ。",
        *("Yes", "None of it was removed.", "Hidden", "Withdrawn.", "It was removed.", "yes/no", "<3", "<p>No.</p>"),
        *(
            "The comment was removed because it hurt me.",
            "Delete the message by noon.",
            "My post is removed from fear.",
        ),
        *(
            "削除しないでください。",
            "コメントは削除されましたが、気持ちは残りますよね。",
            "特にありません。",
            "コメントありがとう。",
        ),
    ],
)
def test_a_word_that_somebody_may_have_said_is_an_answer(text: str) -> None:
    assert no_answer(text) is None


@pytest.mark.parametrize("text", ["", " \u3000\n", "\u200b\ufeff"])
def test_a_text_with_nothing_to_see_is_blank_and_no_placeholder(text: str) -> None:
    assert no_answer(text) == "blank"
    assert not is_placeholder(text)


def test_the_usual_spellings_are_all_placeholders_and_hold_the_commonest() -> None:
    spellings = set(usual_spellings())
    assert all(map(is_placeholder, spellings))
    assert {
        "[removed]",
        "[deleted]",
        "nan",
        "NaN",
        "N/A",
        "n/a",
        "None",
        "null",
        "NULL",
        "-",
        "...",
        "削除済み",
    } <= spellings
