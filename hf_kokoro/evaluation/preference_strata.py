"""Preference accuracy within groups of pairs: by margin, and by whether training knew the answers' therapists."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

MARGINS = ((1, 2), (3, 5), (6, 13))
"""Inclusive ranges of the margin in points."""

SEEN = ("both seen", "one seen", "none seen")


def strata(pairs: Sequence[Mapping[str, Any]], seen: Collection[str] | None) -> dict[str, dict[str, list[int]]]:
    """Kind of stratum to its name to positions in `pairs`; empty strata are left out.

    `margin` if the pairs have that column; `therapists` if `seen` (those of the training pairs) is given.
    """
    found: dict[str, dict[str, list[int]]] = {}
    for place, pair in enumerate(pairs):
        if "margin" in pair:
            found.setdefault("margin", {}).setdefault(_margin_name(pair["margin"]), []).append(place)
        if seen is not None:
            known = sum(pair[f"{side}_therapist"] in seen for side in ("chosen", "rejected"))
            found.setdefault("therapists", {}).setdefault(SEEN[2 - known], []).append(place)
    return {kind: {name: groups[name] for name in _order(kind) if name in groups} for kind, groups in found.items()}


def _order(kind: str) -> list[str]:
    return [*SEEN] if kind == "therapists" else [*(f"{low}-{high}" for low, high in MARGINS), "other"]


def _margin_name(margin: float) -> str:
    return next((f"{low}-{high}" for low, high in MARGINS if low <= margin <= high), "other")
