"""One contract for every builder and every config."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import datasets
import pytest

import hf_kokoro as hk
from hf_kokoro.corpora.base import BuildFailed
from hf_kokoro.corpora.load import get_builder
from hf_kokoro.errors import UsageError

HERE = Path(__file__).resolve().parent
SCRIPT = HERE.parent.parent / "scripts" / "record_golden.py"
_spec = importlib.util.spec_from_file_location("record_golden", SCRIPT)
assert _spec is not None
assert _spec.loader is not None
record_golden = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(record_golden)

GOLDEN = json.loads((HERE / "golden.json").read_text("utf-8"))
CONFIGS = record_golden.configs()
ROW_KEYS: dict[str, tuple[str, ...]] = {
    "kokorochat/turns": ("dialogue_id", "turn"),
    "kokorochat/next_turn": ("dialogue_id", "turn"),
    "kokorochat/unpaired": ("dialogue_id", "turn"),
    "emplifai/situations": ("emotion", "situation_id"),
    "emplifai/dialogues": ("dialogue_id",),
    "emplifai/sft": ("dialogue_id",),
    "emplifai/emotion": ("dialogue_id",),
    "annomi/utterances": ("dialogue_id", "utterance"),
    "miti_st_dpo/pairs": ("row_id",),
    "miti_st_dpo/reward": ("row_id",),
    "miti_st_dpo/unpaired": ("question_id", "prompt", "completion", "therapist"),
    "miti_st_dpo/answers": ("question_id", "prompt", "text", "therapist"),
    "miti_st_dpo/rows": ("question_id", "prompt", "chosen", "rejected"),
}
each_config = pytest.mark.parametrize(("name", "config"), CONFIGS, ids=["/".join(pair) for pair in CONFIGS])


def identity(name: str, config: str, row: dict[str, Any]) -> str:
    if (name, config) == ("kokorochat", "source"):
        return str(row["review_by_client_en"]["evaluation_id"])
    keys = ROW_KEYS.get(f"{name}/{config}", ("dialogue_id",))
    return json.dumps([row[key] for key in keys], ensure_ascii=False)


def test_the_contract_covers_every_config_of_the_interface() -> None:
    assert {name: {c for n, c in CONFIGS if n == name} for name in hk.BUILDERS} == {
        "kokorochat": {
            "source", "dialogues", "turns", "response_generation", "next_turn", "score_prediction", "unpaired",
        },
        "emplifai": {"dialogues", "situations", "sft", "emotion"},
        "annomi": {"utterances", "dialogues"},
        "miti_st_dpo": {"rows", "pairs", "unpaired", "answers", "reward"},
    }  # fmt: skip
    assert set(GOLDEN) == {"/".join(pair) for pair in CONFIGS}


@each_config
def test_rows_are_the_recorded_ones_typed_as_declared_unique_and_disjoint(
    name: str, config: str, tmp_path: Path
) -> None:
    splits = record_golden.load(name, config, tmp_path)
    assert record_golden.describe(splits) == GOLDEN[f"{name}/{config}"]
    declared = get_builder(name, config, source=record_golden.SOURCES[name], cache_dir=tmp_path).info.features
    seen: set[str] = set()
    for rows in splits.values():
        assert rows.features == declared
        identities = [identity(name, config, row) for row in rows]
        assert len(set(identities)) == len(identities)
        assert not seen & set(identities)
        seen |= set(identities)


@each_config
def test_a_stream_gives_the_same_rows(name: str, config: str, tmp_path: Path) -> None:
    built = record_golden.load(name, config, tmp_path)
    streamed = record_golden.load(name, config, tmp_path, streaming=True)
    assert set(streamed) == set(built)
    for split, rows in built.items():
        assert list(streamed[split]) == list(rows)
        assert streamed[split].features == rows.features


@each_config
def test_two_processes_give_the_same_rows(name: str, config: str, tmp_path: Path) -> None:
    one = record_golden.load(name, config, tmp_path / "one")
    two = record_golden.load(name, config, tmp_path / "two", num_proc=2)
    for split, rows in one.items():
        assert list(rows) == list(two[split])


@each_config
def test_the_builder_class_works_on_its_own_and_as_parquet(name: str, config: str, tmp_path: Path) -> None:
    options = record_golden.VARIANTS.get((name, config), {})
    builder = hk.BUILDERS[name](
        config_name=config, source=record_golden.SOURCES[name], cache_dir=str(tmp_path / "cache"), **options
    )
    builder.download_and_prepare(output_dir=str(tmp_path / "out"), file_format="parquet")
    files = sorted((tmp_path / "out").glob("*-train*.parquet"))
    rows = datasets.load_dataset(
        "parquet", data_files=[str(f) for f in files], split="train", cache_dir=str(tmp_path / "c")
    )
    assert len(rows) == GOLDEN[f"{name}/{config}"]["rows"]["train"]
    # datasets 5.2 writes no ClassLabel into Parquet on this path; folders made by `hf-kokoro build` carry the types
    assert rows.column_names == list(builder.info.features)


@each_config
def test_no_string_is_none_where_a_chat_template_would_read_it(name: str, config: str, tmp_path: Path) -> None:
    for rows in record_golden.load(name, config, tmp_path).values():
        for row in rows:
            for column in ("messages", "prompt", "completion", "chosen", "rejected"):
                value = row.get(column, "text")
                texts = [value] if isinstance(value, str) else [m["content"] for m in value]
                assert all(isinstance(text, str) and text.strip() for text in texts)
                assert isinstance(value, str) or all(set(m) == {"role", "content"} for m in value)


@pytest.mark.parametrize(
    ("arguments", "options", "says"),
    [
        (
            ("kokoro", "dialogues"),
            {},
            "got 'kokoro'; allowed: kokorochat, emplifai, annomi, miti_st_dpo; did you mean 'kokorochat'",
        ),
        (("kokorochat", "dialgues"), {}, "config: got 'dialgues'; allowed: dialogues"),
        (("kokorochat", "dialogues"), {"pol": "high"}, "option 'pol' is not known; allowed: conversational"),
        (("kokorochat", "dialogues"), {"language": "fr"}, "language: got 'fr'; allowed: ja, en, zh"),
        (("kokorochat", "dialogues"), {"split_by": "therapist"}, "split_by: got 'therapist'; allowed: None, counselor"),
        (("emplifai", "sft"), {"split_by": "person"}, "split_by: got 'person'; allowed: None, situation"),
        (("annomi", "dialogues"), {"split_by": "client"}, "split_by: got 'client'; allowed: None, video, topic"),
        (("miti_st_dpo", "pairs"), {"weights": "big"}, "weights: got 'big'; allowed: uniform, margin"),
    ],
)
def test_a_wrong_name_or_option_says_what_is_allowed(
    arguments: tuple[str, str], options: dict[str, Any], says: str
) -> None:
    source = record_golden.SOURCES.get(arguments[0], ".")
    with pytest.raises(UsageError) as caught:
        hk.load_dataset(*arguments, source=source, **options)
    assert says in str(caught.value)


def test_emplifai_without_a_source_says_where_its_files_come_from() -> None:
    with pytest.raises(hk.KokoroError, match="ask the paper's authors and give source="):
        hk.load_dataset("emplifai", "dialogues")


def test_annomi_without_a_source_says_where_its_file_comes_from() -> None:
    with pytest.raises(hk.KokoroError, match="uccollab/AnnoMI on GitHub and give source="):
        hk.load_dataset("annomi", "utterances")


def test_a_failed_build_reaches_users_of_the_class_as_both_families_of_errors(tmp_path: Path) -> None:
    (tmp_path / "1.json").write_text("{}")
    with pytest.raises(BuildFailed) as caught:
        hk.BUILDERS["kokorochat"](config_name="dialogues", source=tmp_path).download_and_prepare()
    assert isinstance(caught.value, hk.KokoroError)
    assert isinstance(caught.value, datasets.exceptions.DatasetGenerationError)
