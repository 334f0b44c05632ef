"""The pre-flight: what would be dropped, cut, doubled, unlearnt or leaked, before step 1."""

from __future__ import annotations

from typing import Any

import pytest
from datasets import Dataset

from hf_kokoro.tokens.chat_templates import ensure_training_template
from hf_kokoro.tokens.turns import turn_starts
from hf_kokoro.training.preflight import Preflight, PreflightError, end_tokens
from hf_kokoro.training.prepare import Prepared, prepare
from hf_kokoro.training.recipe import RecipeSettings
from hf_kokoro.training.tiny import build_tokenizer

from .training_rows import make_pairs, make_unpaired, message


def run(rows: list[dict[str, Any]], tokenizer: Any, limit: int | None = 200, **changes: Any) -> Prepared:
    test = changes.pop("test", None)
    settings = RecipeSettings(**{"method": "dpo", **changes})
    return prepare(settings, tokenizer, Dataset.from_list(rows), test and Dataset.from_list(test), limit)


def value(preflight: Preflight, name: str) -> tuple[str, str]:
    check = next(check for check in preflight.checks if check.name == name)
    return check.value, check.verdict


def test_clean_rows_pass_and_the_table_counts_them(tokenizer: Any) -> None:
    preflight = run(make_pairs(8), tokenizer).preflight
    preflight.raise_if_failed()
    assert value(preflight, "rows") == ("8", "ok")
    assert value(preflight, "sum of weights") == ("8.00 over 8 rows", "ok")
    assert value(preflight, "margin (min, mean, max)") == ("1, 2.50, 4", "ok")


def test_rows_that_do_not_fit_are_named_and_fail_over_the_allowed_share(tokenizer: Any) -> None:
    rows = make_pairs(40)
    rows[7]["prompt"] = [message("user", "sleep " * 300)]
    rows[9]["chosen"] = [message("assistant", "rest " * 300)]
    refused = run(rows, tokenizer).preflight
    assert refused.rows["too_long"] == ["row-7", "row-9"]
    assert value(refused, "dropped: too_long") == ("2 (rows row-7, row-9)", "fail")
    with pytest.raises(PreflightError, match=r"dropped: too_long: 2 \(rows row-7, row-9\); allowed: 1.0% dropped"):
        refused.raise_if_failed()
    allowed = run(rows, tokenizer, max_dropped=0.05)
    allowed.preflight.raise_if_failed()
    assert len(allowed.train) == 38
    assert allowed.longest <= 200


def test_an_empty_answer_is_dropped_by_name_and_never_trained_on(tokenizer: Any) -> None:
    rows = make_pairs(4)
    rows[2]["rejected"] = [message("assistant", "  ")]
    prepared = run(rows, tokenizer, max_dropped=0.5)
    assert prepared.preflight.rows["no_answer"] == ["row-2"]
    assert prepared.train["row_id"] == ["row-0", "row-1", "row-3"]


def test_long_dialogue_prompts_are_cut_between_turns_and_counted(tokenizer: Any) -> None:
    rows = make_pairs(4)
    rows[1]["prompt"] = [message(("user", "assistant")[i % 2], f"turn {i} sleep") for i in range(41)]
    prepared = run(rows, tokenizer)
    prepared.preflight.raise_if_failed()
    assert value(prepared.preflight, "cut between turns") == ("1 (rows row-1)", "note")
    assert prepared.longest <= 200


def test_two_equal_answers_fail(tokenizer: Any) -> None:
    rows = make_pairs(4)
    rows[3]["rejected"] = rows[3]["chosen"]
    assert value(run(rows, tokenizer).preflight, "identical completions") == ("1", "fail")


def test_a_second_bos_and_stray_end_tokens_are_found(tokenizer: Any, family_tokenizer: Any) -> None:
    doubled = family_tokenizer("llama3")
    doubled.chat_template = "{{ bos_token }}" + doubled.chat_template
    assert value(run(make_pairs(4), doubled).preflight, "rows with two bos") == ("4", "fail")
    rows = make_pairs(4)
    rows[0]["chosen"] = [message("assistant", "so<|im_end|>")]
    found = value(run(rows, tokenizer).preflight, "completions without exactly one end token")
    assert found == ("1", "fail")


def test_a_missing_bos_is_noted_where_the_tokenizer_would_write_one(family_tokenizer: Any) -> None:
    from tokenizers.processors import TemplateProcessing

    dialogue = [{"messages": [message("user", "sleep"), message("assistant", "that sounds hard")]}] * 2
    tokenizer = family_tokenizer("llama3")
    bos = tokenizer.bos_token
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single=f"{bos} $A", special_tokens=[(bos, tokenizer.bos_token_id)]
    )
    for rows, method in ((make_pairs(4), "dpo"), (dialogue, "sft")):
        assert value(run(rows, tokenizer, method=method).preflight, "rows without bos") == ("0", "ok")
    tokenizer.chat_template = tokenizer.chat_template.replace("{{- bos_token -}}", "")
    for rows, method in ((make_pairs(4), "dpo"), (dialogue, "sft")):
        assert value(run(rows, tokenizer, method=method).preflight, "rows without bos") == (str(len(rows)), "note")


def test_end_tokens_inside_a_counsellors_text_and_a_second_bos_fail_for_dialogues_too(
    tokenizer: Any, family_tokenizer: Any
) -> None:
    dialogue = [message("user", "sleep"), message("assistant", "so<|im_end|>"), message("user", "yes")]
    rows = [{"messages": [*dialogue, message("assistant", "and so")]}]
    found = value(run(rows, tokenizer, method="sft").preflight, "completions without exactly one end token")
    assert found == ("1", "fail")
    doubled = family_tokenizer("llama3")
    doubled.chat_template = "{{ bos_token }}" + doubled.chat_template
    assert value(run(rows, doubled, method="sft").preflight, "rows with two bos") == ("1", "fail")


def test_weights_that_a_method_has_no_use_for_are_not_ignored_in_silence(tokenizer: Any) -> None:
    rows = make_pairs(4)
    assert value(run(rows, tokenizer, method="dpo").preflight, "sum of weights")[1] == "ok"
    checks = run(rows, tokenizer, method="reward").preflight.checks
    found = next(check for check in checks if check.name == "sum of weights")
    assert (found.verdict, found.hint) == ("note", "reward training has no weights: every row counts alike")
    alike = [{**row, "weight": 1.0} for row in rows]
    assert value(run(alike, tokenizer, method="reward").preflight, "sum of weights")[1] == "ok"


def test_every_completion_of_a_sound_template_has_exactly_one_end_token(family_tokenizer: Any) -> None:
    for family in ("chatml", "llama3", "gemma3", "llm-jp", "qwen3"):
        preflight = run(make_pairs(4), family_tokenizer(family)).preflight
        assert value(preflight, "completions without exactly one end token") == ("0", "ok")
        assert value(preflight, "rows with two bos") == ("0", "ok")


def test_end_tokens_are_the_eos_and_the_one_that_the_template_writes(family_tokenizer: Any) -> None:
    tokenizer = family_tokenizer("llama3")
    assert [tokenizer.decode([token]) for token in end_tokens(tokenizer)] == ["<|im_end|>", "<|eot_id|>"]


def test_one_sided_labels_fail_and_rare_ones_are_noted(tokenizer: Any) -> None:
    rows = [{k: v for k, v in row.items() if k != "row_id"} for row in make_unpaired(20)]
    assert value(run(rows, tokenizer, method="kto").preflight, "labels (desirable : undesirable)") == ("20 : 20", "ok")
    only = [row for row in rows if row["label"]]
    assert value(run(only, tokenizer, method="kto").preflight, "labels (desirable : undesirable)")[1] == "fail"
    rare = only + [row for row in rows if not row["label"]][:1]
    assert value(run(rare, tokenizer, method="kto").preflight, "labels (desirable : undesirable)")[1] == "note"


def test_shared_questions_and_therapists_of_train_and_test_are_counted(tokenizer: Any) -> None:
    def named(row: dict[str, Any], question: str, chosen: str, rejected: str) -> dict[str, Any]:
        return {**row, "question_id": question, "chosen_therapist": chosen, "rejected_therapist": rejected}

    rows = make_pairs(6)
    train = [named(rows[i], f"q{i}", "ann", "ben") for i in range(4)]
    test = [named(rows[4], "q1", "cy", "dee"), named(rows[5], "q9", "eve", "ann")]
    preflight = run(train, tokenizer, test=test).preflight
    assert value(preflight, "question also in training") == ("1 of 2 test rows (50%)", "note")
    assert value(preflight, "therapist also in training") == ("1 of 2 test rows (50%)", "note")


def test_a_test_split_that_empties_is_an_error_not_a_silence(tokenizer: Any) -> None:
    test = [{**make_pairs(1)[0], "chosen": [message("assistant", "rest " * 300)]}]
    preflight = run(make_pairs(4), tokenizer, test=test).preflight
    assert value(preflight, "test rows") == ("0", "fail")


def test_sft_rows_without_a_counsellor_turn_fail_and_the_supervised_share_is_reported(tokenizer: Any) -> None:
    dialogue = [message("user", "sleep"), message("assistant", "that sounds hard")]
    good = run([{"messages": dialogue}] * 2, tokenizer, method="sft").preflight
    good.raise_if_failed()
    assert value(good, "share of supervised tokens")[0].endswith("%")
    deaf = run([{"messages": dialogue[:1]}] * 2, tokenizer, method="sft").preflight
    with pytest.raises(PreflightError, match="no token would be learnt"):
        deaf.raise_if_failed()


def test_a_reward_prompt_is_cut_right_where_some_turns_start_inside_a_token() -> None:
    tokenizer = build_tokenizer(["turn sleep\n\n\n\n### 指示:\n 応答:"] * 50, 400, 2048)
    ensure_training_template(tokenizer, "llm-jp")
    rows = make_pairs(2)
    ends = ("\n\n", "", "")
    turns = [message(("user", "assistant")[i % 2], f"turn {i} sleep{ends[i % 3]}") for i in range(41)]
    rows[1]["prompt"] = turns
    starts = turn_starts(tokenizer, turns)
    assert None in starts
    assert len({start for start in starts if start is not None}) > 10
    prepared = run(rows, tokenizer, limit=300, method="reward")
    prompt = prepared.train[1]["prompt"]
    assert prompt == turns[-len(prompt) :]
    for side in ("chosen", "rejected"):
        ids = tokenizer.apply_chat_template([*prompt, *rows[1][side]], tokenize=True, return_dict=True)["input_ids"]
        assert len(ids) <= 300


def test_reward_prompts_are_cut_by_whole_turns_too(tokenizer: Any) -> None:
    rows = make_pairs(4)
    turns = [message(("user", "assistant")[i % 2], f"turn {i} sleep") for i in range(41)]
    rows[1]["prompt"] = [message("system", "be kind"), *turns]
    prepared = run(rows, tokenizer, limit=120, method="reward")
    prompt = prepared.train[1]["prompt"]
    assert prompt[0] == message("system", "be kind")
    assert prompt[1:] == turns[-len(prompt) + 1 :]
    whole = tokenizer.apply_chat_template([*prompt, *rows[1]["chosen"]], tokenize=True, return_dict=True)["input_ids"]
    assert len(whole) <= 120


@pytest.mark.parametrize("method", ["dpo", "kto", "reward", "sft"])
def test_a_system_text_that_a_template_writes_into_the_first_turn_outlives_that_turn(
    method: str, family_tokenizer: Any
) -> None:
    tokenizer = family_tokenizer("gemma3")
    turns = [message(("user", "assistant")[i % 2], f"turn {i} sleep") for i in range(41)]
    pair = {**make_pairs(1)[0], "prompt": [message("system", "be kind"), *turns]}
    row = {"prompt": pair["prompt"], "completion": pair["chosen"], "label": True}
    other = {**row, "prompt": turns[:1], "label": False}
    prepared = run([pair] if method in ("dpo", "reward") else [row, other], tokenizer, limit=120, method=method)
    assert prepared.preflight.rows["cut"] != []
    if method == "sft":
        text = tokenizer.decode(prepared.train[0]["input_ids"])
    else:
        prompt = prepared.train[0]["prompt"]
        assert prompt[1:] == turns[-len(prompt) + 1 :]
        text = tokenizer.apply_chat_template(prompt, tokenize=False)
    # user first, the system text before its words, though the turn that it was written into is gone
    assert text.startswith("<|bos|><start_of_turn>user\nbe kind\n\nturn ")
    assert "turn 0 " not in text
    assert "turn 40 " in text
