"""Row weights of preference pairs: pure functions of a pair's margin or therapists, scaled to mean 1.

A weight multiplies a pair's loss. With mean 1 the effective learning rate does not change with the weighting.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..core.suggest import allowed
from ..errors import UsageError


class PairKey(NamedTuple):
    """What a weight depends on: the margin in points, and the therapists of its answers (one or two)."""

    margin: float
    therapists: tuple[str, ...]


def pair_key(row: Mapping[str, Any]) -> PairKey:
    """The key of a row of the published schema."""
    margin = row["chosen_score"] - row["rejected_score"]
    return PairKey(margin, (row["chosen_therapist"], row["rejected_therapist"]))


def uniform_weights(keys: Sequence[PairKey]) -> list[float]:
    """Every pair counts the same."""
    return [1.0] * len(keys)


def margin_weights(keys: Sequence[PairKey]) -> list[float]:
    """In proportion to the margin: a pair 6 points apart counts twice one that is 3 apart."""
    return _to_mean_one([float(key.margin) for key in keys])


def inverse_frequency_weights(keys: Sequence[PairKey]) -> list[float]:
    """In proportion to the mean of 1/n over the sides, n being all sides that a therapist stands on.

    A therapist's own part of the weights sums to the same for everybody, however many answers they wrote;
    what a prolific one keeps comes from standing beside rare ones.
    """
    counts = Counter(therapist for key in keys for therapist in key.therapists)
    return _to_mean_one([sum(1 / counts[t] for t in key.therapists) / len(key.therapists) for key in keys])


WEIGHTINGS: dict[str, Callable[[Sequence[PairKey]], list[float]]] = {
    "uniform": uniform_weights,
    "margin": margin_weights,
    "inverse-frequency": inverse_frequency_weights,
    "inverse_frequency": inverse_frequency_weights,
}
"""Name to function; the hyphen is the command line's spelling of the same."""


def pair_weights(keys: Sequence[PairKey], weighting: str = "uniform") -> list[float]:
    """One weight a key, mean 1. Raises UsageError for an unknown weighting, or one that leaves nothing."""
    if weighting not in WEIGHTINGS:
        raise UsageError(f"weights {weighting!r} is not known; {allowed(weighting, WEIGHTINGS)}")
    return WEIGHTINGS[weighting](keys)


def _to_mean_one(raw: list[float]) -> list[float]:
    if not raw:
        return []
    mean = sum(raw) / len(raw)
    if mean <= 0 or min(raw) < 0:
        raise UsageError("weights: these rows have no positive margin; allowed there: uniform, inverse-frequency")
    return [value / mean for value in raw]
