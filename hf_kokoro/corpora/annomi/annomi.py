"""AnnoMI (Wu et al. 2022, 2023) as a `datasets` builder over the user's own copy of its table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from types import MappingProxyType
from typing import Any

import datasets
import pyarrow as pa

from ...core.tables import is_table
from ...errors import SourceError
from ..base import SourceBuilder, SourceConfig, configs_of
from ..splits import GROUPS, TRAIN, Unit
from ..views import About
from . import schema
from .reader import Record, read_annomi
from .views import VIEWS

_ROWS_PER_TABLE = 500


@dataclass
class AnnoMIConfig(SourceConfig):
    """Options of both configs.

    Attributes:
        seed: decides what is held out.
        split_by: None (all train), `video` (about 10 % of the videos are test, 10 % validation; two dialogues of one
            video stay together), or `topic` (no topic on two sides; a dialogue with topics of two sides is left out).
    """

    seed: int = 42
    split_by: str | None = None

    CHOICES = MappingProxyType({"split_by": (None, "video", "topic")})


class AnnoMI(SourceBuilder):
    """AnnoMI from CSV, TSV, XLSX, JSON or Parquet in the columns of `AnnoMI-full.csv`.

    Upstream states no licence, so nothing is fetched: the source is the user's own copy. Raises UsageError,
    SourceError or InputError (all KokoroError).
    """

    VERSION = datasets.Version(schema.VERSION)
    BUILDER_CONFIG_CLASS = AnnoMIConfig
    VIEWS = VIEWS
    ABOUT = About(
        pretty_name="AnnoMI",
        template="annomi",
        source_datasets=("original",),
        annotations_creators="expert-generated",
        language_creators="found",
        tags=("motivational-interviewing",),
        language="en",
        limits="Transcripts of demonstration videos, most of them of good practice. No licence is stated: do not "
        "distribute.",
    )
    PLAIN_VIEW = "utterances"
    BUILDER_CONFIGS = configs_of(VIEWS, AnnoMIConfig, schema.VERSION)
    DEFAULT_SOURCE = ""
    HUB_PATTERNS = ("*.csv", "*.tsv", "*.xlsx", "*.json", "*.jsonl", "*.parquet")

    def __init__(self, *args: Any, source: Any = None, **options: Any) -> None:
        if source is None:
            raise SourceError(
                "annomi: its licence is not stated, so nothing is fetched for you; get AnnoMI-full.csv from "
                f"{schema.SOURCE} on GitHub and give source=AnnoMI-full.csv"
            )
        super().__init__(*args, source=source, **options)

    @classmethod
    def _members(cls, names: list[str], options: dict[str, Any]) -> list[str]:
        return [name for name in names if is_table(name)]

    @cached_property
    def _records(self) -> list[Record]:
        return read_annomi(self.files.members(is_table), self.files)

    def require_rows(self) -> None:
        _ = self._records

    @classmethod
    def splits_in_words(cls, config: Any) -> str:
        if config.split_by is None:
            return "All rows are in train."
        what = {"video": "two dialogues of one video", "topic": "dialogues that share a topic"}[config.split_by]
        return (
            f"Split by {config.split_by} (seed {config.seed}): about 10 % are for test and 10 % for validation; {what} "
            "stand on one side."
        )

    def left_out(self) -> dict[str, int]:
        left = {record["dialogue_id"] for record in self._records if self._split_of(record) is None}
        return {"dialogues whose topics are on two sides of the split": len(left)} if left else {}

    def _split_names(self) -> tuple[str, ...]:
        return (TRAIN,) if self.config.split_by is None else GROUPS.names()

    def _splits_of(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        return [datasets.SplitGenerator(name=name, gen_kwargs={"split": name}) for name in self._split_names()]

    def _split_of(self, record: Record) -> str | None:
        if self.config.split_by is None:
            return TRAIN
        keys = [record["video_url"]] if self.config.split_by == "video" else _topics(record["topic"])
        return GROUPS.split_of(self.config.seed, keys)

    def units(self, split_by: str | None) -> Iterator[Unit]:
        other = self.split_differently(split_by)
        for row in self.view.rows(self._records):
            record = self._head_of[row["dialogue_id"]]
            groups = {"video": frozenset([record["video_url"]]), "topic": frozenset(_topics(record["topic"]))}
            yield Unit(other._split_of(record), groups)

    @cached_property
    def _head_of(self) -> dict[str, Record]:
        return {record["dialogue_id"]: record for record in self._records}

    def _tables(self, split: str) -> Iterator[pa.Table]:
        rows = self.view.rows(record for record in self._records if self._split_of(record) == split)
        while batch := list(islice(rows, _ROWS_PER_TABLE)):
            yield pa.Table.from_pylist(batch, schema=self.info.features.arrow_schema)


def _topics(topic: str) -> list[str]:
    """The topics of a dialogue, folded: upstream joins several by semicolons and spells one with a space at its end."""
    return [part.strip().casefold() for part in topic.split(";") if part.strip()]
