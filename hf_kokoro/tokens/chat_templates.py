"""Chat templates for training: marks around what carries loss, and the same rendering turn after turn.

A template can be trained on if (1) `{% generation %}` marks wrap the assistant's text *and* its end token,
so that the model learns to stop, and (2) it is prefix-stable: the prompt at inference is a prefix of the
training text. `ensure_training_template` finds such a template for a tokenizer, checks it by rendering a
probe, and refuses with the reason otherwise: a template without marks trains on nothing, silently.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import KokoroError

GENERATION_MARK = "{% generation %}"

_END_LOOP = "{%- endfor -%}{%- if add_generation_prompt -%}"


def _turns(opening: str, end: str, after: str = "", *, bos: bool = False, trim: bool = False, header: str = "") -> str:
    """A template of one form: `opening` (with ROLE), text, `end`, `after`; `header` for assistants only."""
    text = "message['content'] | trim" if trim else "message['content']"
    before, behind = opening.split("ROLE")
    start = f"{{{{ '{before}' + message['role'] + '{behind}' }}}}"
    ask = f"{{{{ '{before}assistant{behind}{header}' }}}}"
    tail = f"{{{{ '{after}' }}}}" if after else ""
    return (
        ("{{- bos_token -}}" if bos else "")
        + "{%- for message in messages -%}{%- if message['role'] == 'assistant' -%}"
        + f"{ask}{GENERATION_MARK}{{{{ {text} + '{end}' }}}}{{% endgeneration %}}{tail}"
        + f"{{%- else -%}}{start}{{{{ {text} + '{end}{after}' }}}}{{%- endif -%}}"
        + f"{_END_LOOP}{ask}{{%- endif -%}}"
    )


CHATML_TRAINING = _turns("<|im_start|>ROLE\\n", "<|im_end|>", "\\n")
"""ChatML (SmolLM2, Qwen 2.5): `<|im_start|>role\\ntext<|im_end|>\\n`; loss on text and end token."""

QWEN3_TRAINING = _turns("<|im_start|>ROLE\\n", "<|im_end|>", "\\n", header="<think>\\n\\n</think>\\n\\n")
"""Qwen 3 without thinking: every answer follows an empty think block, which belongs to the prompt."""

LLAMA3_TRAINING = _turns("<|start_header_id|>ROLE<|end_header_id|>\\n\\n", "<|eot_id|>", bos=True, trim=True)
"""Llama 3.x and the Swallow models built on it; the date header of 3.1 is left out, as it changes daily."""

GEMMA3_TRAINING = (
    "{{- bos_token -}}"
    "{%- set ns = namespace(prefix='', turns=messages) -%}"
    "{%- if messages[0]['role'] == 'system' -%}"
    "{%- set ns.prefix = messages[0]['content'] + '\\n\\n' -%}{%- set ns.turns = messages[1:] -%}"
    "{%- endif -%}"
    "{%- for message in ns.turns -%}"
    "{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}"
    "{{ raise_exception('roles must alternate, user first') }}"
    "{%- endif -%}"
    "{%- if message['role'] == 'assistant' -%}"
    "{{ '<start_of_turn>model\\n' }}"
    + GENERATION_MARK
    + "{{ message['content'] | trim + '<end_of_turn>' }}{% endgeneration %}{{ '\\n' }}"
    "{%- else -%}"
    "{{ '<start_of_turn>user\\n' + (ns.prefix if loop.first else '') }}"
    "{{ message['content'] | trim + '<end_of_turn>\\n' }}"
    "{%- endif -%}" + _END_LOOP + "{{ '<start_of_turn>model\\n' }}{%- endif -%}"
)
"""Gemma 3: no system role (its text opens the first user turn), strict alternation, `model` for assistant."""

LLM_JP_TRAINING = (
    "{{- bos_token -}}"
    "{%- for message in messages -%}"
    "{%- if message['role'] == 'assistant' -%}"
    "{{ '\\n\\n### 応答:\\n' }}" + GENERATION_MARK + "{{ message['content'] + eos_token }}{% endgeneration %}"
    "{%- elif message['role'] == 'user' -%}{{ '\\n\\n### 指示:\\n' + message['content'] }}"
    "{%- else -%}{{ message['content'] }}"
    "{%- endif -%}" + _END_LOOP + "{{ '\\n\\n### 応答:\\n' }}{%- endif -%}"
)
"""llm-jp instruct models: headings in Japanese, the end-of-text token after every answer."""

FAMILIES: dict[str, str] = {
    "qwen3": QWEN3_TRAINING,
    "chatml": CHATML_TRAINING,
    "llama3": LLAMA3_TRAINING,
    "gemma3": GEMMA3_TRAINING,
    "llm-jp": LLM_JP_TRAINING,
}
ALIASES = {"smollm2": "chatml", "qwen2.5": "chatml", "swallow": "llama3"}
"""Families that share a template with another; both names work as a recipe's `chat_template`."""

_SIGNS: dict[str, Callable[[str], bool]] = {
    "qwen3": lambda template: "<|im_start|>" in template and "<think>" in template,
    "chatml": lambda template: "<|im_start|>" in template,
    "llama3": lambda template: "<|start_header_id|>" in template,
    "gemma3": lambda template: "<start_of_turn>" in template,
    "llm-jp": lambda template: "### 応答:" in template,
}

_PROBE = (
    {"role": "user", "content": "one"},
    {"role": "assistant", "content": "two"},
    {"role": "user", "content": "three"},
    {"role": "assistant", "content": "four"},
    {"role": "user", "content": "five"},
)


class ChatTemplateError(KokoroError):
    """No chat template that can be trained on; the message says what is missing and how to give one."""


@dataclass(frozen=True)
class TemplateChoice:
    """Where the training template comes from; `same_rendering`: it writes a probe as the model's own does."""

    origin: str
    same_rendering: bool


def ensure_training_template(tokenizer: Any, wanted: str | None = None) -> TemplateChoice:
    """Set a checked training template on the tokenizer and say which.

    `wanted` is a family name or a `.jinja` file. Without it: the model's own template if it has marks, TRL's
    training variant of exactly that template, or the family that the template's markers belong to.
    """
    own = tokenizer.chat_template
    template, origin = _choose(tokenizer, wanted)
    before = _probe_text(tokenizer, own) if own else None
    tokenizer.chat_template = template
    problem = template_problem(tokenizer)
    if problem:
        tokenizer.chat_template = own
        raise ChatTemplateError(f"chat template {origin}: {problem}; {_HOW_TO_GIVE}")
    return TemplateChoice(origin, before == _probe_text(tokenizer, template))


def template_problem(tokenizer: Any) -> str | None:
    """Why the tokenizer's template can't be trained on with loss on assistant turns, or None if it can."""
    from trl.chat_template_utils import is_chat_template_stop_token_trained

    messages = list(_PROBE)
    try:
        whole = _encode(tokenizer, messages, mask=True)
    except Exception as error:  # jinja and transformers raise many types for a broken template
        return f"rendering a user-assistant conversation fails ({type(error).__name__})"
    if 1 not in whole["assistant_masks"]:
        return f"no {GENERATION_MARK} mark around the assistant's text, so no token would carry loss"
    marked = [token for token, kept in zip(whole["input_ids"], whole["assistant_masks"], strict=True) if kept]
    if any(message["content"] in tokenizer.decode(marked) for message in messages if message["role"] == "user"):
        return "the generation mark takes the user's text in, so what clients say would be learnt"
    for turn in (1, 3):
        prompt = _encode(tokenizer, messages[:turn], prompt=True)["input_ids"]
        if whole["input_ids"][: len(prompt)] != prompt:
            return f"not prefix-stable: the prompt of turn {turn + 1} is no prefix of the whole conversation"
        # some templates count the line break of the assistant's header to the answer; text there is a mistake
        if len(prompt) == len(whole["input_ids"]):
            return f"no text of turn {turn + 1} follows its prompt"
        tail = slice(max(0, len(prompt) - 4), len(prompt))
        header = zip(prompt[tail], whole["assistant_masks"][tail], strict=True)
        early = tokenizer.decode([token for token, marked in header if marked]).strip()
        if early or not whole["assistant_masks"][len(prompt)]:
            return f"the generation mark of turn {turn + 1} does not start where the prompt ends"
    if not is_chat_template_stop_token_trained(tokenizer):
        return "the end-of-turn token is outside the generation mark, so the model would never learn to stop"
    return None


_HOW_TO_GIVE = (
    f"give one of {', '.join([*FAMILIES, *ALIASES])} or a .jinja file as chat_template, with "
    f"{GENERATION_MARK} before and {{% endgeneration %}} after the assistant's text and its end token"
)


def _choose(tokenizer: Any, wanted: str | None) -> tuple[str, str]:
    if wanted is not None:
        family = ALIASES.get(wanted, wanted)
        if family in FAMILIES:
            return FAMILIES[family], f"{wanted!r}"
        path = Path(wanted)
        if not path.is_file():
            raise ChatTemplateError(f"chat_template: got {wanted!r}, no family and no file; {_HOW_TO_GIVE}")
        try:
            return path.read_text("utf-8"), path.name
        except UnicodeDecodeError as error:
            raise ChatTemplateError(f"chat_template: {path.name} is no UTF-8 text; {_HOW_TO_GIVE}") from error
    own = tokenizer.chat_template
    if not own:
        raise ChatTemplateError(f"the tokenizer has no chat template (a base model?); {_HOW_TO_GIVE}")
    if isinstance(own, dict):
        own = own["default"]
    if GENERATION_MARK.replace(" ", "") in own.replace("{%-", "{%").replace("-%}", "%}").replace(" ", ""):
        return own, "of the model"
    from trl.chat_template_utils import get_training_chat_template

    try:
        known = get_training_chat_template(tokenizer)
    except ValueError:
        known = None
    if known:
        return known, "of TRL for this model"
    family = next((name for name, sign in _SIGNS.items() if sign(own)), "")
    return (FAMILIES[family], f"{family!r}") if family else (own, "of the model")


def _encode(tokenizer: Any, messages: list[Any], *, prompt: bool = False, mask: bool = False) -> Any:
    return tokenizer.apply_chat_template(
        messages,
        tokenize=True,
        return_dict=True,
        add_generation_prompt=prompt,
        return_assistant_tokens_mask=mask,
    )


def _probe_text(tokenizer: Any, template: Any) -> str | None:
    try:
        text: str = tokenizer.apply_chat_template(list(_PROBE), tokenize=False, chat_template=template)
    except Exception:  # as in template_problem
        return None
    return text
