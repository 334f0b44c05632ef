"""A tiny causal language model, made offline from the texts at hand.

It exists for smoke runs: everything that a real base model has (a byte-level BPE tokenizer with distinct
bos, eos and pad tokens, a chat template with generation marks, safetensors weights) in about a megabyte.
It knows no language, so its accuracies show that the machinery runs, never that a method works.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..tokens.chat_templates import CHATML_TRAINING

PAD, BOS, START, END = "<|pad|>", "<|bos|>", "<|im_start|>", "<|im_end|>"


def build_tiny_model(
    texts: Iterable[str],
    out_dir: str | Path,
    *,
    vocab_size: int = 1024,
    hidden_size: int = 64,
    layers: int = 2,
    context: int = 2048,
    seed: int = 42,
) -> Path:
    """Train a tokenizer on `texts`, initialise a Llama-type model from `seed`, save both; returns the folder.

    The same texts, sizes and seed give the same bytes. The folder loads with `AutoModelForCausalLM` and
    `AutoTokenizer`; `context` is `max_position_embeddings`.
    """
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    folder = Path(out_dir)
    tokenizer = build_tokenizer(texts, vocab_size, context)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=hidden_size,
        intermediate_size=2 * hidden_size,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=context,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        tie_word_embeddings=True,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = LlamaForCausalLM(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def build_tokenizer(texts: Iterable[str], vocab_size: int, context: int) -> Any:
    """A byte-level BPE tokenizer of the texts with the ChatML training template; any text round-trips."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=[PAD, BOS, START, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    # role names and the newline after them appear in every rendered conversation
    core.train_from_iterator([*texts, "system\nuser\nassistant\n"], trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, bos_token=BOS, eos_token=END, pad_token=PAD, model_max_length=context
    )
    tokenizer.chat_template = CHATML_TRAINING
    return tokenizer
