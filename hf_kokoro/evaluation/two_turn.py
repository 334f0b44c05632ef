"""EmplifAI's generated dialogues: the sample of situations, the prompt, and the format that a model must keep."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..corpora.emplifai.emotions import EMOTIONS, emotion_name
from ..corpora.emplifai.schema import SPEAKER_JA
from ..errors import Fault, Faults, MissingExtraError, UsageError, describe
from .predictions import read_rows

PAIRS = 100
SEED = 42
SPEAKERS = tuple(SPEAKER_JA.values())

_TURN = re.compile(rf"^\s*(?:\*\*)?({'|'.join(SPEAKERS)})\s*[0-9０-９]?\s*(?:\*\*)?\s*[:：]\s*(?:\*\*)?\s*(.*)$")
_NAMES_JA = {emotion.name: emotion.name_ja for emotion in EMOTIONS}


@dataclass(frozen=True)
class GeneratedDialogue:
    """What a model wrote for one emotion-situation pair; `turns` is None if it broke the format."""

    id: str
    situation: str
    emotion: str
    text: str
    turns: tuple[str, ...] | None


def sample_pairs(situations: Iterable[Mapping[str, Any]], count: int = PAIRS, seed: int = SEED) -> list[dict[str, Any]]:
    """`count` different emotion-situation pairs, drawn by scikit-learn's `resample` with `seed`.

    Rows have `situation_id`, `emotion` (a name) and `situation`. They are sorted first, so that the draw depends
    on the pairs and not on the order of a file. Raises UsageError if there are fewer.
    """
    try:
        from sklearn.utils import resample
    except ImportError as error:
        raise MissingExtraError(error.name or "scikit-learn", "eval", "the sample of situations") from None
    rows = sorted(
        ({name: row[name] for name in ("situation_id", "emotion", "situation")} for row in situations),
        key=lambda row: (row["emotion"], row["situation_id"]),
    )
    if count > len(rows):
        raise UsageError(f"pairs: got {count}; allowed: at most the {len(rows)} situations that there are")
    drawn: list[dict[str, Any]] = resample(rows, replace=False, n_samples=count, random_state=seed)
    return drawn


def dialogue_prompt(situation: str, emotion: str) -> list[dict[str, str]]:
    """Ask for a two-turn dialogue in a fixed form."""
    text = (
        "慢性疾患をもつ患者と、その支援者の短い対話を日本語で書いてください。"
        "患者が話し、支援者が応え、もう一度患者が話し、支援者が応えます。"
        "次の四行だけを、この形で出力してください。\n"
        "患者：…\n支援者：…\n患者：…\n支援者：…\n\n"
        f"患者の状況：{situation}\n患者の感情：{_NAMES_JA[emotion]}（{emotion}）"
    )
    return [{"role": "user", "content": text}]


def read_dialogue(text: str) -> tuple[str, ...] | None:
    """The four turns, or None unless patient and supporter speak twice in turn and nothing stands before them."""
    speakers: list[str] = []
    turns: list[list[str]] = []
    for line in text.strip().splitlines():
        match = _TURN.match(line)
        if match:
            speakers.append(match[1])
            turns.append([match[2]])
        elif turns:
            turns[-1].append(line)
        elif line.strip():
            return None
    said = tuple("\n".join(lines).strip() for lines in turns)
    return said if speakers == [*SPEAKERS, *SPEAKERS] and all(said) else None


def transcript(turns: Sequence[str]) -> str:
    """The turns as a judge reads them."""
    return "\n".join(f"{SPEAKERS[place % 2]}：{text}" for place, text in enumerate(turns))


def read_generated(path: str | Path) -> list[GeneratedDialogue]:
    """Rows with `id`, `situation`, `emotion` and `prediction`. Raises SourceError, InputError."""
    faults, found = Faults(), []
    for where, row in read_rows(path):
        emotion = emotion_name(row["emotion"]) if isinstance(row.get("emotion"), str) else None
        wrong = [
            Fault(where, name, describe(row.get(name)), "text")
            for name in ("situation", "prediction")
            if not isinstance(row.get(name), str)
        ]
        if emotion is None:
            wrong.append(Fault(where, "emotion", describe(row.get("emotion"), show=True), "one of the 28 labels"))
        faults.extend(wrong)
        if not wrong and emotion:
            text = row["prediction"]
            found.append(
                GeneratedDialogue(str(row.get("id", where)), row["situation"], emotion, text, read_dialogue(text))
            )
    faults.raise_if_any("predictions")
    return found
