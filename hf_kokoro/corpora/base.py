"""What the builders share: opening the source, the cache key, and errors that survive worker processes."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Self

import datasets
import pyarrow as pa
from datasets.builder import Key
from datasets.exceptions import DatasetGenerationError

from ..core.archives import open_source
from ..core.disk import disk_errors
from ..core.suggest import allowed
from ..errors import KokoroError, SourceError, UsageError
from .fetch import local_source, origin
from .fingerprint import source_digest
from .published import Edition
from .splits import Unit
from .views import About, View, only_for

_BOOKKEEPING = ("name", "version", "data_dir", "data_files", "description", "source")


class BuildFailed(KokoroError, DatasetGenerationError):  # an outcome; `.error` is the reason
    """A build that stopped; `error` says why. Being a DatasetGenerationError too, it reaches the caller as it is,
    also out of a worker process, where `datasets` would otherwise wrap it and lose its cause."""

    def __init__(self, error: KokoroError) -> None:
        super().__init__(str(error))
        self.error = error

    def __reduce__(self) -> tuple[type[BuildFailed], tuple[KokoroError]]:
        return type(self), (self.error,)


CACHE = (
    "the source is as it was, and no rows were made; HF_DATASETS_CACHE (cache_dir) names another place for the cache"
)


def prepare(builder: SourceBuilder, num_proc: int | None) -> None:
    """Build the rows into the cache. Raises the KokoroError that stopped it, SourceError for a cache that can't be
    written."""
    with disk_errors(builder.cache_dir, CACHE, SourceError):
        try:
            builder.download_and_prepare(num_proc=num_proc)
        except BuildFailed as failed:
            # the reason, without the frames of the library in between
            raise failed.error from None
        except DatasetGenerationError as error:
            # `datasets` wraps a full disk as it does a bad row
            if isinstance(error.__cause__, OSError):
                raise error.__cause__ from None
            raise


@dataclass
class SourceConfig(datasets.BuilderConfig):
    """A config whose identity is its options and the digest of its input, never a path.

    `source` is the local path the rows come from; `digest` follows its bytes.
    """

    CHOICES: ClassVar[Mapping[str, Sequence[Any]]]
    """Options with a fixed list of values; `split_by` is one of them."""

    source: str | None = None
    digest: str = ""

    def check(self) -> None:
        """Raise UsageError for a value that is not allowed."""
        for name, values in self.CHOICES.items():
            if getattr(self, name) not in values:
                raise UsageError(f"{name}: got {getattr(self, name)!r}; allowed: {', '.join(map(str, values))}")

    def options(self) -> dict[str, Any]:
        """Everything that decides the rows, beside the code's VERSION."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _BOOKKEEPING}

    def create_config_id(self, config_kwargs: dict[str, Any], custom_features: datasets.Features | None = None) -> str:
        """`<config>-<16 hex digits>`: changes with any option or any byte of the input."""
        identity = json.dumps([self.options(), str(custom_features or "")], sort_keys=True, default=str)
        return f"{self.name}-{hashlib.sha256(identity.encode()).hexdigest()[:16]}"


def configs_of(views: Sequence[View], config_class: type[SourceConfig], version: str) -> list[SourceConfig]:
    """One config a view, for BUILDER_CONFIGS."""
    return [
        config_class(name=v.name, description=v.description, version=datasets.Version(version), **v.defaults)
        for v in views
    ]


class SourceBuilder(datasets.ArrowBasedBuilder):
    """An Arrow builder over a SourceFiles. Subclasses say which members count and turn them into tables.

    A subclass stands in a module of the dataset's name: `datasets` names the builder, and its cache folder, after it.
    """

    VIEWS: ClassVar[Sequence[View]]
    ABOUT: ClassVar[About]
    CREDITS: ClassVar[Mapping[str, str]] = {}
    """Fields of DatasetInfo that say whose work this is."""
    RATERS: ClassVar[str | None] = None
    """The group (`units`) that gave the scores, if a few of its members may have given most of them."""
    EDITION: ClassVar[Edition | None] = None
    """The files that the paper counted, if they are known by their bytes."""
    PLAIN_VIEW: ClassVar[str]
    """The view that `build` makes where none is named."""
    DEFAULT_SOURCE: ClassVar[str]
    HUB_PATTERNS: ClassVar[Sequence[str]]
    _tables: Callable[..., Iterator[pa.Table]]
    """Yield the tables of one split, given that split's `gen_kwargs`."""
    _splits_of: Callable[[Any], list[datasets.SplitGenerator]]
    """The work of `_split_generators`, which asks for rows first."""
    units: Callable[[str | None], Iterator[Unit]]
    """Every row as what the split by that option makes of it."""
    require_rows: Callable[[], None]
    """Raise SourceError if the source holds no row at all; reads no further than to the first one. An empty split of
    a source with rows is no error."""

    def __init__(
        self,
        cache_dir: str | None = None,
        config_name: str | None = None,
        *,
        source: str | os.PathLike[str] | None = None,
        revision: str | None = None,
        token: str | bool | None = None,
        **options: Any,
    ) -> None:
        known = {config.name for config in self.BUILDER_CONFIGS}
        if config_name not in known:
            raise UsageError(f"config: got {config_name!r}; {allowed(config_name, sorted(known))}")
        accepted = {f.name for f in fields(self.BUILDER_CONFIG_CLASS)} - set(_BOOKKEEPING) - {"digest"}
        standard = {
            "hash",
            "base_path",
            "features",
            "writer_batch_size",
            "storage_options",
            "dataset_name",
            "version",
        }
        if unknown := sorted(set(options) - accepted - standard):
            raise UsageError(f"option {unknown[0]!r} is not known; {allowed(unknown[0], sorted(accepted))}")
        for option, configs in only_for(self.VIEWS).items():
            if option in options and config_name not in configs:
                # accepted in silence, it would leave rows in that the caller believes to be out
                raise UsageError(f"option {option!r} means nothing to {config_name}; it is for {', '.join(configs)}")
        path = local_source(source or self.DEFAULT_SOURCE, self.HUB_PATTERNS, revision, token)
        self.files = open_source(path)
        memory = Path(cache_dir or datasets.config.HF_DATASETS_CACHE).expanduser() / "hf_kokoro_digests"
        counting = self._members(self.files.names(), options) if self.files.seekable else ()
        digest = source_digest(self.files, counting, memory)
        self._options = options
        with disk_errors(memory.parent, CACHE, SourceError):
            super().__init__(cache_dir=cache_dir, config_name=config_name, source=str(path), digest=digest, **options)

    @classmethod
    def view_of(cls, config: str) -> Any:
        """The view of that name, which must be one of this corpus."""
        return next(view for view in cls.VIEWS if view.name == config)

    @property
    def view(self) -> Any:
        """The view that this builder builds."""
        return self.view_of(self.config.name)

    @classmethod
    def trained_views(cls) -> dict[str, str]:
        """Training method to the view that it reads where a recipe names none."""
        return {method: view.name for view in cls.VIEWS for method in view.trains}

    @classmethod
    def _members(cls, names: list[str], options: dict[str, Any]) -> list[str]:
        """Those of `names` that count as data; `options` are the config's."""
        return names

    @classmethod
    def config_of(cls, config: str, options: Mapping[str, Any]) -> Any:
        """The options of a view, those given and the defaults of the others; nothing is opened."""
        return cls.BUILDER_CONFIG_CLASS(name=config, **{**cls.view_of(config).defaults, **options})

    @classmethod
    def splits_in_words(cls, config: Any) -> str:
        """How the rows of a config with these options are divided, for its card."""
        return "All rows are in train."

    @classmethod
    def texts_in_words(cls, config: Any) -> str:
        """What the options make of the texts, for its card; "" if they stand as upstream has them."""
        return ""

    def left_out(self) -> dict[str, int]:
        """What the options leave out of every split: reason, in words, to number; nothing of what is 0."""
        return {}

    def split_differently(self, split_by: str | None) -> Self:
        """The same view of the same source, divided by another option."""
        options = {**self._options, "split_by": split_by}
        return type(self)(self._cache_dir_root, self.config.name, source=self.config.source, **options)

    def edition_files(self) -> Iterator[tuple[str, bytes]]:
        """(name, bytes) of the files that EDITION counts."""
        return self.files.members()

    def origins(self) -> Mapping[tuple[str, str], int] | None:
        """Rows a (source, licence), where rows state theirs; None where both are those of the corpus."""
        return None

    def data_files(self, names: list[str]) -> list[str]:
        """Those of `names` that this config reads; the others are left alone."""
        return self._members(names, self._options)

    def _info(self) -> datasets.DatasetInfo:
        self.config.check()
        # features are frozen constants; datasets may write into the copy it is given
        features = self.view.features(self.config).copy()
        return datasets.DatasetInfo(description=self.config.description, features=features, **self.CREDITS)

    def _split_generators(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        # before any split: one alone can't tell that the others are empty too
        self.require_rows()
        return self._splits_of(dl_manager)

    def as_dataset(self, split: Any = None, **options: Any) -> Any:
        """As in `datasets`, except that a split without rows is an empty Dataset; there it raises ValueError.

        `info.download_checksums` of the result says where the rows come from: the Hub commit (or the local
        name) and the digest of the bytes that were read.
        """
        splits = self.info.splits or {}
        if not any(info.num_examples for info in splits.values()):
            # what an earlier version cached of such a source is as wrong
            self.require_rows()
        empty = {name for name, info in splits.items() if not info.num_examples}
        if split is None and empty:
            return datasets.DatasetDict({name: self.as_dataset(name, **options) for name in splits})
        if str(split) in empty:
            rows = self.info.features.arrow_schema.empty_table()
            made = datasets.Dataset(rows, info=self.info.copy(), split=datasets.NamedSplit(str(split)))
        else:
            made = super().as_dataset(split=split, **options)
        source = {origin(Path(self.config.source)): {"num_bytes": None, "checksum": self.config.digest}}
        for rows in made.values() if isinstance(made, dict) else (made,):
            rows.info.download_checksums = source
        return made

    def _generate_tables(self, **kwargs: Any) -> Iterator[tuple[Key, pa.Table]]:
        try:
            for index, table in enumerate(self._tables(**kwargs)):
                yield Key(0, index), table
        except KokoroError as error:
            raise BuildFailed(error) from error
