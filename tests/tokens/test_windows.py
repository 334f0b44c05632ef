"""Roles that templates refuse, and windows at turn boundaries."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hf_kokoro.tokens.chat_templates import FAMILIES
from hf_kokoro.tokens.windows import OPENING, TemplateRules, cut_windows, fit_roles, template_rules, token_count

from ..training.training_rows import dialogue, message

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
