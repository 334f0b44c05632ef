"""Roles that templates refuse, windows at turn boundaries, and the one-pass loss against the expansion."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import Dataset

from hf_kokoro.tokens.chat_templates import ensure_training_template
from hf_kokoro.tokens.turns import turn_starts
from hf_kokoro.training.sft_data import IGNORED, tokenize_sft, with_system
from hf_kokoro.training.tiny import build_tokenizer

from .training_rows import dialogue, message


def test_a_turn_that_starts_inside_a_token_carries_loss_once_all_the_same() -> None:
    # llm-jp writes line breaks before its headings: after a text that ends in one, both may be a single token
    tokenizer = build_tokenizer(["turn sleep\n\n\n\n### 指示:\n 応答:"] * 50, 400, 2048)
    ensure_training_template(tokenizer, "llm-jp")
    turns = [message(("user", "assistant")[at % 2], f"turn {at} sleep\n\n") for at in range(12)]
    assert None in turn_starts(tokenizer, turns)
    tokens = tokenize_sft(Dataset.from_list([{"messages": turns}]), tokenizer, 80, overlap=40)
    assert len(tokens) > 2
    learnt = Counter(
        turn
        for row in tokens
        for turn in re.findall(r"turn (\d+)", tokenizer.decode([label for label in row["labels"] if label != IGNORED]))
    )
    assert learnt == Counter({str(at): 1 for at in range(1, 12, 2)})


def test_overlap_turns_are_context_without_loss(tokenizer: Any) -> None:
    rows = Dataset.from_list([{"messages": dialogue(21)}])
    plain = tokenize_sft(rows, tokenizer, 120)
    overlapping = tokenize_sft(rows, tokenizer, 120, overlap=40)
    assert sum(map(len, overlapping["input_ids"])) > sum(map(len, plain["input_ids"]))

    def supervised(tokens: Any) -> list[int]:
        return [label for labels in tokens["labels"] for label in labels if label != IGNORED]

    assert supervised(plain) == supervised(overlapping)


def test_rows_that_cannot_be_trained_on_are_named_by_number_and_reason(tokenizer: Any) -> None:
    rows = Dataset.from_list(
        [
            {"messages": dialogue(4)},
            {"messages": dialogue(2, words=300)},
            {"messages": [message("user", "only me")]},
            {"messages": dialogue(30)},
        ]
    )
    tokens = tokenize_sft(rows, tokenizer, 150)
    status = dict(zip(tokens["source"], tokens["status"], strict=True))
    assert status == {0: "whole", 1: "too_long", 2: "no_answer", 3: "cut"}
    assert all(len(ids) <= 150 for ids in tokens["input_ids"])


def test_a_long_prompt_keeps_system_message_and_latest_turns_and_its_whole_completion(tokenizer: Any) -> None:
    prompt = [message("system", "be kind"), *dialogue(30)]
    rows = Dataset.from_list([{"prompt": prompt, "completion": [message("assistant", "rest now")]}])
    tokens = tokenize_sft(rows, tokenizer, 100)
    text = tokenizer.decode(tokens["input_ids"][0])
    assert tokens["status"] == ["cut"]
    assert text.startswith("<|im_start|>system\nbe kind<|im_end|>\n<|im_start|>")
    assert "turn 29 " in text
    assert "turn 20 " not in text
    learnt = [label for label in tokens["labels"][0] if label != IGNORED]
    assert tokenizer.decode(learnt) == "rest now<|im_end|>\n"


def test_the_recipes_system_prompt_never_replaces_a_rows_own() -> None:
    assert with_system([message("user", "hi")], "be kind")[0] == message("system", "be kind")
    own = [message("system", "mine"), message("user", "hi")]
    assert with_system(own, "be kind") == own


def _loss_and_gradient(model: Any, rows: list[dict[str, list[int]]]) -> tuple[float, torch.Tensor, int]:
    """Summed token loss over all rows and its gradient, in float64."""
    model = model.double()
    model.zero_grad()
    total, count = torch.zeros((), dtype=torch.float64), 0
    for row in rows:
        ids, labels = torch.tensor([row["input_ids"]]), torch.tensor(row["labels"])
        log_probs = torch.log_softmax(model(input_ids=ids).logits[0, :-1], dim=-1)
        kept = labels[1:] != IGNORED
        total = total - log_probs[kept].gather(1, labels[1:][kept].unsqueeze(1)).sum()
        count += int(kept.sum())
    total.backward()
    return total.item(), torch.cat([p.grad.flatten() for p in model.parameters()]), count


@pytest.mark.parametrize("opens_with", ["assistant", "user"])
def test_one_pass_has_the_loss_and_gradient_of_one_example_per_turn(
    opens_with: str, load_tiny: Any, tokenizer: Any
) -> None:
    messages = dialogue(9)[0 if opens_with == "assistant" else 1 :]
    system = [message("system", "be kind")]
    one_pass = tokenize_sft(Dataset.from_list([{"messages": system + messages}]), tokenizer, 512)
    expanded = []
    for at, turn in enumerate(messages):
        if turn["role"] != "assistant":
            continue
        text = tokenizer.apply_chat_template(
            system + messages[: at + 1], tokenize=True, return_dict=True, return_assistant_tokens_mask=True
        )
        prompt = tokenizer.apply_chat_template(
            system + messages[:at], tokenize=True, return_dict=True, add_generation_prompt=True
        )["input_ids"]
        labels = [
            token if mask and place >= len(prompt) else IGNORED
            for place, (token, mask) in enumerate(zip(text["input_ids"], text["assistant_masks"], strict=True))
        ]
        expanded.append({"input_ids": text["input_ids"], "labels": labels})
    first = _loss_and_gradient(load_tiny(0.02), list(one_pass))
    second = _loss_and_gradient(load_tiny(0.02), expanded)
    assert first[2] == second[2] > 0
    assert first[0] == pytest.approx(second[0], rel=1e-6)
    assert (first[1] - second[1]).norm().item() <= 1e-5 * second[1].norm().item()


def test_the_trainer_computes_that_very_loss(load_tiny: Any, tokenizer: Any, tmp_path: Path) -> None:
    from trl import SFTConfig, SFTTrainer

    from .training_rows import QUICK

    tokens = tokenize_sft(Dataset.from_list([{"messages": dialogue(9)}]), tokenizer, 512)
    expected, _, count = _loss_and_gradient(load_tiny(0.02), list(tokens))
    trainer = SFTTrainer(
        model=load_tiny(0.02),
        args=SFTConfig(output_dir=str(tmp_path), max_length=None, per_device_eval_batch_size=1, **QUICK),
        train_dataset=tokens,
        eval_dataset=tokens,
        processing_class=tokenizer,
    )
    assert trainer.evaluate()["eval_loss"] == pytest.approx(expected / count, rel=1e-6)
