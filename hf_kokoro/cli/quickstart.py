"""`hf-kokoro quickstart`: the whole main job, offline, on the bundled sample."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import UsageError
from .console import print_json, print_table

MARKER = ".hf-kokoro-quickstart"


def quickstart(
    out: Annotated[Path, typer.Option(help="Folder for everything that is made.")] = Path("quickstart-out"),
    steps: Annotated[int, typer.Option(min=1, help="Training steps of the tiny model.")] = 30,
    json_: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Judge, pair, append, describe, load, train and evaluate: every stage once, offline, on the bundled sample.

    The sample is fictional and small, the judge is the rule judge, the model is tiny and random: this shows that
    everything works and what each stage makes, not how good a trained model is. Run it again as you like: the
    folder is made anew each time.

    Example: hf-kokoro quickstart --out quickstart-out
    """
    from ..workflow.main_job import run_main_job

    _make_room(out)
    started = time.monotonic()
    say = _quiet if json_ else _say
    summary = run_main_job(out, steps, say)
    summary["seconds"] = round(time.monotonic() - started, 1)
    if json_:
        print_json(summary)
    else:
        _print(summary, out)


def _make_room(out: Path) -> None:
    """Start from an empty folder, but never clear one that an earlier quickstart did not make."""
    if out.exists() and any(out.iterdir()):
        if not (out / MARKER).exists():
            raise UsageError(f"--out {out}: not empty, and not made by an earlier quickstart; give another folder")
        shutil.rmtree(out)
    out.mkdir(parents=True, exist_ok=True)
    (out / MARKER).touch()


def _say(line: str) -> None:
    print(line, flush=True)


def _quiet(line: str) -> None:
    return None


def _print(summary: dict[str, Any], out: Path) -> None:
    print()
    print_table(("made", "where"), [(name, where) for name, where, _ in summary["made"]], "What was made, and where")
    print()
    accuracy = [(name, f"{before:.3f}", f"{after:.3f}") for name, (before, after) in summary["held_out"].items()]
    title = f"Share of {summary['test_pairs']} held-out pairs, before and after {summary['steps']} DPO steps"
    print_table(("in which", "before", "after"), accuracy, title)
    print("A tiny random model on a small fictional sample: the numbers show that it runs, not that it helps anyone.")
    print(f"Done in {summary['seconds']:.0f} s. Nothing here is for clinical decisions or unsupervised deployment.")
    print("Next, on your own files:")
    print("  hf-kokoro judge --source counsel_chat.csv --judge rule --journal verdicts.jsonl")
    print(f"Look first at {out / 'dataset' / 'README.md'}, the dataset's card.")
