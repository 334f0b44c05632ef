"""Cached rows of an older version of the code never come back under a newer one."""

from __future__ import annotations

from pathlib import Path

import pytest
from datasets import Dataset, load_dataset

from hf_kokoro.training import cached_maps
from hf_kokoro.training.cached_maps import Versioned

CALLS: list[str] = []


def shout(row: dict[str, str]) -> dict[str, str]:
    CALLS.append(row["text"])
    return {"text": row["text"].upper()}


def rows(folder: Path) -> Dataset:
    (folder / "rows.jsonl").write_text('{"text": "a"}\n', "utf-8")
    options = {"cache_dir": str(folder / "cache"), "split": "train"}
    return load_dataset("json", data_files=str(folder / "rows.jsonl"), **options)


def test_the_same_code_finds_its_rows_and_other_code_makes_them_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    CALLS.clear()
    data = rows(tmp_path)
    assert data.map(Versioned(shout))["text"] == data.map(Versioned(shout))["text"] == ["A"]
    assert CALLS == ["a"]
    monkeypatch.setattr(cached_maps, "training_code", lambda: "of another version")
    data.map(Versioned(shout))
    assert CALLS == ["a", "a"]


def test_datasets_itself_knows_an_importable_function_by_its_name_alone(tmp_path: Path) -> None:
    # datasets 5.2; if this fails, Versioned may have become needless
    from datasets.fingerprint import Hasher

    from hf_kokoro.training.preflight import _measure

    before = Hasher.hash(_measure)
    code = _measure.__code__
    try:
        _measure.__code__ = shout.__code__
        assert Hasher.hash(_measure) == before
    finally:
        _measure.__code__ = code
