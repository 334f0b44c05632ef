"""EmplifAI (arXiv 2601.10033) as a `datasets` builder over the tables that its authors hand a user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar

import datasets
import pyarrow as pa

from ...core.tables import is_table
from ...errors import SourceError, UsageError
from ..base import SourceBuilder, SourceConfig
from ..splits import TEST, TRAIN, VALIDATION, systematic_split
from . import schema
from .emotions import EMOTION_NAMES
from .reader import read_emplifai

_ROWS_PER_TABLE = 500
SPLIT_CHOICES = (None, "situation")
SPEAKER_JA = {"patient": "患者", "supporter": "支援者"}
CHAT_ROLE = {"patient": "user", "supporter": "assistant"}
CONFIGS = {
    "dialogues": "one row a dialogue: emotion, situation, four turns",
    "situations": "one row a situation with its number of dialogues",
    "sft": "messages, the situation as system message",
    "emotion": "situation and dialogue as text, one of 28 labels",
}


@dataclass
class EmplifAIConfig(SourceConfig):
    """Options of all EmplifAI configs.

    Attributes:
        columns: our field to the header of the file at hand, where the alias table does not know it.
        conversational: `sft` as message lists (True) or plain strings.
        seed: decides which situations are held out.
        split_by: `situation` (of each label's ten situations one is validation, one test), or None (all train).
            `sft` and `emotion` default to `situation`, the others to None.
    """

    ONLY_FOR: ClassVar[Mapping[str, tuple[str, ...]]] = {"conversational": ("sft",)}

    columns: dict[str, str | None] = field(default_factory=dict)
    conversational: bool = True
    seed: int = 42
    split_by: str | None = None

    def check(self) -> None:
        """Raise UsageError for a value that is not allowed."""
        if self.split_by not in SPLIT_CHOICES:
            raise UsageError(f"split_by: got {self.split_by!r}; allowed: {', '.join(map(str, SPLIT_CHOICES))}")


def _configs() -> list[EmplifAIConfig]:
    version = datasets.Version(schema.VERSION)
    split = {"sft": "situation", "emotion": "situation"}
    return [EmplifAIConfig(name=n, description=d, version=version, split_by=split.get(n)) for n, d in CONFIGS.items()]


class EmplifAI(SourceBuilder):
    """EmplifAI from CSV, TSV, XLSX, JSON or JSONL, one file or a folder or archive of them.

    The files are not openly released: get them from the paper's authors. Raises UsageError, SourceError or
    InputError (all KokoroError).
    """

    VERSION = datasets.Version(schema.VERSION)
    BUILDER_CONFIG_CLASS = EmplifAIConfig
    BUILDER_CONFIGS = _configs()
    DEFAULT_SOURCE = ""
    HUB_PATTERNS = ("*.csv", "*.tsv", "*.xlsx", "*.json", "*.jsonl", "*.parquet")

    def __init__(self, *args: Any, source: Any = None, **options: Any) -> None:
        if source is None:
            raise SourceError(
                "emplifai: no public file exists to default to; ask the paper's authors and give source=FILE_OR_FOLDER"
            )
        super().__init__(*args, source=source, **options)

    @classmethod
    def _members(cls, names: list[str], options: dict[str, Any]) -> list[str]:
        return [name for name in names if is_table(name)]

    def _info(self) -> datasets.DatasetInfo:
        self.config.check()
        features = {
            "dialogues": schema.DIALOGUES_FEATURES,
            "situations": schema.SITUATIONS_FEATURES,
            "emotion": schema.EMOTION_FEATURES,
            "sft": schema.sft_features(self.config.conversational),
        }[self.config.name]
        return datasets.DatasetInfo(description=self.config.description, features=features.copy())

    @cached_property
    def _splits(self) -> Mapping[str, str]:
        if self.config.split_by is None:
            return {}
        strata = {f"{r['emotion']}/{r['situation_id']}": r["emotion"] for r in self._records()}
        return systematic_split(strata, self.config.seed)

    def _records(self) -> Iterator[dict[str, Any]]:
        return read_emplifai(self.files.members(is_table), self.config.columns or None, self.files)

    def require_rows(self) -> None:
        next(self._records(), None)

    def _splits_of(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        names = (TRAIN,) if self.config.split_by is None else (TRAIN, VALIDATION, TEST)
        return [datasets.SplitGenerator(name=name, gen_kwargs={"split": name}) for name in names]

    def _tables(self, split: str) -> Iterator[pa.Table]:
        wanted = (r for r in self._records() if self._splits.get(f"{r['emotion']}/{r['situation_id']}", TRAIN) == split)
        rows = _situations(wanted) if self.config.name == "situations" else map(self._view, wanted)
        while batch := list(islice(rows, _ROWS_PER_TABLE)):
            yield pa.Table.from_pylist(batch, schema=self.info.features.arrow_schema)

    def _view(self, record: dict[str, Any]) -> dict[str, Any]:
        emotion = EMOTION_NAMES.index(record["emotion"])
        identity = {"dialogue_id": record["dialogue_id"], "situation_id": record["situation_id"]}
        turns = record["turns"]
        transcript = "\n".join(f"{SPEAKER_JA[t['speaker']]}：{t['text']}" for t in turns)
        if self.config.name == "emotion":
            return {"text": f"状況：{record['situation']}\n{transcript}", "label": emotion, **identity}
        if self.config.name == "sft" and not self.config.conversational:
            return {"text": f"状況：{record['situation']}\n{transcript}", **identity, "emotion": emotion}
        if self.config.name == "sft":
            messages = [{"role": "system", "content": f"患者の状況：{record['situation']}"}]
            messages += [{"role": CHAT_ROLE[t["speaker"]], "content": t["text"]} for t in turns]
            return {"messages": messages, **identity, "emotion": emotion}
        coded = [{"speaker": schema.SPEAKERS.index(t["speaker"]), "text": t["text"]} for t in turns]
        return {**identity, "emotion": emotion, "situation": record["situation"], "turns": coded}


def _situations(records: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for record in records:
        key = (record["emotion"], record["situation_id"])
        row = found.setdefault(
            key,
            {
                "situation_id": record["situation_id"],
                "emotion": EMOTION_NAMES.index(record["emotion"]),
                "situation": record["situation"],
                "dialogues": 0,
            },
        )
        row["dialogues"] += 1
    return iter(found.values())
