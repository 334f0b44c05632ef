"""Training templates: prefix-stable, marked, ending on a stop token; everything else is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hf_kokoro.training.chat_templates import (
    ALIASES,
    FAMILIES,
    ChatTemplateError,
    ensure_training_template,
    template_problem,
)

from .training_rows import message

CONVERSATION = [
    message("system", "be kind"),
    message("user", "I can not sleep"),
    message("assistant", "that sounds hard"),
    message("user", "it is"),
    message("assistant", "what keeps you up?"),
]
ENDS = {
    "qwen3": "<|im_end|>",
    "chatml": "<|im_end|>",
    "llama3": "<|eot_id|>",
    "gemma3": "<end_of_turn>",
    "llm-jp": "<|im_end|>",
}


def _ids(tokenizer: Any, messages: list[dict[str, str]], **options: Any) -> Any:
    return tokenizer.apply_chat_template(messages, tokenize=True, return_dict=True, **options)


@pytest.mark.parametrize("family", list(FAMILIES))
def test_the_prompt_of_every_turn_is_a_prefix_of_the_whole_conversation(family: str, family_tokenizer: Any) -> None:
    tokenizer = family_tokenizer(family)
    whole = _ids(tokenizer, CONVERSATION)["input_ids"]
    for turn in (2, 4):
        prompt = _ids(tokenizer, CONVERSATION[:turn], add_generation_prompt=True)["input_ids"]
        assert whole[: len(prompt)] == prompt


@pytest.mark.parametrize("family", list(FAMILIES))
def test_loss_covers_exactly_the_answers_and_their_end_tokens(family: str, family_tokenizer: Any) -> None:
    tokenizer = family_tokenizer(family)
    whole = _ids(tokenizer, CONVERSATION, return_assistant_tokens_mask=True)
    learnt = [token for token, kept in zip(whole["input_ids"], whole["assistant_masks"], strict=True) if kept]
    end = ENDS[family]
    assert tokenizer.decode(learnt) == f"that sounds hard{end}what keeps you up?{end}"
    assert learnt.count(tokenizer.convert_tokens_to_ids(end)) == 2


@pytest.mark.parametrize("family", list(FAMILIES))
def test_there_is_at_most_one_bos(family: str, family_tokenizer: Any) -> None:
    tokenizer = family_tokenizer(family)
    ids = _ids(tokenizer, CONVERSATION)["input_ids"]
    assert ids.count(tokenizer.bos_token_id) == (0 if family in ("chatml", "qwen3") else 1)


@pytest.mark.parametrize("alias", list(ALIASES))
def test_aliases_name_a_family(alias: str, family_tokenizer: Any) -> None:
    assert family_tokenizer(alias).chat_template == FAMILIES[ALIASES[alias]]


def test_a_stock_chatml_template_gets_the_marked_one_of_its_family(tokenizer: Any, family_tokenizer: Any) -> None:
    stock = family_tokenizer("chatml")
    stock.chat_template = FAMILIES["chatml"].replace("{% generation %}", "").replace("{% endgeneration %}", "")
    assert "no {% generation %} mark" in str(template_problem(stock))
    choice = ensure_training_template(stock)
    assert (choice.origin, choice.same_rendering) == ("'chatml'", True)
    assert stock.chat_template == FAMILIES["chatml"]


def test_a_default_system_turn_that_training_leaves_out_is_noticed(family_tokenizer: Any) -> None:
    tokenizer = family_tokenizer("chatml")
    plain = FAMILIES["chatml"].replace("{% generation %}", "").replace("{% endgeneration %}", "")
    tokenizer.chat_template = "{{ '<|im_start|>system\\nhelpful<|im_end|>\\n' }}" + plain
    assert ensure_training_template(tokenizer).same_rendering is False


UNMARKED = "{%- for m in messages -%}{{ m['role'] + ': ' + m['content'] + eos_token }}{%- endfor -%}"
UNSTABLE = (
    "{%- for m in messages -%}{{ '<' + m['role'] + '>' }}"
    "{%- if m['role'] == 'assistant' -%}{%- if loop.last -%}{{ 'final ' }}{%- endif -%}"
    "{% generation %}{{ m['content'] + eos_token }}{% endgeneration %}"
    "{%- else -%}{{ m['content'] }}{%- endif -%}"
    "{%- endfor -%}{%- if add_generation_prompt -%}{{ '<assistant>now ' }}{%- endif -%}"
)
ENDLESS = (
    "{%- for m in messages -%}{{ '<' + m['role'] + '>' }}"
    "{%- if m['role'] == 'assistant' -%}{% generation %}{{ m['content'] }}{% endgeneration %}{{ eos_token }}"
    "{%- else -%}{{ m['content'] }}{%- endif -%}{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ '<assistant>' }}{%- endif -%}"
)


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        (UNMARKED, "no {% generation %} mark"),
        (UNSTABLE, "not prefix-stable"),
        (ENDLESS, "never learn to stop"),
        ("{{ raise_exception('no') }}", "rendering a user-assistant conversation fails"),
    ],
    ids=["unmarked", "unstable", "endless", "raising"],
)
def test_a_template_that_cannot_be_trained_on_is_refused_with_what_it_lacks_and_how_to_give_one(
    template: str, reason: str, family_tokenizer: Any, tmp_path: Path
) -> None:
    tokenizer = family_tokenizer("chatml")
    path = tmp_path / "own.jinja"
    path.write_text(template, "utf-8")
    with pytest.raises(ChatTemplateError) as caught:
        ensure_training_template(tokenizer, str(path))
    assert reason in str(caught.value)
    assert "give one of" in str(caught.value)
    assert tokenizer.chat_template == FAMILIES["chatml"]  # what was there stays


def test_a_base_model_without_a_template_is_told_how_to_give_one(family_tokenizer: Any) -> None:
    tokenizer = family_tokenizer("chatml")
    tokenizer.chat_template = None
    with pytest.raises(ChatTemplateError, match="base model"):
        ensure_training_template(tokenizer)


def test_an_unknown_family_lists_the_known_ones(family_tokenizer: Any) -> None:
    with pytest.raises(ChatTemplateError, match="'vicuna', no family and no file"):
        ensure_training_template(family_tokenizer("chatml"), "vicuna")


@pytest.mark.parametrize("name", ["qwen2_5", "qwen3", "llama3", "gemma3", "qwen3_instruct_2507"])
def test_the_models_own_published_templates_find_a_training_template(name: str, family_tokenizer: Any) -> None:
    import trl

    tokenizer = family_tokenizer("chatml")
    published = Path(trl.__file__).parent / "chat_templates" / f"{name}.jinja"
    tokenizer.chat_template = published.read_text("utf-8")
    ensure_training_template(tokenizer)
    assert template_problem(tokenizer) is None
