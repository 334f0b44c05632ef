"""What an append is about to do, for the files that have to change with the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..core.series import Series


@dataclass(frozen=True)
class Growth:
    """What a commit is about to do, for whoever adds files to it (the card, figures).

    `tails` maps data files to the bytes they gain; `sizes` and `rows` describe every data file as it will be;
    `local` are the data files as they are now, `card` the card's bytes as they are now (None: there is none).
    """

    series: Series
    rows_added: int
    rows_total: int
    tails: Mapping[str, bytes]
    sizes: Mapping[str, int]
    rows: Mapping[str, int]
    local: Mapping[str, Path]
    card: bytes | None


ExtraFiles = Callable[[Growth], Mapping[str, bytes]]
"""Gives more files (path in the target to content) for the same commit; called again after a conflict."""
