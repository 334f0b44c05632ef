"""`pair --require-validity`: no pairs of a judge's scores that people were not found to agree with."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from ..errors import KokoroError, UsageError

if TYPE_CHECKING:
    from ..judging import Verdict

MIN_AGREEMENT = 0.4
"""Kappa from which on agreement is more than fair (Landis and Koch 1977)."""


class ValidityError(KokoroError):
    """A judge's scores are not to be paired: people were not found to agree with them."""


def require_valid(
    report: str | PathLike[str] | None, verdict: Verdict, min_agreement: float, *, flag: bool
) -> dict[str, str]:
    """Dimension to why it does not pass, of the judge that gave `verdict`; empty without a report, or if all pass.

    Raises ValidityError if one does not pass and it is not to be flagged, UsageError for a report that is none or is
    about another judge or other instructions, or a `min_agreement` outside -1 to 1.
    """
    if not -1 <= min_agreement <= 1:
        raise UsageError(f"--min-agreement {min_agreement:g}: allowed: a kappa, from -1 to 1")
    if report is None:
        if flag or min_agreement != MIN_AGREEMENT:
            raise UsageError("--min-agreement and --flag are for --require-validity REPORT")
        return {}
    from ..judging.validity_files import read_validity

    found = read_validity(report)
    about, mine = (found.judge_model, found.rubric_sha256), (verdict.judge_model, verdict.rubric_sha256)
    if about != mine:
        told = [f"{model}@{rubric[:12]}" for model, rubric in (about, mine)]
        raise UsageError(f"--require-validity {found.name}: about {told[0]}; these verdicts are by {told[1]}")
    reasons = found.shortfalls(min_agreement)
    if reasons and not flag:
        listed = "".join(f"\n  {name}: {reason}" for name, reason in reasons.items())
        raise ValidityError(
            f"{found.name}: {len(reasons)} of the rubric's dimensions don't pass{listed}\n"
            "nothing was written; pair all the same with --flag, which says so, or use another judge"
        )
    return reasons
