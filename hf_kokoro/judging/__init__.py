"""Scoring single answers on the MITI-ST v1 rubric: judges, verdicts, and the journal that keeps them."""

from __future__ import annotations

from ..miti.no_answers import is_blank, is_placeholder, no_answer
from .journal import Journal, read_journal
from .judge import Judge, judge_names, resolve_judge
from .rubric import Rubric, load_rubric
from .rule import RuleJudge
from .scoring import JudgeReport, score_items
from .scripted import ScriptedJudge
from .verdicts import STATUSES, Item, Opinion, Verdict, text_sha256, unjudged

__all__ = [
    "STATUSES",
    "Item",
    "Journal",
    "Judge",
    "JudgeReport",
    "Opinion",
    "Rubric",
    "RuleJudge",
    "ScriptedJudge",
    "Verdict",
    "is_blank",
    "is_placeholder",
    "judge_names",
    "load_rubric",
    "no_answer",
    "read_journal",
    "resolve_judge",
    "score_items",
    "text_sha256",
    "unjudged",
]
