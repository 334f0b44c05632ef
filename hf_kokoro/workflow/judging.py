"""`judge`: answers of a source, scored into a journal, and a dataset grown meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.reports import Report
from ..core.suggest import allowed
from ..errors import UsageError
from ..miti.contract import DATA_PATH
from ..policy import Policy, read_policy
from . import joining as join
from .appending import appender
from .growing import Growing, GrowReport, refuse_unstated
from .judges import ClaudeSettings, run_judges
from .progress import Progress
from .stamps import Stamps, declared_by, stamps_of, told_of

if TYPE_CHECKING:
    from ..corpora.counsel_chat import CounselChat
    from ..judging import Item, Journal, Judge, JudgeReport
    from ..judging.estimate import Estimate
RETRIED = ("incomplete", "invalid", "refused")


@dataclass(frozen=True)
class JudgeRun(Report):
    """What was read and what became of it: one of `judges` a judge and pass; with `dry_run` only `estimates`."""

    source: str
    questions: int
    questions_judged: int
    answers: int
    duplicates: int
    ignored_columns: tuple[str, ...]
    ignored_files: tuple[str, ...]
    journal: str
    dry_run: bool = False
    estimates: tuple[Estimate, ...] = ()
    verdicts_not_used: int = 0
    healed_bytes: int = 0
    append: GrowReport | None = None
    judges: tuple[JudgeReport, ...] = ()
    limited: bool = False
    decided: tuple[str, ...] = ()
    """What a policy file decided of the judging, a line each; what it decided of appending is in `append`."""
    advice: str = ""
    """What rows of this source do not state, and how to state it."""

    @property
    def stopped_at_once(self) -> str:
        """Why nothing at all was judged, in one line; empty if something was, or if no judge had to stop."""
        from ..miti.no_answers import NO_ANSWERS

        # a blank or placeholder text is no answer: its verdict needs no judge
        judged = (report.judged and {*+report.statuses} - {*NO_ANSWERS, "missing"} for report in self.judges)
        if any(judged) or not all(report.stopped for report in self.judges):
            return ""
        return "nothing was judged: " + "; ".join(dict.fromkeys(f"{r.judge_model}: {r.stopped}" for r in self.judges))

    @property
    def unfinished(self) -> bool:
        """Is something left that another run could do?

        Refusals are final and a limit leaves the rest on purpose.
        """
        left = (
            r.statuses["incomplete"] + r.statuses["invalid"] + (r.missing if r.stopped or not self.limited else 0)
            for r in self.judges
        )
        return any(left) or (self.append is not None and self.append.failure is not None)

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as `--json` prints it."""
        names = ("source", "questions", "questions_judged", "answers", "duplicates", "ignored_columns",
                 "ignored_files", "journal")  # fmt: skip
        found: dict[str, Any] = {name: getattr(self, name) for name in names}
        if self.dry_run:
            return found | {"estimates": [estimate.as_dict() for estimate in self.estimates]}
        found |= {"verdicts_not_used": self.verdicts_not_used, "healed_bytes": self.healed_bytes}
        if self.append is not None:
            found["append"] = self.append.as_dict()
        return found | {"decided": self.decided, "judges": [report.as_dict() for report in self.judges]}


def judge(
    source: str | PathLike[str],
    judge: str | Judge | Sequence[str | Judge],
    journal: str | PathLike[str],
    *,
    limit: int | None = None,
    min_answers: int = 3,
    retry: Sequence[str] = (),
    model: str = "claude-opus-4-7",
    concurrency: int = 16,
    batch: bool = False,
    poll_seconds: float = 30.0,
    max_usd: float | None = None,
    prices: Path | None = None,
    dry_run: bool = False,
    repeat: int = 1,
    sample: int | None = None,
    seed: int = 42,
    append_to: str | None = None,
    every: int = 50,
    allow: Sequence[str] = (),
    redact: bool | None = None,
    policy: str | PathLike[str] | Policy | None = None,
    source_dataset: str | None = None,
    license_name: str | None = None,
    written_by: str | None = None,
    max_wait: float | None = None,
    mix_rubrics: bool = False,
    progress: Progress | None = None,
) -> JudgeRun:
    """Score every answer of every question with `min_answers` answers or more, and journal each verdict at once.

    `judge` is a judge's name (`rule`, `claude`, `claude:MODEL`, `scripted:FILE`), a Judge, or several of them; the
    options from `model` to `prices` are for Claude. Answers that the journal has a verdict on are passed over, so the
    same call goes on where an interrupted one stopped. `append_to` grows a dataset meanwhile; a target that can't be
    reached doesn't stop the scoring, and is said in the report's `append`; `max_wait` bounds, in seconds, how long each
    append waits for it, and `mix_rubrics` lets its rows in beside those of another rubric or judge. `policy` is a file
    that decides what is left open here: the budget, what rows state, which private data may stay. Raises UsageError,
    SourceError, JournalError; ClaimError for rows that could not be published.
    """
    source, book_path = str(source), Path(journal)
    for status in retry:
        if status not in RETRIED:
            raise UsageError(f"--retry {status}: {allowed(status, RETRIED)}")
    rules = read_policy(policy)
    if (allow or redact) and append_to is None:
        raise UsageError("--allow and --redact are for --append-to: without it nothing leaves but what the judge reads")
    asked = judge if isinstance(judge, Sequence) and not isinstance(judge, str) else [judge]
    # a policy is for all kinds of runs: its budget is no mistake where nothing costs anything
    priced = any(isinstance(spec, str) and spec.partition(":")[0] == "claude" for spec in asked)
    budget = rules.or_given("max_usd", max_usd) if priced else max_usd
    settings = ClaudeSettings(model, concurrency, batch, poll_seconds, budget, prices)
    judges = settings.judges(asked, repeat)
    chat = join.load_source(source)
    if not append_to and (source_dataset, license_name, written_by) != (None, None, None):
        raise UsageError("--source-dataset, --license and --written-by are for --append-to; `pair` has them too")
    if append_to is None and (max_wait is not None or mix_rubrics):
        raise UsageError(f"{'--mix-rubrics' if mix_rubrics else '--max-wait'} is for --append-to")
    stamps = stamps_of(chat, *declared_by(rules, source_dataset, license_name, written_by))
    growing, unstated = None, ""
    if append_to:
        unstated = refuse_unstated(append_to, stamps, chat, min_answers)
        growing = _growing(
            book_path,
            stamps,
            chat,
            judges,
            to=append_to,
            allow=allow,
            redact=redact,
            max_wait=max_wait,
            policy=rules,
            mix_rubrics=mix_rubrics,
            decided=told_of(rules, source_dataset, license_name, written_by),
            min_answers=min_answers,
            every=every,
        )
    questions = join.judged_questions(chat, min_answers)
    items = join.drawn(join.items_of(questions), sample, seed)
    made = partial(
        JudgeRun,
        source,
        len(chat.questions),
        len(questions),
        chat.answers,
        chat.duplicates,
        tuple(chat.ignored_columns),
        tuple(chat.ignored_files),
        str(book_path),
    )
    from ..judging import Journal

    with Journal(book_path) as book:
        if dry_run:
            return made(dry_run=True, estimates=_estimates(judges, items, book, batch))
        not_used = join.not_used(chat, book.statuses)
        join.write_origin(book_path, source, chat)
        with growing or nullcontext():
            reports = run_judges(
                judges, items, book, settings=settings, limit=limit, retry=retry, repeat=repeat, growing=growing,
                progress=progress,
            )  # fmt: skip
        return made(
            verdicts_not_used=not_used,
            healed_bytes=book.healed_bytes,
            append=growing.report() if growing else None,
            judges=tuple(reports),
            limited=bool(limit),
            decided=rules.told(*(("max_usd",) if priced and max_usd is None else ())),
            advice=unstated,
        )


def _growing(
    journal: Path,
    stamps: Stamps,
    chat: CounselChat,
    judges: Sequence[Any],
    *,
    to: str,
    allow: Sequence[str],
    redact: bool | None,
    policy: Policy,
    max_wait: float | None,
    mix_rubrics: bool,
    **options: Any,
) -> Growing:
    """Raises UsageError for several judges: a dataset's rows are one judge's."""
    tags = [join.judge_tag(judge) for judge in judges]
    if len(tags) != 1:
        raise UsageError(f"--append-to: got {len(tags)} judges ({', '.join(tags)}); allowed: one, and another run each")
    append = appender(
        to, DATA_PATH, allow=tuple(allow), redact=redact, policy=policy, max_wait=max_wait, mix_rubrics=mix_rubrics
    )
    return Growing(journal, stamps, chat, append, judge_model=tags[0], **options)


def _estimates(judges: list[Any], items: list[Item], journal: Journal, batch: bool) -> tuple[Estimate, ...]:
    """Tokens as the service counts them, and what the missing answers would cost."""
    from ..judging.estimate import estimate_cost

    claude = [judge for judge in judges if hasattr(judge, "budget")]
    if not claude:
        raise UsageError("--dry-run is for --judge claude: the others cost nothing")
    return tuple(estimate_cost(items, judge, journal, batch) for judge in claude)
