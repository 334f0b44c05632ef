"""croissant.json: valid, with the responsible-AI fields, and read back row by row through mlcroissant."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hf_kokoro as hk
from hf_kokoro.cards import CardError, write_card
from hf_kokoro.cards.croissant import check_croissant
from hf_kokoro.miti.contract import ANSWER_KEYS

mlcroissant = pytest.importorskip("mlcroissant", reason="needs the extra 'croissant'")


@pytest.fixture
def repo(tmp_path: Path, rows: Callable[[int, int], list[Any]]) -> Path:
    folder = tmp_path / "repo"
    hk.append_rows(folder, rows(0, 4), segment_bytes=2500)
    write_card(folder, figures=False, croissant=True, today="2026-01-01")
    return folder


def records(repo: Path, name: str) -> list[dict[str, Any]]:
    dataset = mlcroissant.Dataset(jsonld=repo / "croissant.json", mapping={"repo": repo})
    return [{key.partition("/")[2]: _text(value) for key, value in row.items()} for row in dataset.records(name)]


def _text(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    return [_text(item) for item in value] if isinstance(value, list) else value


def test_every_row_comes_back_through_mlcroissant(repo: Path) -> None:
    lines = [line for file in sorted((repo / "data").glob("*.jsonl")) for line in file.read_text().splitlines()]
    assert len(lines) == 4
    written = {row["question_id"]: row for row in map(json.loads, lines)}
    found = records(repo, "default")
    assert len(found) == 4
    for record in found:
        row = written[record["question_id"]]
        answers = {key: record.pop(f"all_answers/{key}") for key in ANSWER_KEYS}
        assert record == {key: value for key, value in row.items() if key != "all_answers"}
        assert answers == {key: [answer[key] for answer in row["all_answers"]] for key in ANSWER_KEYS}


@pytest.mark.parametrize(("config", "count"), [("pairs", 4), ("unpaired", 12)])
def test_derived_configs_come_back_too(repo: Path, config: str, count: int) -> None:
    found = records(repo, config)
    written = [json.loads(line) for line in (repo / config / "train.jsonl").read_text().splitlines()]
    assert len(found) == len(written) == count
    side = "chosen" if config == "pairs" else "completion"
    assert [record[f"{side}/content"] for record in found] == [[m["content"] for m in row[side]] for row in written]


def test_the_responsible_ai_fields_say_what_the_card_says(repo: Path) -> None:
    document = json.loads((repo / "croissant.json").read_text())
    assert document["rai:machineAnnotationTools"] == ["rule-based/miti-st-v1 (4 rows)"]
    assert any("Not for clinical decisions" in use for use in document["rai:dataUseCases"])
    assert document["datePublished"] == "2026-01-01"
    assert document["license"] == "https://spdx.org/licenses/MIT.html"


def test_a_second_run_changes_nothing(repo: Path) -> None:
    assert write_card(repo, figures=False, croissant=True).changed == ()


def test_a_broken_description_is_a_card_error(repo: Path) -> None:
    document = json.loads((repo / "croissant.json").read_text())
    document["recordSet"][0]["field"][0]["source"]["fileSet"]["@id"] = "nothing"
    with pytest.raises(CardError, match="not valid Croissant"):
        check_croissant(json.dumps(document))


def test_without_the_library_the_pip_line_is_given(repo: Path) -> None:
    program = f"""
import sys
sys.modules["mlcroissant"] = None
from hf_kokoro.cards import write_card
from hf_kokoro.errors import MissingExtraError
try:
    write_card({str(repo)!r}, figures=False, croissant=True)
except MissingExtraError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install 'hf-kokoro[croissant]'" in done.stdout
