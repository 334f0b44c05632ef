"""Agreement of judges in a card: from the report of `agree`, kept when the card is rendered again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hf_kokoro as hk
from hf_kokoro.cards import CardError, write_card
from hf_kokoro.judging.agreement import AnswerKey, Ratings, compare


@pytest.fixture
def repo(tmp_path: Path, rows: Callable[[int, int], list[Any]]) -> Path:
    hk.append_rows(tmp_path / "repo", rows(0, 3))
    return tmp_path / "repo"


def report(folder: Path, **changes: Any) -> Path:
    figures = {"exact": 0.5, "within_1": 0.9, "difference": -0.2, "kappa": 0.41, "ac1": 0.6, "alpha": None}
    dimension = {name: {"value": value, "low": None, "high": None} for name, value in figures.items()}
    dimension |= {"dimension": "empathy", "kappa": {"value": 0.41, "low": 0.3, "high": 0.52}}
    agreement = {
        "first": "rule-based/miti-st-v1",
        "second": "claude-opus-4-7",
        "answers": 1200,
        "dimensions": [dimension],
        "pairs": {"pairs": 200, "keep": 120, "same": 60, "flip": 50, "lose": 30},
    }
    file = folder / "agree.json"
    file.write_text(json.dumps({"agreements": [{**agreement, **changes}]}))
    return file


def test_a_card_says_that_nothing_was_measured(repo: Path) -> None:
    write_card(repo, figures=False)
    assert "Not measured for this card" in (repo / "README.md").read_text()


def test_the_report_becomes_a_table_that_later_cards_keep(
    repo: Path, tmp_path: Path, rows: Callable[[int, int], list[Any]]
) -> None:
    write_card(repo, figures=False, agreement=report(tmp_path))
    text = (repo / "README.md").read_text()
    assert "`rule-based/miti-st-v1` against `claude-opus-4-7`, 1,200 answers that both scored:" in text
    assert "| empathy | 50 % | 90 % | -0.20 | 0.41 [0.30, 0.52] | 0.60 | not defined |" in text
    assert "Of 200 best-worst pairs of the first judge 120 keep their direction with the second, 50 flip" in text
    assert write_card(repo, figures=False).changed == ()
    hk.append_rows(repo, rows(3, 4))
    write_card(repo, figures=False)
    assert (
        "| empathy | 50 % | 90 % | -0.20 | 0.41 [0.30, 0.52] | 0.60 | not defined |" in (repo / "README.md").read_text()
    )


def test_the_report_of_the_agreement_module_is_read_as_it_is(repo: Path, tmp_path: Path) -> None:
    keys = [AnswerKey(f"question {n // 3}", f"answer {n}") for n in range(9)]
    scores = [
        {"empathy": 1 + n % 5, "partnership": 3, "reflection_present": n % 2, "no_persuade": 1, "no_confront": 1}
        for n in range(9)
    ]
    full = {key: {**five, "total": sum(five.values())} for key, five in zip(keys, scores, strict=True)}
    same = compare(Ratings("one", full, 0), Ratings("two", full, 0))
    (tmp_path / "agree.json").write_text(json.dumps({"agreements": [same.as_dict()]}))
    write_card(repo, figures=False, agreement=tmp_path / "agree.json")
    text = (repo / "README.md").read_text()
    assert "`one` against `two`, 9 answers that both scored:" in text
    assert "| empathy | 100 % | 100 % | 0.00 [0.00, 0.00] | 1.00 [1.00, 1.00] | 1.00 [1.00, 1.00] |" in text


NO_REPORT = ["", "[]", "{}", '{"agreements": [5]}', '{"agreements": []}', '{"agreements": [{}]}']


@pytest.mark.parametrize("content", NO_REPORT)
def test_any_other_file_is_a_card_error_and_nothing_is_written(repo: Path, tmp_path: Path, content: str) -> None:
    (tmp_path / "agree.json").write_text(content)
    with pytest.raises(CardError, match=r"agree\.json"):
        write_card(repo, figures=False, agreement=tmp_path / "agree.json")
    assert not (repo / "README.md").exists()
