"""Reports of `validate --json` read back: what they say of a judge, for cards and for whoever makes pairs of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from ..core.stats import Estimate
from ..errors import UsageError
from ..miti.contract import DIMENSIONS
from .agreement import MEASURED

KINDS = ("people", "experts")
_MAKE = "make it with: hf-kokoro validate JOURNAL --people PEOPLE --json, or hf-kokoro validate --experts FILE --json"


class Measured(NamedTuple):
    """One dimension: answers, kappa against people's consensus or code, people's own alpha, may the judge stand in."""

    n: int
    kappa: Estimate
    ceiling: Estimate
    stands_in: bool | None
    """Does it pass the alternative annotator test? None where it could not be made."""
    winning_rate: float | None


@dataclass(frozen=True)
class ValidityFile:
    """What one report says. `judge_model` and `rubric_sha256` tell whose verdicts it is about."""

    name: str
    kind: str
    judge_model: str
    rubric_sha256: str
    people: int
    """How many rated; 0 where the report does not say it of all."""
    dimensions: Mapping[str, Measured]
    pairs: Mapping[str, Any] | None
    sessions: Mapping[str, Any] | None

    def shortfalls(self, min_agreement: float) -> dict[str, str]:
        """Why a dimension of the rubric does not pass: dimension to reason, empty if all five do.

        A dimension passes if kappa is at least `min_agreement` and the alternative annotator test, where it could be
        made, is passed.
        """
        found = {name: self._shortfall(name, min_agreement) for name in DIMENSIONS}
        return {name: reason for name, reason in found.items() if reason}

    def _shortfall(self, name: str, least: float) -> str:
        one = self.dimensions.get(name)
        if one is None:
            return "not measured"
        if one.kappa.value is None:
            return "kappa is not defined: one side is constant"
        reasons = [f"kappa {one.kappa.value:.2f} is below {least:g}"] if one.kappa.value < least else []
        if one.stands_in is False:
            reasons.append("fails the alternative annotator test")
        return " and ".join(reasons)


def read_validity(file: str | PathLike[str]) -> ValidityFile:
    """Read a report of `validate --json`. Raises UsageError for any other file."""
    path = Path(file)
    try:
        fields = json.loads(path.read_text("utf-8"))
        found = fields["dimensions"]
        return ValidityFile(
            name=path.name,
            kind=KINDS[KINDS.index(fields["kind"])],
            judge_model=_text(fields["judge_model"]),
            rubric_sha256=_text(fields["rubric_sha256"]),
            people=len(fields.get("people", ())),
            dimensions={name: _measured(found[name]) for name in MEASURED if name in found},
            pairs=fields.get("pairs"),
            sessions=fields.get("sessions"),
        )
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror}); {_MAKE}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path.name}: no report of `validate --json` ({type(error).__name__}); {_MAKE}") from None


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError
    return value


def _measured(one: Mapping[str, Any]) -> Measured:
    test = one["stand_in"]
    rate = None if test is None else float(test["winning_rate"])
    return Measured(int(one["n"]), _estimate(one, "kappa"), _estimate(one, "ceiling"), test and test["passes"], rate)


def _estimate(one: Mapping[str, Any], name: str) -> Estimate:
    return Estimate(one[name], *one["intervals"].get(name, ()))
