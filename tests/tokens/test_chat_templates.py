"""Training templates: prefix-stable, marked, ending on a stop token; everything else is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hf_kokoro.tokens.chat_templates import (
    ALIASES,
    FAMILIES,
    ChatTemplateError,
    ensure_training_template,
    template_problem,
)

from ..training.training_rows import message

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


@pytest.mark.parametrize(("family", "published"), [("chatml", "qwen2_5"), ("llama3", "llama3"), ("gemma3", "gemma3")])
def test_a_family_renders_as_the_template_that_was_published_for_it(
    family: str, published: str, family_tokenizer: Any
) -> None:
    # TRL ships the models' own templates; ours may differ in nothing but the marks
    import trl

    tokenizer = family_tokenizer(family)
    template = (Path(trl.__file__).parent / "chat_templates" / f"{published}.jinja").read_text("utf-8")
    for messages, prompt in ((CONVERSATION, False), (CONVERSATION[:4], True)):
        options = {"tokenize": False, "add_generation_prompt": prompt}
        ours = tokenizer.apply_chat_template(messages, **options)
        assert ours == tokenizer.apply_chat_template(messages, chat_template=template, **options)


def test_qwen3_prompts_are_those_of_the_published_template_without_thinking(family_tokenizer: Any) -> None:
    import trl

    tokenizer = family_tokenizer("qwen3")
    template = (Path(trl.__file__).parent / "chat_templates" / "qwen3.jinja").read_text("utf-8")
    options = {"tokenize": False, "add_generation_prompt": True}
    theirs = tokenizer.apply_chat_template(CONVERSATION[:2], chat_template=template, enable_thinking=False, **options)
    assert tokenizer.apply_chat_template(CONVERSATION[:2], **options) == theirs


def test_llm_jp_renders_the_headings_of_its_published_format(family_tokenizer: Any) -> None:
    # bos, system sentence, then heading and text of every turn, eos after an answer: llm-jp's SFT data and the
    # chat template of its instruct models (which puts one fixed sentence in place of any system text)
    tokenizer = family_tokenizer("llm-jp")
    bos, eos = tokenizer.bos_token, tokenizer.eos_token
    assert tokenizer.apply_chat_template(CONVERSATION[:4], tokenize=False, add_generation_prompt=True) == (
        f"{bos}be kind\n\n### 指示:\nI can not sleep\n\n### 応答:\nthat sounds hard{eos}"
        "\n\n### 指示:\nit is\n\n### 応答:\n"
    )


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


ALL_MARKED = (
    "{%- for m in messages -%}{{ '<' + m['role'] + '>' }}{% generation %}{{ m['content'] + eos_token }}"
    "{% endgeneration %}{%- endfor -%}{%- if add_generation_prompt -%}{{ '<assistant>' }}{%- endif -%}"
)


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        (UNMARKED, "no {% generation %} mark"),
        (UNSTABLE, "not prefix-stable"),
        (ENDLESS, "never learn to stop"),
        ("{{ raise_exception('no') }}", "rendering a user-assistant conversation fails"),
        (ALL_MARKED, "what clients say would be learnt"),
    ],
    ids=["unmarked", "unstable", "endless", "raising", "all marked"],
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
