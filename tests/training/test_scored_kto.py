"""ScoredKTOTrainer against KTO's formula in double precision, and the order of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import Dataset
from hypothesis import given, settings
from hypothesis import strategies as st

from hf_kokoro.errors import UsageError
from hf_kokoro.training.kto_order import class_weights, order_rows
from hf_kokoro.training.scored_kto import ScoredKTOConfig, ScoredKTOTrainer

from .training_rows import QUICK, make_pairs, make_unpaired, message

BETA = 0.5


def build(out: Path, model: Any, tokenizer: Any, rows: Any, **changes: Any) -> ScoredKTOTrainer:
    extra = {key: changes.pop(key) for key in ("ref_model",) if key in changes}
    values = {"output_dir": str(out), "beta": BETA, "max_length": 256, **QUICK}
    args = ScoredKTOConfig(**{**values, **changes})
    data = Dataset.from_list(rows)
    return ScoredKTOTrainer(model=model, args=args, train_dataset=data, processing_class=tokenizer, **extra)


def log_probs(model: Any, batch: dict[str, torch.Tensor], prefix: str = "") -> torch.Tensor:
    """Summed completion log-probs (B,) in float64 from full logits."""
    ids, mask = batch[f"{prefix}input_ids"], batch[f"{prefix}completion_mask"]
    logits = model(input_ids=ids, attention_mask=batch[f"{prefix}attention_mask"], use_cache=False).logits
    taken = torch.log_softmax(logits.double()[:, :-1], dim=-1).gather(2, ids[:, 1:].unsqueeze(2)).squeeze(2)
    return (taken * mask[:, 1:]).sum(1)


def formula(policy: Any, reference: Any, batch: dict[str, torch.Tensor], weights: tuple[float, float]) -> torch.Tensor:
    """Ethayarajh et al. 2024, eq. 7, with a weight per row; the KL term carries no gradient."""
    with torch.no_grad():
        base, kl_base = log_probs(reference, batch), log_probs(reference, batch, "KL_")
        kl = (log_probs(policy, batch, "KL_") - kl_base).mean().clamp(min=0)
    reward = log_probs(policy, batch) - base
    desirable = batch["label"].bool()
    value = torch.where(desirable, torch.sigmoid(BETA * (reward - kl)), torch.sigmoid(BETA * (kl - reward)))
    class_weight = torch.where(desirable, weights[0], weights[1])
    return (batch["weight"].double() * class_weight * (1 - value)).mean()


@pytest.mark.parametrize("noise", [0.02, -0.02])
def test_loss_and_gradients_equal_the_kto_formula_with_row_and_class_weights(
    noise: float, tmp_path: Path, load_tiny: Any, tokenizer: Any
) -> None:
    rows = [row for index, row in enumerate(make_unpaired(8)) if row["label"] or index % 4 == 1]
    reference = load_tiny()
    trainer = build(tmp_path, load_tiny(noise), tokenizer, rows, ref_model=load_tiny())
    batch = next(iter(trainer.get_train_dataloader()))
    model = trainer.model
    model.train()
    loss = trainer.compute_loss(model, dict(batch))
    loss.backward()
    found = {n: p.grad.double().clone() for n, p in model.named_parameters()}
    model.zero_grad()
    expected = formula(model, reference, batch, (1.0, 8 / 4 / 1.15))
    expected.backward()
    assert loss.item() == pytest.approx(expected.item(), abs=5e-6)
    for name, parameter in model.named_parameters():
        assert (found[name] - parameter.grad).abs().max().item() <= 5e-6, name
    assert max(gradient.abs().max().item() for gradient in found.values()) > 1e-3
    assert (trainer.desirable_weight, trainer.undesirable_weight) == (1.0, 8 / 4 / 1.15)


def test_every_training_batch_holds_both_classes_and_no_kl_completion_of_its_own_prompt(
    tmp_path: Path, load_tiny: Any, tokenizer: Any
) -> None:
    trainer = build(tmp_path, load_tiny(), tokenizer, make_unpaired(11), ref_model=load_tiny())
    assert len(trainer.train_dataset) == 20  # 22 rows in batches of 4: the tail of 2 is left out
    batches = list(trainer.get_train_dataloader())
    assert len(batches) == 5
    for start in range(0, 20, 4):
        rows = trainer.train_dataset.select(range(start, start + 4))
        assert len(set(rows["label"])) == 2
        prompts = [prompt[0]["content"] for prompt in rows["prompt"]]
        kl_owner = [prompts[-1], *prompts[:-1]]
        assert rows["KL_completion_ids"] == [rows["completion_ids"][-1], *rows["completion_ids"][:-1]]
        assert all(mine != other for mine, other in zip(prompts, kl_owner, strict=True))


def test_a_long_answer_beside_a_long_prompt_trains_as_each_of_the_two_fits_alone(
    tmp_path: Path, load_tiny: Any, tokenizer: Any
) -> None:
    # the KL estimate puts every answer behind a neighbour's prompt: long behind long does not fit
    def row(at: int) -> dict[str, Any]:
        long_prompt = bool(at % 2)
        prompt = f"day {at}" + " sleep" * (40 if long_prompt else 1)
        answer = "rest " * (1 if long_prompt else 30)
        return {"prompt": [message("user", prompt)], "completion": [message("assistant", answer)], "label": long_prompt}

    rows = [row(at) for at in range(8)]
    trainer = build(tmp_path, load_tiny(), tokenizer, rows, ref_model=load_tiny(), max_length=150, max_steps=2)
    columns = [trainer.train_dataset[name] for name in ("prompt_ids", "completion_ids", "KL_completion_ids")]
    lengths = [(len(prompt) + len(own), len(prompt) + len(other)) for prompt, own, other in zip(*columns, strict=True)]
    assert max(own for own, _ in lengths) <= 150 < max(other for _, other in lengths)
    trainer.train()
    assert trainer.state.global_step == 2


def test_paired_rows_are_unpaired_and_mixed(tmp_path: Path, load_tiny: Any, tokenizer: Any) -> None:
    trainer = build(tmp_path, load_tiny(), tokenizer, make_pairs(8), ref_model=load_tiny())
    labels = list(trainer.train_dataset["label"])
    assert sum(labels) == 8
    assert all(len(set(labels[i : i + 4])) == 2 for i in range(0, 16, 4))


@pytest.mark.parametrize("label", [True, False])
def test_data_of_one_class_is_refused(label: bool, tmp_path: Path, load_tiny: Any, tokenizer: Any) -> None:
    rows = [row for row in make_unpaired(8) if row["label"] is label]
    with pytest.raises(UsageError, match="allowed: some of both"):
        build(tmp_path, load_tiny(), tokenizer, rows, ref_model=load_tiny())


def test_fewer_rows_than_a_batch_are_refused(tmp_path: Path, load_tiny: Any, tokenizer: Any) -> None:
    with pytest.raises(UsageError, match="per_device_train_batch_size: got 4 with 2 rows"):
        build(tmp_path, load_tiny(), tokenizer, make_unpaired(1), ref_model=load_tiny())


def test_class_weights_the_user_set_are_kept(tmp_path: Path, load_tiny: Any, tokenizer: Any) -> None:
    trainer = build(tmp_path, load_tiny(), tokenizer, make_unpaired(8), ref_model=load_tiny(), undesirable_weight=0.7)
    assert (trainer.desirable_weight, trainer.undesirable_weight) == (1.0, 0.7)


def test_it_trains_and_the_loss_falls(tmp_path: Path, load_tiny: Any, tokenizer: Any) -> None:
    trainer = build(
        tmp_path,
        load_tiny(),
        tokenizer,
        make_unpaired(8),
        ref_model=load_tiny(),
        max_steps=8,
        logging_steps=1,
    )
    trainer.train()
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert losses[-1] < losses[0] - 0.05


def test_class_weights_lie_in_the_range_of_the_paper() -> None:
    for desirable, undesirable in ((24, 4), (4, 24), (100, 99)):
        d, u = class_weights(desirable, undesirable)
        assert 1 <= d * desirable / (u * undesirable) <= 4 / 3
    assert class_weights(5, 5) == (1.0, 1.0)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(st.booleans(), st.integers(0, 12)), min_size=2, max_size=80),
    batch_size=st.integers(2, 8),
    seed=st.integers(0, 5),
)
def test_an_order_is_a_seeded_permutation_whose_report_is_true(
    rows: list[tuple[bool, int]], batch_size: int, seed: int
) -> None:
    labels, prompts = [label for label, _ in rows], [prompt for _, prompt in rows]
    if len(set(labels)) < 2:
        labels[0] = not labels[0]
    order = order_rows(labels, prompts, batch_size, seed)
    assert order == order_rows(labels, prompts, batch_size, seed)
    assert len(set(order.indices)) == len(order.indices) == len(rows) - order.trimmed
    assert order.trimmed == len(rows) % batch_size
    batches = [order.indices[i : i + batch_size] for i in range(0, len(order.indices), batch_size)]
    assert order.single_class_batches == sum(len({labels[i] for i in batch}) == 1 for batch in batches)
    assert order.same_prompt_neighbours == sum(_self_pairs(batch, prompts) for batch in batches)
    if batch_size >= order.batch_size_for_both:
        assert order.single_class_batches == 0


def _self_pairs(batch: Sequence[int], prompts: Sequence[int]) -> int:
    return sum(prompts[row] == prompts[batch[at - 1]] for at, row in enumerate(batch))


def test_two_rows_a_prompt_always_leave_no_neighbours_of_one_prompt() -> None:
    for pairs in (8, 37, 372):
        labels, prompts = [True, False] * pairs, [i // 2 for i in range(2 * pairs)]
        order = order_rows(labels, prompts, 4, seed=0)
        assert (order.same_prompt_neighbours, order.single_class_batches) == (0, 0)


def test_other_seeds_give_other_orders() -> None:
    labels, prompts = [True, False] * 20, list(range(40))
    assert order_rows(labels, prompts, 4, 0).indices != order_rows(labels, prompts, 4, 1).indices
