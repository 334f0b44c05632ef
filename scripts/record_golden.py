"""Print what every builder config makes of the bundled sample: rows per split, digests of first and last row.

    python scripts/record_golden.py > tests/corpora/golden.json

Record anew only when a change of the rows is intended, and raise the builder's VERSION with it.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import datasets

import hf_kokoro as hk

SAMPLES = Path(hk.__file__).parent / "samples"
ROWS = Path(__file__).resolve().parent.parent / "tests" / "corpora" / "rows.jsonl"
SOURCES = {
    "kokorochat": SAMPLES / "kokorochat",
    "emplifai": SAMPLES / "emplifai.csv",
    "annomi": SAMPLES / "annomi.csv",
    "miti_st_dpo": ROWS,
}
VARIANTS: dict[tuple[str, str], dict[str, Any]] = {
    ("miti_st_dpo", "pairs"): {"split_by": "question", "weights": "inverse_frequency"},
    ("kokorochat", "score_prediction"): {"seed": 7},
    ("annomi", "utterances"): {"split_by": "video"},
    ("annomi", "dialogues"): {"split_by": "topic"},
}
"""Options under which a config is recorded; the others have none."""


def configs() -> list[tuple[str, str]]:
    """Every (dataset, config) there is."""
    return [(name, config.name) for name, builder in hk.BUILDERS.items() for config in builder.BUILDER_CONFIGS]


def load(name: str, config: str, cache: Path, **options: Any) -> Any:
    """The config built from its sample source."""
    chosen = {**VARIANTS.get((name, config), {}), **options}
    return hk.load_dataset(name, config, source=SOURCES[name], cache_dir=cache, **chosen)


def describe(splits: Any) -> dict[str, Any]:
    """Rows per split, and digests of the first and last row of each."""
    ends = {split: [digest(rows[0]), digest(rows[-1])] for split, rows in splits.items() if len(rows)}
    return {"rows": {split: len(rows) for split, rows in splits.items()}, "ends": ends}


def digest(row: Any) -> str:
    """Twelve hex digits of a row's canonical JSON."""
    text = json.dumps(row, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def main() -> None:
    datasets.disable_progress_bars()
    with tempfile.TemporaryDirectory() as cache:
        golden = {f"{name}/{config}": describe(load(name, config, Path(cache))) for name, config in configs()}
    json.dump(golden, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
