"""Switches that save time on a CPU and leave every loss as it is."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

logger = logging.getLogger(__name__)

SCORING_TESTED = ("1.16",)
"""TRL versions whose fused head was checked with `completion_only_scoring`; others run as they are."""


@contextmanager
def completion_only_scoring(enabled: bool = True) -> Iterator[bool]:
    """Project only completion positions through the LM head, as TRL does on GPUs; yields whether it is on.

    On devices without Triton TRL scores every position, prompts included, to keep tile shapes constant,
    which a CPU does not need. The switch is private to TRL, hence the version guard; the losses are equal
    (tested). About a quarter of a DPO step with a large vocabulary.
    """
    import trl
    from trl.trainer import utils

    tested = trl.__version__.startswith(SCORING_TESTED) and hasattr(utils, "_use_triton")
    if enabled and not tested:
        logger.info("completion-only scoring was not tested with TRL %s and stays off", trl.__version__)
    if not (enabled and tested):
        yield False
        return
    original = utils._use_triton
    utils._use_triton = _every_device
    try:
        yield True
    finally:
        utils._use_triton = original


def _every_device(device: Any) -> bool:
    return True
