#!/usr/bin/env python
"""What it costs to add 10 rows to a Hub dataset of 1 k, 20 k and 200 k rows.

Compares, against the Hub double of the tests (real HTTP, real client, no network):
  append            this package, with the mirror of a former run
  append, segments  the same where the file is kept in segments of 8 MB
  append, cold      this package on a machine that has nothing yet
  upload_file       hf_hub_download, add lines, upload_file
  push_to_hub       load_dataset, concatenate, Dataset.push_to_hub (Parquet)

    python scripts/bench_append.py
    python scripts/bench_append.py --sizes 1000 20000
    python scripts/bench_append.py --audit-gb 2     # peak memory of the audit of a file of 2 GB
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from hub.double import HubDouble, Repo  # noqa: E402
from hub.rows import row  # noqa: E402

REPO, DATA = "user/pairs", "data/pilot.jsonl"
SEGMENT, ACTIVE_ROWS, NEW_ROWS = 8_000_000, 500, 10
METHODS = ("append", "append, segments", "append, cold", "upload_file", "push_to_hub")


def line(number: int, size: int = 0) -> bytes:
    return json.dumps(row(number, size), ensure_ascii=False).encode() + b"\n"


def new_rows() -> list[dict[str, Any]]:
    return [row(10_000_000 + number) for number in range(NEW_ROWS)]


def whole(rows: int) -> dict[str, bytes]:
    return {DATA: b"".join(map(line, range(rows)))}


def segmented(rows: int) -> dict[str, bytes]:
    """Sealed segments, and an active one with the same number of rows whatever the dataset's size."""
    files: dict[str, bytes] = {}
    held, size = [], 0
    for number in range(rows):
        held.append(line(number))
        size += len(held[-1])
        if number == rows - ACTIVE_ROWS - 1 or size > SEGMENT - 2 * len(held[-1]):
            files[_segment(len(files))] = b"".join(held)
            held, size = [], 0
    files[_segment(len(files))] = b"".join(held)
    return files


def _segment(number: int) -> str:
    return DATA if number == 0 else f"data/pilot-{number:05d}.jsonl"


def commit_base(repo: Repo, files: dict[str, bytes]) -> str:
    blobs = {path: repo.store.put(content, lfs=len(content) >= 10_000_000) for path, content in files.items()}
    gone = {path: None for path in repo.head().tree if path.startswith("data/") and path not in blobs}
    return repo.apply({**gone, **blobs}, branch="main", parent=None, author="user", title="base").oid


# What runs in a process of its own, so that imports and caches of one method don't help another.


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def step_append(job: dict[str, Any]) -> float:
    from hf_kokoro.hub import append_rows
    from hf_kokoro.hub.remote import HubTarget

    target = HubTarget(REPO, token="hf_writes", endpoint=job["endpoint"], cache_dir=job["cache"])
    rows, limit = new_rows(), SEGMENT if job["segments"] else None
    return timed(lambda: append_rows(target, rows, segment_bytes=limit, dry_run=job["warm_up"]))


def step_upload_file(job: dict[str, Any]) -> float:
    from huggingface_hub import HfApi

    api = HfApi(endpoint=job["endpoint"], token="hf_writes")

    def work() -> None:
        file = Path(api.hf_hub_download(REPO, DATA, repo_type="dataset", cache_dir=job["cache"]))
        known = {json.dumps(json.loads(text), sort_keys=True) for text in file.read_text("utf-8").split("\n") if text}
        fresh = [r for r in new_rows() if json.dumps(r, sort_keys=True) not in known]
        grown = file.read_bytes() + b"".join(json.dumps(r, ensure_ascii=False).encode() + b"\n" for r in fresh)
        api.upload_file(path_or_fileobj=grown, path_in_repo=DATA, repo_id=REPO, repo_type="dataset")

    return timed(work)


def step_push_to_hub(job: dict[str, Any]) -> float:
    import datasets

    def work() -> None:
        loaded = datasets.load_dataset(REPO, split="train")
        fresh = datasets.Dataset.from_list(new_rows(), features=loaded.features)
        datasets.concatenate_datasets([loaded, fresh]).push_to_hub(REPO)

    return timed(work)


def step_audit(job: dict[str, Any]) -> float:
    from hf_kokoro.hub import audit

    seconds = timed(lambda: audit(job["folder"]))
    print(json.dumps({"peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}), file=sys.stderr)
    return seconds


STEPS = {"append": step_append, "upload_file": step_upload_file, "push_to_hub": step_push_to_hub, "audit": step_audit}


def in_process(step: str, place: Path, **job: Any) -> tuple[float, str]:
    env = {
        **os.environ,
        "HF_ENDPOINT": job.get("endpoint", ""),
        "HF_TOKEN": "hf_writes",
        "HF_HOME": str(place / "home"),
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
    }
    if not env["HF_ENDPOINT"]:
        del env["HF_ENDPOINT"]
    command = [sys.executable, __file__, "--step", step, json.dumps(job)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{step} failed:\n{done.stderr[-2000:]}")
    return float(done.stdout.splitlines()[-1]), done.stderr


# The comparison


def measure(hub: HubDouble, base: dict[str, str], method: str, folder: Path) -> tuple[float, int, int]:
    """Seconds, bytes sent, bytes received of one method, on top of the base commit."""
    repo = hub.repo(REPO)
    segments = method == "append, segments"
    oid = base["segmented" if segments else "whole"]
    repo.refs["refs/heads/main"] = oid
    # what a former run uploaded must not be there already
    kept = {blob.sha256 for commit in base.values() for blob in repo.commits[commit].tree.values()}
    for file in hub.folder.iterdir():
        if file.name not in kept:
            file.unlink()
    place = folder / method.replace(", ", "-")
    job = {"endpoint": hub.endpoint, "cache": str(place), "segments": segments, "warm_up": True}
    if method in ("append", "append, segments"):
        in_process("append", place, **job)
    sent, received = hub.bytes_in, hub.bytes_out
    step = "append" if method.startswith("append") else method
    seconds, _ = in_process(step, place, **{**job, "warm_up": False})
    return seconds, hub.bytes_in - sent, hub.bytes_out - received


def compare(sizes: list[int], repeats: int) -> Iterator[tuple[int, str, float, int, int]]:
    for rows in sizes:
        with tempfile.TemporaryDirectory() as name, HubDouble(Path(name) / "hub") as hub:
            folder, repo = Path(name), hub.repo(REPO)
            base = {"whole": commit_base(repo, whole(rows)), "segmented": commit_base(repo, segmented(rows))}
            for method in METHODS:
                runs = [measure(hub, base, method, folder / str(n)) for n in range(repeats)]
                yield rows, method, *min(runs)


def audit_memory(gigabytes: float) -> None:
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / DATA
        file.parent.mkdir()
        size, number = 0, 0
        with file.open("wb") as out:
            while size < gigabytes * 1e9:
                size += out.write(line(number, size=8_000))
                number += 1
        seconds, said = in_process("audit", Path(name), folder=name)
    peak = json.loads(said.splitlines()[-1])["peak_mb"]
    print(f"audit of {size / 1e9:.2f} GB, {number} rows: {seconds:.0f} s, peak memory {peak:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 20_000, 200_000])
    parser.add_argument("--repeats", type=int, default=3, help="runs of each; the fastest counts (default 3)")
    parser.add_argument("--audit-gb", type=float, help="measure the audit's memory on a file of this size instead")
    parser.add_argument("--step", nargs=2, metavar=("STEP", "JOB"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        print(STEPS[options.step[0]](json.loads(options.step[1])))
        return
    if options.audit_gb:
        audit_memory(options.audit_gb)
        return
    print(f"{'rows':>7}  {'method':<17}  {'seconds':>8}  {'bytes sent':>12}  {'bytes received':>14}")
    found: dict[tuple[int, str], tuple[float, int, int]] = {}
    for rows, method, seconds, sent, received in compare(options.sizes, options.repeats):
        found[rows, method] = seconds, sent, received
        print(f"{rows:>7}  {method:<17}  {seconds:>8.2f}  {sent:>12,}  {received:>14,}", flush=True)
    small, large = (found[size, "append, segments"] for size in (min(options.sizes), max(options.sizes)))
    warm = max(found[size, method][2] for size in options.sizes for method in METHODS[:2])
    print(
        f"segments, largest against smallest: time {large[0] / small[0]:.2f} x, bytes sent {large[1] / small[1]:.2f} x"
    )
    print(f"received with a warm mirror: at most {warm:,} bytes")


if __name__ == "__main__":
    main()
