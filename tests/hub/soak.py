"""Many processes append to one repo of a failing Hub double; used by the suite and by scripts/soak_append.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from hf_kokoro import audit
from hf_kokoro.hub.remote import HubTarget

from .double import Drop, Fault, Html, HubDouble, Reset, Status
from .rows import numbers

DATA = "data/pilot.jsonl"
WORKER = Path(__file__).with_name("worker.py")

FAULTS: list[Fault] = [
    Status(500),
    Status(502, applied=True),
    Status(503),
    Status(504, applied=True),
    Status(409),
    Status(429, {"Retry-After": "0"}),
    Drop(applied=False),
    Drop(applied=True),
    Reset(applied=False),
    Reset(applied=True),
    Html(),
]


@dataclass
class Soaked:
    """What was seen; `problems` is empty if all is well."""

    rows: int = 0
    commits: int = 0
    requests: int = 0
    faults: int = 0
    tries: int = 0
    problems: list[str] = field(default_factory=list)


def soak(folder: Path, *, writers: int, appends: int, rate: float, seed: int, machines: int) -> Soaked:
    """Run the writers to their end and look at what they left."""
    result = Soaked()
    with HubDouble(folder / "hub", lfs_bytes=60_000) as hub:
        hub.repo("user/soak")
        hub.faults.roll(rate, seed, FAULTS)
        running = [_start(hub, folder, writer, appends, machines) for writer in range(writers)]
        for number, process in enumerate(running):
            _finish(number, process, appends, result)
        hub.faults.stop()
        result.requests, result.faults = len(hub.seen), hub.faults.rolled
        _check(hub, folder, writers * appends, result)
    return result


def _start(hub: HubDouble, folder: Path, writer: int, appends: int, machines: int) -> subprocess.Popen[str]:
    job = {
        "repo": "user/soak",
        "token": "hf_writes",
        "endpoint": hub.endpoint,
        "cache": str(folder / "machines" / str(writer % machines)),
        "batches": [[writer * 1000 + append] for append in range(appends)],
        "seed": writer,
    }
    env = {**os.environ, "HF_HUB_DISABLE_XET": "1", "HF_HOME": str(folder / "home")}
    return subprocess.Popen(
        [sys.executable, str(WORKER), json.dumps(job)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
    )


def _finish(number: int, process: subprocess.Popen[str], appends: int, result: Soaked) -> None:
    out, errors = process.communicate()
    reports = [json.loads(line) for line in out.splitlines()[1:]]
    if process.returncode != 0:
        result.problems.append(f"writer {number} exited with {process.returncode}: {errors[-500:]}")
    if [report["added"] for report in reports] != [1] * appends:
        result.problems.append(f"writer {number} reported {[report['added'] for report in reports]}")
    result.tries += sum(report["attempts"] for report in reports)


def _check(hub: HubDouble, folder: Path, expected: int, result: Soaked) -> None:
    repo = hub.repo("user/soak")
    # first by hand, with nothing of the package
    versions = [repo.store.read(commit.tree[DATA]) for commit in repo.log("main") if DATA in commit.tree]
    result.commits = len(versions)
    for newer, older in pairwise(versions):
        if not newer.startswith(older):
            result.problems.append("a revision does not start with the one before")
    seen = Counter(numbers(versions[0])) if versions else Counter()
    result.rows = sum(seen.values())
    twice = [number for number, count in seen.items() if count > 1]
    if twice or len(seen) != expected:
        result.problems.append(f"{len(seen)} of {expected} rows, {len(twice)} of them more than once")
    target = HubTarget("user/soak", token="hf_reads", endpoint=hub.endpoint, cache_dir=folder / "auditor")
    report = audit(target)
    if not report.ok or report.rows != expected:
        result.problems.append(f"the audit counts {report.rows} rows and says {[str(f) for f in report.faults]}")
