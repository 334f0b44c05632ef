"""Figures of a bias report, as PNG files (matplotlib, extra `plots`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import MissingExtraError
from ..judging.bias import BiasReport, ScoredAnswer, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_bias(report: BiasReport, answers: Sequence[ScoredAnswer], folder: Path) -> list[Path]:
    """Draw totals, totals by length, and answers by therapist. Raises MissingExtraError without matplotlib."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plots", "drawing figures") from None
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, draw in (("totals", _totals), ("length", _length), ("therapists", _therapists)):
        figure = Figure(figsize=(6, 3.5), layout="constrained")
        FigureCanvasAgg(figure)
        draw(figure.add_subplot(), report, answers)
        path = folder / f"bias-{name}.png"
        # no software or date in the file: the same report gives the same bytes
        figure.savefig(path, dpi=120, metadata={"Software": None})
        paths.append(path)
    return paths


def _totals(axes: Axes, report: BiasReport, answers: Sequence[ScoredAnswer]) -> None:
    axes.bar(list(report.totals), list(report.totals.values()), color="#3b6ea5")
    axes.set(xlabel="total (points)", ylabel="answers", title=f"Totals of {report.judge}")


def _length(axes: Axes, report: BiasReport, answers: Sequence[ScoredAnswer]) -> None:
    axes.scatter([words(a.text) for a in answers], [a.total for a in answers], s=6, alpha=0.3, color="#3b6ea5")
    axes.set(xlabel="length (words)", ylabel="total (points)", title=f"Total by length, rho {report.surface.length}")


def _therapists(axes: Axes, report: BiasReport, answers: Sequence[ScoredAnswer]) -> None:
    counts = sorted(Counter(a.therapist for a in answers).values(), reverse=True)
    axes.bar(range(1, len(counts) + 1), counts, color="#3b6ea5")
    axes.set(xlabel="therapists, most prolific first", ylabel="answers", title="Answers by therapist")
