"""KokoroChat-shaped documents, written for the tests."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from hf_kokoro.corpora.kokorochat import schema


def document(
    number: int = 10,
    *,
    items: list[int] | None = None,
    flags: tuple[str | None, str | None, str | None] = (None, None, None),
    client: int = 3,
    counselor: int = 7,
    topic: str = "Workplace Issues",
    roles: str = "CcCCc",
) -> dict[str, Any]:
    """A good document: `roles` has C for a counsellor's utterance and c for a client's."""
    items = items if items is not None else [3] * 20
    checked = [flag is not None for flag in flags]
    total = sum(items)
    score = 0 if checked[0] or checked[1] else total // 2 if checked[2] else total
    values = [number, "2024-05-01T12:30:00", client, counselor, score, *items, *flags]
    return {
        "dialogue": [
            {
                "role": "counselor" if role == "C" else "client",
                "time": f"2024-05-01T10:{index // 60:02}:{index % 60:02}",
                "utterance": f"発言{index}です。",
            }
            for index, role in enumerate(roles)
        ],
        "topic": {"main_jp": schema.TOPICS[topic], "main_en": topic, "sub": "小さな悩み"},
        "review_by_client_jp": {key.source_ja: value for key, value in zip(schema.REVIEW, values, strict=True)},
        "review_by_client_en": {key.source_en: value for key, value in zip(schema.REVIEW, values, strict=True)},
    }


def changed(base: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A deep copy with one value replaced: `review.score` changes both review blocks."""
    result = copy.deepcopy(base)
    first, _, rest = path.partition(".")
    if first == "review":
        key = next(key for key in schema.REVIEW if key.name == rest)
        result["review_by_client_en"][key.source_en] = value
        result["review_by_client_jp"][key.source_ja] = value
        return result
    place: Any = result
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    for part in parents:
        place = place[part]
    place[last] = value
    return result


def translated(base: dict[str, Any], contents: list[str]) -> dict[str, Any]:
    """The same dialogue in the translated edition's shape."""
    return {
        "dialogue": [
            {"role": u["role"], "time": u["time"], "origin": u["utterance"], "content": content}
            for u, content in zip(base["dialogue"], contents, strict=True)
        ],
        "topic": base["topic"],
        "review_by_client": base["review_by_client_en"],
    }


def write(folder: Path, *documents: dict[str, Any], prefix: str = "") -> Path:
    """Write documents as upstream does: indented, no final newline, named by their id."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in documents:
        review = one.get("review_by_client_en") or one["review_by_client"]
        path = folder / f"{prefix}{review['evaluation_id']}.json"
        path.write_text(json.dumps(one, ensure_ascii=False, indent=2), "utf-8")
    return folder
