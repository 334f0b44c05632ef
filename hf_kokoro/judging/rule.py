"""The rule judge: MITI-ST by English cue lists and forms of sentences. Deterministic, offline, blind to meaning.

It is a baseline and a second opinion: it reads phrases, not intentions, so it misses what is said without
its cues and is fooled by them. Its verdicts are never mixed with a model's in one row. What it looks for,
and how much that counts, stands in `rule_cues.toml`; `rule_reflections` says what it takes for a reflection.
How far it agrees with experts: `scripts/rule_against_experts.py`.

Decisions that shape the scores:
- Texts are matched on a folded copy (NFKC, straight quotes, single spaces, lower case), sentence by sentence.
- Empathy and partnership start from 3 and move with evidence. Empathy counts kinds of evidence, not words, and
  levels 4 and 5 also ask for a share of all sentences, so a long answer earns nothing by being long. Sympathy and
  welcome are not empathy.
- no_persuade is about advice that nobody asked for: advice does not break it where the question asks what to do, or
  where leave is asked or the choice left in the run of advice, just before it or just after. Information is no advice.
- One clear confrontation breaks no_confront, however the answer goes on. A cue of it does not count where it is
  denied, hypothetical or somebody else's opinion.
- A text whose letters are mostly not Latin is not judged: the cues are English. Other languages in Latin letters are
  not told from English.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from ..core.suggest import allowed
from ..errors import UsageError
from .rule_cues import content_words, cue_file, fold, folded_sentences, latin_share, load_cues, load_rules
from .rule_reflections import Reflections
from .verdicts import Opinion, unjudged

MODEL = "rule-based/miti-st-v1-r2"
"""The rubric, and the edition of the rules (the first had no mark); the digest of the cues is in `rubric_sha256`."""
LATIN_SHARE = 0.5
"""Of a text's letters: below it the text is not taken for English."""

_SYMPATHY = ("sorrow", "welcome")
_EMPATHIC = ("validation", "named_feeling", "unsaid")
_INVITING = ("open_question", "asks_view", "choice", "strengths", "together")
_ASKING = ("open_question", "asks_view")
_ONCE_PRESSING = (*_INVITING, "minimising")
"""Kinds that count once, however many sentences show them; no others are looked for where a sentence presses."""
_ONCE = (*_ONCE_PRESSING, *_SYMPATHY)


class RuleJudge:
    """Judge by cue lists; `variant` "strict" is a second reading of the same cues, for comparisons."""

    def __init__(self, variant: str = "") -> None:
        rules = load_rules()
        variants: Mapping[str, Mapping[str, Any]] = rules["variants"]
        if variant and variant not in variants:
            raise UsageError(f"rule judge: variant {variant!r} is not known; {allowed(variant, variants)}")
        self._cues = load_cues()
        self._levels: dict[str, Any] = {**rules["levels"], **variants.get(variant, {})}
        self._reflections = Reflections(self._cues, forms=self._levels["forms_count"])
        self.judge_model = f"{MODEL}-{variant}" if variant else MODEL
        self.rubric_sha256 = hashlib.sha256(f"{MODEL}\n{variant}\n{cue_file()}".encode()).hexdigest()

    def score(self, question: str, answer: str) -> Opinion:
        """Five numbers, or status blank, placeholder, or invalid for a text that is not in Latin letters.

        The reason lists the kinds of cues found.
        """
        share = latin_share(answer)
        if share is None:
            return unjudged(answer) or Opinion("invalid", reason="no letter: the rule judge reads English")
        if share < LATIN_SHARE:
            return Opinion("invalid", reason=f"{share:.0%} of the letters are Latin; the rule judge reads English")
        evidence = self._read(question, answer)
        scores = {
            "empathy": self._empathy(evidence),
            "partnership": self._partnership(evidence),
            "reflection_present": int(evidence.reflections > 0),
            "no_persuade": int(evidence.unasked == 0),
            "no_confront": int(evidence.confrontations == 0),
        }
        return Opinion("scored", scores, reason=evidence.summary())

    def _read(self, question: str, answer: str) -> _Evidence:
        sentences = folded_sentences(answer)
        asked = fold(question)
        evidence, words = _Evidence(sentences=max(1, len(sentences))), content_words(asked)
        advises = [self._read_sentence(sentence, words, evidence) for sentence in sentences]
        if not (self._levels["requests_count"] and self._cues.requested.search(asked)):
            evidence.unasked = sum(self._unpermitted(sentences, advises))
        return evidence

    def _unpermitted(self, sentences: Sequence[str], advises: Sequence[bool]) -> Iterator[int]:
        """The length of each run of advice without permission in it, before it or after it."""
        places = range(len(sentences))
        for advice, run in groupby(places, key=advises.__getitem__):
            if advice:
                said = [*run]
                around = sentences[max(0, said[0] - 1) : said[-1] + 2]
                yield 0 if any(map(self._cues.permission.search, around)) else len(said)

    def _read_sentence(self, sentence: str, asked: frozenset[str], evidence: _Evidence) -> bool:
        """Add what is in the sentence to the evidence; is it advice?"""
        cues = self._cues
        presses, suggests = cues.is_hard_advice(sentence), cues.is_soft_advice(sentence)
        confronts = cues.is_confrontation(sentence, asked)
        reflects = not (presses or suggests or confronts) and self._reflections.is_reflection(sentence, asked)
        # "you need to work through your pain" names a feeling, but to instruct
        empathic = set() if presses else {kind for kind in _EMPATHIC if cues.kinds[kind].search(sentence)}
        once = [kind for kind in (_ONCE_PRESSING if presses else _ONCE) if kind not in evidence.kinds]
        evidence.kinds |= empathic | {kind for kind in once if cues.kinds[kind].search(sentence)}
        evidence.reflections += reflects
        evidence.empathic += reflects or bool(empathic)
        evidence.expert += cues.kinds["expert"].search(sentence)
        evidence.confrontations += confronts
        evidence.pressing += presses
        evidence.suggestions += suggests and not presses
        return presses or suggests

    def _empathy(self, evidence: _Evidence) -> int:
        levels = self._levels
        points = sum(levels[kind] for kind in _EMPATHIC if kind in evidence.kinds)
        points += levels["reflection"] * (evidence.reflections > 0)
        points += levels["second_reflection"] * (evidence.reflections > 1)
        points += levels["minimising"] * ("minimising" in evidence.kinds)
        points += levels["confronts"] * (evidence.confrontations > 0)
        points += levels["instructs"] * (evidence.pressing >= levels["instructs_share"] * evidence.sentences)
        points += levels["untouched"] * self._untouched(evidence)
        level = _level(points, levels["empathy"])
        density = evidence.empathic / evidence.sentences
        four, five = levels["empathy_density"]
        if level == 5 and (density < five or "unsaid" not in evidence.kinds):
            level = 4
        return 3 if level == 4 and density < four else level

    def _untouched(self, evidence: _Evidence) -> bool:
        touched = evidence.empathic > 0 or not evidence.kinds.isdisjoint(_ASKING)
        return not touched and evidence.sentences >= self._levels["untouched_sentences"]

    def _partnership(self, evidence: _Evidence) -> int:
        levels = self._levels
        points = sum(levels[kind] for kind in _INVITING if kind in evidence.kinds)
        points += levels["expert"] * min(evidence.expert, 2)
        points += levels["directive_share"] * min(0.5, evidence.pressing / evidence.sentences)
        return _level(points, levels["partnership"])


def _level(points: float, begins: Sequence[float]) -> int:
    """1 to 5: how many levels have begun at these points."""
    return 1 + sum(points >= begin for begin in begins)


@dataclass
class _Evidence:
    """What was found in one answer; all numbers count sentences."""

    sentences: int
    kinds: set[str] = field(default_factory=set)
    reflections: int = 0
    empathic: int = 0
    expert: int = 0
    pressing: int = 0
    suggestions: int = 0
    unasked: int = 0
    """Advice that was neither asked for nor left to the person."""
    confrontations: int = 0

    def summary(self) -> str:
        """The counts in words, without a word of the answer."""
        counts = (
            ("reflections", self.reflections),
            ("pressing advice", self.pressing),
            ("suggestions", self.suggestions),
            ("unasked", self.unasked),
            ("confrontations", self.confrontations),
        )
        found = ", ".join(sorted(self.kinds)) or "none"
        return "; ".join(f"{name}: {count}" for name, count in counts) + f"; cues: {found}"
