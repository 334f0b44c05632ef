"""Where turns start, and how a prompt that is too long is cut there: ids and messages by one rule."""

from __future__ import annotations

from typing import Any

import pytest

from hf_kokoro.tokens.turns import cut_prompt, prompt_window, render, turn_offsets

from ..training.training_rows import message


def chat(*texts: str) -> list[dict[str, str]]:
    return [message(("user", "assistant")[i % 2], text) for i, text in enumerate(texts)]


def test_cutting_keeps_the_latest_turns_that_fit_and_says_none_when_the_last_one_does_not() -> None:
    prompt = list(range(10))
    assert cut_prompt(prompt, [2, 4, 8], 10) == prompt
    assert cut_prompt(prompt, [2, 4, 8], 9) == [0, 1, 4, 5, 6, 7, 8, 9]
    assert cut_prompt(prompt, [2, 4, 8], 4) == [0, 1, 8, 9]
    assert cut_prompt(prompt, [2, 4, 8], 3) is None
    assert cut_prompt(prompt, [], 9) is None


@pytest.mark.parametrize("system", [True, False])
def test_turn_offsets_stand_where_a_shorter_conversation_renders_the_same(system: bool, tokenizer: Any) -> None:
    turns = [
        message("user", "sleep"),
        message("assistant", "I hear you"),
        message("user", "work weighs on me"),
    ]
    messages = [message("system", "be kind"), *turns] if system else turns
    ids = tokenizer(render(tokenizer, messages, True), add_special_tokens=False)["input_ids"]
    offsets = turn_offsets(tokenizer, messages)
    assert len(offsets) == 3
    for number, offset in enumerate(offsets):
        kept = messages[: number + system]
        expected = tokenizer(render(tokenizer, kept, False), add_special_tokens=False)["input_ids"] if kept else []
        assert ids[:offset] == expected


def test_a_history_is_cut_where_a_turn_starts_and_the_system_message_stays(tokenizer: Any) -> None:
    system = [{"role": "system", "content": "あなたは相談員です。"}]
    turns = chat("一", "二", "三", "四", "五")

    def ids_of(messages: list[dict[str, str]]) -> list[int]:
        return list(tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=True)["input_ids"])

    whole = prompt_window(tokenizer, system + turns, None)
    assert whole == (ids_of(system + turns), 0)
    for budget in range(len(ids_of(system + turns[-1:])), len(ids_of(system + turns)) + 1):
        window = prompt_window(tokenizer, system + turns, budget)
        # the longest tail of whole turns that fits
        expected = next(k for k in range(5) if len(ids_of(system + turns[k:])) <= budget)
        assert window == (ids_of(system + turns[expected:]), expected)
    assert prompt_window(tokenizer, system + turns, 3).ids is None


def test_a_template_that_wants_the_user_first_loses_only_the_opening_turn(family_tokenizer: Any) -> None:
    tokenizer = family_tokenizer("chatml")
    tokenizer.chat_template = (
        "{% if messages[0].role == 'assistant' %}{{ raise_exception('user first') }}{% endif %}"
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<a>{% endif %}"
    )
    opening = [{"role": "assistant", "content": "はじめまして。"}, *chat("はい。")]
    window = prompt_window(tokenizer, opening, None)
    assert window.dropped_turns == 1
    assert tokenizer.decode(window.ids) == "<user>はい。<a>"


def test_a_plain_string_is_a_prompt_without_turns(tokenizer: Any) -> None:
    ids = list(tokenizer("眠れません。")["input_ids"])
    assert prompt_window(tokenizer, "眠れません。", None) == (ids, 0)
    assert prompt_window(tokenizer, "眠れません。", len(ids) - 1) == (None, 0)


@pytest.mark.parametrize("family", ["chatml", "llama3", "qwen3"])
def test_ids_and_messages_are_cut_at_the_same_turn_to_the_same_ids(family: str, family_tokenizer: Any) -> None:
    tokenizer = family_tokenizer(family)
    prompt = [message("system", "be kind"), *chat("sleep", "I hear you", "work weighs on me", "since when?", "May")]
    ids = tokenizer.apply_chat_template(prompt, add_generation_prompt=True, return_dict=True)["input_ids"]
    offsets = turn_offsets(tokenizer, prompt)
    for budget in range(len(ids) + 1):
        assert cut_prompt(ids, offsets, budget) == prompt_window(tokenizer, prompt, budget).ids


def test_a_prompt_that_a_template_refuses_at_every_turn_is_the_templates_error(family_tokenizer: Any) -> None:
    tokenizer = family_tokenizer("chatml")
    tokenizer.chat_template = "{{ raise_exception('no') }}"
    for prompt in (chat("sleep"), [message("assistant", "hello")]):
        with pytest.raises(Exception, match="no"):
            prompt_window(tokenizer, prompt, None)
