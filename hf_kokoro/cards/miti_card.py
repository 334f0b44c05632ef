"""The card of a MITI-ST repo: numbers from its rows, prose from `dataset_cards/miti_st_dpo.md`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from ..core.series import Series
from ..judging.validity_files import ValidityFile
from ..miti.contract import DATA_PATH
from ..miti.features import ROWS_FEATURES, pairs_features, unpaired_features
from ..miti.views import DESIRABLE_MIN
from .agreement import NOT_MEASURED
from .derived import PAIRS_PATH, UNPAIRED_PATH
from .facts import MitiFacts, mean, median
from .front_matter import ConfigCard, configs_metadata, size_category, split_card
from .hand_written import kept_report
from .markdown import as_code, as_text
from .origins import Wording, wording_of
from .renewing import renew_card
from .templates import fill, keep_hand_written, template
from .validity import NOT_VALIDATED, validity_text

DATA_FILES = Series(DATA_PATH).patterns
RULE_JUDGE_PREFIX = "rule-based/"
LOCAL_NAME = "path/to/this/folder"
"""Stands in the loading examples of a card that has no repo id yet."""

_GROWTH = re.compile(r"<!-- growth -->\n(.*?)\n<!-- /growth -->", re.DOTALL)
MITI_FIGURES = {
    "assets/scores.png": "Scores per dimension and totals of all answers",
    "assets/margins.png": "Margins between chosen and rejected",
    "assets/therapists.png": "How much the most frequent writers hold of answers, chosen and rejected",
}


def miti_configs(data_files: Sequence[str] = DATA_FILES, stamp: str = "") -> list[ConfigCard]:
    """The configs of a MITI-ST repo; `data_files` are patterns of the growing file's segments, oldest first."""
    return [
        ConfigCard("default", ROWS_FEATURES, {"train": data_files}, default=True, stamp=stamp),
        ConfigCard("pairs", pairs_features(True), {"train": PAIRS_PATH}),
        ConfigCard("unpaired", unpaired_features(True), {"train": UNPAIRED_PATH}),
    ]


def render_miti_card(
    facts: MitiFacts,
    existing: str | None = None,
    *,
    repo: str = LOCAL_NAME,
    data_files: Sequence[str] = DATA_FILES,
    stamp: str = "",
    figures: Sequence[str] = (),
    agreement: str | None = None,
    validity: Sequence[ValidityFile] = (),
    today: str | None = None,
) -> str:
    """The whole README.md. The same facts and the same existing card give the same text.

    `figures` are the paths of the figures that lie in the repo; `agreement` is Markdown (`read_agreement`), `validity`
    are reports (`read_validities`), without which the card keeps what it says; `today` (ISO date) dates a new line of
    the growth table. Raises CardError if the existing card's YAML can't be read, or a report is of another judge.
    """
    _, old_body = split_card(existing) if existing else ({}, "")
    wording = wording_of(facts.origins)
    values = {
        **wording.values(),
        "rows": f"{facts.rows:,}",
        "questions": f"{len(facts.questions):,}",
        "answers": f"{facts.answers:,}",
        "therapists": f"{len(facts.therapists['answers']):,}",
        "judges": ", ".join(f"{as_code(judge)} ({count:,} rows)" for judge, count in facts.judges.most_common())
        or "nobody yet",
        "repo": repo,
        "desirable_min": str(DESIRABLE_MIN),
        "instructions": _instructions(facts),
        "numbers": _numbers(facts, wording.writer),
        "figures": "\n\n".join(f"![{MITI_FIGURES[path]}]({path})" for path in figures),
        "topics": ", ".join(
            f"{as_text(topic) or '(none)'} ({count:,})" for topic, count in facts.topics.most_common(10)
        ),
        "limits": "\n".join(f"- {limit}" for limit in _limits(facts, wording.writer)),
        "agreement": agreement or kept_report(old_body, "agreement", NOT_MEASURED),
        "validity": validity_text(validity, facts) or kept_report(old_body, "validity", NOT_VALIDATED),
        "growth": _growth(facts, old_body, today or datetime.now(UTC).date().isoformat()),
    }
    prose = template("miti_st_dpo")
    body = keep_hand_written(fill(prose, values), old_body or None, prose)
    return renew_card(existing, _metadata(facts, wording, data_files, stamp), body)


def _metadata(facts: MitiFacts, wording: Wording, data_files: Sequence[str], stamp: str) -> dict[str, Any]:
    rule_judged = all(judge.startswith(RULE_JUDGE_PREFIX) for judge in facts.judges)
    return {
        "pretty_name": wording.title,
        **wording.metadata(),
        "multilinguality": ["monolingual"],
        "size_categories": [size_category(facts.rows)],
        "task_categories": ["text-generation"],
        "task_ids": ["dialogue-modeling"],
        "annotations_creators": ["other" if rule_judged else "machine-generated"],
        "tags": [
            "dpo",
            "kto",
            "preference",
            "counselling",
            "motivational-interviewing",
            "empathy",
            "mental-health",
        ],
        **configs_metadata(miti_configs(data_files, stamp)),
    }


def _instructions(facts: MitiFacts) -> str:
    """Which instructions the judges had, by digest, and how many rows each scored."""
    if not facts.rubrics:
        return "By which instructions, is not recorded."
    counts = facts.rubrics.most_common()
    known = ", ".join(
        f"{as_code(digest[:12])} ({count:,} rows by {as_code(judge)})" for (judge, digest), count in counts
    )
    rest = facts.rows - facts.rubrics.total()
    unknown = f", not recorded ({rest:,} rows)" if rest else ""
    mixed = (
        " Totals by different instructions don't mean the same: filter before you compare." if len(counts) > 1 else ""
    )
    return f"By the instructions with the digests {known}{unknown}.{mixed}"


def _numbers(facts: MitiFacts, writer: str) -> str:
    length = facts.length_correlation()
    pairs = max(facts.rows, 1)
    rows = [
        ("pairs", f"{facts.rows:,}"),
        ("questions", f"{len(facts.questions):,}"),
        ("topics", f"{len(facts.topics):,}"),
        ("scored answers", f"{facts.answers:,}"),
        (f"{writer}s", f"{len(facts.therapists['answers']):,}"),
        ("total of an answer, mean (points of 13)", f"{mean(facts.scores['total']):.2f}"),
        ("margin, mean and median (points)", f"{mean(facts.margins):.2f}, {median(facts.margins):g}"),
        ("pairs with a margin of 1 point", f"{100 * facts.margins[1] / pairs:.1f} %"),
        ("characters, chosen and rejected (mean)", _lengths(facts)),
        ("chosen is the longer side", f"{100 * facts.chosen_longer / pairs:.1f} %"),
        (
            "Spearman of an answer's length with its total",
            "not defined" if length is None else f"{length:.2f}",
        ),
    ]
    for side in ("answers", "chosen", "rejected"):
        shares = f"{100 * facts.share(side, 1):.1f} %, {100 * facts.share(side, 5):.1f} %"
        rows.append((f"{side} held by the most frequent {writer}, the five most frequent", shares))
    return "\n".join(["| what | value |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])


def _lengths(facts: MitiFacts) -> str:
    pairs = max(facts.rows, 1)
    return f"{facts.chosen_characters / pairs:,.0f}, {facts.rejected_characters / pairs:,.0f}"


def _limits(facts: MitiFacts, writer: str) -> list[str]:
    length = facts.length_correlation()
    correlation = "could not be measured here" if length is None else f"is {length:.2f} here"
    pairs = max(facts.rows, 1)
    longer = f"{100 * facts.chosen_longer / pairs:.0f} %"
    chosen, rejected = (f"{100 * facts.share(side, 1):.0f} %" for side in ("chosen", "rejected"))
    judges = "One judge only" if facts.single_judge else f"{len(facts.judges)} judges, each scoring alone"
    limits = [
        f"**{judges}.** A judge has surface biases. The correlation of an answer's length with its total "
        f"{correlation}, and chosen is the longer side in {longer} of the pairs. How far another judge "
        "agrees is said below.",
        "**Giving information is penalised.** MITI counts unrequested advice against an answer, so a correct "
        "and useful answer can be the rejected one.",
        "**Facts are not scored.** A chosen answer may be wrong.",
        f"**A few people write much of it.** The most frequent {writer} holds {chosen} of the chosen and "
        f"{rejected} of the rejected sides: a model may learn a person's style.",
        "**One answer is not a conversation.** MITI was made for sessions; MITI-ST sees a single reply.",
    ]
    if any(judge.startswith(RULE_JUDGE_PREFIX) for judge in facts.judges):
        limits.insert(
            0,
            "**Scores by rules, not by a reader.** Rows judged by `rule-based/...` come from counting "
            "surface cues: a baseline and a test bed, not to be mixed with rows of a model judge. On held-out sessions "
            "that experts coded, the rules' second edition (`-r2`) agrees with them at kappa 0.43 on reflections and "
            "0.41 on advice; the experts among themselves at alpha 0.66 and 0.51.",
        )
    return limits


def growth_date(card: str) -> str:
    """Date of the newest line of a card's growth table (ISO)."""
    dates: list[str] = re.findall(r"(?m)^\| (\d{4}-\d{2}-\d{2}) \|", card)
    return dates[-1]


def _growth(facts: MitiFacts, old_body: str, today: str) -> str:
    """The growth table so far, and a line for today if the number of rows changed since its last line."""
    header = ["| date | rows | questions | answers |", "|---|---|---|---|"]
    match = _GROWTH.search(old_body)
    lines = [line for line in match[1].splitlines() if re.match(r"\| \d{4}-", line)] if match else []
    counts = f"| {facts.rows:,} | {len(facts.questions):,} | {facts.answers:,} |"
    if not lines or not lines[-1].endswith(counts):
        lines = [line for line in lines if not line.startswith(f"| {today} |")] + [f"| {today} {counts}"]
    return "\n".join(header + lines)
