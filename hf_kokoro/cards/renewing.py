"""A card's YAML block renewed: our keys get the values of today, all else keeps its bytes.

Each top-level key is a piece of text from its name to the end of its value. Only pieces of keys that are generated
and have another value than before are replaced; comments in them are set above, new keys go to the end. The YAML
reader is the judge: what it reads afterwards differs in the generated keys alone, or nothing is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import yaml

from .front_matter import CardError, read_block, split_block
from .strict_yaml import dump_mapping, same

JOINED = ("tags", "language")
"""Lists of which others may have a part: what stands there and is not generated stays behind what is."""
NAMED = ("configs", "dataset_info")
"""Lists with an entry a config; entries of configs that are not generated stay behind ours."""
_LANGUAGES = ("en", "ja", "zh")
"""A single one of these may be our own claim of an earlier rendering."""


def renew_card(
    existing: str | None, generated: Mapping[str, Any], body: str, *, joined: bool = True, named: bool = True
) -> str:
    """The card's text with the generated keys and this body; a key that is None is not there.

    Line ends are those of the existing card's first line; a byte order mark is left out, because with it
    `huggingface_hub` sees no YAML at all. Without `joined` or `named` the lists are ours as a whole. Raises CardError
    for YAML that can't be read, or that can't be renewed without changing keys that are not ours.
    """
    text = existing or ""
    line_end = "\r\n" if text.partition("\n")[0].endswith("\r") else "\n"
    block = _Block.read(split_block(text)[0], line_end)
    wanted = {key: _merged(block, key, value, joined, named) for key, value in generated.items()}
    renewed = block.renewed(wanted)
    fence = f"---{line_end}"
    return f"{fence}{renewed}{fence}{body.replace(chr(10), line_end)}"


def _merged(block: _Block, key: str, value: Any, joined: bool, named: bool) -> Any:
    """The value that a key is to have; what others wrote into it comes as YAML nodes, so that it is written as it was.

    YAML 1.1 reads `no` as false and 1.10 as 1.1: only the nodes still know what was written.
    """
    if joined and key in JOINED and key in block.data:
        return _joined(list(block.items(key)), value)
    if named and key in NAMED:
        ours = [entry["config_name"] for entry in value or []]
        others = ((item, node) for item, node in block.items(key) if isinstance(item, dict))
        return [*(value or []), *(node for item, node in others if item.get("config_name", "default") not in ours)]
    return value


def _joined(there: Sequence[tuple[Any, yaml.Node]], value: list[str] | None) -> list[Any] | None:
    old = [item for item, _ in there]
    if value is None:
        return None if len(old) == 1 and old[0] in _LANGUAGES else [node for _, node in there]
    if all(item in old for item in value):
        return [node for _, node in there]
    return [*value, *(node for item, node in there if item not in value)]


@dataclass(frozen=True)
class _Block:
    """The text between the `---` lines, what it says, and the nodes that say it."""

    text: str
    data: dict[Any, Any]
    root: yaml.MappingNode | None
    line_end: str

    @classmethod
    def read(cls, text: str, line_end: str) -> _Block:
        data, root = read_block(text)
        return cls(text, data, root, line_end)

    def items(self, key: str) -> Iterator[tuple[Any, yaml.Node]]:
        """Entries of a list with their nodes; a single value counts as a list of one."""
        value, node = self.data.get(key), self._pairs.get(key, (None, None))[1]
        if isinstance(node, yaml.SequenceNode) and isinstance(value, list):
            yield from zip(value, node.value, strict=True)
        elif node is not None and value is not None:
            yield value, node

    def renewed(self, wanted: Mapping[str, Any]) -> str:
        """The text in which these keys have these values; keys that are None are not there."""
        text, expected = self.text, {key: value for key, value in self.data.items() if key not in wanted}
        pieces: list[tuple[int, int, str]] = []
        added = ""
        for key, value in wanted.items():
            written = "" if value is None else dump_mapping({key: value})
            new = read_block(written)[0]
            expected |= new
            there = key in self._pairs
            if there and not (new and same(self.data[key], new[key])):
                pieces.append(self._piece(key, written))
            elif new and not there and not (key in self.data and same(self.data[key], new[key])):
                added += self._indented(written)
        for start, end, new_text in sorted(pieces, reverse=True):
            text = text[:start] + new_text + text[end:]
        text += added
        self._check(text, expected, [key for key, value in wanted.items() if key in self.data])
        return text

    def _piece(self, key: str, written: str) -> tuple[int, int, str]:
        """Where a key stands from its name to the last character of its value, and what is to stand there instead."""
        start, end = self._span(key)
        line_start = self.text.rfind("\n", 0, start) + 1
        indent = self.text[line_start:start]
        if indent.strip():
            raise CardError(
                f"README.md: the key {key} of the YAML block does not begin its line, so it can't be renewed; write "
                "one key a line, without braces"
            )
        lines = [*self._comments(start, end), *_lines(written)]
        if lines:
            return start, end, f"{self.line_end}{indent}".join(lines)
        rest = re.compile(r"[ \t]*(?:\r?\n|\Z)").match(self.text, end)
        return (line_start, rest.end(), "") if rest else (start, end, "")

    def _span(self, key: str) -> tuple[int, int]:
        """From a key to the last character of its value: behind that are blanks, comments and the next key."""
        starts = sorted(name.start_mark.index for name, _ in self._pairs.values())
        start = self._pairs[key][0].start_mark.index
        following = next((other for other in starts if other > start), len(self.text))
        end = max(stop for begin, stop in self._tokens if start <= begin < following)
        return start, start + len(self.text[start:end].rstrip())

    def _comments(self, start: int, end: int) -> list[str]:
        """Comments between two places: what stands between YAML's tokens and is no blank."""
        found: list[str] = []
        reached = start
        for begin, stop in self._tokens:
            if start <= begin < end:
                found += re.findall(r"#[^\r\n]*", self.text[reached:begin])
                reached = stop
        return found

    def _indented(self, written: str) -> str:
        indent = " " * (self.root.start_mark.column if self.root is not None else 0)
        return "".join(f"{indent}{line}{self.line_end}" for line in _lines(written))

    @cached_property
    def _pairs(self) -> dict[str, tuple[yaml.Node, yaml.Node]]:
        pairs = self.root.value if self.root is not None else ()
        return {name.value: (name, value) for name, value in pairs if isinstance(name, yaml.ScalarNode)}

    @cached_property
    def _tokens(self) -> list[tuple[int, int]]:
        """(begin, end) of what is neither blank nor comment."""
        marks = (
            (token.start_mark.index, token.end_mark.index)
            for token in yaml.scan(self.text)
            if not isinstance(token, yaml.DocumentEndToken | yaml.KeyToken)
        )
        return [(begin, end) for begin, end in marks if end > begin]

    def _check(self, text: str, expected: Mapping[Any, Any], ours: list[str]) -> None:
        try:
            found = read_block(text)[0]
        except CardError:
            found = None
        if found is None or not same(found, dict(expected)):
            raise CardError(
                "README.md: the YAML block can't be renewed without changing keys that are not ours; nothing was "
                "written; write it with one key a line, and without anchors, `...` or % lines in or behind "
                f"{', '.join(ours[:12]) or 'its last key'}"
            )


def _lines(written: str) -> list[str]:
    return written.split("\n")[:-1]
