"""The 28 labels and the names that people write for them."""

from __future__ import annotations

import pytest

from hf_kokoro.corpora.emplifai.emotions import EMOTION_NAMES, EMOTIONS, comparison_key, emotion_name

# GoEmotions (Demszky et al. 2020), in the order of its label file, neutral last
# fmt: off
GO_EMOTIONS = [
    "admiration", "amusement", "anger", "annoyance", "approval", "caring", "confusion", "curiosity", "desire",
    "disappointment", "disapproval", "disgust", "embarrassment", "excitement", "fear", "gratitude", "grief", "joy",
    "love", "nervousness", "optimism", "pride", "realization", "relief", "remorse", "sadness", "surprise", "neutral",
]
# fmt: on


def test_the_labels_are_goemotions_in_its_order() -> None:
    assert list(EMOTION_NAMES) == GO_EMOTIONS


def test_every_spelling_names_exactly_its_label() -> None:
    spellings = [(s, e.name) for e in EMOTIONS for s in (e.name, e.name_ja, *e.aliases)]
    assert len({comparison_key(s) for s, _ in spellings}) == len(spellings)
    assert all(emotion_name(spelling) == name for spelling, name in spellings)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("JOY", "joy"),
        ("ｊｏｙ", "joy"),
        (" 喜び ", "joy"),
        ("ｲﾗｲﾗ", "annoyance"),
        ("イライラ", "annoyance"),
        ("", None),
        ("joyful", None),
    ],
)
def test_width_case_and_space_are_folded_for_comparing(written: str, name: str | None) -> None:
    """C44: half-width kana and full-width letters meet their label; the text itself is not touched."""
    assert emotion_name(written) == name
