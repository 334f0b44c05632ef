"""The rule judge against AnnoMI's experts: agreement on reflections and advice, and telling good sessions from poor ones.

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
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from hf_kokoro.core.archives import open_source  # noqa: E402
from hf_kokoro.core.resampling import bootstrap_sums, interval  # noqa: E402
from hf_kokoro.corpora.annomi.reader import Record, read_annomi, share  # noqa: E402
from hf_kokoro.judging import RuleJudge  # noqa: E402

WORDS = 5
READ_EVERY = 4


class Coded(NamedTuple):
    """One utterance: what the judge and what the experts say of it."""

    transcript: str
    high: bool
    total: int
    judged: tuple[bool, bool]
    coded: tuple[bool, bool]
    """(reflection, advice), by the judge and by the experts."""


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


def confusions(items: list[Coded], code: int) -> Any:
    """(transcripts, 4): both, judge alone, experts alone, neither."""
    table: dict[str, list[int]] = {}
    for item in items:
        both = (item.judged[code], item.coded[code])
        place = [(True, True), (True, False), (False, True), (False, False)].index(both)
        table.setdefault(item.transcript, [0, 0, 0, 0])[place] += 1
    return np.array(list(table.values()), dtype=float)


def kappa(c: Any) -> float:
    """Cohen's kappa of summed confusions (Cohen 1960)."""
    total = c.sum()
    expected = ((c[0] + c[1]) * (c[0] + c[2]) + (c[2] + c[3]) * (c[1] + c[3])) / total**2
    return float(((c[0] + c[3]) / total - expected) / (1 - expected)) if expected < 1 else float("nan")


MEASURES: dict[str, Callable[[Any], float]] = {
    "kappa": kappa,
    "precision": lambda c: float(c[0] / (c[0] + c[1])) if c[0] + c[1] else float("nan"),
    "recall": lambda c: float(c[0] / (c[0] + c[2])) if c[0] + c[2] else float("nan"),
    "base rate": lambda c: float((c[0] + c[2]) / c.sum()),
}


def auc(means: Any, high: Any, weights: Any) -> float:
    """How often a good session's mean is above a poor one's, ties half; sessions count as often as their weight."""
    above = (means[:, None] > means[None, :]) + 0.5 * (means[:, None] == means[None, :])
    good, poor = weights * high, weights * ~high
    pairs = good.sum() * poor.sum()
    return float(good @ above @ poor / pairs) if pairs else float("nan")


def with_interval(value: float, drawn: Iterable[float]) -> str:
    """The value and its interval; draws in which it is undefined are left out."""
    found = [draw for draw in drawn if draw == draw]
    low, high = interval(found)
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"


def report(name: str, items: list[Coded]) -> Iterator[str]:
    """The lines for one part of the transcripts."""
    sessions: dict[str, list[Coded]] = {}
    for item in items:
        sessions.setdefault(item.transcript, []).append(item)
    yield f"{name}: {len(items):,} utterances of {len(sessions)} transcripts"
    for code, what in enumerate(("reflection", "advice")):
        table = confusions(items, code)
        draws = bootstrap_sums(table)
        cells = [f"{m} {with_interval(f(table.sum(axis=0)), map(f, draws))}" for m, f in MEASURES.items()]
        yield f"  {what:10}  " + "  ".join(cells)
    means = np.array([np.mean([item.total for item in said]) for said in sessions.values()])
    high = np.array([said[0].high for said in sessions.values()])
    drawn = bootstrap_sums(np.eye(len(means)))
    value = with_interval(auc(means, high, np.ones(len(means))), (auc(means, high, weights) for weights in drawn))
    yield f"  sessions    AUC of the mean total {value} ({high.sum()} high, {(~high).sum()} low)"


def main() -> None:
    """Print the report of a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="AnnoMI-full.csv, or the same table in another format")
    parser.add_argument("--variant", default="", help="of the rule judge, such as strict")
    parser.add_argument("--part", choices=("read", "held out"), help="report one part alone")
    arguments = parser.parse_args()
    files = open_source(Path(arguments.file))
    records, judge = read_annomi(files.members(), files), RuleJudge(arguments.variant)
    start = time.process_time()
    items = list(coded_utterances(records, judge))
    seconds = time.process_time() - start
    print(f"{judge.judge_model}, {len(items) / seconds:,.0f} utterances a second of processor time")
    for part in ("read", "held out"):
        chosen = [item for item in items if (int(item.transcript) % READ_EVERY == 0) == (part == "read")]
        if chosen and arguments.part in (None, part):
            print(*report(part, chosen), sep="\n")


if __name__ == "__main__":
    main()
