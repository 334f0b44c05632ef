"""The YAML block of a card: read strictly, and renewed key by key; what is not ours in it keeps its bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from datasets import DatasetInfo, Features
from datasets.info import DatasetInfosDict
from huggingface_hub import DatasetCardData
from yaml import YAMLError

from ..errors import KokoroError
from .strict_yaml import dump_mapping, load_mapping, reason

SIZE_STEPS = ("1K", "10K", "100K", "1M", "10M", "100M", "1B", "10B", "100B", "1T")
_BLOCK = re.compile(r"\A\ufeff?\s*---[ \t]*(\r?\n)(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_UNCLOSED = re.compile(r"\A\ufeff?\s*---[ \t]*\r?\n[ \t]*[\w-]+:\s")


class CardError(KokoroError):
    """A card that can't be read, rendered or sent; the message lists every problem."""


@dataclass(frozen=True)
class ConfigCard:
    """One config of a published repo: its features and, in order, split to the file pattern or patterns that hold it.

    `datasets` reads several patterns one after another, and the files of one pattern by name.

    `rows` maps splits to row counts; None for data that grows, whose counts are never pinned.
    """

    name: str
    features: Features
    data_files: Mapping[str, str | Sequence[str]]
    rows: Mapping[str, int] | None = None
    default: bool = False
    stamp: str = ""
    """Digest of the data (`hub.card`), kept where it becomes part of a local folder's cache key."""


def size_category(rows: int) -> str:
    """The Hub's size tag for a row count: `n<1K`, `1K<n<10K`, ..., `n>1T`."""
    lower = ""
    limit = 1000
    for step in SIZE_STEPS:
        if rows < limit:
            return f"{lower}<n<{step}" if lower else f"n<{step}"
        lower, limit = step, limit * 10
    return f"n>{SIZE_STEPS[-1]}"


def configs_metadata(configs: Sequence[ConfigCard]) -> dict[str, Any]:
    """The `configs` and `dataset_info` keys. Split sizes are left out on purpose.

    A card that pins row counts makes `datasets` refuse the data as soon as it has grown.
    """
    entries = []
    for config in configs:
        files = [
            {"split": split, "path": path if isinstance(path, str) else list(path)}
            for split, path in config.data_files.items()
        ]
        entry: dict[str, Any] = {"config_name": config.name, "data_files": files}
        entries.append({**entry, "default": True} if config.default else entry)
    data = DatasetCardData()
    DatasetInfosDict({c.name: DatasetInfo(features=c.features) for c in configs}).to_dataset_card_data(data)
    found = data["dataset_info"]
    infos = {info.get("config_name", "default"): info for info in (found if isinstance(found, list) else [found])}
    for config in configs:
        if config.stamp:
            infos[config.name]["description"] = config.stamp
    return {"configs": entries, "dataset_info": [{"config_name": c.name, **infos[c.name]} for c in configs]}


def card_text(content: bytes) -> str:
    """The text of a README.md, without a byte order mark. Raises CardError for what is not UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CardError(f"README.md byte {error.start}: not UTF-8; save it as UTF-8") from None


def split_card(text: str) -> tuple[dict[str, Any], str]:
    """YAML keys and body of a card, line ends of Windows read as `\\n`.

    Raises CardError for YAML that is broken, repeated, never closed or no mapping.
    """
    block, body = split_block(text)
    return read_block(block)[0], body


def split_block(text: str) -> tuple[str, str]:
    """The text between the `---` lines, every byte as it is, and the body, line ends of Windows read as `\\n`.

    A line that is `---` and nothing else closes the block, as for `huggingface_hub` and `datasets`; within a line, or
    indented, it is text. Raises CardError for a block that is never closed.
    """
    match = _BLOCK.match(text)
    if match is None and _UNCLOSED.match(text):
        raise CardError("README.md: the YAML block is never closed; write a line of --- below its last key")
    block, body = (match[2], text[match.end() :]) if match else ("", text)
    return block, body.replace("\r\n", "\n")


def read_block(block: str) -> tuple[dict[str, Any], Any]:
    """Keys and values of the text between the `---` lines, and its YAML node. Raises CardError."""
    try:
        return load_mapping(block)
    except (YAMLError, RecursionError, ValueError) as error:
        raise CardError(f"README.md: the YAML block can't be read ({reason(error)}); repair it by hand") from None


def join_card(data: Mapping[str, Any], body: str) -> str:
    """The text of a new card: YAML between `---` lines, then the body."""
    return f"---\n{dump_mapping(data)}---\n{body}"
