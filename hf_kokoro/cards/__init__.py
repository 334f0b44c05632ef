"""Dataset cards from measured facts: statistics, figures, rendering, licence rules, publishing."""

from __future__ import annotations

from .front_matter import CardError, ConfigCard
from .write import CardReport, card_files, write_card

__all__ = ["CardError", "CardReport", "ConfigCard", "card_files", "write_card"]
