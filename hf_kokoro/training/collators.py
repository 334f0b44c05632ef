"""Collators that wrap TRL's: they carry `margin`, `weight`, `row_id` and cut prompts between turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from trl.trainer.dpo_trainer import DataCollatorForPreference
from trl.trainer.kto_trainer import DataCollatorForUnpairedPreference

from ..errors import Fault, KokoroError, RowError, describe
from ..tokens.turns import cut_prompt

SCORE_KEYS = ("margin", "weight")
CARRIED_KEYS = (*SCORE_KEYS, "row_id")
COLLATED_KEYS = (*CARRIED_KEYS, "prompt_turns", "length")
"""Columns that must survive until the collator; `prompt_turns` are offsets of `turns.turn_offsets`, `length`
is for samplers that group by it."""


FLOAT32_MAX = 3.4028234663852886e38


class MaskError(KokoroError):
    """A completion would be cut or lost, so its row can't be trained on."""


@dataclass
class ScoredPreferenceCollator(DataCollatorForPreference):
    """Pad pairs to (2B, T), chosen rows first; add `margin`, `weight` float32 (B,) and `row_id` (list of B).

    With `max_length`, a longer row loses its oldest whole turns (`prompt_turns`, both sides alike, so the
    two completions keep one context); the system message and the latest turn stay. Completions are never
    cut: a row that still does not fit, or has an empty completion, raises MaskError with its `row_id`.

    >>> collator = ScoredPreferenceCollator(pad_token_id=0)
    >>> pair = {"prompt_ids": [1, 2], "chosen_ids": [3, 4], "rejected_ids": [5]}
    >>> collator([{**pair, "margin": 2.0, "weight": 0.5}])
    {'input_ids': tensor([[1, 2, 3, 4], [1, 2, 5, 0]]),
     'attention_mask': tensor([[1, 1, 1, 1], [1, 1, 1, 0]]),
     'completion_mask': tensor([[0, 0, 1, 1], [0, 0, 1, 0]]),
     'margin': tensor([2.]), 'weight': tensor([0.5000])}
    """

    def torch_call(self, examples: list[dict[str, Any]]) -> dict[str, Any]:
        fitted = [fit_row(row, ("chosen_ids", "rejected_ids"), self.max_length) for row in examples]
        batch: dict[str, Any] = super().torch_call(fitted)
        return {**batch, **carried_columns(examples)}


@dataclass
class ScoredUnpairedCollator(DataCollatorForUnpairedPreference):
    """Pad unpaired rows to (B, T); add `weight` float32 (B,) and `row_id` (list of B).

    Cuts and refusals as in ScoredPreferenceCollator. The mismatched completion of TRL's KL estimate
    (`KL_completion_ids`) shares the prompt but carries no gradient: its end is cut where the two are too long,
    so that what is trained on never depends on which other answer stands beside it.

    >>> collator = ScoredUnpairedCollator(pad_token_id=0)
    >>> batch = collator([{"prompt_ids": [1], "completion_ids": [2, 3], "label": True, "weight": 0.5}])
    >>> batch["completion_mask"], batch["weight"]
    (tensor([[0, 1, 1]]), tensor([0.5000]))
    """

    def torch_call(self, examples: list[dict[str, Any]]) -> dict[str, Any]:
        fitted = [fit_row(row, ("completion_ids",), self.max_length) for row in examples]
        if self.max_length is not None and "KL_completion_ids" in examples[0]:
            for row in fitted:
                room = self.max_length - len(row["prompt_ids"])
                row["KL_completion_ids"] = row["KL_completion_ids"][:room]
        batch: dict[str, Any] = super().torch_call(fitted)
        return {**batch, **carried_columns(examples)}


def fit_row(row: Mapping[str, Any], sides: Sequence[str], max_length: int | None) -> dict[str, Any]:
    """The row with its prompt cut to leave room for its longest completion; MaskError if it can't be."""
    for side in sides:
        if not row[side]:
            raise MaskError(f"{_name(row)}: {side} is empty; drop the row before training (see the pre-flight table)")
    if max_length is None:
        return dict(row)
    longest = max(len(row[side]) for side in sides)
    prompt = cut_prompt(list(row["prompt_ids"]), row.get("prompt_turns") or (), max_length - longest)
    if prompt is None:
        raise MaskError(
            f"{_name(row)}: got a completion of {longest} tokens after a prompt of {len(row['prompt_ids'])}; "
            f"allowed: max_length {max_length} for the completion and the latest turn; "
            "raise max_length or drop the row before training (see the pre-flight table)"
        )
    return {**row, "prompt_ids": prompt}


def carried_columns(examples: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """`margin` and `weight` as float32 tensors (B,), `row_id` as a list, for those that the rows have."""
    columns: dict[str, Any] = {}
    for key in SCORE_KEYS:
        if key in examples[0]:
            columns[key] = torch.tensor([_score(example, key) for example in examples], dtype=torch.float32)
    if "row_id" in examples[0]:
        columns["row_id"] = [example["row_id"] for example in examples]
    return columns


def is_score(value: Any) -> bool:
    """A finite number >= 0 in float32, which is what a batch holds."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= FLOAT32_MAX


def _score(row: Mapping[str, Any], key: str) -> float:
    # rows of a stream were never looked at before
    value = row[key]
    if not is_score(value):
        raise RowError("scores", [Fault(_name(row), key, describe(value), "a finite number >= 0")])
    return float(value)


def _name(row: Mapping[str, Any]) -> str:
    return f"row {row['row_id']}" if row.get("row_id") is not None else "a row"
