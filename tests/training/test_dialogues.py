"""Roles that templates refuse, windows at turn boundaries, and the one-pass loss against the expansion."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import Dataset
from hypothesis import given
from hypothesis import strategies as st

from hf_kokoro.tokens.chat_templates import FAMILIES, ensure_training_template
from hf_kokoro.tokens.turns import turn_starts
from hf_kokoro.tokens.windows import OPENING, TemplateRules, cut_windows, fit_roles, template_rules, token_count
from hf_kokoro.training.sft_data import IGNORED, tokenize_sft, with_system
from hf_kokoro.training.tiny import build_tokenizer

from .training_rows import message

STRICT = TemplateRules(system=False, assistant_first=False)
FREE = TemplateRules(system=True, assistant_first=True)
COUNSELLOR_FIRST = [
    message("system", "be kind"),
    message("assistant", "hello"),
    message("assistant", "what brings you here?"),
    message("user", "work"),
    message("user", "and sleep"),
    message("assistant", "both weigh on you"),
]


def test_a_free_template_only_merges_runs() -> None:
    assert fit_roles(COUNSELLOR_FIRST, FREE) == [
        message("system", "be kind"),
        message("assistant", "hello\nwhat brings you here?"),
        message("user", "work\nand sleep"),
        message("assistant", "both weigh on you"),
    ]


def test_a_strict_template_gets_the_system_text_as_the_opening_user_turn() -> None:
    fitted = fit_roles(COUNSELLOR_FIRST, STRICT)
    assert fitted[0] == message("user", "be kind")
    assert [turn["role"] for turn in fitted] == ["user", "assistant", "user", "assistant"]


def test_without_a_system_text_a_strict_template_gets_a_stated_opening() -> None:
    assert fit_roles(COUNSELLOR_FIRST[1:], STRICT)[0] == message("user", OPENING)


def test_system_text_is_folded_into_the_first_user_turn_where_the_user_opens() -> None:
    fitted = fit_roles([message("system", "be kind"), message("user", "hi")], STRICT)
    assert fitted == [message("user", "be kind\n\nhi")]


ROLES = st.lists(
    st.tuples(st.sampled_from(["user", "assistant"]), st.text("abc ", min_size=1, max_size=5)), max_size=12
)


@given(turns=ROLES, system=st.booleans(), rules=st.builds(TemplateRules, st.booleans(), st.booleans()))
def test_no_text_is_lost_and_strict_rules_give_strict_alternation(
    turns: list[tuple[str, str]], system: bool, rules: TemplateRules
) -> None:
    messages = [message(role, text) for role, text in turns]
    if system:
        messages.insert(0, message("system", "SYS"))
    fitted = fit_roles(messages, rules)
    given_text = Counter("".join(turn["content"] for turn in messages))
    kept = Counter("".join(turn["content"] for turn in fitted))
    assert not given_text - kept
    roles = [turn["role"] for turn in fitted if turn["role"] != "system"]
    assert all(one != other for one, other in pairwise(roles))
    if not rules.assistant_first and roles:
        assert roles[0] == "user"
    if not rules.system:
        assert "system" not in [turn["role"] for turn in fitted]


@pytest.mark.parametrize(("family", "first"), [("chatml", True), ("llama3", True), ("llm-jp", True), ("gemma3", False)])
def test_what_a_template_accepts_is_found_by_rendering(family: str, first: bool, family_tokenizer: Any) -> None:
    tokenizer = family_tokenizer(family)
    rules = template_rules(tokenizer)
    assert rules.assistant_first is first
    text = tokenizer.apply_chat_template(fit_roles(COUNSELLOR_FIRST, rules), tokenize=False)
    for part in ("be kind", "hello", "what brings you here?", "and sleep", "both weigh on you"):
        assert part in text


def test_a_template_that_drops_the_system_role_is_found_out(tokenizer: Any, family_tokenizer: Any) -> None:
    deaf = family_tokenizer("chatml")
    deaf.chat_template = (
        "{%- for m in messages if m['role'] != 'system' -%}{{ m['role'] + m['content'] }}{%- endfor -%}"
    )
    assert template_rules(deaf).system is False


def dialogue(turns: int, words: int = 8) -> list[dict[str, str]]:
    roles = ("assistant", "user")
    return [message(roles[i % 2], f"turn {i} " + "sleep " * (words + i % 3)) for i in range(turns)]


@pytest.mark.parametrize("family", list(FAMILIES))
@pytest.mark.parametrize("overlap", [0, 40])
def test_windows_fit_and_every_counsellor_turn_carries_loss_exactly_once(
    family: str, overlap: int, family_tokenizer: Any
) -> None:
    tokenizer = family_tokenizer(family)
    messages = [message("system", "be kind"), *dialogue(21)]
    rules = template_rules(tokenizer)
    windows = cut_windows(tokenizer, messages, rules, 120, overlap)
    assert windows is not None
    assert len(windows) > 3
    learnt = []
    for window in windows:
        assert token_count(tokenizer, window.messages) <= 120
        assert any("be kind" in turn["content"] for turn in window.messages[:1])
        learnt += [turn["content"] for turn in window.messages[window.loss_from :] if turn["role"] == "assistant"]
    assert learnt == [turn["content"] for turn in dialogue(21) if turn["role"] == "assistant"]
    if overlap:
        assert any(window.loss_from > 1 for window in windows)


def test_a_dialogue_that_fits_is_one_window_and_a_turn_that_never_fits_is_none(tokenizer: Any) -> None:
    rules = template_rules(tokenizer)
    windows = cut_windows(tokenizer, dialogue(4), rules, 500)
    assert windows is not None
    assert [len(windows), windows[0].loss_from] == [1, 0]
    assert cut_windows(tokenizer, dialogue(3, words=300), rules, 100) is None
    assert cut_windows(tokenizer, [message("user", "only me")], rules, 100) == []


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
