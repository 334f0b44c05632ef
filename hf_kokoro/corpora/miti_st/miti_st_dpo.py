"""MITI-ST preference rows as a `datasets` builder: the published rows and the views that trainers read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from types import MappingProxyType
from typing import Any

import datasets
import pyarrow as pa

from ...core.jsonl import canonical_json
from ...miti import contract as schema
from ...miti.views import DESIRABLE_MIN, answer_key
from ...miti.weights import WEIGHTINGS, PairKey, pair_key, pair_weights
from ...policy.licences import Origins, origins_of
from ..base import SourceBuilder, SourceConfig, configs_of
from ..splits import RANDOM, TRAIN, TWO_GROUPS, Fractions, Unit, connected_groups
from ..views import About
from .reader import RowReader, row_files, warn_of_strays
from .views import VIEWS

_ROWS_PER_TABLE = 500


@dataclass
class MitiStDpoConfig(SourceConfig):
    """Options of all MITI-ST configs.

    Attributes:
        conversational: message lists (True) or plain strings.
        seed: decides which groups are held out.
        split_by: None (all rows in train), `random` (by row, or by question and answer where a
            row is an answer), `question` or `therapist` (nobody on both sides).
        weights: `uniform`, `margin` or `inverse_frequency` of the therapists; mean 1 over train.
        desirable_min: `unpaired`: an answer with at least this total is desirable.
    """

    conversational: bool = True
    seed: int = 42
    split_by: str | None = None
    weights: str = "uniform"
    desirable_min: int = DESIRABLE_MIN

    CHOICES = MappingProxyType({"split_by": (None, "random", "question", "therapist"), "weights": tuple(WEIGHTINGS)})


@dataclass
class _Plan:
    """What one pass over the rows settles for all splits: question groups and weights."""

    groups: Mapping[str, str] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)


class MitiStDpo(SourceBuilder):
    """MITI-ST rows from a folder, a JSON Lines file or a Hub id.

    Raises UsageError, SourceError or InputError (all KokoroError).
    """

    VERSION = datasets.Version(schema.VERSION)
    BUILDER_CONFIG_CLASS = MitiStDpoConfig
    VIEWS = VIEWS
    ABOUT = About(
        pretty_name="MITI-ST preference pairs",
        template="miti_st_dpo_config",
        annotations_creators="machine-generated",
        language_creators="other",
        tags=("preference", "motivational-interviewing"),
        language="en",
        stated_by_rows=True,
        limits="Scores come from a judge, which may reward length and hedging; MITI-ST scores giving information low "
        "and does not check facts.",
    )
    PLAIN_VIEW = "pairs"
    BUILDER_CONFIGS = configs_of(VIEWS, MitiStDpoConfig, schema.VERSION)
    DEFAULT_SOURCE = schema.HUB_ID
    HUB_PATTERNS = ("data/*.jsonl", "*.jsonl")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        warn_of_strays(self.files)

    def origins(self) -> Origins:
        return origins_of(RowReader(self.files).read())

    @classmethod
    def _members(cls, names: list[str], options: dict[str, Any]) -> list[str]:
        return row_files(names)

    def _fractions(self) -> Fractions:
        if self.config.split_by is None:
            return Fractions(test=0.0)
        # a pair names two therapists; a row stays only if both fall on the same side
        return TWO_GROUPS if self.config.split_by == "therapist" else RANDOM

    @classmethod
    def splits_in_words(cls, config: Any) -> str:
        if config.split_by is None:
            return "All rows are in train."
        if config.split_by == "therapist":
            return (
                f"Split by writer (seed {config.seed}): a fifth of the writers are for test, and nobody is on both "
                "sides; a row with writers on both sides is left out. There is no validation split."
            )
        whole = "A question is in one split alone." if config.split_by == "question" else "Splits share questions."
        by = "question" if config.split_by == "question" else "row"
        return f"Split by {by} (seed {config.seed}): a tenth is for validation, a tenth for test. {whole}"

    def left_out(self) -> dict[str, int]:
        if self.config.split_by != "therapist":
            return {}
        count = sum(unit.split is None for unit in self.units(self.config.split_by))
        return {"rows with writers on both sides": count} if count else {}

    def require_rows(self) -> None:
        next(RowReader(self.files).read(), None)

    def _splits_of(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        _ = self._plan  # one pass for all splits
        return [
            datasets.SplitGenerator(name=split, gen_kwargs={"split": split, "stop_at_once": dl_manager.is_streaming})
            for split in self._fractions().names()
        ]

    @cached_property
    def _plan(self) -> _Plan:
        """Question groups need all rows, and so do weights; neither is computed where nobody asks for it."""
        plan = _Plan()
        if self.config.split_by == "question":
            plan.groups = connected_groups(_question_keys(row) for row in RowReader(self.files).read())
        if self.view.weighted and self.config.weights != "uniform":
            keys = {
                unit_id(row, unit): self._weight_key(row, unit)
                for row, unit in self._distinct(RowReader(self.files))
                if self._split_of(row, unit, plan.groups) == TRAIN
            }
            weights = pair_weights(list(keys.values()), self.config.weights)
            plan.weights = dict(zip(keys, weights, strict=True))
        return plan

    def _weight_key(self, row: dict[str, Any], unit: int | None) -> PairKey:
        return pair_key(row) if unit is None else PairKey(0, (row["all_answers"][unit]["therapist"],))

    def _split_of(self, row: dict[str, Any], unit: int | None, groups: Mapping[str, str]) -> str | None:
        split_by = self.config.split_by
        if split_by is None:
            return TRAIN
        if split_by == "random":
            keys = [schema.row_id(row) if unit is None else _answered(row, unit)]
        elif split_by == "question":
            keys = [groups[_question_keys(row)[0]]]
        else:
            keys = self._therapists(row, unit)
        return self._fractions().split_of(self.config.seed, keys)

    def _therapists(self, row: dict[str, Any], unit: int | None) -> list[str]:
        """Who wrote what the view shows of a row."""
        if unit is not None:
            return [row["all_answers"][unit]["therapist"]]
        if self.view.weighted:
            return [row["chosen_therapist"], row["rejected_therapist"]]
        return [answer["therapist"] for answer in row["all_answers"]]

    def units(self, split_by: str | None) -> Iterator[Unit]:
        other = self.split_differently(split_by)
        reader = RowReader(other.files)
        for row, unit in other._distinct(reader):
            question, therapists = frozenset(_question_keys(row)), frozenset(self._therapists(row, unit))
            split = other._split_of(row, unit, other._plan.groups)
            yield Unit(split, {"question": question, "therapist": therapists})
        reader.faults.raise_if_any(self.files.path.name, hint="nothing was counted")

    def _tables(self, split: str, stop_at_once: bool) -> Iterator[pa.Table]:
        reader = RowReader(self.files)
        schema_arrow = self.info.features.arrow_schema
        records = self._records(reader, split)
        while batch := list(islice(records, _ROWS_PER_TABLE)):
            if not reader.faults:
                yield pa.Table.from_pylist(batch, schema=schema_arrow)
            elif stop_at_once:
                break
        reader.faults.raise_if_any(self.files.path.name, hint="nothing was built")

    def _records(self, reader: RowReader, split: str) -> Iterator[dict[str, Any]]:
        weights = self._plan.weights
        for row, unit in self._distinct(reader):
            if self._split_of(row, unit, self._plan.groups) == split:
                # rows outside train are for evaluation, where every row counts once
                weight = weights.get(unit_id(row, unit), 1.0) if weights else 1.0
                yield self.view.row(row, unit, weight, self.config)

    def _distinct(self, reader: RowReader) -> Iterator[tuple[dict[str, Any], int | None]]:
        """(row, unit) of everything that the config shows.

        A question that was sampled again brings the same verdicts again; each counts once, for the weights too.
        """
        seen: set[int] = set()
        for row in reader.read():
            for unit in self._units(row):
                if unit is not None:
                    key = answer_key(row, row["all_answers"][unit])
                    if key in seen:
                        continue
                    seen.add(key)
                yield row, unit

    def _units(self, row: dict[str, Any]) -> list[int | None]:
        """A row's answers for the views with one row an answer, else the row itself (None)."""
        return list(range(len(row["all_answers"]))) if self.view.per_answer else [None]


def unit_id(row: Mapping[str, Any], unit: int | None) -> str:
    """Identity of a row (unit None) or of one of its answers."""
    return schema.row_id(row) if unit is None else f"{schema.row_id(row)}/{unit}"


def _answered(row: Mapping[str, Any], unit: int) -> str:
    """The text of a question and of one of its answers: whoever judges it, and however often, it is one unit."""
    return canonical_json({"prompt": row["prompt"], "answer": row["all_answers"][unit]["text"]})


def _question_keys(row: Mapping[str, Any]) -> tuple[str, str]:
    return f"id:{row['question_id']}", f"text:{row['prompt']}"
