"""From candidate sets to rows of the published schema, with everything left out counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from ...core.suggest import allowed
from ...errors import Faults, RowError, UsageError
from ..contract import NOT_STATED, ROW_KEYS, RUBRIC, row_faults
from .candidates import CandidateSet, Pair
from .strategies import STRATEGIES, Options, Strategy, order_digest


@dataclass
class PairReport:
    """What became of the questions.

    with_rows, waiting, too_few, tied, below_margin, disputed and capped_out add up to `questions`.
    """

    strategy: str
    questions: int = 0
    rows: int = 0
    with_rows: int = 0
    partial: int = 0
    """Questions paired without their unscored answers (allow_partial)."""
    waiting: int = 0
    """Questions with an unscored answer (with allow_partial: with fewer than two scored ones)."""
    too_few: int = 0
    """Questions with fewer answers than asked for; a blank or placeholder text is none."""
    tied: int = 0
    """Questions whose answers all have the same total (or the same text)."""
    below_margin: int = 0
    """Questions all of whose pairs are closer than the minimum margin."""
    disputed: int = 0
    """Questions on whose pairs the judges disagree."""
    capped_out: int = 0
    """Questions that lost all of their pairs to the cap per therapist."""
    pairs_below_margin: int = 0
    pairs_disputed: int = 0
    pairs_capped: int = 0
    pairs_repeated: int = 0
    """Pairs equal, word for word, to one of another question id: the source lists some questions twice."""
    blank_answers: int = 0
    placeholder_answers: int = 0
    """Texts such as `[removed]`: no answers, whatever scores they came with."""
    unscored_answers: int = 0
    margins: dict[int, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return asdict(self)


def make_rows(
    sets: Iterable[CandidateSet],
    strategy: str = "best-worst",
    *,
    options: Options | None = None,
    min_answers: int = 3,
    min_margin: int = 1,
    max_per_therapist: int | None = None,
    allow_partial: bool = False,
    agreed: Callable[[Pair], bool] | None = None,
    source_dataset: str = NOT_STATED,
    license_name: str = NOT_STATED,
) -> tuple[list[dict[str, Any]], PairReport]:
    """Pair every question's answers and write each pair as a row, in the order of the questions.

    `max_per_therapist` keeps at most so many pairs in which a therapist appears on either side; `agreed` keeps
    the pairs that it is true of (a consensus of judges). `source_dataset` and `license_name` are what the caller knows
    of the texts; rows that do not state them can't be published. Raises UsageError for settings out of range and
    RowError if a row would break the schema.
    """
    if strategy not in STRATEGIES:
        raise UsageError(f"strategy {strategy!r} is not known; {allowed(strategy, STRATEGIES)}")
    for name, value in (("min_margin", min_margin), ("max_per_therapist", max_per_therapist)):
        if value is not None and value < 1:
            raise UsageError(f"--{name.replace('_', '-')} {value}: allowed: 1 or more")
    if min_answers < 2:
        raise UsageError(f"--min-answers {min_answers}: allowed: 2 or more, a pair has two sides")
    options = options or Options()
    report = PairReport(strategy)
    pairing = _Pairing(STRATEGIES[strategy], options, min_answers, min_margin, allow_partial, agreed, report)
    pairs = [pair for source in sets for pair in pairing.pairs_of(source)]
    if max_per_therapist is not None:
        kept = cap_per_therapist(pairs, max_per_therapist, options.seed)
        report.pairs_capped = len(pairs) - len(kept)
        lost = {id(pair.source) for pair in pairs} - {id(pair.source) for pair in kept}
        report.capped_out = len(lost)
        report.with_rows -= len(lost)
        pairs = kept
    texts = {(pair.source.prompt, pair.chosen.text, pair.rejected.text) for pair in pairs}
    report.pairs_repeated = len(pairs) - len(texts)
    rows = [row_of(pair, source_dataset, license_name) for pair in pairs]
    faults = Faults()
    for number, row in enumerate(rows, start=1):
        faults.extend(row_faults(row, f"pair {number} (question {row['question_id']})"))
    faults.raise_if_any("rows made from these verdicts", RowError)
    report.rows = len(rows)
    report.margins = dict(sorted(Counter(pair.margin for pair in pairs).items()))
    return rows, report


def cap_per_therapist(pairs: list[Pair], most: int, seed: int) -> list[Pair]:
    """Keep at most `most` pairs a therapist: taken in a seeded order, given back in their own."""
    order = sorted(range(len(pairs)), key=lambda i: _cap_order(pairs[i], seed))
    counts: Counter[str] = Counter()
    kept = []
    for index in order:
        therapists = pairs[index].therapists
        if all(counts[therapist] < most for therapist in therapists):
            counts.update(therapists)
            kept.append(index)
    return [pairs[index] for index in sorted(kept)]


def row_of(pair: Pair, source_dataset: str = NOT_STATED, license_name: str = NOT_STATED) -> dict[str, Any]:
    """The pair as a row of the published schema, its keys in order."""
    row = {
        "question_id": pair.source.question_id,
        "topic": pair.source.topic,
        "prompt": pair.source.prompt,
        "chosen": pair.chosen.text,
        "rejected": pair.rejected.text,
        "chosen_score": pair.chosen.total,
        "rejected_score": pair.rejected.total,
        "chosen_therapist": pair.chosen.therapist,
        "rejected_therapist": pair.rejected.therapist,
        "all_answers": [candidate.as_row() for candidate in pair.considered],
        "rubric": RUBRIC,
        "judge_model": pair.source.judge_model,
        "source_dataset": source_dataset,
        "license": license_name,
    }
    return {key: row[key] for key in ROW_KEYS}


@dataclass(frozen=True)
class _Pairing:
    strategy: Strategy
    options: Options
    min_answers: int
    min_margin: int
    allow_partial: bool
    agreed: Callable[[Pair], bool] | None
    report: PairReport

    def pairs_of(self, source: CandidateSet) -> list[Pair]:
        """The question's pairs; the report says what became of it."""
        report = self.report
        report.questions += 1
        kinds = [candidate.no_answer for candidate in source.candidates]
        answers = [candidate for candidate, kind in zip(source.candidates, kinds, strict=True) if kind is None]
        scored = [candidate for candidate in answers if candidate.scores is not None]
        report.blank_answers += kinds.count("blank")
        report.placeholder_answers += kinds.count("placeholder")
        report.unscored_answers += len(answers) - len(scored)
        partial = len(scored) < len(answers)
        if len(answers) < self.min_answers:
            report.too_few += 1
            return []
        if partial and (not self.allow_partial or len(scored) < 2):
            report.waiting += 1
            return []
        report.partial += partial
        found = list(self.strategy(source, scored, self.options))
        wide = [pair for pair in found if pair.margin >= self.min_margin]
        report.pairs_below_margin += len(found) - len(wide)
        kept = wide if self.agreed is None else [pair for pair in wide if self.agreed(pair)]
        report.pairs_disputed += len(wide) - len(kept)
        if kept:
            report.with_rows += 1
        elif wide:
            report.disputed += 1
        elif found:
            report.below_margin += 1
        else:
            report.tied += 1
        return kept


def _cap_order(pair: Pair, seed: int) -> str:
    sides = (pair.chosen.therapist, pair.chosen.text, pair.rejected.therapist, pair.rejected.text)
    return order_digest(seed, pair.source.key, *sides)
