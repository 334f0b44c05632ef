"""Curves of a run, from its `metrics.jsonl`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

CURVES = {
    "loss.png": ("loss", ("loss", "eval_loss")),
    "margin.png": ("reward margin", ("rewards/margins", "eval_rewards/margins", "odpo/offset")),
}
"""File to axis label and metric keys; a file is drawn only if the run logged one of its keys."""


def plot_metrics(entries: Sequence[Mapping[str, Any]], folder: Path) -> list[Path]:
    """Draw the curves that the entries hold; returns the files. Without matplotlib nothing is drawn."""
    try:
        import matplotlib
    except ImportError:
        return []
    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawn = []
    for name, (label, keys) in CURVES.items():
        series = {key: _points(entries, key) for key in keys}
        series = {key: points for key, points in series.items() if points}
        if not series:
            continue
        figure, axes = pyplot.subplots(figsize=(6, 3.5), layout="constrained")
        for key, points in series.items():
            axes.plot(*zip(*points, strict=True), marker="o" if len(points) < 20 else None, label=key)
        axes.set_xlabel("optimizer step")
        axes.set_ylabel(label)
        axes.legend()
        figure.savefig(folder / name, dpi=120)
        pyplot.close(figure)
        drawn.append(folder / name)
    return drawn


def _points(entries: Sequence[Mapping[str, Any]], key: str) -> list[tuple[int, float]]:
    return [(entry["step"], entry[key]) for entry in entries if isinstance(entry.get(key), int | float)]
