"""EmplifAI's row contracts (arXiv 2601.10033): Japanese two-turn patient-supporter dialogues, 28 emotion labels."""

from __future__ import annotations

from datasets import ClassLabel, Features, List, Value

from .emotions import EMOTION_NAMES

VERSION = "1.0.0"
"""Version of the views; a change of any Features below bumps it."""

SPEAKERS = ("patient", "supporter")
SPEAKER_JA = {"patient": "患者", "supporter": "支援者"}
TURNS_PER_DIALOGUE = 4
"""Two turns of each speaker, patient first."""

_EMOTION = ClassLabel(names=list(EMOTION_NAMES))
_IDENTITY = {"dialogue_id": Value("string"), "situation_id": Value("string"), "emotion": _EMOTION}

DIALOGUES_FEATURES = Features(
    {
        **_IDENTITY,
        "situation": Value("string"),
        "turns": List({"speaker": ClassLabel(names=list(SPEAKERS)), "text": Value("string")}),
    }
)
SITUATIONS_FEATURES = Features(
    {
        "situation_id": Value("string"),
        "emotion": _EMOTION,
        "situation": Value("string"),
        "dialogues": Value("int32"),
    }
)
EMOTION_FEATURES = Features(
    {
        "text": Value("string"),
        "label": _EMOTION,
        "dialogue_id": Value("string"),
        "situation_id": Value("string"),
    }
)


def sft_features(conversational: bool) -> Features:
    """`messages` (patient = user, supporter = assistant, the situation as system message), or `text`."""
    if conversational:
        return Features({"messages": List({"role": Value("string"), "content": Value("string")}), **_IDENTITY})
    return Features({"text": Value("string"), **_IDENTITY})
