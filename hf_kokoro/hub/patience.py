"""How long the Hub is tried again: see `hf_kokoro.core.patience`."""

from __future__ import annotations

from ..core.patience import Patience, Tries, patiently, persistently

__all__ = ["Patience", "Tries", "patiently", "persistently"]
