"""Throughput and memory of the Claude judge against the API double, beside the SDK in a bare asyncio loop.

    python scripts/bench_judge.py [--answers 800] [--rounds 3] [--delay 0.2] [--concurrency 16] [--memory-answers 20000]

The double runs as a process of its own. Each measurement runs in a fresh process, so that peak memory is its
own. Both sides send the same requests; ours also reads the replies strictly and journals every verdict.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
DOUBLE = ROOT / "tests" / "judging" / "anthropic_double.py"
sys.path.insert(0, str(ROOT))


def texts(count: int) -> list[tuple[str, str]]:
    """(question, answer) pairs of about the length of real ones."""
    sentence = "It sounds like the evenings are the hardest part for you. "
    return [(f"Question {n // 5}: why can't I rest?", f"{n}. {sentence * (5 + n % 20)}") for n in range(count)]


def ours(count: int, concurrency: int) -> None:
    """Our judge, journal included; importing the SDK is in neither side's time."""
    import anthropic  # noqa: F401

    from hf_kokoro.judging import Item, Journal, score_items
    from hf_kokoro.judging.claude import ClaudeJudge

    items = [Item(str(n // 5), question, "t", answer) for n, (question, answer) in enumerate(texts(count))]
    judge = ClaudeJudge(concurrency=concurrency)
    with tempfile.TemporaryDirectory() as folder, Journal(Path(folder) / "v.jsonl") as journal:
        start = time.perf_counter()
        report = score_items(items, judge, journal)
        seconds = time.perf_counter() - start
    assert report.statuses["scored"] == count, report.as_dict()
    _print(count, seconds)


def bare(count: int, concurrency: int) -> None:
    """The SDK in a bare loop: no retries of ours, no checks, no journal."""
    import anthropic

    from hf_kokoro.judging.claude_prompt import request_parameters

    async def run() -> float:
        client = anthropic.AsyncAnthropic(max_retries=0)
        rest = iter(texts(count))

        async def worker() -> None:
            for question, answer in rest:
                await client.messages.create(**request_parameters("claude-opus-4-7", question, answer, 512))

        start = time.perf_counter()
        await asyncio.gather(*(worker() for _ in range(concurrency)))
        seconds = time.perf_counter() - start
        await client.close()
        return seconds

    _print(count, asyncio.run(run()))


def _print(count: int, seconds: float) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"answers": count, "seconds": seconds, "rate": count / seconds, "peak_mb": peak}))


@contextmanager
def double(delay: float) -> Iterator[str]:
    """The API double as a process; yields its address."""
    process = subprocess.Popen([sys.executable, str(DOUBLE), "--delay", str(delay)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def measure(side: str, count: int, concurrency: int, url: str) -> dict[str, float]:
    """Run one side in a fresh process."""
    environment = os.environ | {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "not-a-key"}
    command = [sys.executable, __file__, "--side", side, "--answers", str(count), "--concurrency", str(concurrency)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=800)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--delay", type=float, default=0.2, help="seconds that the double takes for a reply")
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--memory-answers", type=int, default=20_000, help="0 leaves the memory run out")
    parser.add_argument("--side", choices=("ours", "bare"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        {"ours": ours, "bare": bare}[options.side](options.answers, options.concurrency)
        return
    rounds = []
    with double(options.delay) as url:
        # in turns, so that whatever else the machine does meets both
        for _ in range(options.rounds):
            found = {side: measure(side, options.answers, options.concurrency, url) for side in ("bare", "ours")}
            rounds.append(found)
    ceiling = options.concurrency / options.delay if options.delay else float("inf")
    print(f"{options.rounds} x {options.answers} answers, {options.concurrency} in flight, {options.delay:g} s a reply")
    print(f"(at most {ceiling:.0f} a second)")
    for side, name in (("bare", "SDK in a bare asyncio loop"), ("ours", "ours, with journal")):
        rates = [found[side]["rate"] for found in rounds]
        peak = max(found[side]["peak_mb"] for found in rounds)
        print(f"{name:28} {median(rates):6.1f} answers/s (best {max(rates):.1f})  {peak:6.0f} MB")
    ratios = [found["ours"]["rate"] / found["bare"]["rate"] for found in rounds]
    each = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    print(f"{'ratio':28} {median(ratios):6.2f} (of each round: {each})")
    if options.memory_answers:
        with double(0.0) as url:
            large = measure("ours", options.memory_answers, options.concurrency, url)
        print(
            f"{options.memory_answers} answers without delay: {large['rate']:.1f} answers/s, "
            f"peak memory {large['peak_mb']:.0f} MB"
        )


if __name__ == "__main__":
    main()
