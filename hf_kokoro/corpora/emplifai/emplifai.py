"""EmplifAI (arXiv 2601.10033) as a `datasets` builder over the tables that its authors hand a user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from types import MappingProxyType
from typing import Any

import datasets
import pyarrow as pa

from ...core.tables import is_table
from ...errors import SourceError
from ..base import SourceBuilder, SourceConfig, configs_of
from ..splits import TEST, TRAIN, VALIDATION, Unit, systematic_split
from ..views import About
from . import schema
from .reader import read_emplifai
from .views import VIEWS

_ROWS_PER_TABLE = 500


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

    CHOICES = MappingProxyType({"split_by": (None, "situation")})


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

    @classmethod
    def splits_in_words(cls, config: Any) -> str:
        if config.split_by is None:
            return "All rows are in train."
        return (
            f"Split by situation (seed {config.seed}): of every ten situations of a label one is for validation and "
            "one for test, with all their dialogues."
        )

    def _split_names(self) -> tuple[str, ...]:
        return (TRAIN,) if self.config.split_by is None else (TRAIN, VALIDATION, TEST)

    def _splits_of(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        return [datasets.SplitGenerator(name=name, gen_kwargs={"split": name}) for name in self._split_names()]

    def units(self, split_by: str | None) -> Iterator[Unit]:
        other = self.split_differently(split_by)
        for name in other._split_names():
            for row in other._rows(name):
                yield Unit(name, {"situation": frozenset([row["situation_id"]])})

    def _rows(self, split: str) -> Iterator[dict[str, Any]]:
        wanted = (r for r in self._records() if self._splits.get(f"{r['emotion']}/{r['situation_id']}", TRAIN) == split)
        rows: Iterator[dict[str, Any]] = self.view.rows(wanted, self.config)
        return rows

    def _tables(self, split: str) -> Iterator[pa.Table]:
        rows = self._rows(split)
        while batch := list(islice(rows, _ROWS_PER_TABLE)):
            yield pa.Table.from_pylist(batch, schema=self.info.features.arrow_schema)
