"""Whatever a verb does, one typed function does, and gives back a report: the package's public Python API.

Names are imported on first use, so that `import hf_kokoro.workflow` is light. What is not in `__all__` is internal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.lazy import on_first_use

if TYPE_CHECKING:
    from ..cards import CardReport, PublishReport
    from ..core.reports import Report
    from ..corpora.exports import ExportReport
    from ..corpora.leaks import LeakReport
    from ..hub import AppendReport, AuditReport, audit
    from ..training.runner import TrainReport
    from .appending import append_rows
    from .building import BuildReport, StatsReport, build, export, leaks, stats
    from .comparing import AgreeReport, BiasRun, agree, bias
    from .describing import BuiltCardReport, card, publish
    from .growing import GrowReport
    from .judging import JudgeRun, judge
    from .main_job import QuickstartReport, quickstart
    from .pairing import PairRun, pair
    from .training import train
    from .watching import grow

_EXPORTS = {
    "AgreeReport": ".comparing",
    "AppendReport": "..hub",
    "AuditReport": "..hub",
    "BiasRun": ".comparing",
    "BuildReport": ".building",
    "BuiltCardReport": ".describing",
    "CardReport": "..cards",
    "ExportReport": "..corpora.exports",
    "GrowReport": ".growing",
    "JudgeRun": ".judging",
    "LeakReport": "..corpora.leaks",
    "PairRun": ".pairing",
    "PublishReport": "..cards",
    "QuickstartReport": ".main_job",
    "Report": "..core.reports",
    "StatsReport": ".building",
    "TrainReport": "..training.runner",
    "agree": ".comparing",
    "append_rows": ".appending",
    "audit": "..hub",
    "bias": ".comparing",
    "build": ".building",
    "card": ".describing",
    "export": ".building",
    "grow": ".watching",
    "judge": ".judging",
    "leaks": ".building",
    "pair": ".pairing",
    "publish": ".describing",
    "quickstart": ".main_job",
    "stats": ".building",
    "train": ".training",
}

__all__ = [
    "AgreeReport",
    "AppendReport",
    "AuditReport",
    "BiasRun",
    "BuildReport",
    "BuiltCardReport",
    "CardReport",
    "ExportReport",
    "GrowReport",
    "JudgeRun",
    "LeakReport",
    "PairRun",
    "PublishReport",
    "QuickstartReport",
    "Report",
    "StatsReport",
    "TrainReport",
    "agree",
    "append_rows",
    "audit",
    "bias",
    "build",
    "card",
    "export",
    "grow",
    "judge",
    "leaks",
    "pair",
    "publish",
    "quickstart",
    "stats",
    "train",
]


__getattr__ = on_first_use(__name__, _EXPORTS)


def __dir__() -> list[str]:
    return sorted(__all__)
