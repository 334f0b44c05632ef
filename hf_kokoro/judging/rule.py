"""The rule judge: MITI-ST by English cue lists. Deterministic, offline, free, and blind to meaning.

It is a baseline and a second opinion: it reads phrases, not intentions, so it misses what is said without
its cues and is fooled by them. Its verdicts are never mixed with a model's in one row. What it looks for,
and how much that counts, stands in `rule_cues.toml`; this module says how sentences are read.

Decisions that shape the scores:
- Texts are matched on a folded copy (NFKC, straight quotes, single spaces, lower case), sentence by sentence.
- Empathy counts kinds of evidence, not words, and levels 4 and 5 also ask for a share of all sentences, so a
  long answer earns nothing by being long.
- A question on a forum is not by itself a request for advice. Pressing advice always breaks no_persuade;
  suggestions do from the second on (from the fourth on if the client asked what to do), and not at all where
  the answer asks permission or leaves the choice in that sentence or the one before.
- A cue of confrontation does not count where it is denied, hypothetical or somebody else's opinion.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.suggest import allowed
from ..errors import UsageError
from .rule_cues import content_words, cue_file, fold, folded_sentences, load_cues, load_rules
from .verdicts import Opinion

MODEL = "rule-based/miti-st-v1"

_EMPATHIC = ("sorrow", "welcome", "validation", "named_feeling", "unsaid")
_INVITING = ("open_question", "asks_view", "choice", "strengths", "together")
_TO_YOU = re.compile(r"\byou(?:r|'re|'ve)?\b")


class RuleJudge:
    """Judge by cue lists; `variant` "strict" is a second reading of the same cues, for comparisons."""

    def __init__(self, variant: str = "") -> None:
        rules = load_rules()
        variants: Mapping[str, Mapping[str, Any]] = rules["variants"]
        if variant and variant not in variants:
            raise UsageError(f"rule judge: variant {variant!r} is not known; {allowed(variant, variants)}")
        self._cues = load_cues()
        self._levels: dict[str, Any] = {**rules["levels"], **variants.get(variant, {})}
        self.judge_model = f"{MODEL}-{variant}" if variant else MODEL
        self.rubric_sha256 = hashlib.sha256(f"{variant}\n{cue_file()}".encode()).hexdigest()

    def score(self, question: str, answer: str) -> Opinion:
        """Always scored: every text gets five numbers. The reason lists the kinds of cues found."""
        evidence = self._read(question, answer)
        scores = {
            "empathy": self._empathy(evidence),
            "partnership": self._partnership(evidence),
            "reflection_present": int(evidence.reflections > 0),
            "no_persuade": int(not self._persuades(evidence)),
            "no_confront": int(evidence.confrontations == 0),
        }
        return Opinion("scored", scores, reason=evidence.summary())

    def _read(self, question: str, answer: str) -> _Evidence:
        sentences = folded_sentences(answer)
        asked = fold(question)
        evidence = _Evidence(sentences=max(1, len(sentences)), requested=bool(self._cues.requested.search(asked)))
        asked_words = content_words(asked)
        allowed_before = False
        for sentence in sentences:
            allowed = bool(self._cues.permission.search(sentence))
            self._read_sentence(sentence, asked_words, allowed or allowed_before, evidence)
            allowed_before = allowed
        return evidence

    def _read_sentence(self, sentence: str, asked: frozenset[str], allowed: bool, evidence: _Evidence) -> None:
        cues = self._cues
        hard, soft = cues.is_hard_advice(sentence), cues.is_soft_advice(sentence)
        reflects = cues.is_reflection(sentence) or (not hard and not soft and self._restates(sentence, asked))
        # "you need to work through your pain" names a feeling, but to instruct
        felt = {kind for kind in _EMPATHIC if cues.kinds[kind].search(sentence)} if not hard else set()
        evidence.reflections += reflects
        evidence.empathic += reflects or bool(felt)
        evidence.kinds |= felt | {kind for kind in _INVITING if cues.kinds[kind].search(sentence)}
        evidence.minimising += bool(cues.kinds["minimising"].search(sentence))
        evidence.expert += bool(cues.kinds["expert"].search(sentence))
        evidence.confrontations += cues.is_confrontation(sentence)
        evidence.directive += hard
        if not allowed:
            evidence.hard += hard
            evidence.soft += soft and not hard

    def _restates(self, sentence: str, asked: frozenset[str]) -> bool:
        """A statement to "you" made mostly of the question's own content words."""
        if "?" in sentence or not _TO_YOU.search(sentence):
            return False
        words = content_words(sentence)
        enough = max(self._levels["restated_words"], self._levels["restated_share"] * len(words))
        return bool(len(words & asked) >= enough)

    def _empathy(self, evidence: _Evidence) -> int:
        levels = self._levels
        points = sum(levels[kind] for kind in _EMPATHIC if kind in evidence.kinds)
        points += levels["reflection"] * (evidence.reflections > 0)
        points += levels["second_reflection"] * (evidence.reflections > 1)
        points += levels["minimising"] * (evidence.minimising > 0)
        level = 1 + sum(bool(points >= threshold) for threshold in levels["empathy"])
        density = evidence.empathic / evidence.sentences
        four, five = levels["empathy_density"]
        if level == 5 and (density < five or "unsaid" not in evidence.kinds):
            level = 4
        return 3 if level == 4 and density < four else level

    def _partnership(self, evidence: _Evidence) -> int:
        levels = self._levels
        points = levels["base"] + sum(levels[kind] for kind in _INVITING if kind in evidence.kinds)
        points += levels["expert"] * min(evidence.expert, 2)
        points += levels["directive_share"] * min(0.5, evidence.directive / evidence.sentences)
        return 1 + sum(bool(points >= threshold) for threshold in levels["partnership"])

    def _persuades(self, evidence: _Evidence) -> bool:
        limit = self._levels["soft_limit_requested" if evidence.requested else "soft_limit"]
        return bool(evidence.hard > self._levels["hard_limit"] or evidence.soft > limit)


@dataclass
class _Evidence:
    """What was found in one answer; all numbers count sentences."""

    sentences: int
    requested: bool
    kinds: set[str] = field(default_factory=set)
    reflections: int = 0
    empathic: int = 0
    minimising: int = 0
    expert: int = 0
    directive: int = 0
    hard: int = 0
    soft: int = 0
    confrontations: int = 0

    def summary(self) -> str:
        """The counts in words, without a word of the answer."""
        counts = (
            ("reflections", self.reflections),
            ("pressing advice", self.hard),
            ("suggestions", self.soft),
            ("confrontations", self.confrontations),
        )
        found = ", ".join(sorted(self.kinds)) or "none"
        return "; ".join(f"{name}: {count}" for name, count in counts) + f"; cues: {found}"
