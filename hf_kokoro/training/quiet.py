"""What a run prints: its report, and progress bars only on a terminal."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet_in_pipes() -> Iterator[None]:
    """Progress bars are for terminals; what was set is put back."""
    import datasets
    from transformers.utils import logging as transformers_logging

    with warnings.catch_warnings():
        # raised by transformers itself, for a default that TRL still spells the old way
        warnings.filterwarnings("ignore", message=".*gradient_checkpointing.*deprecated", category=FutureWarning)
        if sys.stderr.isatty():
            yield
            return
        bars = datasets.are_progress_bars_disabled(), transformers_logging.is_progress_bar_enabled()
        before = os.environ.get("TQDM_DISABLE")
        datasets.disable_progress_bars()
        transformers_logging.disable_progress_bar()
        os.environ["TQDM_DISABLE"] = "1"  # read by TRL when it precomputes reference log-probs
        try:
            yield
        finally:
            if not bars[0]:
                datasets.enable_progress_bars()
            if bars[1]:
                transformers_logging.enable_progress_bar()
            if before is None:
                del os.environ["TQDM_DISABLE"]
            else:
                os.environ["TQDM_DISABLE"] = before
