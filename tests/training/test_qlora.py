"""4-bit loading on a CPU: gradients that survive evaluation, errors where nothing is quantised, merging."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import Dataset

from hf_kokoro.errors import MissingExtraError, SourceError
from hf_kokoro.training.merge import merge_adapter
from hf_kokoro.training.models import load_policy, lora_config
from hf_kokoro.training.quantization import QuantizationError, guard_cpu_4bit
from hf_kokoro.training.recipe import RecipeSettings
from hf_kokoro.training.scored_dpo import ScoredDPOConfig, ScoredDPOTrainer

from .training_rows import QUICK, make_pairs

QLORA = RecipeSettings(method="dpo", load_in_4bit=True, use_peft=True, lora_r=4)


@pytest.fixture
def claims_avx512bf16(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let bitsandbytes believe that this CPU has AVX512_BF16, where it repacks weights in eval mode."""
    monkeypatch.setattr("bitsandbytes.nn.modules.has_avx512bf16", lambda: True)


def four_bit_layers(model: Any) -> list[Any]:
    import bitsandbytes as bnb

    return [module for module in model.modules() if isinstance(module, bnb.nn.Linear4bit)]


def trainer_of(model: Any, tokenizer: Any, out: Path, **changes: Any) -> ScoredDPOTrainer:
    args = ScoredDPOConfig(output_dir=str(out), max_length=256, alpha=0.2, **{**QUICK, **changes})
    data = Dataset.from_list(make_pairs(8))
    trainer = ScoredDPOTrainer(
        model=model,
        args=args,
        train_dataset=data,
        eval_dataset=data,
        processing_class=tokenizer,
        peft_config=lora_config(QLORA),
    )
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, parameter in trainer.model.named_parameters():
            if "lora_B" in name:
                parameter.add_((0.05 * torch.randn(parameter.shape, generator=generator)).to(parameter.dtype))
    return trainer


def lora_gradients(trainer: Any) -> dict[str, torch.Tensor]:
    trainer.model.train()
    trainer.model.zero_grad()
    batch = next(iter(trainer.get_eval_dataloader()))
    trainer.compute_loss(trainer.model, dict(batch)).backward()
    return {n: p.grad.clone() for n, p in trainer.model.named_parameters() if p.grad is not None}


def test_lora_gradients_are_equal_before_and_after_evaluate(
    claims_avx512bf16: None, tiny_model: Path, tokenizer: Any, tmp_path: Path
) -> None:
    trainer = trainer_of(load_policy(QLORA, str(tiny_model)), tokenizer, tmp_path)
    layers = four_bit_layers(trainer.model)
    assert len(layers) == 14
    before = lora_gradients(trainer)
    trainer.evaluate()
    after = lora_gradients(trainer)
    assert sum(gradient.abs().sum() for gradient in before.values()) > 0
    assert before.keys() == after.keys()
    for name, gradient in before.items():
        assert torch.equal(gradient, after[name]), name
    assert not any(getattr(layer.weight.quant_state, "packing_format_for_cpu", False) for layer in layers)


def test_precomputed_reference_log_probs_leave_the_weights_unpacked_too(
    claims_avx512bf16: None, tiny_model: Path, tokenizer: Any, tmp_path: Path
) -> None:
    trainer = trainer_of(load_policy(QLORA, str(tiny_model)), tokenizer, tmp_path, precompute_ref_log_probs=True)
    assert not any(layer.support_avx512bf16_for_cpu for layer in four_bit_layers(trainer.model))


def test_without_the_guard_bitsandbytes_asks_the_cpu_for_every_new_layer(claims_avx512bf16: None) -> None:
    # if this changes, the guard may be taking hold of nothing
    import bitsandbytes as bnb

    assert bnb.nn.Linear4bit(64, 64).support_avx512bf16_for_cpu is True


def test_loading_puts_the_detection_back(claims_avx512bf16: None, tiny_model: Path) -> None:
    from bitsandbytes.nn import modules

    load_policy(QLORA, str(tiny_model))
    assert modules.has_avx512bf16() is True


def test_the_weights_are_nf4_with_double_quantisation(tiny_model: Path) -> None:
    layer = four_bit_layers(load_policy(QLORA, str(tiny_model)))[0]
    assert layer.weight.dtype == torch.uint8
    assert layer.weight.quant_type == "nf4"
    assert layer.weight.quant_state.nested


def test_a_model_without_a_single_quantised_layer_is_an_error(load_tiny: Any) -> None:
    with pytest.raises(QuantizationError, match="LlamaForCausalLM with 0 quantised layers"):
        guard_cpu_4bit(load_tiny())


def test_conv1d_models_are_really_quantised_by_the_installed_versions(tmp_path: Path) -> None:
    # older versions left GPT-2's Conv1D layers whole without a word
    from transformers import GPT2Config, GPT2LMHeadModel

    GPT2LMHeadModel(GPT2Config(vocab_size=64, n_embd=32, n_layer=1, n_head=2)).save_pretrained(tmp_path)
    assert len(four_bit_layers(load_policy(QLORA, str(tmp_path)))) == 4


def test_a_missing_bitsandbytes_is_one_pip_line_and_everything_else_imports(
    monkeypatch: pytest.MonkeyPatch, tiny_model: Path
) -> None:
    monkeypatch.setitem(sys.modules, "bitsandbytes", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'hf-kokoro\[train\]'"):
        load_policy(QLORA, str(tiny_model))
    assert load_policy(RecipeSettings(), str(tiny_model)) is not None


def test_a_qlora_adapter_merges_through_the_float_base_with_equal_outputs(
    tiny_model: Path, tokenizer: Any, tmp_path: Path
) -> None:
    trainer = trainer_of(load_policy(QLORA, str(tiny_model)), tokenizer, tmp_path / "run", max_steps=2)
    trainer.train()
    trainer.save_model(str(tmp_path / "run"))
    assert merge_adapter(tmp_path / "run", tmp_path / "merged") < 1e-4
    from transformers import AutoModelForCausalLM

    merged = AutoModelForCausalLM.from_pretrained(tmp_path / "merged")
    base = AutoModelForCausalLM.from_pretrained(tiny_model)
    changed = [n for n, p in merged.named_parameters() if not torch.equal(p, base.get_parameter(n))]
    assert changed
    assert not four_bit_layers(merged)


def test_merging_a_folder_without_an_adapter_is_refused(tiny_model: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"no adapter_config\.json"):
        merge_adapter(tiny_model, tmp_path / "merged")


def test_a_merge_that_changes_the_outputs_is_refused_and_saves_nothing(
    tiny_model: Path, tokenizer: Any, tmp_path: Path
) -> None:
    trainer = trainer_of(load_policy(RecipeSettings(), str(tiny_model)), tokenizer, tmp_path / "run")
    trainer.save_model(str(tmp_path / "run"))
    with pytest.raises(QuantizationError, match="keep the adapter"):
        merge_adapter(tmp_path / "run", tmp_path / "merged", tolerance=-1.0)
    assert not (tmp_path / "merged").exists()
