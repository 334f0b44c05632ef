"""Figures of the KokoroChat and EmplifAI cards as PNG bytes, with English labels: no Japanese font needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..corpora.emplifai.emotions import EMOTION_NAMES
from ..corpora.emplifai.measures import LabelMeasures
from ..corpora.kokorochat.measures import DialogueMeasures
from ..corpora.kokorochat.schema import ITEM_NAMES
from ..corpora.views import Measures
from .figures import INK, SOFT, WARM, new_figure, png

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def corpus_figures(measures: Measures) -> dict[str, tuple[str, bytes]]:
    """Path in the folder to caption and PNG; nothing for measures that are not drawn."""
    return {path: (caption, png(draw(measures))) for path, caption, draw in _DRAWN.get(type(measures), ())}


def _score_histogram(measured: DialogueMeasures) -> Figure:
    figure, axis = new_figure(3.4)
    axis.hist(measured.score, bins=[*range(0, 100, 5), 101], color=INK, edgecolor="white", linewidth=0.5)
    for edge, name in ((70, "low | high pool"), (99, "test")):
        axis.axvline(edge, color=WARM, linewidth=1.2, linestyle="--")
        axis.annotate(name, (edge, 0.97), xycoords=("data", "axes fraction"), fontsize=8, color=WARM, **_BESIDE)
    axis.margins(y=0.14)
    axis.set_xlim(0, 101)
    axis.set_xlabel("score given by the client (points of 100)", fontsize=10)
    axis.set_ylabel("dialogues (count)", fontsize=10)
    return figure


_BESIDE = {"xytext": (-4, 0), "textcoords": "offset points", "ha": "right", "va": "top"}


def _topics(measured: DialogueMeasures) -> Figure:
    figure, axis = new_figure(3.8)
    names, counts = zip(*reversed(measured.topics.most_common()), strict=True)
    bars = axis.barh(names, counts, color=INK, height=0.7)
    axis.bar_label(bars, labels=[f"{count:,}" for count in counts], fontsize=8, padding=2)
    axis.margins(x=0.12)
    axis.set_xlabel("dialogues (count)", fontsize=10)
    return figure


def _items(measured: DialogueMeasures) -> Figure:
    figure, axis = new_figure(3.9)
    matrix = measured.item_correlations()
    lowest = np.floor(10 * np.nanmin(matrix)) / 10 if np.isfinite(matrix).any() else 0.0
    # cells of equal sides would let the longest label run out of the picture
    image = axis.imshow(matrix, vmin=lowest, vmax=1, cmap="viridis", aspect="auto")
    codes = [f"D{number}" for number in range(1, len(ITEM_NAMES) + 1)]
    labels = [f"{code} {name.replace('_', ' ')}" for code, name in zip(codes, ITEM_NAMES, strict=True)]
    axis.set_xticks(range(len(codes)), codes, rotation=90, fontsize=7)
    axis.set_yticks(range(len(codes)), labels, fontsize=6.5)
    axis.spines[:].set_visible(False)
    bar = figure.colorbar(image, ax=axis, shrink=0.9)
    bar.set_label("Spearman correlation", fontsize=9)
    bar.ax.tick_params(labelsize=8)
    return figure


def _measures(measured: DialogueMeasures) -> Figure:
    figure, axis = new_figure(2.8)
    correlations = measured.score_correlations()
    values = [np.nan if value is None else value for value in correlations.values()]
    names = [name.replace("mean response time", "mean\nresponse time (s)") for name in correlations]
    bars = axis.barh(names[::-1], values[::-1], color=[INK if v >= 0 else WARM for v in values[::-1]], height=0.6)
    axis.bar_label(bars, labels=["" if np.isnan(v) else f"{v:+.2f}" for v in values[::-1]], fontsize=8, padding=3)
    axis.axvline(0, color="black", linewidth=0.8)
    axis.margins(x=0.15)
    axis.set_xlabel("Spearman correlation with the score", fontsize=10)
    return figure


def _labels(measured: LabelMeasures) -> Figure:
    figure, (left, right) = new_figure(6.2, columns=2, sharey=True)
    names = EMOTION_NAMES[::-1]
    for axis, counts, color, what in (
        (left, [measured.dialogues[name] for name in names], INK, "dialogues"),
        (right, [len(measured.situations[name]) for name in names], SOFT, "situations"),
    ):
        bars = axis.barh(names, counts, color=color, height=0.75)
        axis.bar_label(bars, fontsize=7, padding=2)
        axis.margins(x=0.14, y=0.01)
        axis.xaxis.get_major_locator().set_params(integer=True)
        axis.set_xlabel(f"{what} (count)", fontsize=10)
    left.tick_params(axis="y", labelsize=8)
    return figure


_DRAWN: dict[type, tuple[tuple[str, str, Callable[[Any], Figure]], ...]] = {
    DialogueMeasures: (
        ("assets/scores.png", "Histogram of the scores, in steps of five points", _score_histogram),
        ("assets/topics.png", "Dialogues per topic", _topics),
        ("assets/items.png", "Spearman correlations between the 20 items", _items),
        ("assets/measures.png", "Spearman correlations of simple measures with the score", _measures),
    ),
    LabelMeasures: (("assets/labels.png", "Dialogues and situations of every label", _labels),),
}
"""Measures of a corpus to its figures: path in the folder, caption, drawing."""
