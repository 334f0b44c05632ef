"""`append_rows` from Python: as the verb does, for rows in whatever types they come."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pandas as pd
import pytest

import hf_kokoro as hk
from hf_kokoro import workflow
from hf_kokoro.errors import RowError, UsageError
from hf_kokoro.hub import HubTarget
from hf_kokoro.miti.contract import DATA_PATH, row_line

from ..cards.conftest import make_row
from ..hub.double import HubDouble
from ..judging.judging_support import run

ROWS = [make_row(number) for number in range(4)]
PLAIN = "".join(map(row_line, ROWS))
PAIRS = "pairs/train.jsonl"


def lines(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


def with_numpy(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with numpy's integers, and its answers as a tuple of rows with numpy's integers."""
    answers = tuple(
        {key: np.int64(value) if isinstance(value, int) else value for key, value in answer.items()}
        for answer in row["all_answers"]
    )
    numbers = {key: np.int32(value) for key, value in row.items() if isinstance(value, int)}
    return {**row, **numbers, "all_answers": answers}


def test_the_documented_function_is_the_one_that_renews_cards() -> None:
    assert hk.append_rows is workflow.append_rows


@pytest.mark.parametrize(
    "given",
    [
        ROWS,
        iter(ROWS),
        tuple(ROWS),
        [with_numpy(row) for row in ROWS],
        pd.DataFrame(ROWS),
        pd.DataFrame([with_numpy(row) for row in ROWS]),
        datasets.Dataset.from_list(ROWS),
        datasets.Dataset.from_list(ROWS).with_format("numpy"),
    ],
    ids=["list", "iterator", "tuple", "numpy", "frame", "frame of numpy", "dataset", "dataset as numpy"],
)
def test_rows_have_the_same_bytes_and_digests_however_they_come(given: Any, tmp_path: Path) -> None:
    assert hk.append_rows(tmp_path / "pairs", given).added == len(ROWS)
    assert (tmp_path / "pairs" / DATA_PATH).read_text("utf-8") == PLAIN
    assert hk.append_rows(tmp_path / "pairs", ROWS).added == 0


def test_numbers_that_are_no_scores_stay_faults(tmp_path: Path) -> None:
    for wrong in (np.float64("nan"), np.float64(13.5), np.bool_(True)):
        with pytest.raises(RowError, match="chosen_score"):
            hk.append_rows(tmp_path / "pairs", [{**ROWS[0], "chosen_score": wrong}])
    with pytest.raises(UsageError, match="one mapping"):
        hk.append_rows(tmp_path / "pairs", ROWS[0])


@pytest.mark.parametrize("door", ["function", "verb"])
def test_a_card_that_card_wrote_and_the_derived_configs_grow_with_the_rows(door: str, tmp_path: Path) -> None:
    folder = tmp_path / "pairs"
    hk.append_rows(folder, ROWS[:3])
    workflow.card(folder, figures=False)
    assert lines(folder / PAIRS) == 3
    (tmp_path / "more.jsonl").write_text(row_line(ROWS[3]), "utf-8")
    if door == "function":
        hk.append_rows(folder, ROWS[3:])
    else:
        assert run("append", "more.jsonl", "--to", "./pairs", cwd=tmp_path).returncode == 0
    assert lines(folder / PAIRS) == 4
    fits = workflow.card(folder, figures=False, check=True)
    assert isinstance(fits, workflow.CardReport)
    assert fits.changed == ()
    assert workflow.audit(folder).ok


def test_card_false_leaves_it_and_card_true_makes_one(tmp_path: Path) -> None:
    folder = tmp_path / "pairs"
    hk.append_rows(folder, ROWS[:2])
    assert not (folder / "README.md").exists()
    hk.append_rows(folder, ROWS[2:3], card=True)
    assert lines(folder / PAIRS) == 3
    hk.append_rows(folder, ROWS[3:], card=False)
    assert lines(folder / PAIRS) == 3


def test_other_files_go_along_with_the_renewed_card(tmp_path: Path) -> None:
    folder = tmp_path / "pairs"
    hk.append_rows(folder, ROWS[:3])
    workflow.card(folder, figures=False)
    hk.append_rows(
        folder, ROWS[3:], extra_operations=lambda growth: {"notes.json": json.dumps(growth.rows_total).encode()}
    )
    assert (folder / "notes.json").read_text() == "4"
    assert lines(folder / PAIRS) == 4


@pytest.mark.parametrize("rows", [None, 7, object()])
def test_what_are_no_rows_is_named_with_what_may_be(tmp_path: Path, rows: Any) -> None:
    with pytest.raises(UsageError, match=r"rows: got .*; allowed: a list or another iterable of rows"):
        workflow.append_rows(tmp_path / "pairs", rows)
    with pytest.raises(UsageError, match=r"rows: got .*; allowed: a list or another iterable of rows"):
        workflow.append_rows(tmp_path / "pairs", {"question_id": "q1"})


def test_a_dataset_dict_is_named_with_the_split_to_give(tmp_path: Path) -> None:
    split = datasets.Dataset.from_list([make_row(0)])
    given = datasets.DatasetDict({"train": split, "test": split})
    with pytest.raises(
        UsageError, match=r"got a DatasetDict of the splits train, test \(give one of them: rows\['train'\]"
    ):
        workflow.append_rows(tmp_path / "pairs", given)
    assert not (tmp_path / "pairs").exists()


def test_the_card_hook_takes_what_belongs_to_the_hub_alone(tmp_path: Path) -> None:
    with HubDouble(tmp_path / "hub") as hub:
        hub.repo("user/pairs")
        target = HubTarget("user/pairs", token="hf_writes", endpoint=hub.endpoint, cache_dir=tmp_path / "mirrors")
        assert workflow.append_rows(target, [make_row(0)], card=True).added == 1
        assert b"user/pairs" in hub.repo("user/pairs").read("README.md")
    with pytest.raises(UsageError, match="two of branch"):
        workflow.append_rows("user/pairs@one", [make_row(0)], branch="two", token="hf_x", card=True)
