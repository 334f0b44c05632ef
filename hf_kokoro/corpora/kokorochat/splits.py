"""Which split a KokoroChat dialogue belongs to: the paper's rules, or groups that share nobody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ..splits import GROUPS, TEST, TRAIN, TWO_GROUPS, VALIDATION, Fractions
from .reader import Dialogue
from .schema import SCORE_MAX

SPLIT_CHOICES = (None, "counselor", "client", "person")
TEST_MIN = 99
"""The paper's response-generation test set: the 118 dialogues with score 99 or 100."""
POOLS = {"low": (0, 69), "high": (70, 98), "full": (0, 98)}
_FIXED_TEST_SEED = 0
"""The score-prediction test set stays the same for every seed, as in the paper."""
_VALIDATION = Fractions(test=0.0, validation=0.1)
_TENTH_TEST = Fractions(test=0.1)
# of the nine tenths that are not test, one ninth is validation: 8:1:1
_NINTH_VALIDATION = Fractions(test=0.0, validation=1 / 9)
RESPONSE, SCORES = "response generation", "score prediction"
"""The paper's two rules: its test set by score with training pools, and 8:1:1."""


class RatedDialogue(NamedTuple):
    """What decides a dialogue's split; a `reader.Dialogue` has it too."""

    dialogue_id: int
    client_id: int
    counselor_id: int
    score: int


@dataclass(frozen=True)
class SplitRule:
    """Assigns dialogues to splits; `split_of` is a pure function of the rule and the dialogue."""

    paper: str | None
    pool: str = "full"
    seed: int = 42
    split_by: str | None = None

    def names(self) -> tuple[str, ...]:
        """The splits this rule can fill."""
        if self.split_by is not None:
            return self._group_fractions().names()
        if self.paper is not None:
            return (TRAIN, VALIDATION, TEST)
        return (TRAIN,)

    def split_of(self, dialogue: RatedDialogue | Dialogue) -> str | None:
        """`train`, `validation`, `test`, or None for a dialogue outside the pool or with people on both sides."""
        if self.split_by is not None:
            return self._group_split(dialogue)
        key = str(dialogue.dialogue_id)
        if self.paper == RESPONSE:
            if dialogue.score >= TEST_MIN:
                return TEST
            return _VALIDATION.split_of_key(self.seed, key) if self._in_pool(dialogue.score) else None
        if self.paper == SCORES:
            if _TENTH_TEST.split_of_key(_FIXED_TEST_SEED, key) == TEST:
                return TEST
            return _NINTH_VALIDATION.split_of_key(self.seed, f"validation:{key}")
        return TRAIN

    def why_left_out(self, dialogue: RatedDialogue | Dialogue) -> str | None:
        """Why `split_of` gives no split; None where it gives one."""
        if self.split_of(dialogue) is not None:
            return None
        if self.paper == RESPONSE and not self._lowest <= dialogue.score <= self._highest:
            return f"dialogues outside the pool {self.pool}"
        return "dialogues whose client and counsellor fall into different splits"

    def in_words(self) -> str:
        """How dialogues are divided, for a card."""
        pool = f"Only dialogues of the pool `{self.pool}` (scores {self._lowest}-{self._highest}) are there. "
        pool = pool if self.paper == RESPONSE and self.pool != "full" else ""
        if self.split_by == "person":
            return (
                f"{pool}Split by person (seed {self.seed}), not as in the paper: a fifth of the people are for test. "
                "No client and no counsellor is on both sides; a dialogue whose two people are on different sides is "
                "left out. There is no validation split."
            )
        if self.split_by is not None:
            group, other = ("counsellor", "clients") if self.split_by == "counselor" else ("client", "counsellors")
            return (
                f"{pool}Split by {group} (seed {self.seed}), not as in the paper: a tenth of the {group}s are for "
                f"validation, a tenth for test, and no {group} is in two splits; {other} are."
            )
        if self.paper == RESPONSE:
            return (
                f"As in the paper, test are the dialogues with a score of {TEST_MIN} and above. Of those of the pool "
                f"`{self.pool}` (scores {self._lowest}-{self._highest}) a tenth is for validation (seed {self.seed}), "
                "the rest for training. Splits share people."
            )
        if self.paper == SCORES:
            return (
                "8:1:1 by dialogue, as in the paper; test is the same for every seed, validation follows the seed "
                f"({self.seed}). Splits share people."
            )
        return "All dialogues are in train."

    @property
    def _lowest(self) -> int:
        return POOLS[self.pool][0]

    @property
    def _highest(self) -> int:
        # a group split has no test set by score, so the upper pools keep their best dialogues
        high = POOLS[self.pool][1]
        return SCORE_MAX if self.split_by is not None and high == TEST_MIN - 1 else high

    def _in_pool(self, score: int) -> bool:
        return self._lowest <= score <= self._highest

    def _group_fractions(self) -> Fractions:
        return TWO_GROUPS if self.split_by == "person" else GROUPS

    def _group_split(self, dialogue: RatedDialogue | Dialogue) -> str | None:
        if self.paper == RESPONSE and not self._in_pool(dialogue.score):
            return None
        people = {"counselor": dialogue.counselor_id, "client": dialogue.client_id}
        keys = [str(p) for p in people.values()] if self.split_by == "person" else [str(people[str(self.split_by)])]
        return self._group_fractions().split_of(self.seed, keys)
