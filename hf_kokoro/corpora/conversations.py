"""Rows of any training config as strictly alternating conversations, and what that cost.

The rule, in this order: consecutive turns of one role are merged (joined by a line break); turns before the
first user turn and after the last assistant turn are trimmed (a counsellor's opening among them); what has no
user turn answered by an assistant turn is dropped. For preferences the prompt has to end with a user turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import UsageError

Message = dict[str, str]
RUN_JOINER = "\n"


@dataclass(frozen=True)
class Conversation:
    """Alternating `turns` from user to assistant; for preferences from user to user, with the answers beside.

    Exactly one kind: plain (`chosen` and `label` None), preference (`chosen`, `rejected`) or labelled (`label`).
    """

    system: str
    turns: Sequence[Message]
    chosen: str | None = None
    rejected: str | None = None
    label: bool | None = None


@dataclass
class Alternation:
    """Counts of what making the turns alternate has cost."""

    rows_in: int = 0
    rows_out: int = 0
    rows_dropped: int = 0
    rows_touched: int = 0
    turns_in: int = 0
    turns_merged: int = 0
    turns_trimmed: int = 0

    def as_dict(self) -> dict[str, int | float]:
        """The counts, and the share of turns trimmed in per cent."""
        left = max(self.turns_in - self.turns_merged, 1)
        return {**asdict(self), "trimmed_percent": round(100 * self.turns_trimmed / left, 2)}


def kind_of(columns: Iterable[str]) -> str:
    """`messages`, `preference`, `labelled` or `completion`, by the columns of the rows. Raises UsageError."""
    names = set(columns)
    if {"prompt", "chosen", "rejected"} <= names:
        return "preference"
    if {"prompt", "completion", "label"} <= names:
        return "labelled"
    if {"prompt", "completion"} <= names:
        return "completion"
    if "messages" in names:
        return "messages"
    raise UsageError(
        "export: this config holds no conversations to train on; allowed: configs with messages, prompt and "
        "completion, or prompt, chosen and rejected (such as response_generation, sft, pairs, unpaired)"
    )


def conversations(rows: Iterable[Mapping[str, Any]], kind: str, counts: Alternation) -> Iterator[Conversation]:
    """Yield what can be exported, in order; `counts` is filled as it goes."""
    for row in rows:
        counts.rows_in += 1
        before = counts.turns_merged + counts.turns_trimmed
        made = _PARTS[kind](row, counts)
        if made is None:
            counts.rows_dropped += 1
            continue
        counts.rows_touched += counts.turns_merged + counts.turns_trimmed > before
        counts.rows_out += 1
        yield made


def _messages(row: Mapping[str, Any], counts: Alternation) -> Conversation | None:
    system, turns = _alternating(row["messages"], counts)
    turns = _trim_end(turns, "assistant", counts)
    return Conversation(system, turns) if turns else None


def _completion(row: Mapping[str, Any], counts: Alternation) -> Conversation | None:
    return _messages({"messages": [*_turns(row["prompt"], "user"), *_turns(row["completion"], "assistant")]}, counts)


def _preference(row: Mapping[str, Any], counts: Alternation) -> Conversation | None:
    system, turns = _alternating(_turns(row["prompt"], "user"), counts)
    if not turns or turns[-1]["role"] != "user":
        return None
    return Conversation(system, turns, chosen=_answer(row["chosen"]), rejected=_answer(row["rejected"]))


def _labelled(row: Mapping[str, Any], counts: Alternation) -> Conversation | None:
    system, turns = _alternating(_turns(row["prompt"], "user"), counts)
    if not turns or turns[-1]["role"] != "user":
        return None
    answer = {"role": "assistant", "content": _answer(row["completion"])}
    return Conversation(system, [*turns, answer], label=bool(row["label"]))


_PARTS = {"messages": _messages, "completion": _completion, "preference": _preference, "labelled": _labelled}


def _turns(value: Any, role: str) -> list[Message]:
    return [{"role": role, "content": value}] if isinstance(value, str) else [dict(message) for message in value]


def _answer(value: Any) -> str:
    return RUN_JOINER.join(message["content"] for message in _turns(value, "assistant"))


def _alternating(messages: Sequence[Message], counts: Alternation) -> tuple[str, list[Message]]:
    """(system text, turns): runs merged, and everything before the first user turn trimmed."""
    system = RUN_JOINER.join(m["content"] for m in messages if m["role"] == "system")
    spoken = [m for m in messages if m["role"] != "system"]
    counts.turns_in += len(spoken)
    merged: list[Message] = []
    for message in spoken:
        if merged and merged[-1]["role"] == message["role"]:
            merged[-1] = {**merged[-1], "content": merged[-1]["content"] + RUN_JOINER + message["content"]}
            counts.turns_merged += 1
        else:
            merged.append({"role": message["role"], "content": message["content"]})
    first = next((i for i, m in enumerate(merged) if m["role"] == "user"), len(merged))
    counts.turns_trimmed += first
    return system, merged[first:]


def _trim_end(turns: list[Message], role: str, counts: Alternation) -> list[Message]:
    """Turns up to the last one of `role`; they alternate, so there is one to take off at most."""
    if turns and turns[-1]["role"] != role:
        counts.turns_trimmed += 1
        return turns[:-1]
    return turns
