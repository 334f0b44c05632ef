"""Model generation: against the library's own greedy decoding, resumable, cut at turns."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hf_kokoro.errors import SourceError, UsageError
from hf_kokoro.evaluation.generate import GenerationSettings, PromptRow, generate_predictions, next_turn_rows
from hf_kokoro.evaluation.models import load_causal_lm
from hf_kokoro.tokens.loading import load_tokenizer
from hf_kokoro.training.tiny import build_tiny_model


def chat(*texts: str) -> list[dict[str, str]]:
    return [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(texts)]


ROWS = [
    PromptRow(f"r{i}", chat("眠れません。" * (i + 1), "つらいですね。", "はい。"), {"reference": "そうですか。"})
    for i in range(5)
]


def settings(model: Path, **changes: Any) -> GenerationSettings:
    return GenerationSettings(str(model), **{"max_new_tokens": 8, "dtype": "float32", **changes})


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "predictions.jsonl").read_text().splitlines()]


def test_batched_left_padded_texts_equal_greedy_decoding_one_by_one(tiny_lm: Path, tmp_path: Path) -> None:
    generate_predictions(ROWS, tmp_path, settings(tiny_lm), batch_size=3)
    model, tokenizer = load_causal_lm(tiny_lm), load_tokenizer(tiny_lm, padding_side="left")
    for row, found in zip(ROWS, lines(tmp_path), strict=True):
        ids = tokenizer.apply_chat_template(
            row.prompt, add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        alone = model.generate(**ids, max_new_tokens=8, do_sample=False, pad_token_id=tokenizer.pad_token_id)
        text = tokenizer.decode(alone[0, ids["input_ids"].shape[1] :], skip_special_tokens=True).strip()
        assert (found["id"], found["prediction"]) == (row.id, text)
        assert found["reference"] == "そうですか。"
        assert found["finish"] in ("stop", "length")


def test_a_killed_run_goes_on_and_ends_with_the_bytes_of_an_uninterrupted_one(tiny_lm: Path, tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    generate_predictions(ROWS, whole, settings(tiny_lm), batch_size=2)
    expected = (whole / "predictions.jsonl").read_bytes()
    generate_predictions(ROWS[:3], killed, settings(tiny_lm), batch_size=2)
    torn = (killed / "predictions.jsonl").read_bytes()[:-15]
    (killed / "predictions.jsonl").write_bytes(torn)
    report = generate_predictions(ROWS, killed, settings(tiny_lm), batch_size=2)
    assert (report.already, report.generated) == (2, 3)
    assert (killed / "predictions.jsonl").read_bytes() == expected


def test_a_finished_run_does_not_even_load_the_model(tiny_lm: Path, tmp_path: Path) -> None:
    generate_predictions(ROWS, tmp_path, settings(tiny_lm))
    path = tmp_path / "generation.json"
    path.write_text(path.read_text().replace(str(tiny_lm), "gone"))
    report = generate_predictions(ROWS, tmp_path, settings(Path("gone")))
    assert (report.already, report.generated) == (5, 0)


def test_a_folder_of_other_settings_is_refused_by_the_setting(tiny_lm: Path, tmp_path: Path) -> None:
    generate_predictions(ROWS[:1], tmp_path, settings(tiny_lm))
    with pytest.raises(UsageError, match="max_new_tokens 8 → 9"):
        generate_predictions(ROWS, tmp_path, settings(tiny_lm, max_new_tokens=9))
    (tmp_path / "generation.json").unlink()
    with pytest.raises(UsageError, match="unknown settings"):
        generate_predictions(ROWS, tmp_path, settings(tiny_lm))


def test_sampling_is_seeded(tiny_lm: Path, tmp_path: Path) -> None:
    texts = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        generate_predictions(ROWS, tmp_path / name, settings(tiny_lm, temperature=1.0, seed=seed))
        texts.append([row["prediction"] for row in lines(tmp_path / name)])
    assert texts[0] == texts[1] != texts[2]


def test_a_model_that_is_not_there_is_an_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="can't be loaded"):
        generate_predictions(ROWS, tmp_path, settings(tmp_path / "nothing"))
    small = build_tiny_model(["a"], tmp_path / "small", context=16, vocab_size=300)
    with pytest.raises(UsageError, match="less than the model's context"):
        generate_predictions(ROWS, tmp_path / "out", settings(small, max_new_tokens=16))


def test_a_prompt_whose_last_turn_does_not_fit_gets_no_text_and_is_counted(tiny_lm: Path, tmp_path: Path) -> None:
    rows = [PromptRow("long", chat("あ" * 600), {"reference": "x"}), ROWS[0]]
    report = generate_predictions(rows, tmp_path, settings(tiny_lm))
    assert report.finish["prompt_too_long"] == 1
    assert lines(tmp_path)[0]["prediction"] == ""


def test_response_generation_rows_expand_to_the_same_prompts_as_next_turn(samples: Path) -> None:
    import hf_kokoro

    def rows(config: str) -> list[PromptRow]:
        splits = hf_kokoro.load_dataset("kokorochat", config, source=samples / "kokorochat")
        return [row for split in sorted(splits) for row in next_turn_rows(splits[split])]

    one, other = rows("response_generation"), rows("next_turn")
    assert one
    assert one == other
    assert all(row.prompt[-1]["role"] == "user" for row in one)


def test_the_command_generates_scores_and_scores_again_from_its_folder(
    tiny_lm: Path, tmp_path: Path, samples: Path, invoke: Callable[..., Any]
) -> None:
    out = tmp_path / "run"
    words = ("--model", tiny_lm, "--source", samples / "kokorochat", "--split", "train", "--limit", 3, "--out", out)
    first = invoke("evaluate", "generation", *words, "--max-new-tokens", 6, "--json")
    assert first.exit_code == 0, first.output
    report = json.loads(first.stdout)
    assert report["systems"][0]["samples"] == 3
    assert (out / "report.json").read_text("utf-8") == first.stdout
    again = invoke("evaluate", "generation", "--predictions", out, "--json")
    scored = json.loads(again.stdout)
    assert scored["systems"][0]["metrics"] == report["systems"][0]["metrics"]
