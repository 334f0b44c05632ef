"""Names of people in Japanese: after words for a name, before honorifics, after a relation.

Kanji say neither where a name begins nor that it is one, so a name is what begins with a common surname, is a common
given name, or stands between words that only a name stands between (「…と申します」, 「私の名前は…です」).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .known_names import JAPANESE_GIVEN, JAPANESE_SURNAMES

Span = tuple[int, int]

_KANJI = "一-龥々"
_K, _KATAKANA, _HIRAGANA = rf"[{_KANJI}]", "[ァ-ヴー]", "[ぁ-ん]"
_NOT_AFTER = rf"(?<![{_KANJI}ァ-ヴー])"
_ANY_SCRIPT = rf"(?:{_K}{{1,6}}(?:[ ]{_K}{{1,3}})?|{_KATAKANA}{{2,10}}(?:[ ・]{_KATAKANA}{{2,10}})?|{_HIRAGANA}{{2,5}}?)"
_HONORIFIC = r"(?:さん|さま|様|くん|君|ちゃん|氏|先生|先輩|部長|課長|社長|係長|主任|店長|院長|教授|医師)"
_ROLE = (
    r"(?:夫|妻|旦那|主人|嫁|息子|娘|長男|次男|三男|長女|次女|三女|兄|姉|弟|妹|父|母|彼氏|彼女|彼|恋人|婚約者|元彼|元カレ|元カノ|元夫|元妻|友達|友人|親友|"
    r"同僚|上司|部下|先輩|後輩|同級生|担任|主治医|医師|カウンセラー|心理士|先生|隣|姪|甥|いとこ|孫)"
)
_PROFESSION = r"(?:臨床心理士|公認心理師|認定心理士|産業カウンセラー|心理カウンセラー|カウンセラー|心理士|精神科医|精神保健福祉士|社会福祉士|担当|文責)"
_SELF = r"(?:私|わたし|わたくし|僕|ぼく|ボク|俺|おれ|オレ|自分|うち)"
_SAID = r"(?:と(?:申し|もうし)(?:ます|ました)|と(?:言い|いい|云い)ます|と呼(?:んで|ばれて))"

_AFTER_NAME = re.compile(
    rf"(?:お?名前|氏名|本名|苗字|名字|姓名|ニックネーム)(?:は|が|[::=])[、 ]?(?P<name>{_ANY_SCRIPT})"
    rf"(?=(?:です|でして|だよ|だ。|と申|ともう|と言いま|といいま|と云いま|という者|さん|様|。|、|\n|$))"
)
_SAID_TO_BE = re.compile(
    rf"{_NOT_AFTER}(?P<name>{_K}{{1,6}}(?:[ ]{_K}{{1,3}})?|{_KATAKANA}{{2,10}})と(?:申し|もうし)ます"
    rf"|{_SELF}[はも、][、 ]?(?P<own>{_ANY_SCRIPT}){_SAID}"
    rf"|{_NOT_AFTER}(?P<called>{_K}{{2,6}}(?:[ ]{_K}{{1,3}})?)と(?:言い|いい)ます"
)
_WITH_HONORIFIC = re.compile(rf"{_NOT_AFTER}(?P<name>{_K}{{1,8}}?|{_KATAKANA}{{2,5}}){_HONORIFIC}|(?P<small>{_HIRAGANA}{{2,4}})(?:くん|ちゃん)")
_OF_ROLE = re.compile(rf"{_ROLE}の、?(?P<name>{_K}{{1,5}}?|{_KATAKANA}{{2,5}}?|{_HIRAGANA}{{2,4}}?)(?=[がはにとをもで、。]|{_HONORIFIC}|から|より|です|\n|$)")
_SELF_IS = re.compile(
    rf"(?:^|[。、\n!?]|{_SELF}は|(?:こんにちは|はじめまして|初めまして)[、。]?)\s?(?P<name>{_K}{{2,6}}(?:[ ]{_K}{{1,3}})?)(?=です[。、\n]|です$)"
)
_SIGNED = re.compile(rf"{_PROFESSION}[ :\n]{{1,3}}(?P<name>{_K}{{2,6}}(?:[ ]{_K}{{1,3}})?)(?!{_K})")
_NO_NAME = frozenset(
    """
    大切 大事 秘密 内緒 重要 不明 匿名 仮名 変 嫌い 好き 本名 偽名 実名 同じ 普通 有名 無名 必要 不要 特別 簡単 自由 可能 不可能 無理 残念 素敵
    別 謎 不詳 非公開 公開 以下 以上 上記 下記 何 誰 自分 有り 無し なし あり ひみつ ないしょ ひらがな カタカナ ローマ字 漢字 まだない ここ そこ
    どこ なに だれ みんな いや だめ いえない いえません
    """.split()
)
_NO_DIMINUTIVE = frozenset(
    "赤 お姉 姉 お兄 兄 妹 弟 坊 嬢 猫 犬 兎 熊 ワン ネコ ニャン パパ ママ オバ オジ オッ アカ ネエ ニイ ウサ クマ バブ ボク キミ ワンコ 爺 婆".split()
)
_OF_PLACES = frozenset("県市区町村駅大川島山病院")
_ALSO_GIVEN = frozenset("清 明 実 正 進 勝 茂 博 豊 稔 修 誠 健 学 律 樹 湊 蓮 蒼 匠 航 彩 舞 凛 杏 葵 楓 桜 瞳 紬 遥 孝 隆 浩 聡 徹 剛 亮 翔 駿 綾 かな まり もも ゆか ゆき まい".split())


def japanese_names(text: str) -> Iterator[Span]:
    """Names in Japanese, without honorifics."""
    yield from _introduced(text)
    yield from _addressed(text)
    for match in _OF_ROLE.finditer(text):
        if _is_given(match["name"]) or _is_full(match["name"]):
            yield match.span("name")
    for match in _SIGNED.finditer(text):
        if _is_full(match["name"]):
            yield match.span("name")


def _introduced(text: str) -> Iterator[Span]:
    for match in _AFTER_NAME.finditer(text):
        if match["name"] not in _NO_NAME and not match["name"].endswith(("ない", "たい", "ません", "ように")):
            yield match.span("name")
    for match in _SAID_TO_BE.finditer(text):
        if match["called"] is None or _is_full(match["called"]):
            yield match.span(match.lastgroup or "name")
    for match in _SELF_IS.finditer(text):
        if _is_full(match["name"]):
            yield match.span("name")


def _addressed(text: str) -> Iterator[Span]:
    """Before an honorific: a surname, a given name, or katakana before くん and ちゃん."""
    for match in _WITH_HONORIFIC.finditer(text):
        name, start = match["name"] or match["small"], match.start("name")
        close = match[0].endswith(("くん", "ちゃん"))
        if match["small"] and name not in JAPANESE_GIVEN:
            continue
        # other words may stand before a name with nothing between
        full = next((first for first in range(len(name)) if _is_full(name[first:])), None)
        if full is not None:
            yield start + full, match.end("name")
        elif name in JAPANESE_GIVEN or (close and "ァ" <= name[0] <= "ヴ" and name not in _NO_DIMINUTIVE):
            yield match.span("name" if match["name"] else "small")


def _is_full(name: str) -> bool:
    """A common surname, alone or with up to three characters of a given name."""
    surname, _, given = name.partition(" ")
    if given:
        return surname in JAPANESE_SURNAMES
    return any(
        name[:length] in JAPANESE_SURNAMES and len(name) - length <= 3 and name[length : length + 1] not in _OF_PLACES
        for length in range(1, min(len(name), 4) + 1)
    )


def _is_given(name: str) -> bool:
    return name in JAPANESE_GIVEN and (name not in _ALSO_GIVEN or len(name) > 1)
