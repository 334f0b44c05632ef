"""ScoredDPOTrainer against the formula in double precision, written out from the papers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import Dataset
from peft import LoraConfig
from trl import DPOConfig, DPOTrainer

from hf_kokoro.errors import RowError, UsageError
from hf_kokoro.training.scored_dpo import ScoredDPOConfig, ScoredDPOTrainer

from .training_rows import QUICK, make_pairs

BETA, ALPHA = 0.5, 0.7
MARGINS = {"log1p": torch.log1p, "linear": lambda m: m, "tanh": torch.tanh}


def config(out: Path, **changes: Any) -> ScoredDPOConfig:
    values = {"output_dir": str(out), "beta": BETA, "alpha": ALPHA, "max_length": 256, **QUICK}
    return ScoredDPOConfig(**{**values, **changes})


def build(out: Path, model: Any, tokenizer: Any, rows: Any, **changes: Any) -> ScoredDPOTrainer:
    extra = {key: changes.pop(key) for key in ("ref_model", "peft_config") if key in changes}
    return ScoredDPOTrainer(
        model=model,
        args=config(out, **changes),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
        **extra,
    )


def sequence_log_probs(model: Any, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """Summed completion log-probs (2B,) in float64 from full logits: no part of TRL's fused path."""
    logits = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], use_cache=False).logits
    log_probs = torch.log_softmax(logits.double()[:, :-1], dim=-1)
    taken = log_probs.gather(2, batch["input_ids"][:, 1:].unsqueeze(2)).squeeze(2)
    return (taken * batch["completion_mask"][:, 1:]).sum(1)


def formula(policy: torch.Tensor, reference: torch.Tensor, batch: dict[str, torch.Tensor], f: Any) -> torch.Tensor:
    chosen, rejected = (policy - reference).chunk(2)
    delta = chosen - rejected
    per_pair = -torch.nn.functional.logsigmoid(BETA * delta - ALPHA * f(batch["margin"].double()))
    return (batch["weight"].double() * per_pair).mean()


def first_batch(trainer: Any) -> dict[str, torch.Tensor]:
    return next(iter(trainer.get_train_dataloader()))


def gradients(model: Any) -> dict[str, torch.Tensor]:
    return {n: p.grad.double().clone() for n, p in model.named_parameters() if p.grad is not None}


def assert_same_loss_and_gradients(trainer: Any, expected_loss: Any, batch: Any) -> None:
    """Trainer's float32 loss and gradients within 5e-6 of the expected ones (gradients: of their maximum)."""
    model = trainer.model
    model.train()
    model.zero_grad()
    loss = trainer.compute_loss(model, dict(batch))
    loss.backward()
    found = gradients(model)
    model.zero_grad()
    expected = expected_loss()
    expected.backward()
    wanted = gradients(model)
    assert loss.item() == pytest.approx(expected.item(), abs=5e-6)
    assert set(found) == set(wanted)
    largest = max(g.abs().max().item() for g in wanted.values())
    assert largest > 1e-3
    for name, gradient in wanted.items():
        assert (found[name] - gradient).abs().max().item() <= 5e-6 * max(1.0, largest), name


@pytest.mark.parametrize("margin_fn", list(MARGINS))
def test_loss_and_gradients_equal_the_odpo_formula_in_double_precision_full_model(
    margin_fn: str, tmp_path: Path, load_tiny: Any, tokenizer: Any
) -> None:
    reference = load_tiny()
    trainer = build(tmp_path, load_tiny(0.02), tokenizer, make_pairs(4), ref_model=load_tiny(), margin_fn=margin_fn)
    batch = first_batch(trainer)

    def expected() -> torch.Tensor:
        with torch.no_grad():
            base = sequence_log_probs(reference, batch)
        return formula(sequence_log_probs(trainer.model, batch), base, batch, MARGINS[margin_fn])

    assert_same_loss_and_gradients(trainer, expected, batch)


def lora(noise: float, trainer: Any) -> None:
    """Move a fresh adapter off zero, so that policy and reference differ."""
    generator = torch.Generator().manual_seed(11)
    with torch.no_grad():
        for name, parameter in trainer.model.named_parameters():
            if "lora_B" in name:
                parameter.add_(noise * torch.randn(parameter.shape, generator=generator))


LORA = {"r": 4, "lora_alpha": 8, "target_modules": "all-linear", "task_type": "CAUSAL_LM"}


@pytest.mark.parametrize("precompute", [False, True])
def test_loss_and_gradients_equal_the_formula_with_lora(
    precompute: bool, tmp_path: Path, load_tiny: Any, tokenizer: Any
) -> None:
    peft_config = LoraConfig(**LORA)
    trainer = build(
        tmp_path,
        load_tiny(),
        tokenizer,
        make_pairs(4),
        peft_config=peft_config,
        precompute_ref_log_probs=precompute,
    )
    lora(0.05, trainer)
    batch = first_batch(trainer)

    def expected() -> torch.Tensor:
        with torch.no_grad(), trainer.model.disable_adapter():
            base = sequence_log_probs(trainer.model, batch)
        return formula(sequence_log_probs(trainer.model, batch), base, batch, torch.log1p)

    assert_same_loss_and_gradients(trainer, expected, batch)


def test_accumulated_small_batches_take_the_same_step_as_one_large_batch(
    tmp_path: Path, load_tiny: Any, tokenizer: Any
) -> None:
    results = []
    for size, steps in ((4, 1), (1, 4)):
        trainer = build(
            tmp_path,
            load_tiny(),
            tokenizer,
            make_pairs(8),
            ref_model=load_tiny(),
            per_device_train_batch_size=size,
            gradient_accumulation_steps=steps,
            max_steps=2,
            logging_steps=1,
            optim="sgd",
        )
        trainer.train()
        logs = [entry for entry in trainer.state.log_history if "loss" in entry]
        results.append(([e["loss"] for e in logs], [e["grad_norm"] for e in logs], trainer.model))
    assert results[0][0] == pytest.approx(results[1][0], abs=5e-6)
    assert results[0][1] == pytest.approx(results[1][1], rel=1e-4)
    for one, other in zip(results[0][2].parameters(), results[1][2].parameters(), strict=True):
        assert (one - other).abs().max().item() <= 5e-6


def test_margin_zero_and_weight_one_is_stock_dpo_to_the_last_digit(
    tmp_path: Path, load_tiny: Any, tokenizer: Any
) -> None:
    neutral = [{**row, "margin": 0.0, "weight": 1.0} for row in make_pairs(8)]
    ours = build(tmp_path, load_tiny(), tokenizer, neutral, ref_model=load_tiny(), max_steps=3, logging_steps=1)
    keep = ("output_dir", "beta", "max_length", "max_steps", "logging_steps")
    stock_args = DPOConfig(**{key: getattr(ours.args, key) for key in keep}, **QUICK)
    plain = [{k: row[k] for k in ("prompt", "chosen", "rejected")} for row in neutral]
    stock = DPOTrainer(
        model=load_tiny(),
        ref_model=load_tiny(),
        args=stock_args,
        train_dataset=Dataset.from_list(plain),
        processing_class=tokenizer,
    )
    ours.train()
    stock.train()
    pick = [[e["loss"] for e in t.state.log_history if "loss" in e] for t in (ours, stock)]
    assert pick[0] == pick[1]
    for one, other in zip(ours.model.parameters(), stock.model.parameters(), strict=True):
        assert torch.equal(one, other)


def test_trls_own_metrics_stay_unshifted_and_ours_are_logged_beside_them(
    tmp_path: Path, load_tiny: Any, tokenizer: Any
) -> None:
    reference = load_tiny()
    trainer = build(tmp_path, load_tiny(0.02), tokenizer, make_pairs(4), ref_model=load_tiny())
    batch = first_batch(trainer)
    trainer.model.train()
    trainer.compute_loss(trainer.model, dict(batch))
    with torch.no_grad():
        chosen, rejected = (sequence_log_probs(trainer.model, batch) - sequence_log_probs(reference, batch)).chunk(2)
    offset = ALPHA * torch.log1p(batch["margin"].double())
    beyond = (BETA * (chosen - rejected) > offset).double().mean().item()
    metrics = {key: value[-1] for key, value in trainer._metrics["train"].items()}
    assert metrics["rewards/chosen"] == pytest.approx(BETA * chosen.mean().item(), abs=1e-4)
    assert metrics["rewards/margins"] == pytest.approx(BETA * (chosen - rejected).mean().item(), abs=1e-4)
    assert metrics["odpo/offset"] == pytest.approx(offset.mean().item(), abs=1e-6)
    assert metrics["odpo/accuracies"] == beyond
    assert metrics["odpo/weight"] == 1.0


def test_batches_of_the_real_dataloader_hold_margin_weight_and_row_id(
    tmp_path: Path, load_tiny: Any, tokenizer: Any
) -> None:
    # without them the loss would silently be plain DPO: the model swallows unknown keys
    batch = first_batch(build(tmp_path, load_tiny(), tokenizer, make_pairs(4), ref_model=load_tiny()))
    ids = batch["row_id"]
    by_id = {row["row_id"]: row for row in make_pairs(4)}
    assert sorted(ids) == sorted(by_id)
    assert batch["margin"].tolist() == [by_id[name]["margin"] for name in ids]
    assert batch["weight"].tolist() == [by_id[name]["weight"] for name in ids]


def test_weights_are_scaled_to_mean_one_over_the_training_set(tmp_path: Path, load_tiny: Any, tokenizer: Any) -> None:
    rows = [{**row, "weight": 10 * row["weight"]} for row in make_pairs(8)]
    trainer = build(tmp_path, load_tiny(), tokenizer, rows, ref_model=load_tiny())
    assert trainer.train_dataset["weight"] == pytest.approx([row["weight"] for row in make_pairs(8)])


def test_a_row_of_weight_zero_adds_no_gradient(tmp_path: Path, load_tiny: Any, tokenizer: Any) -> None:
    rows = make_pairs(4)
    zeroed = [{**row, "weight": float(index == 0)} for index, row in enumerate(rows)]
    trainer = build(tmp_path, load_tiny(0.02), tokenizer, zeroed, ref_model=load_tiny())
    batch = first_batch(trainer)
    keep = batch["weight"].argmax().item()
    assert batch["weight"].tolist().count(0.0) == 3
    trainer.model.train()
    trainer.compute_loss(trainer.model, dict(batch)).backward()
    together = gradients(trainer.model)
    trainer.model.zero_grad()
    alone = {
        key: [value[keep]] if key == "row_id" else value[[keep, keep + 4]] if len(value) == 8 else value[[keep]]
        for key, value in batch.items()
    }
    trainer.compute_loss(trainer.model, alone).backward()
    for name, gradient in gradients(trainer.model).items():
        # the mean is over 4 rows there and over 1 here
        assert (4 * together[name] - gradient).abs().max().item() <= 5e-6 * max(1.0, gradient.abs().max().item())


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"loss_type": ["ipo"]}, "loss_type"),
        ({"loss_type": ["hinge"], "alpha": 0.0}, "use_weights"),
        ({"f_divergence_type": "js_divergence"}, "reverse_kl"),
        ({"ld_alpha": 0.5}, "ld_alpha"),
        ({"use_weighting": True}, "use_weighting"),
    ],
)
def test_combinations_in_which_the_scores_mean_nothing_are_refused_with_the_reason(
    changes: dict[str, Any], names: str, tmp_path: Path, load_tiny: Any, tokenizer: Any
) -> None:
    with pytest.raises(UsageError, match=names):
        build(tmp_path, load_tiny(), tokenizer, make_pairs(4), **changes)


@pytest.mark.parametrize("loss_type", ["ipo", "hinge", "apo_zero", "sigmoid_norm"])
def test_other_losses_run_as_trl_has_them_once_the_scores_are_off(
    loss_type: str, tmp_path: Path, load_tiny: Any, tokenizer: Any
) -> None:
    off = {"alpha": 0.0, "use_weights": False, "loss_type": [loss_type]}
    trainer = build(tmp_path, load_tiny(0.02), tokenizer, make_pairs(4), ref_model=load_tiny(), **off)
    batch = first_batch(trainer)
    stripped = {k: v for k, v in batch.items() if k not in ("margin", "weight", "row_id")}
    ours = trainer.compute_loss(trainer.model, dict(batch))
    assert torch.equal(ours, DPOTrainer._compute_loss(trainer, trainer.model, stripped, False))


def test_in_a_mix_only_the_sigmoid_term_takes_the_scores(tmp_path: Path, load_tiny: Any, tokenizer: Any) -> None:
    mix = {"loss_type": ["sigmoid", "sft"], "loss_weights": [0.8, 0.2]}
    reference = load_tiny()
    trainer = build(tmp_path, load_tiny(0.02), tokenizer, make_pairs(4), ref_model=load_tiny(), **mix)
    batch = first_batch(trainer)

    def expected() -> torch.Tensor:
        with torch.no_grad():
            base = sequence_log_probs(reference, batch)
        policy = sequence_log_probs(trainer.model, batch)
        tokens = batch["completion_mask"][:4, 1:].sum()
        return 0.8 * formula(policy, base, batch, torch.log1p) - 0.2 * policy[:4].sum() / tokens

    assert_same_loss_and_gradients(trainer, expected, batch)


def test_an_offset_without_a_margin_column_is_refused(tmp_path: Path, load_tiny: Any, tokenizer: Any) -> None:
    rows = [{k: v for k, v in row.items() if k != "margin"} for row in make_pairs(4)]
    with pytest.raises(UsageError, match="no margin column"):
        build(tmp_path, load_tiny(), tokenizer, rows)


@pytest.mark.parametrize("bad", [float("nan"), -1.0, None, float("inf")])
@pytest.mark.parametrize("key", ["margin", "weight"])
def test_scores_that_are_no_finite_numbers_from_zero_up_are_refused_with_their_row(
    key: str, bad: float | None, tmp_path: Path, load_tiny: Any, tokenizer: Any
) -> None:
    rows = make_pairs(4)
    rows[2][key] = bad
    with pytest.raises(RowError, match=f"train row 2 {key}"):
        build(tmp_path, load_tiny(), tokenizer, rows)


def test_an_unknown_loss_is_refused_and_the_known_ones_are_those_of_trl(tmp_path: Path) -> None:
    import inspect
    import re

    from trl.trainer import dpo_trainer, kto_trainer

    from hf_kokoro.training import scored_dpo, scored_kto

    for module, known in ((dpo_trainer, scored_dpo.LOSS_TYPES), (kto_trainer, scored_kto.LOSS_TYPES)):
        assert set(re.findall(r'loss_type == "(\w+)"', inspect.getsource(module))) == set(known)
    for wrong in ("foo", "Sigmoid", ["sigmoid", "foo"], []):
        with pytest.raises(UsageError, match="loss_type: got"):
            ScoredDPOConfig(output_dir=str(tmp_path), loss_type=wrong, **QUICK)
    with pytest.raises(UsageError, match="loss_type: got"):
        scored_kto.ScoredKTOConfig(output_dir=str(tmp_path), loss_type="foo", **QUICK)


def test_unknown_margin_functions_and_negative_alphas_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="log1p, linear, tanh"):
        config(tmp_path, margin_fn="sqrt")
    with pytest.raises(UsageError, match="alpha"):
        config(tmp_path, alpha=-0.1)


def test_evaluate_with_precomputed_reference_gives_the_same_loss_as_without(
    tmp_path: Path, load_tiny: Any, tokenizer: Any
) -> None:
    losses = []
    for precompute in (False, True):
        trainer = build(
            tmp_path,
            load_tiny(),
            tokenizer,
            make_pairs(4),
            peft_config=LoraConfig(**LORA),
            precompute_ref_log_probs=precompute,
        )
        lora(0.05, trainer)
        losses.append(trainer.evaluate(Dataset.from_list(make_pairs(6)))["eval_loss"])
    assert losses[0] == pytest.approx(losses[1], abs=5e-6)


def test_the_precomputed_reference_is_cached_by_data_and_model_not_by_output_dir(
    tmp_path: Path, load_tiny: Any, tokenizer: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    Dataset.from_list(make_pairs(4)).save_to_disk(tmp_path / "rows")
    seen = []
    for name, noise in (("one", 0.0), ("two", 0.0), ("three", 0.01)):
        rows = Dataset.load_from_disk(str(tmp_path / "rows"))
        ScoredDPOTrainer(
            model=load_tiny(noise),
            args=config(tmp_path / name, precompute_ref_log_probs=True),
            train_dataset=rows,
            processing_class=tokenizer,
        )
        seen.append("Computing reference log probs" in capfd.readouterr().err)
    assert seen == [True, False, True]
