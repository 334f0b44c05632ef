"""MITI-ST rows of the published schema, in three styles of answer that even a tiny model tells apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hf_kokoro.miti.contract import LICENSE, RUBRIC, SOURCE_DATASET, row_line

STYLES = {
    "It sounds like {} has been heavy, and you carried it alone for a long while. What would help?": (5, 5, 1, 1, 1),
    "You should stop thinking about {} and sleep more.": (2, 1, 0, 0, 1),
    "Many people struggle with {}; have you talked to someone about it?": (3, 3, 0, 1, 1),
}


def answer(name: str, text: str, scores: tuple[int, ...]) -> dict[str, Any]:
    names = ("empathy", "partnership", "reflection_present", "no_persuade", "no_confront")
    return {"therapist": name, "text": text, **dict(zip(names, scores, strict=True)), "total": sum(scores)}


def write_miti_folder(folder: Path, questions: int = 40) -> Path:
    """A local dataset folder, one row a question; returns the folder."""
    lines = []
    for number in range(questions):
        answers = [answer(f"T{i}", text.format(f"matter {number}"), s) for i, (text, s) in enumerate(STYLES.items())]
        best, worst = answers[0], answers[1]
        row = {
            "question_id": f"q{number}", "topic": "anxiety", "prompt": f"Matter {number} keeps me awake.",
            "chosen": best["text"], "rejected": worst["text"], "chosen_score": best["total"],
            "rejected_score": worst["total"], "chosen_therapist": best["therapist"],
            "rejected_therapist": worst["therapist"], "all_answers": answers, "rubric": RUBRIC,
            "judge_model": "test", "source_dataset": SOURCE_DATASET, "license": LICENSE,
        }  # fmt: skip
        lines.append(row_line(row))
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "pilot.jsonl").write_text("".join(lines), "utf-8")
    return folder
