"""`hf-kokoro quickstart`: the whole main job, offline, on the bundled sample."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import print_json, print_table

if TYPE_CHECKING:
    from ..workflow.main_job import QuickstartReport


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
    from ..workflow import quickstart as run

    report = run(out, steps, _quiet if json_ else _say)
    if json_:
        print_json(report.as_dict())
    else:
        _print(report, out)


def _say(line: str) -> None:
    print(line, flush=True)


def _quiet(line: str) -> None:
    return None


def _print(report: QuickstartReport, out: Path) -> None:
    print()
    print_table(("made", "where"), [(name, where) for name, where, _ in report.made], "What was made, and where")
    print()
    accuracy = [(name, f"{before:.3f}", f"{after:.3f}") for name, (before, after) in report.held_out.items()]
    title = f"Share of {report.test_pairs} held-out pairs, before and after {report.steps} DPO steps"
    print_table(("in which", "before", "after"), accuracy, title)
    print("A tiny random model on a small fictional sample: the numbers show that it runs, not that it helps anyone.")
    print(f"Done in {report.seconds:.0f} s. Nothing here is for clinical decisions or unsupervised deployment.")
    print("Next, on your own files:")
    print("  hf-kokoro judge --source counsel_chat.csv --judge rule --journal verdicts.jsonl")
    print(f"Look first at {out / 'dataset' / 'README.md'}, the dataset's card.")
