"""Time and memory of scoring every counsellor turn of KokoroChat for generation, MeCab included.

    python scripts/bench_evaluate.py kokorochat.tar.gz --baseline shuffled

Prints seconds and peak memory of the run (with its workers) beside those of an eighth of the turns: the peak
may grow with the different n-grams, not with the turns. Building the dataset from the archive is not timed.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

_TURNS = 237_735


def main() -> None:
    """Run both sizes in processes of their own, so that each has its own peak."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="KokoroChat: archive or folder")
    parser.add_argument("--baseline", default="shuffled", choices=["reference", "shuffled"])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--turns", type=int, help="(inner) run this many turns in this process")
    options = parser.parse_args()
    if options.turns:
        measure(options.source, options.baseline, options.workers, options.turns)
        return
    for turns in (_TURNS // 8, _TURNS):
        # the first run of all also builds the dataset; its own process reports only what comes after
        command = [sys.executable, __file__, options.source, "--baseline", options.baseline]
        subprocess.run([*command, "--workers", str(options.workers), "--turns", str(turns)], check=True)


def measure(source: str, baseline: str, workers: int, turns: int) -> None:
    """Score `turns` turns and print one line of JSON."""
    import numpy as np

    import hf_kokoro
    from hf_kokoro.evaluation.generation import count_system, generation_report
    from hf_kokoro.evaluation.predictions import Prediction

    rows = hf_kokoro.load_dataset("kokorochat", "turns", source=source, split="train")
    counsellor = rows.features["role"].str2int("counselor")
    rows = rows.select(np.flatnonzero(_roles(rows) == counsellor)[:turns])
    order = np.random.PCG64(42).random_raw(len(rows)).argsort() if baseline == "shuffled" else np.arange(len(rows))

    def stream():  # type: ignore[no-untyped-def]
        said = (text for batch in rows.select(order).iter(1000) for text in batch["text"])
        wanted = (pair for batch in rows.iter(1000) for pair in zip(batch["dialogue_id"], batch["text"], strict=True))
        for number, (prediction, (dialogue, reference)) in enumerate(zip(said, wanted, strict=True)):
            yield Prediction(prediction, reference, str(number), str(dialogue))

    start = time.perf_counter()
    system = count_system(stream(), workers=workers)
    counted = time.perf_counter()
    report = generation_report(system)
    end = time.perf_counter()
    peak = sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF,)) / 1024
    worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    found = {
        "turns": report.samples,
        "dialogues": report.groups,
        "seconds_counting": round(counted - start, 1),
        "seconds_intervals": round(end - counted, 1),
        "cpu_seconds": round(
            sum(
                resource.getrusage(who).ru_utime + resource.getrusage(who).ru_stime
                for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
            ),
            1,
        ),
        "peak_mib": round(peak),
        "peak_mib_of_a_worker": round(worker),
        "bleu4": report.metrics["bleu4"].value,
        "rougeL": report.metrics["rougeL"].value,
    }
    print(json.dumps(found), flush=True)


def _roles(rows):  # type: ignore[no-untyped-def]
    # as one Arrow column: the numpy format goes through the rows one by one
    return rows.select_columns(["role"]).with_format("arrow")[:]["role"].to_numpy()


if __name__ == "__main__":
    main()
