"""`datasets` builder classes for the three corpora, and `load_dataset`, the door to them."""

from __future__ import annotations

from .load import BUILDERS, load_dataset

__all__ = ["BUILDERS", "load_dataset"]
