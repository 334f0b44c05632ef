"""Exports: strictly alternating, counted, and readable by the trainers they are for."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import datasets
import pytest
import yaml
from jsonschema import validate

import hf_kokoro as hk
from hf_kokoro.corpora.conversations import Alternation, conversations, kind_of
from hf_kokoro.corpora.exports import FORMATS, export
from hf_kokoro.errors import UsageError

SAMPLES = files("hf_kokoro").joinpath("samples")


def turn(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


CHAT = [
    *(turn("system", "be kind"), turn("assistant", "welcome"), turn("assistant", "how are you?")),
    *(turn("user", "bad"), turn("user", "very"), turn("assistant", "I see"), turn("user", "bye")),
]
PAIR = {"prompt": "q", "chosen": [turn("assistant", "good")], "rejected": "bad"}
LABELLED = {"prompt": [turn("user", "q")], "completion": "a", "label": True}


def made(row: dict[str, Any]) -> tuple[Any, Alternation]:
    counts = Alternation()
    found = list(conversations([row], kind_of(row), counts))
    return (found[0] if found else None), counts


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_runs_are_merged_and_ends_trimmed_and_both_are_counted() -> None:
    conversation, counts = made({"messages": CHAT})
    assert conversation.system == "be kind"
    assert conversation.turns == [turn("user", "bad\nvery"), turn("assistant", "I see")]
    # six turns: two runs of two, then the counsellor's opening and the last "bye" are trimmed
    assert counts.as_dict() == {
        "rows_in": 1,
        "rows_out": 1,
        "rows_dropped": 0,
        "rows_touched": 1,
        "turns_in": 6,
        "turns_merged": 2,
        "turns_trimmed": 2,
        "trimmed_percent": 50.0,
    }


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [turn("system", "s")],
        [turn("user", "q")],
        [turn("assistant", "a")],
        [turn("assistant", "a"), turn("user", "q")],
    ],
)
def test_a_row_without_an_answered_user_turn_is_dropped_and_counted(messages: list[dict[str, str]]) -> None:
    conversation, counts = made({"messages": messages})
    assert conversation is None
    assert (counts.rows_in, counts.rows_dropped, counts.rows_out) == (1, 1, 0)


def test_a_preference_prompt_has_to_end_with_a_user_turn() -> None:
    kept, _ = made({**PAIR, "prompt": [turn("assistant", "hi"), turn("user", "q")]})
    assert (kept.turns, kept.chosen, kept.rejected) == ([turn("user", "q")], "good", "bad")
    assert made({**PAIR, "prompt": [turn("user", "q"), turn("assistant", "a")]})[0] is None
    assert made({**LABELLED, "prompt": [turn("user", "q"), turn("assistant", "a")]})[0] is None


@pytest.mark.parametrize("columns", [["text"], ["prompt"], ["chosen", "rejected"], []])
def test_a_config_without_conversations_is_refused(columns: list[str]) -> None:
    with pytest.raises(UsageError, match="no conversations to train on"):
        kind_of(columns)


def test_openai_files_hold_messages_or_preferred_outputs(tmp_path: Path) -> None:
    export({"train": [{"messages": CHAT}]}, ["messages"], "openai", tmp_path / "a", name="x")
    assert lines(tmp_path / "a/train.jsonl") == [
        {"messages": [turn("system", "be kind"), turn("user", "bad\nvery"), turn("assistant", "I see")]}
    ]
    export({"train": [PAIR]}, PAIR, "openai", tmp_path / "b", name="x")
    assert lines(tmp_path / "b/train.jsonl") == [
        {
            "input": {"messages": [turn("user", "q")]},
            "preferred_output": [turn("assistant", "good")],
            "non_preferred_output": [turn("assistant", "bad")],
        }
    ]


def test_alpaca_files_hold_the_last_exchange_and_the_history(tmp_path: Path) -> None:
    messages = [turn("user", "1"), turn("assistant", "2"), turn("user", "3"), turn("assistant", "4")]
    export({"train": [{"messages": messages}]}, ["messages"], "alpaca", tmp_path / "a", name="x")
    assert lines(tmp_path / "a/train.jsonl") == [
        {"instruction": "3", "input": "", "system": "", "history": [["1", "2"]], "output": "4"}
    ]
    row = {**PAIR, "prompt": messages[:3]}
    export({"train": [row]}, row, "alpaca", tmp_path / "b", name="x")
    assert lines(tmp_path / "b/train.jsonl") == [
        {"instruction": "3", "input": "", "system": "", "history": [["1", "2"]], "chosen": "good", "rejected": "bad"}
    ]
    export({"train": [LABELLED]}, LABELLED, "alpaca", tmp_path / "c", name="x")
    [record] = lines(tmp_path / "c/train.jsonl")
    assert (record["instruction"], record["output"], record["kto_tag"]) == ("q", "a", True)


def test_sharegpt_files_are_read_back_by_trl_as_the_same_messages(tmp_path: Path) -> None:
    data_utils = pytest.importorskip("trl.data_utils")
    export({"train": [{"messages": CHAT}]}, ["messages"], "sharegpt", tmp_path / "a", name="x")
    [record] = lines(tmp_path / "a/train.jsonl")
    assert record["system"] == "be kind"
    back = data_utils.maybe_convert_to_chatml({"conversations": record["conversations"]})
    assert data_utils.is_conversational(back)
    # TRL renames the keys and leaves the speakers as they are
    speakers = {"human": "user", "gpt": "assistant"}
    messages = [turn(speakers[m["role"]], m["content"]) for m in back["messages"]]
    assert messages == [turn("user", "bad\nvery"), turn("assistant", "I see")]


# LLaMA-Factory's documented dataset description and ShareGPT records (its data/README.md)
_TURN = {"type": "object", "required": ["from", "value"], "properties": {"from": {"enum": ["human", "gpt"]}}}
LLAMA_FACTORY_INFO = {
    "additionalProperties": {
        "required": ["file_name", "formatting", "columns"],
        "properties": {
            "file_name": {"type": "string"},
            "formatting": {"const": "sharegpt"},
            "ranking": {"type": "boolean"},
            "columns": {
                "additionalProperties": False,
                "properties": {k: {} for k in ("messages", "system", "chosen", "rejected", "kto_tag")},
            },
        },
        "additionalProperties": False,
    }
}
LLAMA_FACTORY_RECORD = {
    "required": ["conversations"],
    "properties": {
        "conversations": {"type": "array", "minItems": 1, "items": _TURN},
        "system": {"type": "string"},
        "chosen": _TURN,
        "rejected": _TURN,
        "kto_tag": {"type": "boolean"},
    },
    "additionalProperties": False,
}


@pytest.mark.parametrize(("row", "column"), [({"messages": CHAT}, "system"), (PAIR, "chosen"), (LABELLED, "kto_tag")])
def test_llama_factory_files_fit_the_documented_schema_and_each_other(
    tmp_path: Path, row: dict[str, Any], column: str
) -> None:
    export({"train": [row], "test": [row]}, row, "llama-factory", tmp_path / "a", name="mine")
    info = json.loads((tmp_path / "a/dataset_info.json").read_text())
    validate(info, LLAMA_FACTORY_INFO)
    assert set(info) == {"mine_train", "mine_test"}
    for description in info.values():
        assert column in description["columns"]
        assert description.get("ranking", False) is (column == "chosen")
        for record in lines(tmp_path / "a" / description["file_name"]):
            validate(record, LLAMA_FACTORY_RECORD)
            assert set(description["columns"].values()) <= set(record)
            speakers = [t["from"] for t in record["conversations"]]
            # human at odd places, gpt at even ones; for rankings a human turn is the last
            assert speakers == ["human", "gpt"] * (len(speakers) // 2) + ["human"] * (len(speakers) % 2)
            assert (len(speakers) % 2 == 1) is (column == "chosen")


@pytest.mark.parametrize(("row", "rl"), [({"messages": CHAT}, None), (PAIR, "dpo")])
def test_axolotl_settings_name_the_files_and_fields_that_are_there(
    tmp_path: Path, row: dict[str, Any], rl: str | None
) -> None:
    export({"train": [row], "validation": [row], "test": [row]}, row, "axolotl", tmp_path / "a", name="mine")
    settings = yaml.safe_load((tmp_path / "a/mine.yaml").read_text())
    assert settings.get("rl") == rl
    assert [entry["path"] for entry in settings["datasets"]] == ["./train.jsonl"]
    assert [entry["path"] for entry in settings["test_datasets"]] == ["./validation.jsonl"]
    for entry in (*settings["datasets"], *settings["test_datasets"]):
        loaded = datasets.load_dataset(
            entry["ds_type"], data_files=str(tmp_path / "a" / entry["path"]), split=entry["split"], cache_dir=tmp_path
        )
        mapping = entry["message_property_mappings"]
        message = loaded[0][entry["field_messages"]][-1]
        assert {mapping["role"], mapping["content"]} <= set(message)
        if rl:
            assert loaded[0][entry["field_chosen"]] == turn("assistant", "good")
            assert loaded[0][entry["field_rejected"]] == turn("assistant", "bad")


def test_the_report_lies_beside_the_files(tmp_path: Path) -> None:
    report = export({"train": [{"messages": CHAT}] * 2}, ["messages"], "openai", tmp_path / "a", name="x")
    written = json.loads((tmp_path / "a/export_report.json").read_text())
    assert written["splits"] == report.splits
    assert report.splits["train"]["turns_trimmed"] == 4
    assert set(report.files) == {"export_report.json", "train.jsonl"}


def test_unknown_formats_missing_kinds_and_full_folders_are_usage_errors(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="allowed: openai, sharegpt, alpaca, llama-factory, axolotl"):
        export({}, ["messages"], "trax", tmp_path / "a", name="x")
    for to in ("openai", "axolotl"):
        with pytest.raises(UsageError, match="allowed: sharegpt, alpaca, llama-factory"):
            export({"train": [LABELLED]}, LABELLED, to, tmp_path / "a", name="x")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/x").touch()
    with pytest.raises(UsageError, match="something already"):
        export({}, ["messages"], "openai", tmp_path / "full", name="x")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str, str], Any]:
    """built(name, config, source): the splits, built once for all formats."""
    cache = str(tmp_path_factory.mktemp("cache"))

    @functools.cache
    def build(name: str, config: str, source: str) -> Any:
        return hk.load_dataset(name, config, source=str(SAMPLES / source), cache_dir=cache)

    return build


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize(
    "config",
    [
        ("kokorochat", "response_generation", "kokorochat"),
        ("kokorochat", "next_turn", "kokorochat"),
        ("emplifai", "sft", "emplifai.csv"),
    ],
)
def test_every_config_with_conversations_exports_to_every_format(
    tmp_path: Path, built: Callable[[str, str, str], Any], to: str, config: tuple[str, str, str]
) -> None:
    splits = built(*config)
    columns = next(iter(splits.values())).column_names
    report = export(splits, columns, to, tmp_path / "out", name="x")
    assert sum(counts["rows_out"] for counts in report.splits.values()) > 0
    for split, counts in report.splits.items():
        assert counts["rows_in"] == splits[split].num_rows == counts["rows_out"] + counts["rows_dropped"]
        records = lines(tmp_path / "out" / f"{split}.jsonl")
        assert len(records) == counts["rows_out"]
        for record in records:
            _assert_alternates(record)


def _assert_alternates(record: dict[str, Any]) -> None:
    if "messages" in record:
        roles = [m["role"] for m in record["messages"] if m["role"] != "system"]
        assert roles == ["user", "assistant"] * (len(roles) // 2)
    elif "conversations" in record:
        roles = [t["from"] for t in record["conversations"]]
        assert roles == ["human", "gpt"] * (len(roles) // 2)
    else:
        assert record["instruction"]
        assert record["output"]
        assert all(len(exchange) == 2 for exchange in record["history"])


def test_trimming_takes_what_was_measured_on_the_real_dialogues(real_data_dir: Path, tmp_path: Path) -> None:
    source = real_data_dir / "kokorochat.tar.gz"
    splits = hk.load_dataset("kokorochat", "response_generation", source=source, cache_dir=tmp_path / "cache")
    report = export(splits, ["messages"], "openai", tmp_path / "out", name="x")
    total = {key: sum(counts[key] for counts in report.splits.values()) for key in report.splits["train"]}
    assert total["rows_in"] == total["rows_out"] == 6589
    assert total["turns_in"] == 471_940
    # 392 dialogues alternate as they are
    assert total["rows_in"] - total["rows_touched"] == 392
