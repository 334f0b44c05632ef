"""A row whose answer is a placeholder goes nowhere, by verb and from Python; what was there before stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hf_kokoro import append_rows, audit
from hf_kokoro.errors import RowError
from hf_kokoro.miti.contract import row_line
from tests.judging.judging_support import run

from .rows import row

DATA = "data/pilot.jsonl"


def emptied(number: int, text: str) -> dict[str, Any]:
    """A valid row whose last answer, the rejected one, is `text`."""
    made = row(number)
    made["rejected"] = made["all_answers"][2]["text"] = text
    return made


@pytest.mark.parametrize("text", ["[deleted by user]", "コメントは削除されました。", "<br>", "n / a", "…", "なし。"])
def test_a_placeholder_among_the_answers_is_a_fault_by_name(tmp_path: Path, text: str) -> None:
    with pytest.raises(RowError, match=r"row 2 all_answers\.2\.text: got a placeholder; allowed: what") as error:
        append_rows(tmp_path / "ds", [row(1), emptied(2, text)])
    assert text not in str(error.value)
    assert not (tmp_path / "ds").exists()


def test_the_verb_names_the_line_and_leaves_it_out_on_demand(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(row_line(row(1)) + row_line(emptied(2, "(removed)")))
    done = run("append", "r.jsonl", "--to", "./ds", cwd=tmp_path)
    assert (done.returncode, "r.jsonl line 2 all_answers.2.text: got a placeholder" in done.stderr) == (1, True)
    assert run("append", "r.jsonl", "--to", "./ds", "--skip-invalid", cwd=tmp_path).returncode == 0
    assert json.loads((tmp_path / "ds" / DATA).read_text()) == row(1)
    assert json.loads((tmp_path / "rejects.jsonl").read_text()) == emptied(2, "(removed)")


@pytest.mark.parametrize("text", ["No.", "Yes", "いいえ", "はい"])
def test_a_short_answer_is_one(tmp_path: Path, text: str) -> None:
    assert append_rows(tmp_path / "ds", [emptied(1, text)]).added == 1


def test_rows_that_were_there_before_the_rule_stay_valid(tmp_path: Path) -> None:
    (tmp_path / "ds" / "data").mkdir(parents=True)
    (tmp_path / "ds" / DATA).write_text(row_line(emptied(1, "[removed]")))
    assert append_rows(tmp_path / "ds", [row(2)]).rows_total == 2
    assert audit(tmp_path / "ds").ok
