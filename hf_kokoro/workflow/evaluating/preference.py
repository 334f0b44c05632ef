"""`evaluate_preference`: how often a model prefers the chosen answer of a held-out pair."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...core.reports import Report
from ...core.suggest import allowed
from ...errors import UsageError
from . import runs


@dataclass(frozen=True)
class PreferenceEvaluation(Report):
    """Accuracies of the policy, the reward model and the baselines, also by stratum; and whose judgements they are."""

    measured: dict[str, Any]
    labelled_by: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as `--json` prints it."""
        return {**self.measured, "labelled_by": list(self.labelled_by)}


def evaluate_preference(
    source: runs.Place,
    *,
    model: str | Path | None = None,
    reference: str | Path | None = None,
    reward_model: str | Path | None = None,
    split: str = "test",
    split_by: str = "question",
    seed: int = 42,
    limit: int | None = None,
    batch_size: int = 8,
) -> PreferenceEvaluation:
    """How often the chosen answer of a held-out pair is preferred: by a policy, a reward model, and baselines.

    `source` holds MITI-ST rows; `reference` is the model before training (an adapter's own base if left out). Raises
    UsageError for a split that is not there or has no pair, SourceError, MissingExtraError.
    """
    from ...corpora import load_dataset
    from ...evaluation.preference import accuracy, evaluate_preference, scorer_readings, stratum_accuracies
    from ...evaluation.preference_scorers import reward_scorer, rule_scorer

    if reference is not None and model is None:
        raise UsageError("--reference is for --model: give the policy that was trained from it")
    splits = load_dataset("miti_st_dpo", "pairs", source=source, split_by=split_by, seed=seed)
    if split not in splits:
        raise UsageError(f"--split {split}: {allowed(split, splits)}")
    rows = [*splits[split]][:limit]
    if not rows:
        raise UsageError(f"--split {split}: has no pair; allowed: a split with at least one")
    sides = ("chosen_therapist", "rejected_therapist")
    seen = {name for side in sides for name in splits["train"][side]}
    scorers = {"rule_judge": rule_scorer()}
    if reward_model is not None:
        scorers = {"reward_model": reward_scorer(reward_model), **scorers}
    if model is not None:
        report = evaluate_preference(
            rows, model, reference, batch_size=batch_size, scorers=scorers, seen_therapists=seen
        ).to_dict()
    else:
        readings = scorer_readings(rows, scorers)
        found = {name: asdict(accuracy(*both)) for name, both in readings.items()}
        strata = stratum_accuracies(rows, readings, seen)
        report = {
            "pairs": len(rows),
            "skipped": 0,
            "longer_wins": found.pop("longer_wins"),
            "others": found,
            "strata": {
                kind: {name: {r: asdict(a) for r, a in group.items()} for name, group in groups.items()}
                for kind, groups in strata.items()
            },
        }
    return PreferenceEvaluation(report, tuple(sorted({row["judge_model"] for row in rows})))
