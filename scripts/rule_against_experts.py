"""The rule judge against AnnoMI's experts: agreement on reflections and advice, and good sessions told from poor ones.

    python scripts/rule_against_experts.py AnnoMI-full.csv

Utterances of therapists of five words or more; the question is the client's utterance before. The experts' code is what
more than half of an utterance's annotators gave. Reflection: any kind, against reflection_present. Advice: therapist
input of the kind advice, against no_persuade = 0. Sessions: the mean total of a transcript's utterances, against its
quality. Intervals: 95 %, resampling transcripts.

The rules were written while reading the transcripts whose number can be divided by four ("read"); all others are held
out. Three videos of the copy with even numbers have one dialogue in each of the two.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from hf_kokoro.core.agreement import Figure, base_rate, cohen_kappa, cross_tables, estimate, precision, recall  # noqa: E402
from hf_kokoro.core.archives import open_source  # noqa: E402
from hf_kokoro.corpora.annomi.reader import Record, read_annomi, share  # noqa: E402
from hf_kokoro.judging import RuleJudge  # noqa: E402

MEASURES = {"kappa": cohen_kappa, "precision": precision, "recall": recall, "base rate": base_rate}
WORDS = 5
READ_EVERY = 4
PARTS = ("read", "held out", "all")


class Coded(NamedTuple):
    """One utterance: what the judge and what the experts say of it."""

    transcript: str
    high: bool
    total: int
    judged: tuple[bool, bool]
    coded: tuple[bool, bool]
    """(reflection, advice), by the judge and by the experts."""


def part_of(item: Coded) -> str:
    """Was its transcript read while the rules were written?"""
    return "read" if int(item.transcript) % READ_EVERY == 0 else "held out"


def coded_utterances(records: Iterable[Record], judge: RuleJudge) -> Iterator[Coded]:
    """Every utterance that counts, with its verdict."""
    transcript, question = "", ""
    for record in records:
        if record["dialogue_id"] != transcript:
            transcript, question = record["dialogue_id"], ""
        if record["speaker"] == "client":
            question = record["text"]
        elif len(record["text"].split()) >= WORDS:
            scores = judge.score(question, record["text"]).scores
            if scores is None:
                continue
            advice = [codes["therapist_input"] == "advice" for codes in record["codes"]]
            yield Coded(
                transcript,
                record["quality"] == "high",
                sum(scores.values()),
                (scores["reflection_present"] == 1, scores["no_persuade"] == 0),
                ((share(record, "reflection") or 0) > 0.5, sum(advice) > len(advice) / 2),
            )


def auc(means: Any, high: Any) -> Figure:
    """How often a good session's mean is above a poor one's, ties half; of (..., sessions) counts of each session."""
    above = (means[:, None] > means[None, :]) + 0.5 * (means[:, None] == means[None, :])

    def figure(counts: Any) -> Any:
        good, poor = counts * high, counts * ~high
        pairs = good.sum(axis=-1) * poor.sum(axis=-1)
        with np.errstate(invalid="ignore"):
            return ((good @ above) * poor).sum(axis=-1) / np.where(pairs, pairs, np.nan)

    return figure


def report(name: str, items: list[Coded]) -> Iterator[str]:
    """The lines for one part of the transcripts."""
    sessions: dict[str, list[Coded]] = {}
    for item in items:
        sessions.setdefault(item.transcript, []).append(item)
    yield f"{name}: {len(items):,} utterances of {len(sessions)} transcripts"
    for code, what in enumerate(("reflection", "advice")):
        judged, coded = (np.array([getattr(i, side)[code] for i in items], float) for side in ("judged", "coded"))
        tables = cross_tables(coded, judged, (0, 1), [item.transcript for item in items])
        yield f"  {what:10}  " + "  ".join(f"{measure} {estimate(tables, f)}" for measure, f in MEASURES.items())
    means = np.array([np.mean([item.total for item in said]) for said in sessions.values()])
    high = np.array([said[0].high for said in sessions.values()])
    value = estimate(np.eye(len(means)), auc(means, high))
    yield f"  sessions    AUC of the mean total {value} ({high.sum()} high, {(~high).sum()} low)"


def main() -> None:
    """Print the report of a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="AnnoMI-full.csv, or the same table in another format")
    parser.add_argument("--variant", default="", help="of the rule judge, such as strict")
    parser.add_argument("--part", choices=PARTS, help="report one part alone")
    arguments = parser.parse_args()
    files = open_source(Path(arguments.file))
    records, judge = read_annomi(files.members(), files), RuleJudge(arguments.variant)
    start = time.process_time()
    items = list(coded_utterances(records, judge))
    seconds = time.process_time() - start
    print(f"{judge.judge_model}, {len(items) / seconds:,.0f} utterances a second of processor time")
    for part in PARTS if arguments.part is None else (arguments.part,):
        chosen = [item for item in items if part in ("all", part_of(item))]
        if chosen:
            print(*report(part, chosen), sep="\n")


if __name__ == "__main__":
    main()
