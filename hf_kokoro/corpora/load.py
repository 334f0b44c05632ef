"""`load_dataset`: like `datasets.load_dataset`, for builders that live in this package."""

from __future__ import annotations

import os
from typing import Any

from ..core.suggest import allowed
from ..errors import UsageError
from .annomi.annomi import AnnoMI
from .base import BuildFailed, SourceBuilder, prepare
from .emplifai.emplifai import EmplifAI
from .kokorochat.kokorochat import KokoroChat
from .miti_st.miti_st_dpo import MitiStDpo

BUILDERS: dict[str, type[SourceBuilder]] = {
    "kokorochat": KokoroChat,
    "emplifai": EmplifAI,
    "annomi": AnnoMI,
    "miti_st_dpo": MitiStDpo,
}


def load_dataset(
    name: str,
    config: str,
    *,
    source: str | os.PathLike[str] | None = None,
    split: str | None = None,
    streaming: bool = False,
    num_proc: int | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    revision: str | None = None,
    token: str | bool | None = None,
    **options: Any,
) -> Any:
    """Load a corpus as `datasets` objects.

    Args:
        name: `kokorochat`, `emplifai`, `annomi` or `miti_st_dpo`.
        config: a config of that dataset, such as `dialogues` or `pairs`.
        source: folder, file, archive (`.tar.gz`, `.tgz`, `.tar.xz`, `.zip`) or Hub dataset id; default: upstream's.
        split: one split (slices such as `train[:10%]` work), or None for all.
        streaming: return iterable datasets that read the source as they go; nothing is written.
        num_proc: worker processes for the build.
        cache_dir: where Arrow files are kept; default: the `datasets` cache.
        revision: branch, tag or commit of a Hub source.
        options: the config's own, such as `pool`, `seed`, `split_by`, `language`, `conversational`.

    Returns a DatasetDict (or Dataset with `split=`); with `streaming=True` their iterable twins.
    Raises UsageError, SourceError or InputError, all KokoroError.
    """
    builder = get_builder(name, config, source=source, cache_dir=cache_dir, revision=revision, token=token, **options)
    if streaming:
        try:
            return builder.as_streaming_dataset(split=split)
        except BuildFailed as failed:
            raise failed.error from None
    prepare(builder, num_proc)
    return builder.as_dataset(split=split)


def get_builder(
    name: str,
    config: str,
    *,
    source: str | os.PathLike[str] | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    **options: Any,
) -> SourceBuilder:
    """The builder instance behind `load_dataset`, for `download_and_prepare(output_dir=...)` and its like."""
    if name not in BUILDERS:
        raise UsageError(f"dataset: got {name!r}; {allowed(name, BUILDERS)}")
    folder = None if cache_dir is None else os.fspath(cache_dir)
    return BUILDERS[name](cache_dir=folder, config_name=config, source=source, **options)
