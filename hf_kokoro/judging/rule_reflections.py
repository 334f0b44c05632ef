"""What the rule judge takes for a reflection: a statement that gives back what the person said, felt or meant.

Questions, conditions, talk about oneself and what is true of anybody give nothing back. What is left is a reflection
- by its words ("it sounds like you ...", "part of you ... another part"), or
- by its form: its subject is the person ("you miss her", also with a question mark), it says how something seems, or
  it sums up ("so you ..."), or
- by what it takes up: it speaks to the person in words that were theirs, or is made of their words altogether.
After a short turn the form is enough; whoever was told much takes up some of it.
"""

from __future__ import annotations

import re

from .rule_cues import Cues, content_words

MUCH = 20
"""Content words above which a person has said much."""
_ECHO = 0.6
"""The share of a statement's content words that are the person's own, where it does not say "you"."""
_TO_YOU = re.compile(r"\byou(?:r|'re|'ve|'d)?\b")
_MAY_STATE = re.compile(r"you|sounds| must ")


class Reflections:
    """Finds reflections among folded sentences that are neither advice nor confrontation."""

    def __init__(self, cues: Cues, *, forms: bool = True) -> None:
        """Without `forms` only what is one by its words counts."""
        self._cues, self._forms = cues, forms

    def is_reflection(self, sentence: str, asked: frozenset[str]) -> bool:
        """`asked` are the content words of what the person said."""
        return self._by_words(sentence) or (self._forms and self._by_form(sentence, asked))

    def _by_words(self, sentence: str) -> bool:
        if not _MAY_STATE.search(sentence):
            return False
        cue = self._cues.reflection
        found = list(self._cues.overt.finditer(sentence))
        if not sentence.endswith("?"):
            stated = self._cues.stated.finditer(sentence)
            found += (match for match in stated if cue["clause_start"].search(sentence[: match.start()]))
        return any(
            not cue["hypothetical"].search(sentence[: match.start()])
            and not cue["not_stated"].search(sentence, match.start())
            for match in found
        )

    def _by_form(self, sentence: str, asked: frozenset[str]) -> bool:
        cue, said = self._cues.reflection, self._cues.without_lead_in(sentence)
        if " " not in said or cue["about_speaker"].search(said) or cue["general"].search(said):
            return False
        if self._cues.is_question(sentence):
            return False
        words, to_you, much = content_words(said), bool(_TO_YOU.search(said)), len(asked) > MUCH
        shared = len(words & asked)
        if cue["about_you"].search(said) or (cue["seems"].search(said) and (to_you or not much)):
            return shared >= much
        if cue["sums_up"].search(said) and (to_you or shared):
            return shared >= 2 * much
        if said.endswith("?") or cue["possible"].search(said):
            return False
        if to_you:
            return shared >= (max(3, len(words) / 3) if much else 1)
        return not much and shared >= max(1, _ECHO * len(words))
