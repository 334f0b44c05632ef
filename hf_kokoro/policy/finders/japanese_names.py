"""Names of people in Japanese: after words for a name, before honorifics, after a relation.

Kanji say neither where a name begins nor that it is one, so a name is what begins with a common surname, is a common
given name, or stands between words that only a name stands between (「…と申します」, 「私の名前は…です」).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .folding import Span
from .known_names import JAPANESE_GIVEN, JAPANESE_SURNAMES

_KANJI = "一-龥々"
_K, _KATAKANA, _HIRAGANA = rf"[{_KANJI}]", "[ァ-ヴー]", "[ぁ-ん]"
_NOT_AFTER = rf"(?<![{_KANJI}ァ-ヴー])"
_ANY_SCRIPT = (
    rf"(?:{_K}{{1,6}}(?:[ ]{_K}{{1,3}})?|{_KATAKANA}{{2,10}}(?:[ ・]{_KATAKANA}{{2,10}})?|{_HIRAGANA}{{2,5}}?)"
)
_HONORIFIC = r"(?:さん|さま|様|くん|君|ちゃん|氏|先生|先輩|部長|課長|社長|係長|主任|店長|院長|教授|医師)"
_ROLE = (
    r"(?:夫|妻|旦那|主人|嫁|息子|娘|長男|次男|三男|長女|次女|三女|兄|姉|弟|妹|父|母|彼氏|彼女|彼|恋人|婚約者|"
    r"元彼|元カレ|元カノ|元夫|元妻|友達|友人|親友|"
    r"同僚|上司|部下|先輩|後輩|同級生|担任|主治医|医師|カウンセラー|心理士|先生|隣|姪|甥|いとこ|孫)"
)
_PROFESSION = (
    r"(?:臨床心理士|公認心理師|認定心理士|産業カウンセラー|心理カウンセラー|"
    r"カウンセラー|心理士|精神科医|精神保健福祉士|社会福祉士|担当|文責)"
)
_SELF = r"(?:私|わたし|わたくし|僕|ぼく|ボク|俺|おれ|オレ|自分|うち)"
_SAID = r"(?:と(?:申し|もうし)(?:ます|ました)|と(?:言い|いい|云い)ます)"

_AFTER_NAME = re.compile(
    rf"(?:お?名前|氏名|本名|苗字|名字|姓名|ニックネーム)(?:は|が|[::=])[、 ]?(?P<name>{_ANY_SCRIPT})"
    rf"(?=(?:です|でして|だよ|だ。|と申|ともう|と言いま|といいま|と云いま|という者|さん|様|。|\n|$)(?P<says>と)?)"
)
_SAID_TO_BE = re.compile(
    rf"{_NOT_AFTER}(?P<name>{_K}{{1,6}}(?:[ ]{_K}{{1,3}})?|{_KATAKANA}{{2,10}})と(?:申し|もうし)ます"
    rf"|{_SELF}[はも、][、 ]?(?P<own>{_ANY_SCRIPT}){_SAID}"
    rf"|{_NOT_AFTER}(?P<called>{_K}{{2,6}}(?:[ ]{_K}{{1,3}})?)と(?:言い|いい)ます"
)
_WITH_HONORIFIC = re.compile(
    rf"{_NOT_AFTER}(?P<name>{_K}{{1,8}}?|{_KATAKANA}{{2,8}}){_HONORIFIC}|(?P<small>{_HIRAGANA}{{2,12}}?)(?:さん|"
    rf"さま|様|くん|ちゃん)"
)
_OF_ROLE = re.compile(
    rf"{_ROLE}の、?(?P<name>{_K}{{1,5}}?|{_KATAKANA}{{2,5}}?|{_HIRAGANA}{{2,4}}?)(?=[がはにとをもで、。]|"
    rf"{_HONORIFIC}|から|より|です|\n|$)"
)
_SELF_IS = re.compile(
    rf"(?:^|[。、\n!?]|{_SELF}は|(?:こんにちは|はじめまして|"
    rf"初めまして)[、。]?)\s?(?P<name>{_K}{{2,6}}(?:[ ]{_K}{{1,3}})?)(?=です[。、\n]|です$)"
)
_SIGNED = re.compile(rf"{_PROFESSION}[ :\n]{{1,3}}(?P<name>{_K}{{2,6}}(?:[ ]{_K}{{1,3}})?)(?!{_K})")
_NO_NAME = frozenset(
    """
    大切 大事 秘密 内緒 重要 不明 匿名 仮名 変 嫌い 好き 本名 偽名 実名 同じ 普通 有名 無名 必要 不要 特別 簡単
    自由 可能 不可能 無理 残念 素敵 別 謎 不詳 非公開 公開 以下 以上 上記 下記 何 誰 自分 有り 無し なし あり
    ひみつ ないしょ ひらがな カタカナ ローマ字 漢字 まだない ここ そこ どこ なに だれ みんな いや だめ いえない
    いえません
    """.split()
)
_ROLES_END = frozenset(
    "師士員者官長友母父男女人客方医手屋親家僚司夫妻兄姉弟妹達等様業職中生孫嫁姑舅婿科課部室隊団族民徒童仏神御供犬娘彼婦優役記局社皆奥息"
)
"""Kanji at the end of words for roles (看護師さん), which are no names even before an honorific."""
_ROLES = tuple(
    """
    赤 お姉 お兄 坊 嬢 猫 犬 兎 熊 爺 婆 奥 旦那 主人 息子 娘 彼氏 彼女 彼 相手 本人 両親 上様 警察 先輩 後輩 先生
    担任 隣 近所 皆 何 誰 沢山 姪 甥 殿 王 仲間 同士 校 御用 学校 大学 病院 会社 銀行 幼稚園 保育園 幹事 知事 刑事
    執事 妖精 天使 悪魔 王子 調子 帽子 拍子 双子 里子 貴方 貴女 患 皇 総裁 ワン ネコ ニャン パパ ママ オバ オジ
    オッ アカ ネエ ニイ ウサ クマ バブ ボク キミ ワンコ パート バイト アルバイト スタッフ カウンセラー ヘルパー
    ドクター ケアマネ オーナー マネージャー リーダー クライアント ユーザー メンバー サポーター トレーナー コーチ
    ナース モデル アイドル ファン サンタ カレ ダンナ オカア オトウ オネエ オニイ オバア オジイ ママトモ ジャイアン
    オッカ ミナ インストラクター エンジニア ドライバー ライター デザイナー タクシー ゲスト ホスト キャバ フリーター
    ニート サラリーマン アドバイザー コンサル ワーカー ソーシャルワーカー ケースワーカー マスター シェフ バイヤー
    パートナー ペット
    """.split()
)
_NOT_SMALL = (
    "みな たく おかあ おとう おば おじ おばあ おじい おにい おねえ おく おくさ だんな むすこ むすめ かんごし "
    "おいしゃ おまわり おきゃく かあ とう にい ねえ ばあ じい うさぎ "
    "ごりょうしん りょうしん しゅじん いもうと おとうと あか ひと ともだち つま おっと なか ぞう くま ねこ いぬ "
    "おひさま かみ ほとけ おつかれ おかげ ごちそう おたがい おば "
    "いろいろ また まだ でも あなた こと おや よそ ねこ わん にゃん せんせい あいて どなた こちら そちら あちら"
).split()
_KATAKANA_RANGE = frozenset(map(chr, range(ord("ァ"), ord("ヴ") + 1)))
_OF_PLACES = frozenset("県市区町村駅大川島山病院")
_ALSO_GIVEN = frozenset(
    "清 明 実 正 進 勝 茂 博 豊 稔 修 誠 健 学 律 樹 湊 蓮 蒼 匠 航 彩 舞 凛 杏 葵 楓 桜 瞳 紬 遥 孝 隆 浩 聡 "
    "徹 剛 亮 翔 駿 綾 かな まり もも ゆか ゆき まい".split()
)


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
        name = match["name"]
        if name in JAPANESE_GIVEN or match["says"] or not (name in _NO_NAME or "ぁ" <= name[0] <= "ん"):
            yield match.span("name")
    for match in _SAID_TO_BE.finditer(text):
        if match["called"] is None or _is_full(match["called"]):
            yield match.span(match.lastgroup or "name")
    for match in _SELF_IS.finditer(text):
        if _is_full(match["name"]):
            yield match.span("name")


def _addressed(text: str) -> Iterator[Span]:
    """Before an honorific: a surname or given name, also with other words before it; else what is no role."""
    for match in _WITH_HONORIFIC.finditer(text):
        group = "name" if match["name"] else "small"
        name = match[group]
        first = _first_in_small(name, match) if group == "small" else _first_of_name(name, match)
        if first is not None:
            yield match.start(group) + first, match.end(group)


def _first_of_name(name: str, match: re.Match[str]) -> int | None:
    full = next((first for first in range(len(name)) if _is_full(name[first:])), None)
    if full is not None or name in JAPANESE_GIVEN:
        return full or 0
    familiar = match[0].endswith(("さん", "くん", "ちゃん")) and (name[0] in _KATAKANA_RANGE or not _is_adverb(match))
    if not familiar or name.endswith(_ROLES) or name[-1] in _ROLES_END or name.endswith("ー") or len(name) > 4:
        return None
    return 0 if len(name) > 1 else None


def _is_adverb(match: re.Match[str]) -> bool:
    """毎日ちゃんと: no name."""
    return match[0].endswith("ちゃん") and match.string.startswith("と", match.end())


def _first_in_small(name: str, match: re.Match[str]) -> int | None:
    """Hiragana have no ends, so a common given name, or all that stands at the beginning of a clause."""
    if name.endswith(tuple(_NOT_SMALL)):
        return None
    known = next((first for first in range(len(name) - 1) if name[first:] in JAPANESE_GIVEN), None)
    if known is not None:
        return known
    if _is_adverb(match) or not match[0].endswith(("さん", "くん", "ちゃん")):
        return None
    before = match.string[match.start() - 1] if match.start() else "\n"
    return 0 if len(name) < 4 and before in "\n、。「『!?・ " else None


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
