"""MITI-ST rows written for these tests: valid, distinct by number, with characters that files get wrong."""

from __future__ import annotations

import copy
import json
from typing import Any

TEXTS = (
    "It sounds as if you carry this alone; what would you like to keep?\u2028(a pause)",
    "You could make a list \u2014 \u201cone thing a day\u201d.\nThen rest.",
    'Just stop worrying about it, "seriously".',
)


def row(number: int, size: int = 0) -> dict[str, Any]:
    """One valid row; `size` characters of filler make it longer."""
    answers = [
        {
            "therapist": f"therapist {n}",
            "text": f"{TEXTS[n]} ({number})" + "\u8a71" * (size if n == 0 else 0),
            "empathy": 5 - n,
            "partnership": 4 - n,
            "reflection_present": int(n == 0),
            "no_persuade": int(n != 1),
            "no_confront": int(n != 2),
        }
        for n in range(3)
    ]
    for answer in answers:
        answer["total"] = sum(value for value in answer.values() if isinstance(value, int))
    best, worst = answers[0], answers[2]
    return {
        "question_id": f"q{number // 2}",
        "topic": "sleep",
        "prompt": f"I wake at night, number {number}. \U0001f319",
        "chosen": best["text"],
        "rejected": worst["text"],
        "chosen_score": best["total"],
        "rejected_score": worst["total"],
        "chosen_therapist": best["therapist"],
        "rejected_therapist": worst["therapist"],
        "all_answers": answers,
        "rubric": "MITI-ST v1",
        "judge_model": "rule-based/miti-st-v1",
        "source_dataset": "nbertagnolli/counsel-chat",
        "license": "MIT",
    }


def rows(*numbers: int) -> list[dict[str, Any]]:
    return [row(number) for number in numbers]


def private(number: int) -> dict[str, Any]:
    """A valid row with an e-mail address in its chosen answer."""
    text = json.dumps(row(number)).replace("what would you", "write to ada@example.org; what would you")
    found: dict[str, Any] = json.loads(text)
    return found


def changed(number: int, **values: Any) -> dict[str, Any]:
    """A row with some keys set to other values, or left out (`...`)."""
    other = copy.deepcopy(row(number))
    for key, value in values.items():
        if value is ...:
            del other[key]
        else:
            other[key] = value
    return other


def numbers(content: bytes) -> list[int]:
    """The numbers of the rows in a file, in order."""
    lines = content.decode("utf-8").split("\n")
    assert lines[-1] == "", "the file ends with a line end"
    return [int(json.loads(line)["prompt"].split("number ")[1].split(".")[0]) for line in lines[:-1]]
