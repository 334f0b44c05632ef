"""KokoroChat's files (Japanese original and translations) to checked dialogues.

A file is checked twice at most: one quick pass whose conditions are necessary and sufficient, and, only for
a file that fails it, a slow pass that names every fault. Text is never changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from typing import Any, Literal

import orjson
import pyarrow as pa

from ...core.archives import SourceFiles
from ...core.jsonl import Refused, refuse_repeated_keys
from ...errors import Fault, Faults, SourceError
from ..no_rows import no_rows
from . import schema
from .columns import Batch, read_ahead
from .faults import are_timestamps, dialogue_faults

Language = Literal["ja", "en", "zh"]

_FILE_NAME = {
    "ja": re.compile(r"\d+\.json\Z"),
    "en": re.compile(r"en\d+\.json\Z"),
    "zh": re.compile(r"zh\d+\.json\Z"),
}
_ITEM_KEYS = tuple(item.source_en for item in schema.ITEMS)
_FLAG_KEYS = tuple(flag.source_en for flag in schema.FLAGS)
_REVIEW_EN = itemgetter(*(key.source_en for key in schema.REVIEW))
_REVIEW_JA = itemgetter(*(key.source_ja for key in schema.REVIEW))
_ROLES = frozenset(schema.ROLES)
_ITEM_RANGE = frozenset(range(schema.ITEM_MAX + 1))
_INT32 = 2**31


@dataclass(slots=True)
class Dialogue:
    """One checked dialogue. `roles`, `times`, `texts` run in step; `times` are ISO 8601 to the second.

    For a translation `texts` are the translated utterances and `origins` the Japanese ones; where the
    translation is an empty string the text falls back to the Japanese and `untranslated` is True.
    """

    name: str
    dialogue_id: int
    client_id: int
    counselor_id: int
    score: int
    item_sum: int
    created_at: str
    topic: str
    topic_sub: str
    items: list[int]
    screening: tuple[bool, bool, bool]
    roles: list[str]
    times: list[str]
    texts: list[str]
    origins: list[str] = field(default_factory=list)
    untranslated: list[bool] = field(default_factory=list)
    document: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def flagged(self) -> bool:
        """True if the client checked any of the three screening boxes."""
        return any(self.screening)


@lru_cache(2**16)
def is_dialogue_file(name: str, language: Language) -> bool | None:
    """True: named like one of this language. None: some other JSON file, to be judged by its content. False: no."""
    base = name.rpartition("/")[2]
    if _FILE_NAME[language].match(base):
        return True
    if not base.endswith(".json") or base.startswith(".") or any(p.match(base) for p in _FILE_NAME.values()):
        return False
    return None


class DialogueReader:
    """Reads the dialogues of one source; collects faults instead of stopping at the first.

    After iterating: `faults` (all counted), `others` (names of files that are no dialogues), `count`.
    """

    def __init__(self, files: SourceFiles, language: Language = "ja", keep_document: bool = False) -> None:
        self.files, self.language, self.keep_document = files, language, keep_document
        self.faults = Faults()
        self.others: list[str] = []
        self.count = 0
        self._seen: dict[int, str] = {}

    def names(self) -> list[str]:
        """Names of the members that may be dialogues, in the source's order."""
        return [name for name in self.files.names() if is_dialogue_file(name, self.language) is not False]

    def read(self, names: list[str] | None = None) -> Iterator[Dialogue]:
        """Yield the good dialogues of `names` (default: all). Raises SourceError if the source holds none at all."""
        for name, data in self.files.members(self._accept, names):
            dialogue = self._parse(name, data)
            if dialogue is not None:
                self.count += 1
                yield dialogue
        if names is None and not self.count and not self.faults:
            raise self._nothing_found()

    def read_tables(
        self, build: Callable[[list[Dialogue]], pa.Table], names: list[str] | None = None, size: int = 200
    ) -> Iterator[pa.Table]:
        """The same dialogues in tables with SOURCE_FEATURES' schema, `size` files at a time (Japanese files only).

        `build` makes such a table from dialogues with their documents: it is used where the quick way is in doubt.
        """
        members = self.files.members(self._accept, names)
        batches = iter(lambda: list(islice(members, size)), [])
        for batch, table in read_ahead(batches):
            if table is not None and self._new_ids(
                batch, table["review_by_client_en"].chunk(0).field("evaluation_id").to_pylist()
            ):
                self.count += len(table)
                yield table
            elif dialogues := [d for name, data in batch if (d := self._parse(name, data)) is not None]:
                self.count += len(dialogues)
                yield build(dialogues)
        if names is None and not self.count and not self.faults:
            raise self._nothing_found()

    def _new_ids(self, batch: Batch, ids: list[int]) -> bool:
        """Take the ids of a whole batch, or none of them if one is not as `_identified` wants it."""
        names = [name for name, _ in batch]
        if len(set(ids)) < len(ids) or not self._seen.keys().isdisjoint(ids):
            return False
        if any(self._contradicts(name, found) for name, found in zip(names, ids, strict=True)):
            return False
        self._seen.update(zip(ids, names, strict=True))
        return True

    def _accept(self, name: str) -> bool:
        accepted = is_dialogue_file(name, self.language) is not False
        if not accepted:
            self.others.append(name)
        return accepted

    def _nothing_found(self) -> SourceError:
        pattern = {"ja": "<evaluation_id>.json", "en": "en<ID>.json", "zh": "zh<ID>.json"}[self.language]
        one = f"one JSON object with the key 'dialogue' a file, named {pattern}"
        looked_for = f"dialogue files for language={self.language!r}, {one}"
        return no_rows(self.files, looked_for, "give the folder or archive that holds such files")

    def _parse(self, name: str, data: bytes) -> Dialogue | None:
        try:
            # a byte order mark is no part of the text
            content = data.removeprefix(b"\xef\xbb\xbf")
            document = orjson.loads(content)
            refuse_repeated_keys(content, document)
        except orjson.JSONDecodeError as error:
            self.faults.add(_json_fault(name, data, error))
            return None
        except Refused as error:
            self.faults.add(Fault(name, "", str(error), "each key once in an object", "get the file again"))
            return None
        read = _read_translation if self.language != "ja" else _read_original
        dialogue = read(name, document)
        if dialogue is None:
            if is_dialogue_file(name, self.language) is None and not (
                isinstance(document, dict) and "dialogue" in document
            ):
                self.others.append(name)
            else:
                self.faults.extend(dialogue_faults(name, document, self.language))
            return None
        if not self._identified(dialogue):
            return None
        if self.keep_document:
            dialogue.document = document
        return dialogue

    def _identified(self, dialogue: Dialogue) -> bool:
        """The id must be new, and be the number in the file's name: so a split by name is a split by id."""
        found = dialogue.dialogue_id
        if other := self._seen.get(found):
            step = "keep one of the two files"
            self.faults.add(
                Fault(
                    dialogue.name,
                    "evaluation_id",
                    f"{found}, which {other} has too",
                    "an id of its own",
                    step,
                )
            )
            return False
        if self._contradicts(dialogue.name, found):
            allowed = "the number in the file's name"
            self.faults.add(
                Fault(dialogue.name, "evaluation_id", str(found), allowed, "rename the file or get it again")
            )
            return False
        self._seen[found] = dialogue.name
        return True

    def _contradicts(self, name: str, found: int) -> bool:
        stem = name.rpartition("/")[2].removesuffix(".json")
        digits = stem if self.language == "ja" else stem.removeprefix(self.language)
        return digits.isdecimal() and int(digits) != found


def _json_fault(name: str, data: bytes, error: orjson.JSONDecodeError) -> Fault:
    again = "download the file again"
    if not data.strip():
        return Fault(name, "", "an empty file", "one JSON object", again)
    if data.lstrip()[:1] == b"<":
        return Fault(name, "", "an HTML or XML page", "one JSON object", "download the file itself, not its web page")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as broken:
        line = data.count(b"\n", 0, broken.start) + 1
        got = f"bytes that are not UTF-8 (line {line}, byte {broken.start})"
        return Fault(name, "", got, "UTF-8", "save the file as UTF-8; CP932 and UTF-16 are not read here")
    got = f"broken JSON at line {error.lineno} column {error.colno} ({error.msg.partition(':')[0]})"
    return Fault(name, "", got, "one JSON object", again)


def _read_original(name: str, document: Any) -> Dialogue | None:
    """The quick pass over a Japanese file: a Dialogue if everything holds, else None."""
    try:
        review_en, review_ja = document["review_by_client_en"], document["review_by_client_jp"]
        if len(document) != 4 or len(review_ja) != len(schema.REVIEW):
            return None
        values_ja, values_en = _REVIEW_JA(review_ja), _REVIEW_EN(review_en)
        # 3 == 3.0 == True + 2 in Python, so types are compared too
        if values_ja != values_en or list(map(type, values_ja)) != list(map(type, values_en)):
            return None
        utterances = document["dialogue"]
        texts = [u["utterance"] for u in utterances]
        if set(map(len, utterances)) != {3}:
            return None
        return _read_common(name, document["topic"], review_en, utterances, texts)
    except (KeyError, TypeError, AttributeError):
        return None


def _read_translation(name: str, document: Any) -> Dialogue | None:
    """The quick pass over a translated file."""
    try:
        utterances = document["dialogue"]
        contents = [u["content"] for u in utterances]
        origins = [u["origin"] for u in utterances]
        if len(document) != 3 or set(map(len, utterances)) != {4}:
            return None
        "".join(contents)  # a TypeError unless all are text
        dialogue = _read_common(name, document["topic"], document["review_by_client"], utterances, origins)
    except (KeyError, TypeError, AttributeError):
        return None
    if dialogue is not None:
        dialogue.origins = origins
        dialogue.untranslated = [not content.strip() for content in contents]
        dialogue.texts = [
            o if empty else c for c, o, empty in zip(contents, origins, dialogue.untranslated, strict=True)
        ]
    return dialogue


def _read_common(name: str, topic: Any, review: Any, utterances: Any, texts: list[str]) -> Dialogue | None:
    if type(utterances) is not list or not utterances or not all(texts) or any(map(str.isspace, texts)):
        return None
    roles = [u["role"] for u in utterances]
    times = [u["time"] for u in utterances]
    if not set(roles) <= _ROLES or not are_timestamps([*times, review["evaluation_created_at"]]):
        return None
    if len(review) != len(schema.REVIEW) or len(topic) != 3 or type(topic["sub"]) is not str:
        return None
    if schema.TOPICS.get(topic["main_en"]) != topic["main_jp"]:
        return None
    items = [review[key] for key in _ITEM_KEYS]
    flags = [review[key] for key in _FLAG_KEYS]
    ids = [review[key] for key in ("evaluation_id", "client_id", "counselor_id", "score")]
    if set(map(type, items)) != {int} or not set(items) <= _ITEM_RANGE or set(map(type, ids)) != {int}:
        return None
    if min(ids) < 0 or max(ids) >= _INT32 or not all(f is None or (type(f) is str and f.strip()) for f in flags):
        return None
    screening = tuple(f is not None for f in flags)
    item_sum = sum(items)
    if ids[3] != schema.published_score(item_sum, *screening):
        return None
    return Dialogue(
        name=name,
        dialogue_id=ids[0],
        client_id=ids[1],
        counselor_id=ids[2],
        score=ids[3],
        item_sum=item_sum,
        created_at=review["evaluation_created_at"],
        topic=topic["main_en"],
        topic_sub=topic["sub"],
        items=items,
        screening=screening,  # type: ignore[arg-type]  # three flags, so three booleans
        roles=roles,
        times=times,
        texts=texts,
    )
