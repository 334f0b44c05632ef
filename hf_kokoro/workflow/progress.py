"""How far long work is: a bar on a terminal or in a notebook, nothing in a pipe, or the caller's own function."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Progress = Callable[[int, int], None]
"""Called with (done, total); a total of 0 is not known."""


@contextmanager
def shown(progress: Progress | None, label: str) -> Iterator[Progress]:
    """The function to call with (done, total): the caller's own, or the one that draws a bar where one can be seen."""
    if progress is not None:
        yield progress
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress as Bar

        with Bar(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(label, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
    elif "ipykernel" in sys.modules:
        # a library of `datasets`: there wherever there is something to wait for
        from tqdm import tqdm

        with tqdm(desc=label, leave=False) as line:
            yield lambda done, total: _draw(line, done, total)
    else:
        yield lambda done, total: None


def _draw(line: Any, done: int, total: int) -> None:
    line.total = total or None
    line.update(done - line.n)
