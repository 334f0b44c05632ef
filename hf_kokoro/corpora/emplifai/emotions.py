"""The 28 emotion labels of EmplifAI: GoEmotions' 27 (Demszky et al. 2020) plus neutral, in GoEmotions order.

`name_ja` and the aliases are ours: the Japanese words that people write for the label. Matching folds
width and case in the comparison key only; stored text is never changed.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass


@dataclass(frozen=True)
class Emotion:
    """One label: English name (the ClassLabel name), Japanese name, other accepted spellings."""

    name: str
    name_ja: str
    aliases: tuple[str, ...] = ()


EMOTIONS: tuple[Emotion, ...] = (
    Emotion("admiration", "称賛", ("賞賛", "感嘆", "敬服")),
    Emotion("amusement", "楽しさ", ("面白さ", "愉快", "おかしさ", "娯楽")),
    Emotion("anger", "怒り", ("憤り", "立腹")),
    Emotion("annoyance", "苛立ち", ("いらだち", "イライラ", "いらいら", "迷惑")),
    Emotion("approval", "承認", ("賛成", "賛同", "是認")),
    Emotion("caring", "思いやり", ("気遣い", "いたわり", "配慮")),
    Emotion("confusion", "困惑", ("混乱", "戸惑い")),
    Emotion("curiosity", "好奇心", ("興味",)),
    Emotion("desire", "願望", ("欲求", "欲望", "切望")),
    Emotion("disappointment", "失望", ("落胆", "がっかり")),
    Emotion("disapproval", "不賛成", ("不承認", "否認", "非難", "不同意")),
    Emotion("disgust", "嫌悪", ("嫌悪感",)),
    Emotion("embarrassment", "恥ずかしさ", ("羞恥", "羞恥心", "気恥ずかしさ")),
    Emotion("excitement", "興奮", ("わくわく", "ワクワク", "高揚")),
    Emotion("fear", "恐怖", ("恐れ", "怖さ")),
    Emotion("gratitude", "感謝", ("ありがたさ",)),
    Emotion("grief", "悲嘆", ("深い悲しみ", "哀悼")),
    Emotion("joy", "喜び", ("嬉しさ", "うれしさ", "歓喜")),
    Emotion("love", "愛", ("愛情", "恋愛感情")),
    Emotion("nervousness", "緊張", ("不安", "神経質")),
    Emotion("optimism", "楽観", ("楽観主義", "前向き")),
    Emotion("pride", "誇り", ("自尊心", "誇らしさ")),
    Emotion("realization", "気づき", ("気付き", "認識", "実感")),
    Emotion("relief", "安堵", ("安心", "ほっとした")),
    Emotion("remorse", "後悔", ("自責", "良心の呵責", "反省")),
    Emotion("sadness", "悲しみ", ("哀しみ", "悲しさ")),
    Emotion("surprise", "驚き", ("びっくり", "驚愕")),
    Emotion("neutral", "中立", ("ニュートラル", "平静", "無感情")),
)

EMOTION_NAMES: tuple[str, ...] = tuple(emotion.name for emotion in EMOTIONS)


def comparison_key(text: str) -> str:
    """Fold width, case and surrounding space for comparing names; never for storing text."""
    return unicodedata.normalize("NFKC", text).strip().casefold()


def _lookup() -> dict[str, str]:
    table: dict[str, str] = {}
    for emotion in EMOTIONS:
        for spelling in (emotion.name, emotion.name_ja, *emotion.aliases):
            key = comparison_key(spelling)
            if table.setdefault(key, emotion.name) != emotion.name:
                raise AssertionError(f"emotion spelling used twice: {emotion.name} and {table[key]}")
    return table


_BY_SPELLING = _lookup()


def emotion_name(text: str) -> str | None:
    """Return the label that `text` names in English, Japanese or by an alias; None if it names none."""
    return _BY_SPELLING.get(comparison_key(text))
