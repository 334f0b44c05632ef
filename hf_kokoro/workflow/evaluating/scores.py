"""`evaluate_scores`: how well a model predicts the client's 20 item scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ...core.reports import Report
from ..progress import Progress
from . import runs

if TYPE_CHECKING:
    from ...evaluation.generate import PromptRow
    from ...evaluation.scores import ScoreReport, ScoreRun


@dataclass(frozen=True)
class ScoresEvaluation(Report):
    """Each run, their means and spreads, the baselines over seeds, and the best constant on this very test.

    Without predictions there are baselines only; without a source there are none.
    """

    runs: tuple[ScoreReport, ...] = ()
    over_runs: dict[str, Any] | None = None
    baselines: dict[str, Any] | None = None
    seeds: tuple[int, ...] = ()
    best_constant_on_test: dict[str, Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as `--json` prints it."""
        found: dict[str, Any] = {}
        if self.runs:
            found = {"runs": [one.to_dict() for one in self.runs], "over_runs": self.over_runs}
        if self.baselines is not None:
            found |= {"baselines": self.baselines, "seeds": list(self.seeds)}
        if self.runs:
            found["best_constant_on_test"] = self.best_constant_on_test
        return found


def evaluate_scores(
    predictions: runs.Place | Sequence[runs.Place] | None = None,
    *,
    model: str | Sequence[str] | None = None,
    baselines: bool = False,
    source: runs.Place | None = None,
    seeds: Sequence[int] = (42,),
    out: runs.Place | None = None,
    limit: int | None = None,
    batch_size: int = 4,
    max_new_tokens: int = 512,
    max_prompt_tokens: int | None = None,
    four_bit: bool = False,
    progress: Progress | None = None,
    **view: Any,
) -> ScoresEvaluation:
    """ACC, ACC within one point, and MAE over the 20 items; mean and spread over runs.

    Give `predictions` (files or run folders, one a seed), `model` (one a seed), or `baselines`. An item that can't be
    read in the answer counts as wrong and is listed apart. With `source`, guesses from the training scores stand
    beside. Raises UsageError, SourceError, InputError.
    """
    from ...evaluation.scores import best_constant, read_score_run, score_report, spread_over_runs

    kind = runs.one_of(predictions=predictions, model=model, baselines=baselines)
    if kind != "model":
        runs.not_with(kind, limit=limit)
    if kind == "model":
        # the test split is the same for every seed
        rows = runs.load_rows(("kokorochat", "score_prediction"), source, "test", view, limit, seed=seeds[0])
        folder, models = runs.run_folder(out), [model] if isinstance(model, str) else list(model or [])
        predictions = [
            runs.ModelRun(
                name,
                folder if len(models) == 1 else folder / str(number),
                batch_size,
                max_new_tokens,
                max_prompt_tokens,
                0.0,
                four_bit,
                seeds[0],
                progress,
            ).write(_prompts(rows))
            for number, name in enumerate(models, start=1)
        ]
    elif kind == "predictions" and source is None:
        runs.no_view(view)
    found = [read_score_run(path) for path in runs.places(predictions)]
    reports = tuple(score_report(run) for run in found)
    best = None
    if found:
        score, constant = best_constant(found[0])
        best = {"score": score, **asdict(constant.overall)}
    wanted = source is not None or not found
    report = ScoresEvaluation(
        reports,
        _spread(spread_over_runs(reports)) if reports else None,
        _baselines(view, source, seeds, found) if wanted else None,
        tuple(seeds) if wanted else (),
        best,
    )
    runs.keep_report(out, report.as_dict())
    return report


def _prompts(rows: Any) -> Iterator[PromptRow]:
    from ...evaluation.generate import PromptRow
    from ...evaluation.scores import score_rows

    for identity, prompt, reference in score_rows(rows):
        yield PromptRow(identity, prompt, {"reference": reference})


def _baselines(
    view: Mapping[str, Any], source: runs.Place | None, seeds: Sequence[int], found: Sequence[ScoreRun]
) -> dict[str, Any]:
    """Each baseline over the seeds: its training scores change, the test set does not."""
    from ...corpora.kokorochat.schema import ITEM_NAMES
    from ...evaluation.scores import BASELINES, baseline_run, gold_run, score_report, spread_over_runs

    reports: dict[str, list[ScoreReport]] = {name: [] for name in BASELINES}
    for seed in seeds:
        parts = [
            runs.load_rows(("kokorochat", "score_prediction"), source, split, view, seed=seed)
            for split in ("train", "test")
        ]
        train, test = (part.select_columns(["dialogue_id", *ITEM_NAMES]) for part in parts)
        target = found[0] if found else gold_run(test)
        for name in BASELINES:
            reports[name].append(score_report(baseline_run(name, train, target)))
    return {
        name: {"over_runs": _spread(spread_over_runs(of)), "runs": [asdict(one.overall) for one in of]}
        for name, of in reports.items()
    }


def _spread(found: dict[str, Any]) -> dict[str, Any]:
    return {name: asdict(value) for name, value in found.items()}
