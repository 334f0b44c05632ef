"""Time and tokens of our training against TRL's defaults and against one example per turn; one run, same data.

    python scripts/bench_train.py --kokorochat kokorochat.tar.gz --csv 20200325_counsel_chat.csv

Three tables: seconds a pair of DPO (TRL's defaults, ours) with the losses of both; tokens of all KokoroChat
dialogues in one pass and expanded; wall time of both ways over 20 dialogues with a tiny model. Each part can
be left out by leaving out its input. A machine with other work on it bends all times; the ratios less so.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
import time
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import train_real

SIDES = ("chosen", "rejected")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--csv", type=Path, help="counsel-chat CSV, for DPO")
    parser.add_argument("--kokorochat", help="KokoroChat folder or archive, for SFT")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "bench-train")
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--max-length", type=int, default=512, help="longer pairs are left out")
    parser.add_argument("--dialogues", type=int, default=20)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    import datasets
    import transformers

    # TRL still spells two switches the way transformers 5.24 deprecates
    warnings.filterwarnings("ignore", category=FutureWarning)
    datasets.disable_progress_bars()
    transformers.utils.logging.disable_progress_bar()
    if options.csv:
        bench_dpo(options)
    if options.kokorochat:
        dialogues = kokoro_messages(options.kokorochat)
        count_tokens(dialogues)
        bench_sft(dialogues[: options.dialogues], options.work)


def bench_dpo(options: argparse.Namespace) -> None:
    """Seconds a pair over all epochs, the precomputing included, and the largest difference of the losses."""
    model = str(train_real.smollm2(options.work / "smollm2-135m-instruct"))
    rows = train_real.fitting(train_real.real_pairs(options.csv, options.work), model, options.max_length)[
        : options.pairs
    ]
    runs = {name: run_dpo(name, model, rows, options) for name in ("TRL defaults", "ours")}
    print(f"\nDPO, SmolLM2-135M LoRA r=8, {len(rows)} pairs, {options.epochs} epochs, float32")
    print(f"{'':14}{'s a pair':>10}{'first epoch':>13}{'later epochs':>14}{'last loss':>11}")
    for name, (seconds, losses, epochs) in runs.items():
        later = sum(epochs[1:]) / max(len(epochs) - 1, 1) / len(rows)
        a_pair = seconds / len(rows) / options.epochs
        print(f"{name:14}{a_pair:>10.2f}{epochs[0] / len(rows):>13.2f}{later:>14.2f}{losses[-1]:>11.4f}")
    gap = max(abs(a - b) for a, b in zip(runs["TRL defaults"][1], runs["ours"][1], strict=True))
    print(f"ratio {runs['TRL defaults'][0] / runs['ours'][0]:.2f}x, largest difference of a step's loss {gap:.1e}")


def run_dpo(
    name: str, model: str, rows: list[dict[str, Any]], options: argparse.Namespace
) -> tuple[float, list[float], list[float]]:
    """(seconds of set-up and training, losses by step, seconds by epoch; set-up counts to the first epoch)."""
    import torch
    from datasets import Dataset
    from peft import LoraConfig
    from transformers import AutoModelForCausalLM, AutoTokenizer, PrinterCallback
    from trl import DPOConfig, DPOTrainer

    from hf_kokoro.training.scored_dpo import ScoredDPOConfig, ScoredDPOTrainer
    from hf_kokoro.training.speed import completion_only_scoring

    ours = name == "ours"
    values: dict[str, Any] = {
        "output_dir": str(options.work / "run"), "use_cpu": True, "bf16": False, "report_to": "none",
        "disable_tqdm": True, "save_strategy": "no", "logging_steps": 1, "num_train_epochs": options.epochs,
        "per_device_train_batch_size": 1, "max_length": options.max_length, "learning_rate": 1e-4, "seed": 1,
    }  # fmt: skip
    columns = ("prompt", *SIDES)
    data = Dataset.from_list([{key: row[key] for key in columns} for row in rows])
    lora = LoraConfig(r=8, lora_alpha=16, lora_dropout=0.0, target_modules="all-linear", task_type="CAUSAL_LM")
    policy = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(model)
    clock = EpochClock()
    started = time.monotonic()
    with completion_only_scoring() if ours else contextlib.nullcontext():
        if ours:
            values |= {
                "gradient_checkpointing": False,
                "precompute_ref_log_probs": True,
                "alpha": 0.0,
                "use_weights": False,
            }
            args: Any = ScoredDPOConfig(**values)
        else:
            args = DPOConfig(**values)
        trainer_class: Any = ScoredDPOTrainer if ours else DPOTrainer
        trainer = trainer_class(
            model=policy,
            args=args,
            train_dataset=data,
            processing_class=tokenizer,
            peft_config=lora,
            callbacks=[clock()],
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    seconds = time.monotonic() - started
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    ends = [started, *clock.ends]
    return seconds, losses, [after - before for before, after in pairwise(ends)]


class EpochClock:
    """Notes when every epoch ends."""

    def __init__(self) -> None:
        self.ends: list[float] = []

    def __call__(self) -> Any:
        from transformers import TrainerCallback

        ends = self.ends

        class Callback(TrainerCallback):
            def on_epoch_end(self, *_: Any, **__: Any) -> None:
                ends.append(time.monotonic())

        return Callback()


def kokoro_messages(source: str) -> list[list[dict[str, str]]]:
    """The merged turns of every dialogue, all splits."""
    from hf_kokoro import load_dataset

    splits = load_dataset("kokorochat", "response_generation", source=source, pool="full")
    return [messages for split in splits.values() for messages in split["messages"]]


def count_tokens(dialogues: list[list[dict[str, str]]]) -> None:
    """Tokens read in one pass and with one example per counsellor turn, by a 4k BPE of the corpus itself."""
    tokenizer = corpus_tokenizer(dialogues)
    one_pass = expanded = turns = 0
    for messages in dialogues:
        texts = [message["content"] for message in messages]
        # role, line break, end token and line break around every text: 5 tokens of ChatML
        lengths = [len(ids) + 5 for ids in tokenizer(texts, add_special_tokens=False)["input_ids"]]
        read = 0
        for message, length in zip(messages, lengths, strict=True):
            read += length
            if message["role"] == "assistant":
                expanded += read
                turns += 1
        one_pass += read
    print(f"\nKokoroChat, {len(dialogues):,} dialogues, {turns:,} counsellor turns, BPE of 4,096 tokens")
    print(f"tokens in one pass {one_pass:,}; one example per turn {expanded:,}; ratio {expanded / one_pass:.1f}x")


def corpus_tokenizer(dialogues: list[list[dict[str, str]]]) -> Any:
    from hf_kokoro.training.tiny import build_tokenizer

    return build_tokenizer((m["content"] for messages in dialogues[:1000] for m in messages), 4096, 8192)


def bench_sft(dialogues: list[list[dict[str, str]]], work: Path) -> None:
    """Wall time of one epoch over the same dialogues, both ways, tiny model, one sequence a step."""
    from datasets import Dataset

    from hf_kokoro.training.recipe import load_recipe
    from hf_kokoro.training.runner import run_recipe
    from hf_kokoro.training.tiny import build_tiny_model

    texts = [message["content"] for messages in dialogues for message in messages]
    model = build_tiny_model(texts, work / "tiny", vocab_size=4096, context=8192)
    rows = {"one pass": [{"messages": messages} for messages in dialogues], "one example per turn": expand(dialogues)}
    print(f"\nSFT of {len(dialogues)} dialogues, one epoch, tiny model, one sequence a step")
    seconds = {}
    for name, data in rows.items():
        recipe = load_recipe(
            {
                "method": "sft", "model_name_or_path": str(model), "output_dir": str(work / "sft"), "max_dropped": 1.0,
                "dataset_test_split": None, "num_train_epochs": 1, "save_strategy": "no", "learning_rate": 1e-3,
                "window_tokens": 8192, "per_device_train_batch_size": 1, "overwrite_output_dir": True,
            }
        )  # fmt: skip
        report = run_recipe(recipe, datasets={"train": Dataset.from_list(data)})
        seconds[name] = report.seconds
        print(f"{name:22}{report.train_rows:>6} sequences {report.seconds:>8.1f} s")
    print(f"ratio {seconds['one example per turn'] / seconds['one pass']:.1f}x")


def expand(dialogues: list[list[dict[str, str]]]) -> list[dict[str, Any]]:
    """The paper's way: the whole history up to each counsellor turn as prompt, the turn as completion."""
    return [
        {"prompt": messages[:at] or [{"role": "system", "content": "…"}], "completion": [message]}
        for messages in dialogues
        for at, message in enumerate(messages)
        if message["role"] == "assistant"
    ]


if __name__ == "__main__":
    main()
