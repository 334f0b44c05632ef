"""Making the judges that are asked for, and running them over the answers one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .progress import Progress, shown

if TYPE_CHECKING:
    from ..judging import Item, Journal, Judge, JudgeReport
    from .growing import Growing


@dataclass(frozen=True)
class ClaudeSettings:
    """The options that only a Claude judge takes."""

    model: str
    concurrency: int
    batch: bool
    poll_seconds: float
    max_usd: float | None
    prices: Path | None

    def judges(self, specs: Sequence[str | Judge], repeat: int) -> list[Any]:
        """The judges of all --judge options. Raises UsageError for a combination that makes no sense."""
        from ..judging import resolve_judge

        claude = [spec for spec in specs if isinstance(spec, str) and spec.partition(":")[0] == "claude"]
        if (self.batch or self.max_usd is not None or self.prices) and not claude:
            raise UsageError("--batch, --max-usd and --prices are for --judge claude")
        if self.batch and repeat > 1:
            raise UsageError("--batch and --repeat: a retest is run without --batch")
        made: list[Any] = []
        for spec in specs:
            if not isinstance(spec, str):
                made.append(spec)
            else:
                made.append(self._claude(spec) if spec in claude else resolve_judge(spec))
        return made

    def _claude(self, spec: str) -> Any:
        from ..judging import resolve_judge
        from ..judging.budget import Budget, load_price

        model = spec.partition(":")[2] or self.model
        try:
            price = load_price(model, self.prices)
        except UsageError:
            # without a budget a price is only nice to have
            if self.max_usd is not None or self.prices is not None:
                raise
            price = None
        return resolve_judge(
            "claude", model=model, concurrency=self.concurrency, price=price, budget=Budget(self.max_usd)
        )


def run_judges(
    judges: list[Any],
    items: list[Item],
    journal: Journal,
    *,
    settings: ClaudeSettings,
    limit: int | None,
    retry: Sequence[str],
    repeat: int,
    growing: Growing | None = None,
    progress: Progress | None = None,
) -> list[JudgeReport]:
    """One report a judge, or with `repeat` one a judge and pass; `growing` appends to a dataset meanwhile."""
    from ..judging import score_items
    from ..judging.batch import score_in_batches
    from ..judging.batch_state import state_path

    reports = []
    for judge in judges:
        claude = hasattr(judge, "budget")
        in_batches = claude and settings.batch
        if claude and not in_batches and state_path(journal.path).exists():
            raise UsageError(
                f"{journal.path}: answers are in an open batch; finish it with --batch, or delete "
                f"{state_path(journal.path).name} to give it up"
            )
        for number in range(repeat):
            with shown(progress, judge.judge_model) as bar:
                if in_batches:
                    report = score_in_batches(
                        items,
                        judge,
                        journal,
                        limit=limit,
                        retry=retry,
                        poll_seconds=settings.poll_seconds,
                        progress=bar,
                        # nothing else is going on between two batches
                        batch_done=partial(growing.flush, wait=True) if growing else lambda: None,
                    )
                else:
                    counted = growing.counting(bar, wait=not claude) if growing else bar
                    report = score_items(
                        items, judge, journal, limit=limit, retry=retry, repeat=number, progress=counted
                    )
            if claude and judge.priced:
                report.spent_usd = round(judge.budget.spent, 6)
            reports.append(report)
    return reports
