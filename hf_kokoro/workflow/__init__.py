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
    from ..evaluation.dialogue_ratings import DialogueReport
    from ..hub import AppendReport, AuditReport, audit
    from ..training.runner import TrainReport
    from .annotating import KitReport, RatingsReport, annotate_adjudicate, annotate_export, annotate_import
    from .appending import append_rows
    from .building import BuildReport, StatsReport, build, export, leaks, stats
    from .comparing import AgreeReport, BiasRun, agree, bias
    from .describing import BuiltCardReport, card, publish
    from .evaluating.agreement import AgreementEvaluation, evaluate_agreement
    from .evaluating.dialogues import evaluate_dialogues
    from .evaluating.emotion import EmotionEvaluation, evaluate_emotion
    from .evaluating.generation import GenerationEvaluation, evaluate_generation
    from .evaluating.preference import PreferenceEvaluation, evaluate_preference
    from .evaluating.scores import ScoresEvaluation, evaluate_scores
    from .expert_codes import ExpertReport, validate_experts
    from .growing import GrowReport
    from .judging import JudgeRun, judge
    from .main_job import QuickstartReport, quickstart
    from .pairing import PairRun, pair
    from .sending import SendReport, send_spooled
    from .training import train
    from .validating import ValidityReport, validate
    from .watching import grow

_EXPORTS = {
    "AgreeReport": ".comparing",
    "AgreementEvaluation": ".evaluating.agreement",
    "AppendReport": "..hub",
    "AuditReport": "..hub",
    "BiasRun": ".comparing",
    "BuildReport": ".building",
    "BuiltCardReport": ".describing",
    "CardReport": "..cards",
    "DialogueReport": "..evaluation.dialogue_ratings",
    "EmotionEvaluation": ".evaluating.emotion",
    "ExpertReport": ".expert_codes",
    "ExportReport": "..corpora.exports",
    "GenerationEvaluation": ".evaluating.generation",
    "GrowReport": ".growing",
    "JudgeRun": ".judging",
    "KitReport": ".annotating",
    "LeakReport": "..corpora.leaks",
    "PairRun": ".pairing",
    "PreferenceEvaluation": ".evaluating.preference",
    "PublishReport": "..cards",
    "QuickstartReport": ".main_job",
    "RatingsReport": ".annotating",
    "Report": "..core.reports",
    "ScoresEvaluation": ".evaluating.scores",
    "SendReport": ".sending",
    "StatsReport": ".building",
    "TrainReport": "..training.runner",
    "ValidityReport": ".validating",
    "agree": ".comparing",
    "annotate_adjudicate": ".annotating",
    "annotate_export": ".annotating",
    "annotate_import": ".annotating",
    "append_rows": ".appending",
    "audit": "..hub",
    "bias": ".comparing",
    "build": ".building",
    "card": ".describing",
    "evaluate_agreement": ".evaluating.agreement",
    "evaluate_dialogues": ".evaluating.dialogues",
    "evaluate_emotion": ".evaluating.emotion",
    "evaluate_generation": ".evaluating.generation",
    "evaluate_preference": ".evaluating.preference",
    "evaluate_scores": ".evaluating.scores",
    "export": ".building",
    "grow": ".watching",
    "judge": ".judging",
    "leaks": ".building",
    "pair": ".pairing",
    "publish": ".describing",
    "quickstart": ".main_job",
    "send_spooled": ".sending",
    "stats": ".building",
    "train": ".training",
    "validate": ".validating",
    "validate_experts": ".expert_codes",
}

__all__ = [
    "AgreeReport",
    "AgreementEvaluation",
    "AppendReport",
    "AuditReport",
    "BiasRun",
    "BuildReport",
    "BuiltCardReport",
    "CardReport",
    "DialogueReport",
    "EmotionEvaluation",
    "ExpertReport",
    "ExportReport",
    "GenerationEvaluation",
    "GrowReport",
    "JudgeRun",
    "KitReport",
    "LeakReport",
    "PairRun",
    "PreferenceEvaluation",
    "PublishReport",
    "QuickstartReport",
    "RatingsReport",
    "Report",
    "ScoresEvaluation",
    "SendReport",
    "StatsReport",
    "TrainReport",
    "ValidityReport",
    "agree",
    "annotate_adjudicate",
    "annotate_export",
    "annotate_import",
    "append_rows",
    "audit",
    "bias",
    "build",
    "card",
    "evaluate_agreement",
    "evaluate_dialogues",
    "evaluate_emotion",
    "evaluate_generation",
    "evaluate_preference",
    "evaluate_scores",
    "export",
    "grow",
    "judge",
    "leaks",
    "pair",
    "publish",
    "quickstart",
    "send_spooled",
    "stats",
    "train",
    "validate",
    "validate_experts",
]


__getattr__ = on_first_use(__name__, _EXPORTS)


def __dir__() -> list[str]:
    return sorted(__all__)
