#!/usr/bin/env python
"""Soak test of the append-only Hub appender: many writers, a Hub that fails, and nothing may be lost.

Starts the Hub double of the tests, lets WRITERS processes append APPENDS rows each (one commit a row) while a
share of all requests is hit by a random fault, and checks that every row is there exactly once, that the history
is a chain of prefixes, and that every process ended well.

    python scripts/soak_append.py                       # 16 writers x 25 appends, 20 % faults
    python scripts/soak_append.py --writers 4 --appends 8
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from hub.soak import soak  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--writers", type=int, default=16, help="processes (default 16)")
    parser.add_argument("--appends", type=int, default=25, help="appends of each (default 25)")
    parser.add_argument("--rate", type=float, default=0.2, help="share of requests that are hit (default 0.2)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--machines", type=int, default=None, help="mirrors (default: one for each writer)")
    options = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        result = soak(
            Path(folder),
            writers=options.writers,
            appends=options.appends,
            rate=options.rate,
            seed=options.seed,
            machines=options.machines or options.writers,
        )
    seconds = time.monotonic() - started
    print(
        f"{options.writers} writers x {options.appends} appends, "
        f"{options.rate:.0%} of requests hit, seed {options.seed}\n"
        f"  {result.requests} requests, {result.faults} faults, {result.tries} tries for "
        f"{options.writers * options.appends} appends, {seconds:.0f} s"
    )
    for problem in result.problems:
        print(f"  PROBLEM: {problem}")
    if not result.problems:
        print(f"  ok: {result.rows} rows exactly once, {result.commits} commits, each begins with the one before")
    return 1 if result.problems else 0


if __name__ == "__main__":
    sys.exit(main())
