"""Strict, safe YAML: what is read twice or without end is refused, what is written comes back as the same values."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import yaml

UNFOLDED = 100_000
"""Most values that the aliases of one text may stand for together."""
MERGE = "tag:yaml.org,2002:merge"


def load_mapping(text: str) -> tuple[dict[Any, Any], Any]:
    """Keys and values of a YAML text and the nodes behind them; nothing at all is no key.

    Booleans, numbers and dates are those of YAML 1.1, as `datasets` and `huggingface_hub` read them. Raises
    YAMLError, ValueError or RecursionError for what can't be read, and YAMLError for what is no mapping.
    """
    data = yaml.load(text, Loader=_StrictLoader)
    if data is None:
        return {}, None
    if not isinstance(data, dict):
        raise yaml.constructor.ConstructorError(None, None, f"a {type(data).__name__}; allowed: keys and values")
    # composed once more: where keys are merged (`<<`), the loader has moved the nodes about
    return data, yaml.compose(text, Loader=_StrictLoader)


def dump_mapping(data: Mapping[str, Any]) -> str:
    """YAML of a mapping in its order; a `yaml.Node` among the values is written as it was read."""
    text: str = yaml.dump(dict(data), Dumper=_PlainDumper, sort_keys=False, allow_unicode=True, width=10_000)
    return text


def reason(error: Exception) -> str:
    """What is wrong, with the line in a card whose first line opens the block."""
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or type(error).__name__
    return f"line {mark.line + 2}: {problem}" if mark else str(problem)


def same(first: Any, second: Any) -> bool:
    """Equal in value and type, `true` not being 1 nor 1 being 1.0; the order of keys does not matter."""
    if type(first) is not type(second):
        return False
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(value, second[key]) for key, value in first.items())
    if isinstance(first, list):
        return len(first) == len(second) and all(map(same, first, second))
    return bool(first == second) or repr(first) == repr(second)


class _PlainDumper(yaml.SafeDumper):
    """Safe YAML without anchors, list items indented below their key."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _copied(node: yaml.Node) -> yaml.Node:
    """The node once more: one that stands twice would be written with an anchor, whose name may be taken."""
    if isinstance(node, yaml.MappingNode):
        pairs = [(_copied(key), _copied(value)) for key, value in node.value]
        return yaml.MappingNode(node.tag, pairs, flow_style=node.flow_style)
    if isinstance(node, yaml.SequenceNode):
        return yaml.SequenceNode(node.tag, [_copied(item) for item in node.value], flow_style=node.flow_style)
    return yaml.ScalarNode(node.tag, node.value, style=getattr(node, "style", None))


_PlainDumper.add_multi_representer(yaml.Node, lambda dumper, node: _copied(node))


class _StrictLoader(yaml.SafeLoader):
    """Refuses a key that stands twice, and aliases that stand for too much: a few can unfold to any size."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._sizes: dict[int, int] = {}
        self._unfolded = 0

    def compose_node(self, parent: Any, index: Any) -> yaml.Node | None:
        aliased, mark = self.check_event(yaml.events.AliasEvent), self.get_mark()
        node = super().compose_node(parent, index)
        assert node is not None
        if not aliased:
            inner = [child for item in _children(node) for child in item]
            self._sizes[id(node)] = 1 + sum(self._sizes[id(child)] for child in inner)
            return node
        if id(node) not in self._sizes:
            raise yaml.composer.ComposerError(None, None, "an alias within what it stands for", mark)
        self._unfolded += self._sizes[id(node)]
        if self._unfolded > UNFOLDED:
            raise yaml.composer.ComposerError(None, None, f"aliases for more than {UNFOLDED:,} values", mark)
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value:
            if key_node.tag == MERGE:
                continue
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                raise yaml.constructor.ConstructorError(None, None, "a key that is no text", key_node.start_mark)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, "a key that stands twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep=deep)


def _children(node: yaml.Node) -> list[tuple[yaml.Node, ...]]:
    if isinstance(node, yaml.MappingNode):
        return list(node.value)
    return [(item,) for item in node.value] if isinstance(node, yaml.SequenceNode) else []
