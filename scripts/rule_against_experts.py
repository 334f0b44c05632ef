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

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from hf_kokoro.core.archives import open_source  # noqa: E402
from hf_kokoro.corpora.annomi.reader import read_annomi  # noqa: E402
from hf_kokoro.judging import RuleJudge  # noqa: E402
from hf_kokoro.judging.experts import Coded, validate_against_experts  # noqa: E402
from hf_kokoro.workflow.expert_codes import Utterance, utterances  # noqa: E402

READ_EVERY = 4
PARTS = ("read", "held out", "all")


def part_of(item: Coded) -> str:
    """Was its transcript read while the rules were written?"""
    return "read" if int(item.session) % READ_EVERY == 0 else "held out"


def scored(said: Iterable[Utterance], judge: RuleJudge) -> Iterator[Coded]:
    """Every utterance that has a verdict, with its total."""
    for one in said:
        scores = judge.score(one.item.question, one.item.answer).scores
        if scores is not None:
            yield Coded(one.session, one.high, {**scores, "total": sum(scores.values())}, one.codes)


def report(name: str, judge: RuleJudge, items: list[Coded]) -> Iterator[str]:
    """The lines for one part of the transcripts."""
    found = validate_against_experts(judge.judge_model, items)
    sessions = found.sessions
    yield f"{name}: {len(items):,} utterances of {sessions.n} transcripts"
    for one in found.dimensions.values():
        measured = {"kappa": one.kappa, "precision": one.precision, "recall": one.recall, "base rate": one.base_rate}
        yield f"  {one.code:10}  " + "  ".join(f"{measure} {value}" for measure, value in measured.items())
    low = sessions.n - sessions.high
    yield f"  sessions    AUC of the mean total {sessions.auc} ({sessions.high} high, {low} low)"


def main() -> None:
    """Print the report of a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="AnnoMI-full.csv, or the same table in another format")
    parser.add_argument("--variant", default="", help="of the rule judge, such as strict")
    parser.add_argument("--part", choices=PARTS, help="report one part alone")
    arguments = parser.parse_args()
    files = open_source(Path(arguments.file))
    said, judge = list(utterances(read_annomi(files.members(), files))), RuleJudge(arguments.variant)
    start = time.process_time()
    items = list(scored(said, judge))
    seconds = time.process_time() - start
    print(f"{judge.judge_model}, {len(items) / seconds:,.0f} utterances a second of processor time")
    for part in PARTS if arguments.part is None else (arguments.part,):
        chosen = [item for item in items if part in ("all", part_of(item))]
        if chosen:
            print(*report(part, judge, chosen), sep="\n")


if __name__ == "__main__":
    main()
