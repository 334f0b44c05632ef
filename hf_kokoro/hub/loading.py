"""What `datasets.load_dataset` makes of a folder: the plain loader, asked itself, with nothing passed to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .incoming import table_row


class NotLoaded(Exception):
    """The loader can't read the folder, or not as one list of rows; the message says why."""


@dataclass(frozen=True)
class Loaded:
    """The default config of a folder: its one split, the format and the files that it is made of, and its rows."""

    config: str
    split: str
    format: str
    files: Sequence[str]
    rows: Any

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The rows as mappings of what they hold: where a table has null there is no key."""
        return map(table_row, self.rows)


def load_plainly(folder: Path, cache: Path) -> Loaded:
    """What who names nothing but the folder gets. Raises NotLoaded."""
    from datasets import load_dataset_builder

    root = folder.resolve()
    try:
        with _quiet():
            builder = load_dataset_builder(str(root), cache_dir=str(cache))
            files = builder.config.data_files or {}
            if len(files) == 1:
                builder.download_and_prepare()
                rows = builder.as_dataset(next(iter(files)))
    except Exception as error:  # the loader raises what it likes
        raise NotLoaded(f"`datasets` can't load it ({type(error).__name__})") from None
    if len(files) != 1:
        raise NotLoaded(f"its default config has the splits {', '.join(map(str, files)) or 'of no file'}, not one")
    split, paths = next(iter(files.items()))
    names = [Path(path).relative_to(root).as_posix() for path in paths]
    return Loaded(builder.config.name, str(split), str(builder.name), names, rows)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the loader's progress bars, which would count somebody's rows twice before their eyes."""
    from datasets.utils import disable_progress_bars, enable_progress_bars, is_progress_bar_enabled

    shown = is_progress_bar_enabled()
    disable_progress_bars()
    try:
        yield
    finally:
        if shown:
            enable_progress_bars()
