"""Score matrices to preference pairs: strategies, caps, weights. Pure functions of what they are given."""

from __future__ import annotations

from ..weights import WEIGHTINGS, PairKey, pair_key, pair_weights
from .candidates import Candidate, CandidateSet, Pair
from .rows import PairReport, cap_per_therapist, make_rows, row_of
from .strategies import STRATEGIES, Options

__all__ = [
    "STRATEGIES",
    "WEIGHTINGS",
    "Candidate",
    "CandidateSet",
    "Options",
    "Pair",
    "PairKey",
    "PairReport",
    "cap_per_therapist",
    "make_rows",
    "pair_key",
    "pair_weights",
    "row_of",
]
