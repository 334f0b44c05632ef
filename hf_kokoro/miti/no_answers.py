"""Texts that stand where an answer was and say nothing: blank ones, and placeholders such as `[removed]`.

One rule for every place that judges, counts or pairs answers. Only a whole text is ever a placeholder: "No.",
"OK" and "はい" are answers, and so is any sentence that a placeholder stands in.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Literal

NoAnswer = Literal["blank", "placeholder"]

NO_ANSWERS: tuple[NoAnswer, ...] = ("blank", "placeholder")
"""blank: nothing to be seen. placeholder: no letter and no digit (punctuation, symbols, emoji), or a listed text."""

MARKERS = frozenset(
    """
    nan|nat|n/a|n.a.|n/a.|na|#n/a|#na|<na>|#null!|#ref!|#value!|#name?|#div/0!|#num!|null|none|nil|undefined|\\n
    no answer|no response|no reply|not available|not applicable
    なし|無し|ナシ|該当なし|該当無し|特になし|回答なし|無回答|未回答|未記入|未入力|記入なし|空欄|非表示|非公開
    无|無|暂无|暫無|没有回答|없음
    """.replace("\n    ", "|")
    .strip("|")
    .split("|")
)
"""Folded texts (see `_folded`) that a table or a form leaves where nothing was entered. "None." has a full stop: it is
a sentence that somebody wrote."""

NOTICES = frozenset(
    """
    removed|deleted|removed by moderator|removed by moderators|removed by a moderator|removed by the moderators
    removed by mod|removed by reddit|removed by admin|removed by administrator|removed by author|removed by user
    deleted by user|deleted by the user|deleted by author|deleted by moderator|deleted by mod|user deleted
    removed by reddit in response to a copyright notice|comment removed|comment deleted|post removed|post deleted
    answer removed|answer deleted|message removed|message deleted|content removed|content deleted
    this comment has been removed|this comment has been deleted|this comment was removed|this comment was deleted
    this post has been removed|this post has been deleted|this post was removed|this post was deleted
    this answer has been removed|this answer has been deleted|this answer was removed|this answer was deleted
    this message has been removed|this message has been deleted|this message was removed|this message was deleted
    this content has been removed|this content has been deleted|this content is no longer available
    削除|削除済|削除済み|削除されました|削除しました|削除済みの回答|削除されたコメント|削除された回答|削除された投稿
    この回答は削除されました|このコメントは削除されました|この投稿は削除されました|このメッセージは削除されました
    投稿者により削除されました|投稿者によって削除されました|運営により削除されました|管理者により削除されました
    已删除|已刪除|该评论已删除|该回答已删除|该内容已删除|삭제됨|삭제된 메시지입니다|삭제된 댓글입니다
    gelöscht|entfernt|supprimé|eliminado|borrado|removido|excluído|rimosso
    """.replace("\n    ", "|")
    .strip("|")
    .split("|")
)
"""Folded texts that a forum leaves where something was taken away, with or without a full stop."""

BRACKETED = frozenset(
    {"empty", "blank", "missing", "redacted", "no content", "no text", "no message", "unavailable", "空白", "不明"}
)
"""Words that are placeholders only in brackets: alone they may be an answer."""

_BRACKETS = "[](){}<>「」『』【】〔〕〈〉《》"
_QUOTES = "\"'`*_~“”‘’"


def no_answer(text: str) -> NoAnswer | None:
    """Why this text is no answer, or None if it is one."""
    if is_blank(text):
        return "blank"
    return "placeholder" if is_placeholder(text) else None


def is_blank(text: str) -> bool:
    """True if nothing in it can be seen: spaces of any width, line ends, controls, zero-width marks."""
    return all(char.isspace() or unicodedata.category(char) in ("Cc", "Cf", "Zs") for char in text)


def is_placeholder(text: str) -> bool:
    """True if the whole text is one that stands for an answer that is not there. A blank text is none of these."""
    if is_blank(text):
        return False
    if not any(map(_says_something, unicodedata.normalize("NFKC", text))):
        return True
    folded = _folded(text)
    bare = folded.strip(_BRACKETS + _QUOTES + " ")
    if folded in MARKERS or bare in MARKERS or bare.rstrip(".。!！ ") in NOTICES:
        return True
    return bare in BRACKETED and folded.strip(_QUOTES)[:1] in _BRACKETS


def _says_something(char: str) -> bool:
    category = unicodedata.category(char)
    # the long-vowel mark counts as a letter, but alone it is a dash; half a surrogate pair is a broken text
    return (category[0] in "LN" and char != "ー") or category == "Cs"


def _folded(text: str) -> str:
    """NFKC and case-folded, marks of no width left out, runs of white space one space, none at the ends."""
    seen = "".join(char for char in unicodedata.normalize("NFKC", text) if unicodedata.category(char) != "Cf")
    return " ".join(seen.casefold().split())


def usual_spellings() -> Iterator[str]:
    """Placeholder texts as they are mostly found, for where only digests of texts are at hand."""
    for text in sorted(MARKERS | NOTICES | BRACKETED):
        cases = dict.fromkeys((text, text.upper(), text.capitalize(), text.title(), "NaN" if text == "nan" else text))
        for case in cases:
            bracketed = [f"{left}{case}{right}" for left, right in ("[]", "()", "<>", "{}", "（）", "【】", "［］")]
            yield from (spelling for spelling in (case, f"{case}.", *bracketed) if is_placeholder(spelling))
    for mark in ".-–—_?!*/…。ー・":
        yield from (mark * times for times in range(1, 11))
