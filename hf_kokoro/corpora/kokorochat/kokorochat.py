"""KokoroChat (Qi et al. 2025) as a `datasets` builder: nothing is bundled, the user's copy is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import compress, islice
from types import MappingProxyType
from typing import Any

import datasets
import pyarrow as pa
from datasets.utils import tqdm

from ..base import SourceBuilder, SourceConfig, configs_of
from ..splits import Unit
from ..views import About
from . import schema, tables
from .labels import CHOICES as LABEL_CHOICES
from .labels import Labeller
from .published import EDITION
from .reader import Dialogue, DialogueReader, is_dialogue_file
from .splits import POOLS, RESPONSE, SPLIT_CHOICES, RatedDialogue, SplitRule
from .views import VIEWS, MoveColumns

_DIALOGUES_PER_TABLE = 200
_DIALOGUES_PER_EXPANDED_TABLE = 20


@dataclass
class KokoroChatConfig(SourceConfig):
    """Options of all KokoroChat configs.

    Attributes:
        language: `ja`, or `en`/`zh` for the translated edition.
        untranslated: utterances whose translation is empty: `keep` them with their Japanese text, marked in the
            `dialogues` view, or `drop` them.
        pool: training pool of the response-generation views: `low` (<70), `high` (70-98), `full` (<=98).
        seed: decides which rows are held out.
        split_by: None for the paper's splits, or `counselor`, `client`, `person` (both) for disjoint groups.
        conversational: message lists (True) or plain strings.
        label_by: `raw` score, or `rater_centered`: the score less its rater's mean plus the overall mean.
        desirable_min: a dialogue with at least this score, and no screening flag, is desirable.
        min_ratings: `rater_centered` leaves out raters with fewer dialogues.
    """

    language: str = "ja"
    untranslated: str = "keep"
    pool: str = "full"
    seed: int = 42
    split_by: str | None = None
    conversational: bool = True
    label_by: str = "raw"
    desirable_min: float = 70
    min_ratings: int = 3

    CHOICES = MappingProxyType(
        {
            "language": schema.LANGUAGES,
            "untranslated": ("keep", "drop"),
            "pool": tuple(POOLS),
            "split_by": SPLIT_CHOICES,
            "label_by": LABEL_CHOICES,
        }
    )


class KokoroChat(SourceBuilder):
    """KokoroChat from a folder, an archive or a Hub id.

    `KokoroChat(config_name="dialogues", source="kokorochat.tar.gz").download_and_prepare()`; most users call
    `hf_kokoro.load_dataset("kokorochat", ...)`. Raises UsageError, SourceError, InputError (all KokoroError).
    """

    VERSION = datasets.Version(schema.VERSION)
    BUILDER_CONFIG_CLASS = KokoroChatConfig
    VIEWS = VIEWS
    ABOUT = About(
        pretty_name="KokoroChat",
        template="kokorochat",
        license=schema.LICENSE_ID,
        source_datasets=(schema.HUB_ID,),
        annotations_creators="expert-generated",
        language_creators="expert-generated",
        languages={"ja": "Japanese", "en": "English (translated)", "zh": "Chinese (translated)"},
        translated_in="UEC-InabaLab/MultilingualKokoroChat",
        limits="Role-played counselling in Japanese; the scores are the client-role players' and follow the rater more "
        "than the counsellor. No commercial use, no distribution of derived data; whether a model is a derivative is "
        "an open question, so keep it private unless you have cleared it.",
    )
    CREDITS = MappingProxyType(
        {
            "citation": "Qi et al. 2025, KokoroChat, ACL 2025, arXiv:2506.01357",
            "license": schema.LICENSE_ID,
            "homepage": "https://github.com/UEC-InabaLab/KokoroChat",
        }
    )
    RATERS = "client"
    EDITION = EDITION
    PLAIN_VIEW = "dialogues"
    BUILDER_CONFIGS = configs_of(VIEWS, KokoroChatConfig, schema.VERSION)
    DEFAULT_SOURCE = schema.HUB_ID
    HUB_PATTERNS = ("*.json", "*.tar.gz", "*.zip")

    @classmethod
    def _members(cls, names: list[str], options: dict[str, Any]) -> list[str]:
        language = options.get("language", "ja")
        known = language in schema.LANGUAGES
        return [name for name in names if known and is_dialogue_file(name, language) is not False]

    def edition_files(self) -> Iterator[tuple[str, bytes]]:
        return self.files.members(lambda name: is_dialogue_file(name, "ja") is True)

    @cached_property
    def _rule(self) -> SplitRule:
        return self._rule_of(self.config)

    @classmethod
    def _rule_of(cls, config: Any) -> SplitRule:
        return SplitRule(cls.view_of(config.name).paper_splits, config.pool, config.seed, config.split_by)

    @classmethod
    def splits_in_words(cls, config: Any) -> str:
        return cls._rule_of(config).in_words()

    @classmethod
    def texts_in_words(cls, config: Any) -> str:
        if config.language == "ja":
            return ""
        empty = "is left out" if config.untranslated == "drop" else "keeps its Japanese text"
        edition = f"the translated edition ({cls.ABOUT.translated_in})"
        return f"Texts are from {edition}; an utterance whose translation is empty {empty}."

    def left_out(self) -> dict[str, int]:
        config, counts = self.config, Counter[str]()
        if config.split_by == "person" or (self._rule.paper == RESPONSE and config.pool != "full"):
            counts.update(reason for d in self._rated if (reason := self._rule.why_left_out(d)))
        if self.view.labelled and config.label_by == "rater_centered":
            rare = (d for d in self._rated if self._rule.split_of(d) and not self._labeller.knows(d.client_id))
            counts[f"dialogues whose rater rated fewer than {config.min_ratings}"] = sum(1 for _ in rare)
        if config.untranslated == "drop" and config.language != "ja":
            for dialogue in self._reader().read():
                if self._rule.split_of(dialogue):
                    counts["utterances without a translation"] += sum(dialogue.untranslated)
                    counts["dialogues without one translated utterance"] += all(dialogue.untranslated)
        return {reason: count for reason, count in counts.items() if count}

    def units(self, split_by: str | None) -> Iterator[Unit]:
        rule = replace(self._rule, split_by=split_by)
        for dialogue in self._rated:
            people = {"client": dialogue.client_id, "counselor": dialogue.counselor_id}
            yield Unit(rule.split_of(dialogue), {group: frozenset([person]) for group, person in people.items()})

    @cached_property
    def _rated(self) -> list[RatedDialogue]:
        """What decides the split of each dialogue, read once for all ways to split."""
        reader = self._reader()
        read = tqdm(reader.read(), desc="Reading who rated whom", unit=" dialogues")
        rated = [RatedDialogue(d.dialogue_id, d.client_id, d.counselor_id, d.score) for d in read]
        self._refuse_faults(reader, "nothing was counted")
        return rated

    @cached_property
    def _labeller(self) -> Labeller:
        config = self.config
        ratings = None
        if config.label_by == "rater_centered":
            ratings = [(d.client_id, d.score) for d in self._reader().read()]
        return Labeller(config.desirable_min, ratings, config.min_ratings)

    def _reader(self) -> DialogueReader:
        return DialogueReader(self.files, self.config.language, keep_document=self.view.from_columns is not None)

    def require_rows(self) -> None:
        next(self._reader().read(), None)

    def _splits_of(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        names = self._reader().names() if self.files.seekable else None
        if self.view.labelled:
            _ = self._labeller  # one pass for all splits and worker processes
        return [
            datasets.SplitGenerator(
                name=split,
                gen_kwargs={"names": names, "split": split, "stop_at_once": dl_manager.is_streaming},
            )
            for split in self._rule.names()
        ]

    def _tables(self, names: list[str] | None, split: str, stop_at_once: bool) -> Iterator[pa.Table]:
        """Tables of one split. All faults of the input are collected before the error; a stream stops at the first."""
        reader = self._reader()
        wanted = list(names) if names is not None else None
        move = self._move_columns
        found = self._by_columns(move, reader, wanted) if move else self._by_dialogue(reader, wanted, split)
        for table in found:
            if not reader.faults:
                yield table
            elif stop_at_once:
                break
        self._refuse_faults(reader, "nothing was built")

    def _refuse_faults(self, reader: DialogueReader, hint: str) -> None:
        reader.faults.raise_if_any(f"{self.files.path.name} ({reader.count} good dialogues)", hint=hint)

    @property
    def _move_columns(self) -> MoveColumns | None:
        """Where whole columns can be moved no Python object is made per utterance."""
        whole = self.config.language == "ja" and self.config.split_by is None
        return self.view.from_columns if whole else None

    def _by_columns(self, move: MoveColumns, reader: DialogueReader, names: list[str] | None) -> Iterator[pa.Table]:
        source = partial(tables.source_table, wanted=schema.SOURCE_FEATURES.arrow_schema)
        wanted = self.info.features.arrow_schema
        for table in reader.read_tables(source, names, _DIALOGUES_PER_TABLE):
            yield move(table, wanted)

    def _by_dialogue(self, reader: DialogueReader, names: list[str] | None, split: str) -> Iterator[pa.Table]:
        size = _DIALOGUES_PER_EXPANDED_TABLE if self.view.expands else _DIALOGUES_PER_TABLE
        build = self._table_function()
        wanted = self._wanted(reader.read(names), split)
        while batch := list(islice(wanted, size)):
            yield build(batch)

    def _wanted(self, dialogues: Iterator[Dialogue], split: str) -> Iterator[Any]:
        for dialogue in dialogues:
            if self._rule.split_of(dialogue) != split:
                continue
            if self.config.untranslated == "drop":
                _drop_untranslated(dialogue)
                if not dialogue.texts:
                    continue
            if not self.view.labelled:
                yield dialogue
            elif (label := self._labeller.label(dialogue)) is not None:
                yield (dialogue, *label)

    def _table_function(self) -> Callable[[list[Any]], pa.Table]:
        view = self.view
        table = view.translated_table if self.config.language != "ja" and view.translated_table else view.table
        return partial(table, wanted=self.info.features.arrow_schema)


def _drop_untranslated(dialogue: Dialogue) -> None:
    keep = [not missing for missing in dialogue.untranslated]
    if not all(keep):
        for name in ("roles", "times", "texts", "origins", "untranslated"):
            setattr(dialogue, name, list(compress(getattr(dialogue, name), keep)))
