"""What `judge` does with its judges: making them, running them, and saying what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .console import print_json, print_table

if TYPE_CHECKING:
    from ..judging import Item, Journal, JudgeReport
    from ..workflow.growing import Growing


@dataclass(frozen=True)
class ClaudeSettings:
    """The options that only a Claude judge takes."""

    model: str
    concurrency: int
    batch: bool
    poll_seconds: float
    max_usd: float | None
    prices: Path | None

    def judges(self, specs: list[str], repeat: int) -> list[Any]:
        """The judges of all --judge options. Raises UsageError for a combination that makes no sense."""
        from ..judging import resolve_judge

        claude = [spec for spec in specs if spec.partition(":")[0] == "claude"]
        if (self.batch or self.max_usd is not None or self.prices) and not claude:
            raise UsageError("--batch, --max-usd and --prices are for --judge claude")
        if self.batch and repeat > 1:
            raise UsageError("--batch and --repeat: a retest is run without --batch")
        return [self._claude(spec) if spec in claude else resolve_judge(spec) for spec in specs]

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
    settings: ClaudeSettings,
    limit: int | None,
    retry: list[str],
    repeat: int,
    growing: Growing | None = None,
) -> list[JudgeReport]:
    """One report a judge, or with `repeat` one a judge and pass; `growing` appends to a dataset meanwhile."""
    from ..judging import score_items
    from ..judging.batch import score_in_batches
    from ..judging.batch_state import state_path
    from ..workflow.progress import progress_bar

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
            with progress_bar(judge.judge_model) as bar:
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
                    progress = growing.counting(bar, wait=not claude) if growing else bar
                    report = score_items(
                        items, judge, journal, limit=limit, retry=retry, repeat=number, progress=progress
                    )
            if claude and judge.priced:
                report.spent_usd = round(judge.budget.spent, 6)
            reports.append(report)
    return reports


def stopped_at_once(reports: list[JudgeReport]) -> str:
    """Why nothing at all was judged, in one line; empty if something was, or if no judge had to stop."""
    from ..miti.no_answers import NO_ANSWERS

    # a blank or placeholder text is no answer: its verdict needs no judge
    judged = (report.judged and {*+report.statuses} - {*NO_ANSWERS, "missing"} for report in reports)
    if any(judged) or not all(report.stopped for report in reports):
        return ""
    return "nothing was judged: " + "; ".join(dict.fromkeys(f"{r.judge_model}: {r.stopped}" for r in reports))


def print_reports(
    found: dict[str, Any], min_answers: int, reports: list[JudgeReport], growing: Growing | None = None
) -> None:
    """The run in words; the last lines say what is unscored and how to go on."""
    from ..workflow.joining import say_not_used

    duplicates = f" ({found['duplicates']} given twice, judged once)" if found["duplicates"] else ""
    print(f"{found['source']}: {found['questions']} questions, {found['answers']} answers{duplicates}")
    print(f"{found['questions_judged']} questions have {min_answers} answers or more: those are judged")
    for name in ("ignored_columns", "ignored_files"):
        if found[name]:
            print(f"{name.replace('_', ' ')}: {', '.join(found[name])}")
    if found["healed_bytes"]:
        print(f"journal: a torn last line ({found['healed_bytes']} bytes) is removed and judged again")
    if found["verdicts_not_used"]:
        print(say_not_used(found["verdicts_not_used"]))
    for report in reports:
        if report.asked < report.given:
            print(f"{report.given - report.asked} answers stand there again under another id: judged once")
        print(f"{report.judge_model}: judged {report.judged}, {report.already} were in the journal")
        print("  " + ", ".join(f"{status} {count}" for status, count in sorted(report.statuses.items())))
        if report.spent_usd is not None:
            print(f"  cost of this run so far: ${report.spent_usd:.4f}")
        for line in report.advice():
            print(f"  {line}")
    if growing:
        print(growing.summary())
        return
    print(f"next: hf-kokoro pair --journal {found['journal']} --out rows.jsonl")


def print_estimate(
    judges: list[Any], items: list[Item], journal: Journal, batch: bool, found: dict[str, Any], as_json: bool
) -> None:
    """--dry-run: tokens as the service counts them, and what the missing answers would cost."""
    from ..judging.estimate import estimate_cost

    claude = [judge for judge in judges if hasattr(judge, "budget")]
    if not claude:
        raise UsageError("--dry-run is for --judge claude: the others cost nothing")
    estimates = [estimate_cost(items, judge, journal, batch) for judge in claude]
    if as_json:
        print_json(found | {"estimates": [estimate.as_dict() for estimate in estimates]})
        return
    for estimate in estimates:
        print_table(("", estimate.model), estimate.rows())
        print("nothing was judged; to run it without --dry-run, add --max-usd as a guard")
