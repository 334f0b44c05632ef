"""One append in a process of its own, for tests that kill it or run many: prints the report as JSON.

Usage: python worker.py '{"target": ..., "numbers": [...], ...}'
"""

from __future__ import annotations

import json
import random
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS.parent), str(TESTS)]

from hub.rows import row  # noqa: E402

from hf_kokoro.hub import LocalTarget, Target, append_rows  # noqa: E402
from hf_kokoro.hub.patience import Patience  # noqa: E402
from hf_kokoro.hub.remote import HubTarget  # noqa: E402


def target_of(job: dict[str, Any]) -> Target:
    if "folder" in job:
        return LocalTarget(job["folder"])
    import huggingface_hub.utils._http as client

    class Impatient:
        """The client's own waits of seconds are no part of what is tested."""

        def __getattr__(self, name: str) -> object:
            return getattr(time, name)

        def sleep(self, seconds: float) -> None:
            time.sleep(min(seconds, 0.01))

    client.time = Impatient()  # type: ignore[assignment]
    dice = random.Random(job.get("seed", 0))
    patience = Patience(
        conflicts=1000,
        faults=40,
        still=40,
        first_wait=0.01,
        longest_wait=0.2,
        random=dice.random,
        sleep=lambda seconds: time.sleep(min(seconds, 0.2)),
    )
    return HubTarget(
        job["repo"], token=job["token"], endpoint=job["endpoint"], cache_dir=job["cache"], patience=patience
    )


def main() -> None:
    job = json.loads(sys.argv[1])
    target = target_of(job)
    batches = job.get("batches") or [job["numbers"]]
    # whoever started us may wait for this line, so that the import isn't part of what it times
    print("ready", flush=True)
    for numbers in batches:
        rows = [row(number, job.get("size", 0)) for number in numbers]
        report = append_rows(
            target,
            rows,
            segment_bytes=job.get("segment_bytes"),
            extra_operations=(lambda growth: {"README.md": f"# {growth.rows_total} rows\n".encode()})
            if job.get("card")
            else None,
        )
        print(json.dumps(asdict(report)), flush=True)


if __name__ == "__main__":
    main()
