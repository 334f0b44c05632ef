"""`weight: 0` on messages: which tokens carry loss, on the paths that ship; and keys that nothing reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import Dataset
from typer.testing import CliRunner

from hf_kokoro.cli import app
from hf_kokoro.errors import RowError
from hf_kokoro.training.preflight import PreflightError
from hf_kokoro.training.sft_data import IGNORED, tokenize_sft

from ..training.training_rows import make_pairs, make_unpaired, message

Pieces = list[tuple[str, bool]]
"""A rendered conversation by hand: texts, and whether each is learnt."""


def weighed(text: str, weight: Any, role: str = "assistant") -> dict[str, Any]:
    return {**message(role, text), "weight": weight}


def user(text: str) -> dict[str, Any]:
    return {**message("user", text), "weight": None}


TURNS = [
    user("sleep"),
    weighed("you should rest", 0),
    user("work"),
    weighed("that sounds hard", 1),
    weighed("just forget it", 0),
    user("money"),
    weighed("move on", 0),
    weighed("what would help", None),
    weighed("grief weighs on you", 1),
]
"""Not learnt alone, learnt before one that is not, learnt after one; the last two are learnt together."""


def chatml(role: str) -> str:
    return f"<|im_start|>{role}\n"


def llama3(role: str) -> str:
    return f"<|start_header_id|>{role}<|end_header_id|>\n\n"


def gemma3(role: str) -> str:
    return f"<start_of_turn>{'model' if role == 'assistant' else role}\n"


FORMS = {
    "chatml": ("", chatml, "<|im_end|>", "\n"),
    "llama3": ("BOS", llama3, "<|eot_id|>", ""),
    "gemma3": ("BOS", gemma3, "<end_of_turn>", "\n"),
}


def pieces_of(family: str, bos: str) -> Pieces:
    opening, header, end, after = FORMS[family]
    return [
        (opening.replace("BOS", bos), False),
        (f"{header('user')}sleep{end}{after}{header('assistant')}", False),
        (f"you should rest{end}", False),
        (f"{after}{header('user')}work{end}{after}{header('assistant')}", False),
        ("that sounds hard", True),
        (f"\njust forget it{end}", False),
        (f"{after}{header('user')}money{end}{after}{header('assistant')}", False),
        ("move on\n", False),
        (f"what would help\ngrief weighs on you{end}", True),
        (after, False),
    ]


def by_hand(tokenizer: Any, pieces: Pieces) -> tuple[list[int], list[int]]:
    """ids and labels of the text, a token being learnt if it lies in learnt text from end to end."""
    learnt = [kept for text, kept in pieces for _ in text]
    encoded = tokenizer("".join(text for text, _ in pieces), add_special_tokens=False, return_offsets_mapping=True)
    labels = [
        token if all(learnt[start:end]) and end > start else IGNORED
        for token, (start, end) in zip(encoded["input_ids"], encoded["offset_mapping"], strict=True)
    ]
    return encoded["input_ids"], labels


@pytest.mark.parametrize("family", list(FORMS))
def test_the_tokens_that_carry_loss_are_exactly_those_of_turns_with_weight(family: str, family_tokenizer: Any) -> None:
    tokenizer = family_tokenizer(family)
    tokens = tokenize_sft(Dataset.from_list([{"messages": TURNS}]), tokenizer, 512)
    ids, labels = by_hand(tokenizer, pieces_of(family, tokenizer.bos_token))
    assert tokens["input_ids"][0] == ids
    assert tokens["labels"][0] == labels
    # turns of weight 0, and answers ("that sounds hard") that go on unlearnt
    assert (tokens["masked"][0], tokens["unended"][0], tokens["status"][0]) == (3, 1, "whole")


@pytest.mark.parametrize("family", list(FORMS))
@pytest.mark.parametrize("overlap", [0, 40])
def test_in_windows_every_turn_with_weight_is_learnt_once_and_no_other(
    family: str, overlap: int, family_tokenizer: Any
) -> None:
    tokenizer = family_tokenizer(family)
    turns: list[dict[str, Any]] = []
    for at in range(12):
        turns += [user(f"turn {at} sleep work money"), weighed(f"answer {at} sounds hard", (at % 3 != 1 and 1) or 0)]
    tokens = tokenize_sft(Dataset.from_list([{"messages": turns}]), tokenizer, 120, overlap=overlap)
    assert len(tokens) > 2
    learnt = "".join(tokenizer.decode([t for t in labels if t != IGNORED]) for labels in tokens["labels"])
    end = FORMS[family][2]
    assert learnt == "".join(f"answer {at} sounds hard{end}" for at in range(12) if at % 3 != 1)
    assert sum(tokens["masked"]) == 4


def test_a_window_or_a_dialogue_of_weight_0_alone_is_left_out_and_counted(tokenizer: Any) -> None:
    rest = [user("sleep"), weighed("rest now", 0)]
    tokens = tokenize_sft(Dataset.from_list([{"messages": rest}, {"messages": TURNS}]), tokenizer, 512)
    assert tokens["status"] == ["no_answer", "whole"]


@pytest.mark.parametrize("family", ["chatml", "llama3", "llm-jp"])
def test_of_a_completion_only_the_messages_with_weight_are_learnt(family: str, family_tokenizer: Any) -> None:
    tokenizer = family_tokenizer(family)
    rows = [
        {"prompt": [user("sleep")], "completion": [weighed("rest now", 0), weighed("that sounds hard", 1)]},
        {"prompt": [user("sleep")], "completion": [weighed("that sounds hard", 1), weighed("rest now", 0)]},
        {"prompt": [user("sleep"), weighed("no", 0), user("work")], "completion": [weighed("that sounds hard", 1.0)]},
        {"prompt": [user("sleep")], "completion": [weighed("rest now", 0)]},
    ]
    tokens = tokenize_sft(Dataset.from_list(rows), tokenizer, 512)
    plain = [{"prompt": [user("sleep")], "completion": [message("assistant", "that sounds hard")]}]
    alone = [token for token in tokenize_sft(Dataset.from_list(plain), tokenizer, 512)["labels"][0] if token != IGNORED]
    learnt = [[token for token in labels if token != IGNORED] for labels in tokens["labels"]]
    # a second message brings its header, as it does without weights
    assert learnt[0][-len(alone) :] == alone
    assert "rest" not in tokenizer.decode(learnt[0])
    assert learnt[1] == learnt[2] == alone
    assert tokens["status"] == ["whole", "whole", "whole", "no_answer"]
    assert "rest now" in tokenizer.decode(tokens["input_ids"][1])


def test_weight_1_or_null_is_no_weight_and_other_roles_have_none_to_lose(tokenizer: Any) -> None:
    plain = [message(turn["role"], turn["content"]) for turn in TURNS]
    given = [weighed(turn["content"], 0 if turn["role"] == "user" else 1.0, turn["role"]) for turn in plain]
    one, other = (tokenize_sft(Dataset.from_list([{"messages": turns}]), tokenizer, 512) for turns in (plain, given))
    assert one["labels"] == other["labels"]
    assert other["masked"] == [0]


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def train(method: str, folder: Path, model: Path, *more: object) -> Any:
    config = folder / "mine.yaml"
    config.write_text(f"model_name_or_path: {model}\nsave_strategy: 'no'\nmax_length: 400\nmax_steps: 1\n", "utf-8")
    words = ["train", method, "--config", config, "--dataset_name", folder / "rows", "--output_dir", folder / "run"]
    return CliRunner().invoke(app, [str(word) for word in (*words, *more)], catch_exceptions=False)


def without_nulls(turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As people write JSON: a key only where it says something."""
    return [{key: value for key, value in turn.items() if value is not None} for turn in turns]


def test_train_sft_on_a_file_has_the_loss_by_hand_without_the_turns_of_weight_0(
    tiny_model: Path, tokenizer: Any, load_tiny: Any, tmp_path: Path
) -> None:
    rows = [{"messages": without_nulls(TURNS)}]
    write_jsonl(tmp_path / "rows" / "train.jsonl", rows)
    write_jsonl(tmp_path / "rows" / "test.jsonl", rows)
    report = json.loads(train("sft", tmp_path, tiny_model, "--json").stdout)
    ids, labels = by_hand(tokenizer, pieces_of("chatml", ""))
    with torch.no_grad():
        log_probs = torch.log_softmax(load_tiny()(torch.tensor([ids])).logits[0].double(), dim=-1)
    losses = [-log_probs[at, token].item() for at, token in enumerate(labels[1:]) if token != IGNORED]
    assert report["before"]["loss"] == pytest.approx(sum(losses) / len(losses), rel=1e-5)
    checks = {check["name"]: check for check in report["preflight"]["checks"]}
    assert checks["turns of weight 0 (context, not learnt)"]["value"] == "3"
    assert checks["completions without exactly one end token"]["verdict"] == "ok"
    assert checks["share of supervised tokens"]["value"] == f"{len(losses) / len(ids):.1%}"


def test_a_dialogue_in_which_nothing_is_learnt_fails_the_pre_flight_by_row(tiny_model: Path, tmp_path: Path) -> None:
    dead = [message("user", "sleep"), weighed("rest now", 0)]
    write_jsonl(tmp_path / "rows" / "train.jsonl", [{"messages": without_nulls(TURNS)}, {"messages": dead}])
    with pytest.raises(PreflightError, match=r"dropped: no_answer: 1 \(rows 1\).*of weight 0 alone"):
        train("sft", tmp_path, tiny_model, "--dataset_test_split", "null")


WRONG = [
    ({"weight": 0.5}, r"weight: got 0\.5; allowed: 0 \(not learnt\) or 1"),
    ({"weight": "0"}, r"weight: got text of 1 characters; allowed: 0"),
    ({"weight": True}, r"weight: got True; allowed: 0"),
    ({"tool_calls": [{"id": "Anna Secretname"}]}, r"tool_calls: got a key .*; allowed: the keys role, content, weight"),
    ({"name": "Anna Secretname"}, r"name: got a key .*; allowed: the keys role, content, weight"),
    ({"Anna Secretname": 1}, r"text of 15 characters: got a key"),
]


@pytest.mark.parametrize("mixed", [True, False], ids=["beside good weights", "alone"])
@pytest.mark.parametrize(("extra", "reason"), WRONG, ids=lambda value: "")
def test_other_weights_and_keys_are_refused_by_row_and_message(
    extra: dict[str, Any], reason: str, mixed: bool, tiny_model: Path, tmp_path: Path
) -> None:
    good = {"messages": without_nulls(TURNS) if mixed else [message("user", "a"), message("assistant", "b")]}
    bad = {"messages": [message("user", "sleep"), {**message("assistant", "that sounds hard"), **extra}]}
    # with good weights of another type beside them, `datasets` reads the column as JSON
    write_jsonl(tmp_path / "rows" / "train.jsonl", [good, good, bad])
    with pytest.raises(RowError, match=f"split train row 2 messages message 1 {reason}") as caught:
        train("sft", tmp_path, tiny_model, "--dataset_test_split", "null")
    assert "1 fault\n" in str(caught.value)
    assert "Secretname" not in str(caught.value)


PREFERENCES = [
    ("dpo", "prompt"), ("dpo", "chosen"), ("dpo", "rejected"), ("reward", "chosen"), ("kto", "prompt"),
    ("kto", "completion"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "column"), PREFERENCES)
@pytest.mark.parametrize("extra", [{"weight": 0}, {"name": "Anna"}], ids=["weight", "name"])
def test_preference_training_reads_role_and_content_alone(
    method: str, column: str, extra: dict[str, Any], tiny_model: Path, tmp_path: Path
) -> None:
    rows = make_unpaired(6) if method == "kto" else make_pairs(6)
    rows[3][column] = [{**turn, **extra} for turn in rows[3][column]]
    write_jsonl(tmp_path / "rows" / "train.jsonl", rows)
    reason = f"split train row 3 {column} message 0 {next(iter(extra))}: got a key .*; allowed: the keys role, content"
    with pytest.raises(RowError, match=reason):
        train(method, tmp_path, tiny_model, "--dataset_test_split", "null")


@pytest.mark.parametrize("stream", [False, True], ids=["rows", "stream"])
@pytest.mark.parametrize("method", ["sft", "dpo", "kto", "reward"])
def test_the_trainers_refuse_them_without_a_recipe_too(
    method: str, stream: bool, tiny_model: Path, tokenizer: Any, tmp_path: Path
) -> None:
    from hf_kokoro.training.methods import METHODS
    from hf_kokoro.training.recipe import load_recipe
    from hf_kokoro.training.runner import trainer_config

    column = {"sft": "messages", "kto": "completion"}.get(method, "chosen")
    rows = {"sft": [{"messages": TURNS}] * 4, "kto": make_unpaired(4)}.get(method, make_pairs(4))
    if method != "sft":
        rows[2][column][0] = weighed("that sounds hard", 0)
    made: Any = Dataset.from_list(rows)
    args = trainer_config(load_recipe({"method": method, "output_dir": str(tmp_path), "max_steps": 1}))
    place = f"row {0 if method == 'sft' else 2} {column} message {1 if method == 'sft' else 0} weight"
    if method == "kto" and not stream:
        place = f"{column} message 0 weight"  # its rows were put in order before
    with pytest.raises(RowError, match=place):
        METHODS[method].trainer_class(
            model=str(tiny_model), args=args, train_dataset=made.to_iterable_dataset() if stream else made,
            processing_class=tokenizer,
        ).train()  # fmt: skip


def test_tokenize_sft_refuses_them_by_itself(tokenizer: Any) -> None:
    with pytest.raises(RowError, match=r"rows row 0 messages message 0 weight: got 2"):
        tokenize_sft(Dataset.from_list([{"messages": [weighed("rest", 2)]}]), tokenizer, 100)
