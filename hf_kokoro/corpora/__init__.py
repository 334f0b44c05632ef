"""The corpora, and `load_dataset`, the door to them.

Names are imported on first use: readers and schemas also serve the loading scripts, under older `datasets`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.lazy import on_first_use

if TYPE_CHECKING:
    from .load import BUILDERS, load_dataset

__all__ = ["BUILDERS", "load_dataset"]
__getattr__ = on_first_use(__name__, dict.fromkeys(__all__, "load"))
