"""Dataset cards from measured facts: statistics, figures, rendering, licence rules, publishing."""

from __future__ import annotations

from ..policy import PrivacyError
from ..policy.licences import LicenceError, origins_of
from .build_card import build_statistics, render_build_card
from .front_matter import CardError, ConfigCard
from .publish import PublishOptions, PublishReport, publish
from .write import CardReport, card_files, write_card

__all__ = [
    "CardError",
    "CardReport",
    "ConfigCard",
    "LicenceError",
    "PrivacyError",
    "PublishOptions",
    "PublishReport",
    "build_statistics",
    "card_files",
    "origins_of",
    "publish",
    "render_build_card",
    "write_card",
]
