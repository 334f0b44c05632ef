"""EmplifAI (arXiv 2601.10033) as a `datasets` builder over the tables that its authors hand a user."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, cast

import datasets
import pyarrow as pa

from ...core.tables import is_table
from ...errors import SourceError, UsageError
from ..base import SourceBuilder, SourceConfig, configs_of
from ..splits import TEST, TRAIN, VALIDATION, systematic_split
from ..views import About, View, fixed
from . import published, schema
from .emotions import EMOTION_NAMES
from .measures import measure_rows
from .reader import read_emplifai

_ROWS_PER_TABLE = 500
SPLIT_CHOICES = (None, "situation")
SPEAKER_JA = {"patient": "患者", "supporter": "支援者"}
CHAT_ROLE = {"patient": "user", "supporter": "assistant"}
_LABELLED = ("text-classification", "multi-class-classification")


@dataclass(frozen=True, kw_only=True)
class RecordView(View):
    """A view of records as `read_emplifai` gives them."""

    rows: Callable[[Iterator[dict[str, Any]], Any], Iterator[dict[str, Any]]]
    """Records and the config's options to rows."""


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

    columns: dict[str, str | None] = field(default_factory=dict)
    conversational: bool = True
    seed: int = 42
    split_by: str | None = None

    def check(self) -> None:
        """Raise UsageError for a value that is not allowed."""
        if self.split_by not in SPLIT_CHOICES:
            raise UsageError(f"split_by: got {self.split_by!r}; allowed: {', '.join(map(str, SPLIT_CHOICES))}")


def _identity(record: Mapping[str, Any]) -> dict[str, Any]:
    return {"dialogue_id": record["dialogue_id"], "situation_id": record["situation_id"]}


def _label(record: Mapping[str, Any]) -> int:
    return EMOTION_NAMES.index(record["emotion"])


def _text(record: Mapping[str, Any]) -> str:
    transcript = "\n".join(f"{SPEAKER_JA[t['speaker']]}：{t['text']}" for t in record["turns"])
    return f"状況：{record['situation']}\n{transcript}"


def _dialogues(records: Iterator[dict[str, Any]], config: Any) -> Iterator[dict[str, Any]]:
    for record in records:
        turns = [{"speaker": schema.SPEAKERS.index(t["speaker"]), "text": t["text"]} for t in record["turns"]]
        yield {**_identity(record), "emotion": _label(record), "situation": record["situation"], "turns": turns}


def _sft(records: Iterator[dict[str, Any]], config: Any) -> Iterator[dict[str, Any]]:
    for record in records:
        said = [{"role": CHAT_ROLE[t["speaker"]], "content": t["text"]} for t in record["turns"]]
        messages = [{"role": "system", "content": f"患者の状況：{record['situation']}"}, *said]
        what: dict[str, Any] = {"messages": messages} if config.conversational else {"text": _text(record)}
        yield {**what, **_identity(record), "emotion": _label(record)}


def _emotion(records: Iterator[dict[str, Any]], config: Any) -> Iterator[dict[str, Any]]:
    for record in records:
        yield {"text": _text(record), "label": _label(record), **_identity(record)}


def _situations(records: Iterator[dict[str, Any]], config: Any) -> Iterator[dict[str, Any]]:
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


VIEWS = (
    RecordView(
        name="dialogues",
        description="one row a dialogue: emotion, situation, four turns",
        features=fixed(schema.DIALOGUES_FEATURES),
        measure=measure_rows,
        published=published.figures,
        rows=_dialogues,
    ),
    RecordView(
        name="situations",
        description="one row a situation with its number of dialogues",
        features=fixed(schema.SITUATIONS_FEATURES),
        task=_LABELLED,
        rows=_situations,
    ),
    RecordView(
        name="sft",
        description="messages, the situation as system message",
        features=lambda c: schema.sft_features(c.conversational),
        options=("conversational",),
        defaults={"split_by": "situation"},
        trains=("sft",),
        rows=_sft,
    ),
    RecordView(
        name="emotion",
        description="situation and dialogue as text, one of 28 labels",
        features=fixed(schema.EMOTION_FEATURES),
        defaults={"split_by": "situation"},
        task=_LABELLED,
        rows=_emotion,
    ),
)


class EmplifAI(SourceBuilder):
    """EmplifAI from CSV, TSV, XLSX, JSON or JSONL, one file or a folder or archive of them.

    The files are not openly released: get them from the paper's authors. Raises UsageError, SourceError or
    InputError (all KokoroError).
    """

    VERSION = datasets.Version(schema.VERSION)
    BUILDER_CONFIG_CLASS = EmplifAIConfig
    VIEWS = VIEWS
    ABOUT = About(
        pretty_name="EmplifAI",
        template="emplifai",
        source_datasets=("original",),
        annotations_creators="crowdsourced",
        language_creators="crowdsourced",
        tags=("emotion", "medical"),
        limits="Crowd-written two-turn dialogues about chronic illness. No public licence is known: do not distribute.",
    )
    PLAIN_VIEW = "dialogues"
    BUILDER_CONFIGS = configs_of(VIEWS, EmplifAIConfig, schema.VERSION)
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
        features = self.view_of(self.config.name).features(self.config)
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
        rows = cast(RecordView, self.view_of(self.config.name)).rows(wanted, self.config)
        while batch := list(islice(rows, _ROWS_PER_TABLE)):
            yield pa.Table.from_pylist(batch, schema=self.info.features.arrow_schema)
