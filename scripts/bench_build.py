"""Time the `dialogues` build of KokoroChat against a plain builder and against the floor, in one run.

    python scripts/bench_build.py --source FOLDER_OR_ARCHIVE [--rounds 3]

Every measurement is a fresh process with an empty cache; rounds interleave the contestants, so that a change of
the machine's speed hits all of them; medians are printed. The peer is a GeneratorBasedBuilder over `json.load`,
the floor reads and parses every file with `json.loads` in one thread and keeps nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

import datasets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", required=True, help="the KokoroChat archive (.tar.gz), or a folder with --archive")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one", nargs=3, metavar=("WHAT", "SOURCE", "CACHE"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(*args.one)))
        return
    with tempfile.TemporaryDirectory() as scratch:
        archive = Path(args.source)
        folder = Path(scratch, "unpacked")
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
        report(run_rounds(folder, archive, Path(scratch), args.rounds))


CONTESTANTS = (
    "floor",
    "peer",
    "ours",
    "ours, 2 processes",
    "ours, warm",
    "ours, from .tar.gz",
    "first streamed row",
)


def run_rounds(folder: Path, archive: Path, scratch: Path, rounds: int) -> dict[str, list[dict[str, float]]]:
    results: dict[str, list[dict[str, float]]] = {name: [] for name in CONTESTANTS}
    time.sleep(2.5)  # the digest memory trusts only files that have settled
    for number in range(rounds):
        for name in CONTESTANTS:
            cache = scratch / f"cache-{number}-{'ours' if name == 'ours, warm' else CONTESTANTS.index(name)}"
            if name == "ours":
                cache = scratch / f"cache-{number}-ours"
            source = archive if name == "ours, from .tar.gz" else folder
            command = [sys.executable, __file__, "--source", "-", "--one", name, str(source), str(cache)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            results[name].append(json.loads(done.stdout.splitlines()[-1]))
    return results


def measure(what: str, source: str, cache: str) -> dict[str, float]:
    """Seconds of the work itself (imports done before) and peak memory of this process and its children, MiB."""
    import resource

    datasets.disable_progress_bars()
    from hf_kokoro.corpora import load_dataset

    if what == "first streamed row":
        # datasets imports torch (if installed) for its first IterableDataset: about 1.5 s that are not ours
        with contextlib.suppress(ImportError):
            import torch.utils.data  # noqa: F401

    started = time.perf_counter()
    if what == "floor":
        for path in sorted(Path(source).rglob("*.json")):
            with open(path, "rb") as file:
                json.loads(file.read())
    elif what == "peer":
        peer = PlainBuilder(cache_dir=cache, source=source)
        peer.download_and_prepare()
        assert len(peer.as_dataset(split="train")) > 0
    elif what == "first streamed row":
        stream = load_dataset("kokorochat", "dialogues", source=source, cache_dir=cache, split="train", streaming=True)
        next(iter(stream))
    else:
        processes = 2 if what == "ours, 2 processes" else None
        load_dataset("kokorochat", "dialogues", source=source, cache_dir=cache, num_proc=processes)
    seconds = time.perf_counter() - started
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024
    return {"seconds": seconds, "peak_mib": peak}


def report(results: dict[str, list[dict[str, float]]]) -> None:
    medians = {name: statistics.median(r["seconds"] for r in rows) for name, rows in results.items()}
    print(f"{'':22}{'seconds':>9}{'x peer':>9}{'x floor':>9}{'peak MiB':>10}   (medians of {len(results['peer'])})")
    for name, rows in results.items():
        peak = max(row["peak_mib"] for row in rows)
        ratios = f"{medians[name] / medians['peer']:9.2f}{medians[name] / medians['floor']:9.2f}"
        print(f"{name:22}{medians[name]:9.3f}{ratios}{peak:10.0f}")
    print(f"archive / folder: {medians['ours, from .tar.gz'] / medians['ours']:.2f}")


class PlainBuilder(datasets.GeneratorBasedBuilder):
    """What one would write first: the same columns, row by row."""

    BUILDER_CONFIG_CLASS = type("PlainConfig", (datasets.BuilderConfig,), {"source": None})
    VERSION = datasets.Version("1.0.0")

    def __init__(self, *args: Any, source: str, **kwargs: Any) -> None:
        self._source = source
        super().__init__(*args, config_name="default", **kwargs)

    def _info(self) -> datasets.DatasetInfo:
        from hf_kokoro.corpora.kokorochat.schema import DIALOGUES_FEATURES

        return datasets.DatasetInfo(features=DIALOGUES_FEATURES.copy())

    def _split_generators(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        files = sorted(str(path) for path in Path(self._source).rglob("*.json"))
        return [datasets.SplitGenerator(name="train", gen_kwargs={"files": files})]

    def _generate_examples(self, files: list[str]) -> Any:
        from hf_kokoro.corpora.kokorochat.schema import FLAGS, ITEMS

        for index, path in enumerate(files):
            with open(path, encoding="utf-8") as file:
                document = json.load(file)
            review = document["review_by_client_en"]
            yield (
                datasets.builder.Key(0, index),
                {
                    "dialogue_id": review["evaluation_id"],
                    "client_id": review["client_id"],
                    "counselor_id": review["counselor_id"],
                    "score": review["score"],
                    "item_sum": sum(review[item.source_en] for item in ITEMS),
                    "created_at": review["evaluation_created_at"],
                    "topic": document["topic"]["main_en"],
                    "topic_sub": document["topic"]["sub"],
                    "items": {item.name: review[item.source_en] for item in ITEMS},
                    "screening": {flag.name: review[flag.source_en] is not None for flag in FLAGS},
                    "utterances": [
                        {"role": u["role"], "time": u["time"], "text": u["utterance"]} for u in document["dialogue"]
                    ],
                },
            )


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    main()
