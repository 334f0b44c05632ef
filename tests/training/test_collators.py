"""Exact tensors of the collators, and prompts cut between turns."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from hf_kokoro.errors import RowError
from hf_kokoro.training.collators import MaskError, ScoredPreferenceCollator, ScoredUnpairedCollator, carried_columns

PAIRS = [
    {
        "prompt_ids": [1, 2],
        "chosen_ids": [3, 4],
        "rejected_ids": [5],
        "margin": 2,
        "weight": 0.5,
        "row_id": "a",
    },
    {
        "prompt_ids": [6],
        "chosen_ids": [7],
        "rejected_ids": [8, 9],
        "margin": 1.5,
        "weight": 1.5,
        "row_id": "b",
    },
]


def assert_batch(batch: dict[str, Any], expected: dict[str, Any]) -> None:
    assert set(batch) == set(expected)
    for key, value in expected.items():
        found = batch[key].tolist() if isinstance(batch[key], torch.Tensor) else batch[key]
        assert found == value, key


def test_pairs_become_chosen_rows_then_rejected_rows_with_scores_beside() -> None:
    batch = ScoredPreferenceCollator(pad_token_id=0)(PAIRS)
    assert_batch(
        batch,
        {
            "input_ids": [[1, 2, 3, 4], [6, 7, 0, 0], [1, 2, 5, 0], [6, 8, 9, 0]],
            "attention_mask": [[1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 0]],
            "completion_mask": [[0, 0, 1, 1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 1, 1, 0]],
            "margin": [2.0, 1.5],
            "weight": [0.5, 1.5],
            "row_id": ["a", "b"],
        },
    )
    assert batch["margin"].dtype == batch["weight"].dtype == torch.float32


def test_unpaired_rows_keep_their_kl_completion_and_weight() -> None:
    rows = [
        {
            "prompt_ids": [1, 2],
            "completion_ids": [3],
            "KL_completion_ids": [5, 6],
            "label": True,
            "weight": 2.0,
        },
        {
            "prompt_ids": [4],
            "completion_ids": [5, 6],
            "KL_completion_ids": [3],
            "label": False,
            "weight": 0.0,
        },
    ]
    assert_batch(
        ScoredUnpairedCollator(pad_token_id=0)(rows),
        {
            "input_ids": [[1, 2, 3], [4, 5, 6]],
            "attention_mask": [[1, 1, 1], [1, 1, 1]],
            "completion_mask": [[0, 0, 1], [0, 1, 1]],
            "KL_input_ids": [[1, 2, 5, 6], [4, 3, 0, 0]],
            "KL_attention_mask": [[1, 1, 1, 1], [1, 1, 0, 0]],
            "KL_completion_mask": [[0, 0, 1, 1], [0, 1, 0, 0]],
            "label": [True, False],
            "weight": [2.0, 0.0],
        },
    )


def test_a_mismatched_completion_that_does_not_fit_is_cut_and_never_the_rows_own() -> None:
    row = {"prompt_ids": [1, 2], "completion_ids": [3, 4], "KL_completion_ids": [5, 6, 7, 8], "label": True}
    batch = ScoredUnpairedCollator(pad_token_id=0, max_length=5)([row])
    assert batch["input_ids"].tolist() == [[1, 2, 3, 4]]
    assert batch["KL_input_ids"].tolist() == [[1, 2, 5, 6, 7]]
    assert batch["KL_completion_mask"].tolist() == [[0, 0, 1, 1, 1]]


def test_padding_is_masked_by_length_even_where_pad_and_end_are_one_token() -> None:
    end = 9
    rows = [
        {"prompt_ids": [1], "chosen_ids": [2, 3, end], "rejected_ids": [2, end]},
        {"prompt_ids": [1], "chosen_ids": [2, end], "rejected_ids": [end]},
    ]
    batch = ScoredPreferenceCollator(pad_token_id=end)(rows)
    # the real end token of every row carries loss, its look-alikes behind it do not
    assert batch["completion_mask"].tolist() == [[0, 1, 1, 1], [0, 1, 1, 0], [0, 1, 1, 0], [0, 1, 0, 0]]


def test_a_long_prompt_loses_its_oldest_whole_turns_on_both_sides_alike() -> None:
    row = {
        "prompt_ids": [90, 91, 10, 11, 12, 20, 21, 30, 31],  # 90, 91: system; turns start at 2, 5 and 7
        "prompt_turns": [2, 5, 7],
        "chosen_ids": [1, 2, 3],
        "rejected_ids": [4],
    }
    batch = ScoredPreferenceCollator(pad_token_id=0, max_length=9)([row])
    assert batch["input_ids"].tolist() == [
        [90, 91, 20, 21, 30, 31, 1, 2, 3],
        [90, 91, 20, 21, 30, 31, 4, 0, 0],
    ]
    shorter = ScoredPreferenceCollator(pad_token_id=0, max_length=7)([row])
    assert shorter["input_ids"].tolist()[0] == [90, 91, 30, 31, 1, 2, 3]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"chosen_ids": []}, "chosen_ids is empty"),
        ({"rejected_ids": []}, "rejected_ids is empty"),
        ({"chosen_ids": [1] * 8}, "completion of 8 tokens after a prompt of 2"),
        ({"prompt_ids": [1] * 8, "prompt_turns": [0]}, "prompt of 8"),
    ],
)
def test_a_completion_that_would_vanish_or_be_cut_is_refused_with_its_row(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(MaskError, match=f"row a: .*{reason}"):
        ScoredPreferenceCollator(pad_token_id=0, max_length=8)([{**PAIRS[0], **changes}])


@pytest.mark.parametrize("mode", ["keep_start", "keep_end"])
def test_neither_truncation_mode_of_trl_reaches_a_short_answer_behind_a_long_prompt(mode: str) -> None:
    # keep_start would leave no answer at all, keep_end would cut the prompt in the middle of a turn
    turns = list(range(0, 600, 50))
    row = {"prompt_ids": [7] * 600, "prompt_turns": turns, "chosen_ids": [1, 2, 3, 4], "rejected_ids": [5]}
    batch = ScoredPreferenceCollator(pad_token_id=0, max_length=512, truncation_mode=mode)([row])
    assert batch["input_ids"].shape == (2, 504)  # 500 tokens of whole turns and the answer
    assert batch["completion_mask"].sum(1).tolist() == [4, 1]
    assert batch["input_ids"][0, -4:].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("value", [float("inf"), float("nan"), True, -1.0, 3.5e38, "2", None], ids=repr)
def test_what_is_no_score_is_refused_where_the_collator_is_used_directly(value: object) -> None:
    with pytest.raises(RowError, match="finite number"):
        carried_columns([{"margin": value, "row_id": "r1"}])
