"""Preference accuracy against log-probs worked out by hand."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from transformers import PretrainedConfig

from hf_kokoro.errors import SourceError, UsageError
from hf_kokoro.evaluation.preference import accuracy, evaluate_preference, preference_accuracy, score_pairs
from hf_kokoro.evaluation.preference_scorers import reward_scorer, rule_scorer
from hf_kokoro.tokens.pairs import pair_ids
from hf_kokoro.training.tiny import build_tiny_model


class BigramModel(torch.nn.Module):
    """A 'model' whose next-token logits are a row of a 4 x 4 table, so log-probs can be checked on paper."""

    def __init__(self, table: list[list[float]]) -> None:
        super().__init__()
        self.table = torch.nn.Parameter(torch.tensor(table))
        self.config = PretrainedConfig(max_position_embeddings=16)

    def forward(self, input_ids: torch.Tensor, **_: Any) -> SimpleNamespace:
        return SimpleNamespace(logits=self.table[input_ids])


# after token 1: tokens 2 and 3 with probabilities 3/4 and 1/4; after 2: 1/2 and 1/2; after 3: always 2
TABLE = [
    [0.0, 0.0, 0.0, 0.0],
    [-1e9, -1e9, math.log(3.0), 0.0],
    [-1e9, -1e9, 0.0, 0.0],
    [-1e9, -1e9, 0.0, -1e9],
]


def test_summed_log_probs_equal_the_hand_computed_ones_for_every_batch_size() -> None:
    pairs = [([1], [2, 2], [3, 2, 2]), ([3, 1], [3], [2])]
    expected_chosen = [math.log(3 / 4 * 1 / 2), math.log(1 / 4)]
    expected_rejected = [math.log(1 / 4 * 1 * 1 / 2), math.log(3 / 4)]
    for batch_size in (1, 3, 8):
        found = score_pairs(BigramModel(TABLE), pairs, 0, batch_size)
        assert found.chosen == pytest.approx(expected_chosen, abs=1e-6)
        assert found.rejected == pytest.approx(expected_rejected, abs=1e-6)
        assert found.chosen_tokens == [2, 1]
        assert found.rejected_tokens == [3, 1]


def test_ties_count_half_and_are_reported() -> None:
    found = accuracy([1.0, 2.0, 0.0, 5.0], [0.0, 2.0, 1.0, 5.0])
    assert found.value == 0.5  # one win, one loss, two ties
    assert found.ties == 2


def test_the_interval_is_wilsons() -> None:
    # 8 of 10, 95 %: (0.4902, 0.9433), Wilson 1927, as tables print it
    found = accuracy([1.0] * 8 + [0.0] * 2, [0.5] * 10)
    assert (round(found.low, 4), round(found.high, 4)) == (0.4902, 0.9433)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(
        build_tiny_model(["what helps you sleep", "you should rest"], tmp_path_factory.mktemp("tiny"), context=64)
    )


def _messages(role: str, text: str) -> list[dict[str, str]]:
    return [{"role": role, "content": text}]


def _pair(chosen: str, rejected: str) -> dict[str, Any]:
    return {
        "prompt": _messages("user", "what helps"),
        "chosen": _messages("assistant", chosen),
        "rejected": _messages("assistant", rejected),
    }


def test_a_policy_equal_to_its_reference_ties_everywhere_and_the_longer_baseline_does_not(tiny: str) -> None:
    pairs = [_pair("sleep more and rest", "no"), _pair("rest", "you should sleep now")]
    report = evaluate_preference(pairs, tiny, tiny)
    assert report.reward is not None
    assert (report.reward.value, report.reward.ties, report.reward_margin) == (0.5, 2, 0.0)
    assert (report.longer_wins.value, report.longer_wins.ties) == (0.5, 0)
    assert report.skipped == 0


def test_log_probs_agree_with_the_models_own_loss_on_the_rendered_conversation(tiny: str) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model, tokenizer = AutoModelForCausalLM.from_pretrained(tiny), AutoTokenizer.from_pretrained(tiny)
    prompt, answer = "<|im_start|>user\nwhat helps<|im_end|>\n<|im_start|>assistant\n", "rest<|im_end|>\n"
    ids = tokenizer(prompt + answer, return_tensors="pt", add_special_tokens=False)["input_ids"]
    labels = ids.clone()
    labels[:, : len(tokenizer(prompt, add_special_tokens=False)["input_ids"])] = -100
    completion = int((labels != -100).sum())
    expected = -model(input_ids=ids, labels=labels).loss.item() * completion
    pair = _pair("rest", "sleep")
    ids_of_prompt, (chosen, rejected) = pair_ids(tokenizer, pair["prompt"], [pair["chosen"], pair["rejected"]])
    tokens = (ids_of_prompt, chosen, rejected)
    assert len(tokens[1]) == completion
    found = score_pairs(model, [tokens], tokenizer.pad_token_id, 4)
    assert found.chosen[0] == pytest.approx(expected, abs=1e-4)


def test_pairs_beyond_the_context_are_left_out_and_counted(tiny: str) -> None:
    report = evaluate_preference([_pair("rest", "sleep"), _pair("word " * 200, "sleep")], tiny)
    assert (report.pairs, report.skipped) == (1, 1)
    assert report.reward is None


def test_no_pair_at_all_is_an_error() -> None:
    with pytest.raises(UsageError, match="got 0, none within 16 tokens"):
        preference_accuracy([], BigramModel(TABLE), None)


def test_strings_and_messages_are_both_accepted(tiny: str) -> None:
    report = evaluate_preference([{"prompt": "what helps ", "chosen": "rest", "rejected": "sleep"}], tiny)
    assert report.pairs == 1


def test_accuracies_within_strata_add_up_to_the_overall_one(tiny: str) -> None:
    names = [("a", "b"), ("a", "x"), ("x", "y"), ("b", "a")]
    pairs = [
        {**_pair("rest now", "no"), "margin": margin, "chosen_therapist": one, "rejected_therapist": other}
        for margin, (one, other) in zip((1.0, 2.0, 5.0, 9.0), names, strict=True)
    ]
    report = evaluate_preference(pairs, tiny, scorers={"margin": lambda pair, side: 1.0}, seen_therapists={"a", "b"})
    assert {name: found["log_prob"].pairs for name, found in report.strata["margin"].items()} == {
        "1-2": 2,
        "3-5": 1,
        "6-13": 1,
    }
    groups = report.strata["therapists"]
    assert {name: found["longer_wins"].pairs for name, found in groups.items()} == {
        "both seen": 2,
        "one seen": 1,
        "none seen": 1,
    }
    for reading in ("log_prob", "longer_wins"):
        total = sum(found[reading].value * found[reading].pairs for found in groups.values())
        assert total / 4 == pytest.approx(getattr(report, reading).value)
    assert (report.others["margin"].value, report.others["margin"].ties) == (0.5, 4)


def test_the_rule_judge_prefers_the_answer_with_more_of_its_cues() -> None:
    score = rule_scorer()
    pair = _pair(
        "It sounds like you feel worn out and alone with this. What do you think would help you most?",
        "You must stop being lazy. Just get over it.",
    )
    assert score(pair, "chosen") > score(pair, "rejected")
    plain = {"prompt": "what helps", "chosen": pair["chosen"][0]["content"], "rejected": "x"}
    assert score(plain, "chosen") == score(pair, "chosen")


def test_a_reward_models_score_is_its_head_on_the_last_token(tiny: str, tmp_path: Path) -> None:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    torch.manual_seed(0)
    model = AutoModelForSequenceClassification.from_pretrained(tiny, num_labels=1)
    tokenizer = AutoTokenizer.from_pretrained(tiny)
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    pair = _pair("rest now", "no")
    text = tokenizer.apply_chat_template(pair["prompt"] + pair["chosen"], tokenize=False)
    ids = tokenizer(text, return_tensors="pt", add_special_tokens=False)["input_ids"]
    with torch.no_grad():
        expected = model.score(model.model(input_ids=ids).last_hidden_state[0, -1]).item()
    assert reward_scorer(tmp_path)(pair, "chosen") == pytest.approx(expected, abs=1e-5)


def test_a_classifier_with_several_outputs_is_no_reward_model(tiny: str, tmp_path: Path) -> None:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    AutoModelForSequenceClassification.from_pretrained(tiny, num_labels=3).save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(tiny).save_pretrained(tmp_path)
    with pytest.raises(UsageError, match="has 3 outputs; allowed: one"):
        reward_scorer(tmp_path)
    with pytest.raises(SourceError, match="can't be loaded"):
        reward_scorer(tmp_path / "nothing")
