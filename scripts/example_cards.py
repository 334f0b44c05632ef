"""Render the example cards in dataset_cards/examples/ from the bundled samples, or check that they still fit.

python scripts/example_cards.py            # write them
python scripts/example_cards.py --check    # exit 1 if one differs; CI runs this
"""

from __future__ import annotations

import argparse
import difflib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "dataset_cards" / "examples"
SAMPLES = ROOT / "hf_kokoro" / "samples"
DAY = "2026-01-01"
"""The date in the growth table; fixed, so that the cards change with the data and the prose only."""


def hf_kokoro(*arguments: str | Path, cache: Path) -> None:
    """Run a verb as a user would; its output is shown if it fails."""
    program = "from hf_kokoro.cli import main; main()"
    command = [sys.executable, "-c", program, *map(str, arguments)]
    environment = {**os.environ, "HF_DATASETS_CACHE": str(cache), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, arguments))} failed:\n{done.stdout}{done.stderr}")


def render(work: Path) -> dict[str, str]:
    """Name of each example card to its text."""
    from hf_kokoro.cards import write_card

    cache = work / "cache"
    for name, source in (
        ("kokorochat", SAMPLES / "kokorochat"),
        ("emplifai", SAMPLES / "emplifai.csv"),
        ("annomi", SAMPLES / "annomi.csv"),
    ):
        hf_kokoro("build", name, "--source", source, "--out", work / name, cache=cache)
    journal, rows = work / "verdicts.jsonl", work / "rows.jsonl"
    hf_kokoro("judge", "--source", SAMPLES / "counsel_chat.csv", "--judge", "rule", "--journal", journal, cache=cache)
    hf_kokoro("pair", "--journal", journal, "--out", rows, cache=cache)
    hf_kokoro("append", rows, "--to", work / "miti_st_dpo", cache=cache)
    write_card(work / "miti_st_dpo", today=DAY)
    return {
        name: (work / name / "README.md").read_text("utf-8")
        for name in ("kokorochat", "emplifai", "annomi", "miti_st_dpo")
    }


def main() -> None:
    """Write the cards, or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a card differs")
    check = parser.parse_args().check
    with tempfile.TemporaryDirectory() as work:
        cards = render(Path(work))
    EXAMPLES.mkdir(exist_ok=True)
    drifted = False
    for name, text in cards.items():
        file = EXAMPLES / f"{name}.md"
        before = file.read_text("utf-8") if file.is_file() else ""
        if not check:
            file.write_text(text, "utf-8", newline="\n")
        elif before != text:
            drifted = True
            lines = difflib.unified_diff(before.splitlines(), text.splitlines(), str(file), "rendered now", lineterm="")
            print("\n".join(lines))
    if drifted:
        sys.exit("example cards differ; run: python scripts/example_cards.py")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
