"""The figures of a card as PNG bytes (matplotlib, extra `plots`). English labels: no font is needed for them.

600 px wide, readable at that size; therapists appear by rank and never by name.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtraError
from ..miti.contract import DIMENSIONS
from .facts import TOTALS, MitiFacts, mean, median

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 150
WIDTH = 6.0
INK, SOFT, WARM = "#2f4b6e", "#9db4ce", "#d98e5f"


def miti_st_figures(facts: MitiFacts) -> dict[str, bytes]:
    """Path in the repo to PNG: scores per dimension, margins, therapist concentration."""
    return {
        "assets/scores.png": png(_scores(facts)),
        "assets/margins.png": png(_margins(facts)),
        "assets/therapists.png": png(_therapists(facts)),
    }


def new_figure(height: float, columns: int = 1, rows: int = 1, **options: Any) -> tuple[Figure, Any]:
    """A figure of the house size, drawn without a display and without touching pyplot's global state."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plots", "drawing the figures of a card") from None
    figure = Figure(figsize=(WIDTH, height), dpi=DPI, layout="constrained")
    axes = figure.subplots(rows, columns, **options)
    for one in figure.axes:
        one.spines[["top", "right"]].set_visible(False)
        one.tick_params(labelsize=9)
    return figure, axes


def png(figure: Figure) -> bytes:
    """The figure as PNG; no time and no version in it, so the same facts give the same bytes."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


def _bars(axis: Axes, values: Sequence[int], counts: Sequence[int], color: str = INK) -> None:
    bars = axis.bar(values, counts, color=color, width=0.75)
    size = 8 if max(counts) < 10_000 else 6
    axis.bar_label(bars, labels=[f"{c:,}" if c else "" for c in counts], fontsize=size, padding=1)
    axis.margins(y=0.16)
    axis.set_xticks(list(values))


def _scores(facts: MitiFacts) -> Figure:
    figure, axes = new_figure(6.4, rows=3, columns=2)
    *dimension_axes, total_axis = axes.flat
    for axis, (name, (low, high)) in zip(dimension_axes, DIMENSIONS.items(), strict=True):
        values = range(low, high + 1)
        _bars(axis, values, [facts.scores[name][v] for v in values])
        axis.set_title(f"{name} (mean {mean(facts.scores[name]):.2f})", fontsize=10)
    # fourteen bars in half the width leave no room for their counts
    total_axis.bar(TOTALS, [facts.scores["total"][v] for v in TOTALS], color=WARM, width=0.75)
    total_axis.set_xticks(TOTALS[::2])
    total_axis.set_title(f"total (mean {mean(facts.scores['total']):.2f})", fontsize=10)
    figure.supxlabel("score (points)", fontsize=10)
    figure.supylabel("answers (count)", fontsize=10)
    return figure


def _margins(facts: MitiFacts) -> Figure:
    figure, axis = new_figure(3.4)
    values = range(1, max([*facts.margins, 4]) + 1)
    _bars(axis, values, [facts.margins[v] for v in values])
    axis.set_title(f"mean {mean(facts.margins):.2f}, median {median(facts.margins):g}", fontsize=10)
    axis.set_xlabel("margin: chosen total − rejected total (points)", fontsize=10)
    axis.set_ylabel("pairs (count)", fontsize=10)
    return figure


def _therapists(facts: MitiFacts) -> Figure:
    """Cumulative share of answers, chosen and rejected sides that the most frequent therapists hold."""
    figure, axis = new_figure(3.6)
    widest = 1
    for side, color, style in (("answers", INK, "-"), ("chosen", WARM, "-"), ("rejected", SOFT, "--")):
        counts = sorted(facts.therapists[side].values(), reverse=True)
        running, shares = 0, [0.0]
        for count in counts:
            running += count
            shares.append(100 * running / max(sum(counts), 1))
        widest = max(widest, len(counts))
        axis.plot(range(len(shares)), shares, color=color, linestyle=style, linewidth=2, label=side)
    axis.set_xlim(0, widest)
    axis.set_ylim(0, 103)
    axis.set_xlabel("therapists, most frequent first (count)", fontsize=10)
    axis.set_ylabel("cumulative share (%)", fontsize=10)
    axis.legend(frameon=False, fontsize=9, loc="lower right")
    return figure
