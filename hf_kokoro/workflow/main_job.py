"""The main job step by step: judge -> rows -> append -> card -> load -> train -> evaluate, on the bundled sample."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from ..core.reports import Report
from ..errors import UsageError
from .judging import judge

MARKER = ".hf-kokoro-quickstart"
SAMPLES = Path(__file__).resolve().parent.parent / "samples"
Say = Callable[[str], None]


@dataclass(frozen=True)
class Folder:
    """Where the steps leave their work."""

    root: Path

    @property
    def journal(self) -> Path:
        return self.root / "verdicts.jsonl"

    @property
    def dataset(self) -> Path:
        return self.root / "dataset"

    @property
    def model(self) -> Path:
        return self.root / "model"


@dataclass(frozen=True)
class QuickstartReport(Report):
    """What was made (name, place, what it is), and held-out accuracies before and after training."""

    made: list[tuple[str, str, str]]
    held_out: dict[str, tuple[float, float]]
    test_pairs: int
    steps: int
    seconds: float


def quickstart(
    out: str | PathLike[str] = "quickstart-out", steps: int = 30, say: Say = lambda line: None
) -> QuickstartReport:
    """Run every stage once, offline, on the bundled sample, into `out`; `say` is told each step as it is done.

    The folder of an earlier quickstart is made anew. Raises UsageError for a folder that holds anything else.
    """
    out, started = Path(out), time.monotonic()
    _make_room(out)
    folder = Folder(out)
    made: list[tuple[str, str, str]] = []

    def done(name: str, where: Path, what: str) -> None:
        made.append((name, str(where), what))
        say(f"{len(made)}. {name}: {what}")

    done("KokoroChat, EmplifAI", out / "cache", _load_corpora(out))
    done("verdicts", folder.journal, _judge(folder))
    rows, what = _pair(folder)
    done("rows", out / "rows.jsonl", what)
    done("dataset", folder.dataset, _append(folder, rows))
    done("card", folder.dataset / "README.md", _card(folder))
    done("audit", folder.dataset, _audit(folder))
    pairs, what = _load(folder)
    done("pairs", out / "cache", what)
    report = _train(folder, pairs, steps)
    losses = f"loss {report['first_loss']:.3f} to {report['last_loss']:.3f}"
    done("model", folder.model, f"{report['steps']} DPO steps on {report['train_rows']} pairs, {losses}")
    held_out = _held_out(folder, pairs["test"], report["base_model"])
    seconds = round(time.monotonic() - started, 1)
    return QuickstartReport(made, held_out, len(pairs["test"]), report["steps"], seconds)


def _make_room(out: Path) -> None:
    """Start from an empty folder, but never clear one that an earlier quickstart did not make."""
    if out.exists() and any(out.iterdir()):
        if not (out / MARKER).exists():
            raise UsageError(f"--out {out}: not empty, and not made by an earlier quickstart; give another folder")
        shutil.rmtree(out)
    out.mkdir(parents=True, exist_ok=True)
    (out / MARKER).touch()


def _load_corpora(out: Path) -> str:
    from ..corpora import load_dataset

    cache = out / "cache"
    chat = load_dataset("kokorochat", "dialogues", source=SAMPLES / "kokorochat", split="train", cache_dir=cache)
    medical = load_dataset("emplifai", "dialogues", source=SAMPLES / "emplifai.csv", split="train", cache_dir=cache)
    utterances = sum(len(row["utterances"]) for row in chat)
    return f"{len(chat)} dialogues with {utterances} utterances, {len(medical)} dialogues with 28 emotions, typed"


def _judge(folder: Folder) -> str:
    run = judge(SAMPLES / "counsel_chat.csv", "rule", folder.journal)
    [report] = run.judges
    return f"{report.judged} answers to {run.questions} questions scored by {report.judge_model}"


def _pair(folder: Folder) -> tuple[list[list[dict[str, Any]]], str]:
    """Two batches of rows, so that the dataset is seen to grow: best against worst, then re-sampled subsets."""
    from ..judging import RuleJudge, read_journal
    from ..miti.contract import row_line
    from ..miti.pairing import Options, make_rows
    from . import joining as join
    from .stamps import stamps_of

    verdicts = join.one_judge(read_journal(folder.journal), RuleJudge().judge_model, str(folder.journal))
    _, chat = join.source_of_journal(folder.journal, None)
    sets = join.candidate_sets(chat.questions, verdicts, verdicts[0].judge_model).sets
    stamps = stamps_of(chat)
    batches = []
    for strategy in ("best-worst", "resample"):
        rows, report = make_rows(
            sets,
            strategy,
            options=Options(subset_size=3),
        )
        batches.append(stamps.stamped(rows))
        if strategy == "best-worst":
            tied = report.tied
    lines = "".join(row_line(row) for rows in batches for row in rows)
    (folder.root / "rows.jsonl").write_text(lines, "utf-8", newline="\n")
    counts = f"{len(batches[0])} best-against-worst and {len(batches[1])} re-sampled rows"
    return batches, f"{counts}; {tied} questions have equal totals and give no pair"


def _append(folder: Folder, batches: list[list[dict[str, Any]]]) -> str:
    from ..hub import append_rows

    reports = [append_rows(folder.dataset, rows) for rows in (*batches, batches[0])]
    grown = " + ".join(str(report.added) for report in reports[:2])
    total, again = reports[1].rows_total, reports[2]
    repeated = "nothing written" if again.added == 0 else f"{again.added} rows written"
    return f"{grown} new rows make {total} (a re-sampled row that is there already is passed over); again: {repeated}"


def _card(folder: Folder) -> str:
    from importlib.util import find_spec

    from ..cards import write_card

    figures = find_spec("matplotlib") is not None
    report = write_card(folder.dataset, figures=figures)
    images = sum(path.endswith(".png") for path in report.files)
    return f"card of {report.rows} rows with {images} figures" + ("" if figures else " (figures need the plots extra)")


def _audit(folder: Folder) -> str:
    from ..errors import InputError
    from ..hub import audit

    report = audit(folder.dataset)
    if not report.ok:
        raise InputError(f"audit of {folder.dataset}", report.faults)
    return f"{len(report.revisions)} revisions, each only grew; {report.rows} rows valid and unique"


def _load(folder: Folder) -> tuple[Any, str]:
    """Load the folder with plain `datasets`, as anybody would, and the training pairs through the builder."""
    import datasets

    from ..corpora import load_dataset

    cache = str(folder.root / "cache")
    plain = datasets.load_dataset(str(folder.dataset), split="train", cache_dir=cache)
    pairs = load_dataset(
        "miti_st_dpo", "pairs", source=folder.dataset, split_by="question", cache_dir=cache, weights="inverse-frequency"
    )
    sizes = ", ".join(f"{split} {rows.num_rows}" for split, rows in pairs.items())
    return pairs, f"datasets.load_dataset reads {len(plain)} typed rows; question-disjoint pairs: {sizes}"


def _train(folder: Folder, pairs: Any, steps: int) -> dict[str, Any]:
    from ..training.recipe import load_recipe
    from ..training.runner import run_recipe

    recipe = load_recipe("tiny_dpo", {"max_steps": steps, "output_dir": str(folder.model)}, "dpo")
    return run_recipe(recipe, datasets=pairs).to_dict()


def _held_out(folder: Folder, pairs: Any, base: str) -> dict[str, tuple[float, float]]:
    """Accuracies on held-out pairs of the model as it was and as it is; before step 1 the reward is a tie: 0.5."""
    from ..evaluation.preference import evaluate_preference

    before = evaluate_preference(pairs, base, base)
    after = evaluate_preference(pairs, folder.model, base)
    assert before.reward is not None
    assert after.reward is not None
    return {
        "implicit reward prefers chosen": (before.reward.value, after.reward.value),
        "log-probability prefers chosen": (before.log_prob.value, after.log_prob.value),
        "the longer answer is chosen": (before.longer_wins.value, after.longer_wins.value),
    }
