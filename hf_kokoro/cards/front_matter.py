"""The YAML block of a card: read strictly, merged key by key, written so that every string comes back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml
from datasets import DatasetInfo, Features
from datasets.info import DatasetInfosDict
from huggingface_hub import DatasetCardData

from ..errors import KokoroError

SIZE_STEPS = ("1K", "10K", "100K", "1M", "10M", "100M", "1B", "10B", "100B", "1T")
_BLOCK = re.compile(r"\A(?:\ufeff)?\s*---[ \t]*\r?\n(.*?)(?:\r?\n)?---[ \t]*(?:\r?\n|\Z)", re.DOTALL)


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


def split_card(text: str) -> tuple[dict[str, Any], str]:
    """YAML keys and body of a card, line ends of Windows read as `\\n`.

    Raises CardError for YAML that is broken, repeated or no mapping.
    """
    text = text.replace("\r\n", "\n")
    match = _BLOCK.match(text)
    if match is None:
        return {}, text
    try:
        data = yaml.load(match[1], Loader=_StrictLoader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise CardError(f"README.md: the YAML block can't be read ({_reason(error)}); repair it by hand") from None
    if data is None:
        data = {}
    if not isinstance(data, dict):
        raise CardError(f"README.md: the YAML block is a {type(data).__name__}; allowed: keys and values")
    return data, text[match.end() :]


def join_card(data: Mapping[str, Any], body: str) -> str:
    """The card's text: YAML between `---` lines, then the body."""
    block = yaml.dump(dict(data), Dumper=_PlainDumper, sort_keys=False, allow_unicode=True, width=10_000)
    return f"---\n{block}---\n{body}"


def merge_metadata(existing: Mapping[str, Any], generated: Mapping[str, Any]) -> dict[str, Any]:
    """Generated keys win, all others stay; lists of tags are joined, configs and infos merged by name.

    A generated key that is None is left out, whatever the existing card says.
    """
    kept = {key: value for key, value in existing.items() if key not in generated}
    merged = {**{key: value for key, value in generated.items() if value is not None}, **kept}
    for key in ("configs", "dataset_info"):
        merged[key] = _merge_named(existing.get(key), generated.get(key) or [])
    if isinstance(existing.get("tags"), list):
        own = list(generated.get("tags", ()))
        merged["tags"] = own + [tag for tag in existing["tags"] if tag not in own]
    return merged


def _merge_named(existing: Any, generated: Sequence[Mapping[str, Any]]) -> list[Any]:
    known = [existing] if isinstance(existing, dict) else existing if isinstance(existing, list) else []
    names = {entry["config_name"] for entry in generated}
    others = [e for e in known if isinstance(e, dict) and e.get("config_name", "default") not in names]
    return [*generated, *others]


def _reason(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or type(error).__name__
    return f"line {mark.line + 2}: {problem}" if mark else str(problem)


class _PlainDumper(yaml.SafeDumper):
    """Safe YAML without anchors, list items indented below their key."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


class _StrictLoader(yaml.SafeLoader):
    """Safe YAML that refuses a key that stands twice, and aliases: a few of them can unfold to any size."""

    def compose_node(self, parent: Any, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "an alias", parent.start_mark)
        node: yaml.Node | None = super().compose_node(parent, index)
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, list | dict):
                raise yaml.constructor.ConstructorError(None, None, "a key that is no text", key_node.start_mark)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, "a key that stands twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep=deep)
