"""The card of a growing file: what it says of configs and counts, and how it changes in the commit that adds rows.

`datasets` refuses to load a split whose number of rows is not the card's `num_examples`, so counts move in the same
commit as the rows: found by position in the YAML, so that an update changes those digits and nothing else. A folder's
card has a stamp too, a digest of the rows: `datasets` keys its cache for a local folder by the card's `configs` and
`dataset_info`, never by the files that a pattern matches, so without it it would serve the rows of yesterday.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import yaml

from ..core.jsonl import parse_object
from ..core.series import Series
from ..miti.features import ROWS_FEATURES
from ..miti.spelling import canonical_row
from .errors import TargetError
from .files import file_chunks
from .target import CARD_PATH, Growth

FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)(?:\r?\n)---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_DEFAULT = "default"
_STAMP = re.compile(rb"(?m)^(\s+description: )data-[0-9a-f]{16}(?=\r?$)")


@dataclass(frozen=True)
class SplitCount:
    """What a card says of one split: where `num_examples` stands, and which files the split is made of."""

    config: str
    split: str
    num_examples: int
    patterns: tuple[str, ...]

    def takes(self, path: str) -> bool:
        return not self.patterns or any(matches(pattern, path) for pattern in self.patterns)

    def only_of(self, series: Series) -> bool:
        """Whether the split can hold nothing but this series, so that its count must be the series' rows."""
        known = (*series.patterns, *series.former_patterns)
        return bool(self.patterns) and all(pattern in known or pattern in series for pattern in self.patterns)


@dataclass(frozen=True)
class _Edit:
    start: int
    end: int
    text: str


def split_counts(card: bytes) -> list[SplitCount]:
    """Every split of the card that states a number of rows; none if the card can't be read."""
    return [count for count, _ in _Card(card).counts()]


@dataclass(frozen=True)
class Declared:
    """The configs of a card and the file patterns of each. `default` is loaded by who names none; `inferred` is true
    if the card doesn't say which files that one has, so that a loader looks for itself."""

    configs: Mapping[str, Sequence[str]]
    default: str | None
    inferred: bool


def declared_configs(card: bytes) -> Declared:
    """What a card says of its configs; none if it can't be read."""
    return _Card(card).declared()


def unreadable(card: bytes) -> str:
    """Why the card's front matter can't be read; empty if it can, or there is none."""
    try:
        match = FRONT_MATTER.match(card.decode("utf-8"))
        root = yaml.compose(match[1], Loader=yaml.SafeLoader) if match else None
    except UnicodeDecodeError as error:
        return f"{CARD_PATH} byte {error.start} is not UTF-8"
    except yaml.YAMLError as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        return f"{CARD_PATH} holds YAML that can't be read{'' if line is None else f' (line {line + 2})'}"
    whole = root is None or isinstance(root, yaml.MappingNode)
    return "" if whole else f"{CARD_PATH} holds YAML that is not keys and values"


def matches(pattern: str, path: str) -> bool:
    """Whether a `data_files` pattern takes in a path: `*` stays within a folder, `**` doesn't."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[!?[^]/]+\])", pattern.removeprefix("./"))
    wild = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    regex = "".join(wild.get(part) or _one_of(part) or re.escape(part) for part in parts)
    return re.fullmatch(regex, path) is not None


def _one_of(part: str) -> str:
    """`[0-9]` or `[!ab]` of a pattern as a regular expression; "" if `part` is none."""
    found = re.fullmatch(r"\[(!?)(.+)\]", part)
    if not found:
        return ""
    within = re.escape(found[2]).replace(r"\-", "-")
    return f"[^/{within}]" if found[1] else f"[{within}]"


def data_stamp(lines: Iterable[bytes]) -> str:
    """`data-` and 16 hex digits of sha256 over the bytes of all data files, oldest first."""
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line)
    return f"data-{digest.hexdigest()[:16]}"


def grown_card(growth: Growth, card: bytes) -> bytes:
    """The card with the counts, sizes, file patterns and stamp (if it has one) that fit the data after `growth`.

    Raises TargetError if the card lists the data files in a way that leaves a new segment out.
    """
    if _STAMP.search(card):
        stamp = data_stamp(_grown_bytes(growth)).encode()
        card = _STAMP.sub(lambda match: match[1] + stamp, card)
    parsed = _Card(card)
    return parsed.edited([*parsed.pattern_edits(growth), *parsed.count_edits(growth)])


class _Card:
    """A card's text and the YAML nodes of its front matter, with their positions."""

    def __init__(self, card: bytes) -> None:
        self._original = card
        self._text, self._root, self._offset = "", None, 0
        try:
            self._text = card.decode("utf-8")
            match = FRONT_MATTER.match(self._text)
            if match:
                self._offset = match.start(1)
                self._root = yaml.compose(match[1], Loader=yaml.SafeLoader)
        except (UnicodeDecodeError, yaml.YAMLError):
            self._root = None  # not ours to mend: the Hub shows its owner what is wrong with it

    def counts(self) -> Iterator[tuple[SplitCount, yaml.MappingNode]]:
        """Each split that has `num_examples`, with the node of its dataset_info."""
        listed = self._data_files()
        known = {(config, split): patterns for config, split, patterns in listed}
        for info in _items(_get(self._root, "dataset_info")):
            config = _scalar(_get(info, "config_name")) or _DEFAULT
            for split in _items(_get(info, "splits")):
                name, number = _scalar(_get(split, "name")) or "", _scalar(_get(split, "num_examples"))
                if number is None or not number.isdigit() or not isinstance(info, yaml.MappingNode):
                    continue
                if (config, name) not in known and (listed or config != _DEFAULT):
                    continue  # its files are not named, so they can't be told to be ours
                yield SplitCount(config, name, int(number), known.get((config, name), ())), info

    def declared(self) -> Declared:
        entries = [entry for entry in _items(_get(self._root, "configs")) if isinstance(entry, yaml.MappingNode)]
        configs: dict[str, list[str]] = {_scalar(_get(entry, "config_name")) or _DEFAULT: [] for entry in entries}
        for config, _, patterns in self._data_files():
            configs.setdefault(config, []).extend(patterns)
        marked = {_scalar(_get(entry, "config_name")) for entry in entries if _is_true(_get(entry, "default"))}
        found = (name for name in configs if len(configs) == 1 or name == _DEFAULT or name in marked)
        default = next(found, None)
        return Declared(configs, default, inferred=default is not None and not configs[default])

    def pattern_edits(self, growth: Growth) -> Iterator[_Edit]:
        """Put the patterns of segments after `data/pilot.jsonl` where one begins that would be left out."""
        new = [path for path in growth.tails if path not in growth.local]
        for entry in self._data_file_nodes():
            if not entry.takes(growth.series.path) or all(entry.takes(path) for path in new):
                continue
            exact = next((node for node in entry.nodes if node.value == growth.series.path), None)
            if exact is None:
                raise TargetError(
                    f"{CARD_PATH}: data_files of config {entry.config!r} would leave out {new[0]}; nothing was "
                    f"written; write {list(growth.series.patterns)} there"
                )
            yield self._edit(exact, entry.listed(growth.series.patterns, _quote(exact), self._line_end))

    def count_edits(self, growth: Growth) -> Iterator[_Edit]:
        """New numbers for every split that the grown files belong to."""
        for count, info in self.counts():
            if not (count.takes(growth.series.path) or any(count.takes(path) for path in growth.tails)):
                continue
            split = next(s for s in _items(_get(info, "splits")) if _scalar(_get(s, "name")) == count.split)
            total = growth.rows_total if count.only_of(growth.series) else count.num_examples + growth.rows_added
            yield self._replace(_get(split, "num_examples"), str(total))
            sizes = [
                (_get(split, "num_bytes"), _arrow_bytes),
                (_get(info, "dataset_size"), _arrow_bytes),
                (_get(info, "download_size"), _file_bytes),
            ]
            for node, measure in sizes:
                former = _scalar(node)
                if former is not None and former.isdigit():
                    yield self._replace(node, str(int(former) + measure(growth.tails)))

    @property
    def _line_end(self) -> str:
        return "\r\n" if "\r\n" in self._text else "\n"

    def edited(self, edits: Iterable[_Edit]) -> bytes:
        text = self._text
        # an alias is the same place twice, and later places first, so that earlier ones stay where they are
        for edit in sorted(set(edits), key=lambda edit: edit.start, reverse=True):
            text = text[: edit.start] + edit.text + text[edit.end :]
        return text.encode("utf-8") if text != self._text else self._original

    def _data_files(self) -> list[tuple[str, str, tuple[str, ...]]]:
        return [(e.config, e.split, tuple(node.value for node in e.nodes)) for e in self._data_file_nodes()]

    def _data_file_nodes(self) -> Iterator[_DataFiles]:
        for config in _items(_get(self._root, "configs")):
            name = _scalar(_get(config, "config_name")) or _DEFAULT
            files = _get(config, "data_files")
            plain = _DataFiles(name, "train", files)
            if plain.nodes:
                yield plain
            for entry in _items(files):
                if isinstance(entry, yaml.MappingNode):
                    yield _DataFiles(name, _scalar(_get(entry, "split")) or "train", _get(entry, "path"))

    def _replace(self, node: yaml.Node | None, value: str) -> _Edit:
        assert isinstance(node, yaml.ScalarNode)
        return self._edit(node, f"{_quote(node)}{value}{_quote(node)}")

    def _edit(self, node: yaml.ScalarNode, text: str) -> _Edit:
        return _Edit(self._offset + node.start_mark.index, self._offset + node.end_mark.index, text)


@dataclass(frozen=True)
class _DataFiles:
    """The file patterns of one split: a YAML text, or a list of texts."""

    config: str
    split: str
    node: yaml.Node | None

    @property
    def nodes(self) -> list[yaml.ScalarNode]:
        inner = self.node.value if isinstance(self.node, yaml.SequenceNode) else [self.node]
        return [node for node in inner if isinstance(node, yaml.ScalarNode)]

    def takes(self, path: str) -> bool:
        return any(matches(node.value, path) for node in self.nodes)

    def listed(self, patterns: Iterable[str], quote: str, line_end: str) -> str:
        """The YAML text of several patterns in the place of one."""
        block = isinstance(self.node, yaml.SequenceNode) and not self.node.flow_style
        # within [...] a bracket of the pattern's own needs quotes
        quote = quote if block else quote or '"'
        between = f"{line_end}{' ' * self.node.start_mark.column}- " if block and self.node else ", "
        text = between.join(f"{quote}{pattern}{quote}" for pattern in patterns)
        return text if isinstance(self.node, yaml.SequenceNode) else f"[{text}]"


def _quote(node: yaml.ScalarNode) -> str:
    return node.style if node.style in ('"', "'") else ""


def _get(node: yaml.Node | None, key: str) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if isinstance(name, yaml.ScalarNode) and name.value == key:
                return value  # type: ignore[no-any-return]
    return None


def _items(node: yaml.Node | None) -> Sequence[yaml.Node]:
    """The items of a list; a single mapping counts as a list of one (dataset_info may be either)."""
    if isinstance(node, yaml.SequenceNode):
        return node.value  # type: ignore[no-any-return]
    return [node] if isinstance(node, yaml.MappingNode) else []


def _scalar(node: yaml.Node | None) -> str | None:
    return node.value if isinstance(node, yaml.ScalarNode) else None


def _is_true(node: yaml.Node | None) -> bool:
    return (_scalar(node) or "").lower() in ("true", "yes", "on")


def _arrow_bytes(tails: Mapping[str, bytes]) -> int:
    """Bytes of the new rows as `datasets` counts them: in Arrow, with the published features."""
    rows = [canonical_row(parse_object(line)) for tail in tails.values() for line in tail.split(b"\n") if line.strip()]
    return int(pa.Table.from_pylist(rows, schema=ROWS_FEATURES.arrow_schema).nbytes)


def _file_bytes(tails: Mapping[str, bytes]) -> int:
    return sum(map(len, tails.values()))


def _grown_bytes(growth: Growth) -> Iterator[bytes]:
    for path in growth.series.ordered(growth.sizes):
        if path in growth.local:
            yield from file_chunks(growth.local[path])
        yield growth.tails.get(path, b"")
