"""The card of a place that is taken over: its default config names the growing file, all else stays as it stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

from .card import FRONT_MATTER


def adopted_card(card: bytes, config: str, split: str, patterns: Sequence[str], stamp: str = "") -> bytes:
    """The card with `config` made of `patterns` and nothing stated of what it held before.

    Only the keys `configs` and `dataset_info` of the front matter are written anew; a card without one gets it. A
    `stamp` (`data_stamp`) goes to the config's description.
    """
    text = card.decode("utf-8")
    match = FRONT_MATTER.match(text)
    front = match[1] if match else ""
    data = yaml.safe_load(front) or {}
    configs, infos = _listed(data.get("configs")), _listed(data.get("dataset_info"))
    kept = [info for info in infos if info.get("config_name", "default") != config]
    changed = {"configs": _with_config(configs, config, split, patterns, stamp), "dataset_info": kept}
    end = "\r\n" if "\r\n" in front else "\n"
    new = _with_keys(front, changed).replace("\r\n", "\n").strip("\n").replace("\n", end)
    if match:
        return (text[: match.start(1)] + new + text[match.end(1) :]).encode()
    return f"---\n{new}\n---\n{text}".encode()


def _listed(value: Any) -> list[dict[str, Any]]:
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, dict)]


def _with_config(
    configs: list[dict[str, Any]], config: str, split: str, patterns: Sequence[str], stamp: str
) -> list[dict[str, Any]]:
    """The configs with ours first: `datasets` takes the reader of the first one for all."""
    former = next((entry for entry in configs if entry.get("config_name", "default") == config), {})
    # what else an entry says are options of the reader that the files had
    ours: dict[str, Any] = {"config_name": config, "data_files": [{"split": split, "path": list(patterns)}]}
    ours |= {"default": True} if former.get("default") is True else {}
    ours |= {"description": stamp} if stamp else {}
    return [ours, *(entry for entry in configs if entry is not former)]


def _with_keys(front: str, changed: dict[str, list[dict[str, Any]]]) -> str:
    """The YAML with those keys as given (left out if empty), every other line as it is."""
    root = yaml.compose(front, Loader=yaml.SafeLoader) if front.strip() else None
    if isinstance(root, yaml.MappingNode) and root.flow_style:
        data = {**yaml.safe_load(front), **changed}
        return _dumped({key: value for key, value in data.items() if value or key not in changed})
    nodes = [key for key, _ in root.value] if isinstance(root, yaml.MappingNode) else []
    starts = [key.start_mark.index for key in nodes] + [len(front)]
    parts = [front[: starts[0]]] + [
        front[start:end] for key, start, end in zip(nodes, starts, starts[1:], strict=False) if key.value not in changed
    ]
    text = "".join(parts)
    text += "" if text.endswith("\n") or not text else "\n"
    return text + "".join(_dumped({key: value}) for key, value in changed.items() if value)


def _dumped(value: dict[str, Any]) -> str:
    return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True))
