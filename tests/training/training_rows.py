"""Rows and settings that the training tests share."""

from __future__ import annotations

from typing import Any

QUICK = {
    "per_device_train_batch_size": 4,
    "use_cpu": True,
    "bf16": False,
    "gradient_checkpointing": False,
    "report_to": "none",
    "disable_tqdm": True,
    "save_strategy": "no",
    "learning_rate": 1e-3,
    "seed": 3,
}
"""Trainer arguments of a small run on a CPU."""

OPENINGS = ("It sounds like", "You should", "I hear that", "Just", "Perhaps", "What would help if")
TOPICS = ("sleep", "work", "your sister", "exams", "money", "the move", "grief", "anger")


def message(role: str, text: str) -> dict[str, str]:
    return {"role": role, "content": text}


def dialogue(turns: int, words: int = 8) -> list[dict[str, str]]:
    """Turns of about `words` words each; the counsellor opens."""
    roles = ("assistant", "user")
    return [message(roles[i % 2], f"turn {i} " + "sleep " * (words + i % 3)) for i in range(turns)]


def make_pairs(count: int) -> list[dict[str, Any]]:
    """Pairs of unequal length with integer margins 1..4 and weights of mean 1."""
    rows = []
    for index in range(count):
        topic = TOPICS[index % len(TOPICS)]
        chosen = f"{OPENINGS[index % 6]} {topic} weighs on you" + ", and that is a lot" * (index % 3)
        rejected = f"{OPENINGS[(index + 1) % 6]} forget {topic}" + " and move on" * (index % 2)
        rows.append(
            {
                "prompt": [message("user", f"I can not stop thinking about {topic}, day {index}.")],
                "chosen": [message("assistant", chosen)],
                "rejected": [message("assistant", rejected)],
                "margin": float(1 + index % 4),
                "weight": 0.5 + (index % 2),
                "row_id": f"row-{index}",
            }
        )
    return rows


def make_unpaired(count: int) -> list[dict[str, Any]]:
    """Unpaired rows of two classes, two a prompt, with weights of mean 1."""
    return [
        {
            "prompt": pair["prompt"],
            "completion": pair[side],
            "label": side == "chosen",
            "weight": pair["weight"],
        }
        for pair in make_pairs(count)
        for side in ("chosen", "rejected")
    ]
