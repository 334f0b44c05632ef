"""A judge's validity in a card: from reports of `validate`, kept by later cards, of the right judge."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hf_kokoro as hk
from hf_kokoro.cards import CardError, write_card
from hf_kokoro.miti.contract import row_id
from hf_kokoro.policy.notes import Note, Notes
from hf_kokoro.workflow import card

JUDGE = "rule-based/miti-st-v1"
"""Who scored the rows of this folder's tests."""


@pytest.fixture
def repo(tmp_path: Path, rows: Callable[[int, int], list[Any]]) -> Path:
    hk.append_rows(tmp_path / "repo", rows(0, 3))
    return tmp_path / "repo"


def report(folder: Path, name: str = "validity.json", **changes: Any) -> Path:
    dimension = {
        "n": 1234,
        "kappa": 0.41,
        "ceiling": 0.6,
        "intervals": {"kappa": [0.3, 0.52]},
        "stand_in": {"winning_rate": 2 / 3, "passes": True},
    }
    fields = {
        "kind": "people",
        "judge_model": JUDGE,
        "rubric_sha256": "ab" * 32,
        "people": ["human/a", "human/b", "human/c"],
        "dimensions": {"empathy": dimension, "no_confront": dimension | {"kappa": None, "stand_in": None}},
        "pairs": {"pairs": 200, "keep": 0.75, "flip": 30, "tie": 20},
    }
    file = folder / name
    file.write_text(json.dumps(fields | changes))
    return file


def text_of(repo: Path) -> str:
    return (repo / "README.md").read_text("utf-8")


def test_a_card_without_a_report_says_that_the_scores_are_not_validated(repo: Path) -> None:
    write_card(repo, figures=False)
    assert "**Not validated.**" in text_of(repo)


def test_the_report_becomes_a_table_that_later_cards_keep(
    repo: Path, tmp_path: Path, rows: Callable[[int, int], list[Any]]
) -> None:
    write_card(repo, figures=False, validity=[report(tmp_path)])
    line = "| `empathy` | 1,234 | 0.41 [0.30, 0.52] | 0.60 | yes (0.67) |"
    said = (
        f"`{JUDGE}` (instructions `abababababab`) against 3 people who rated the same answers:",
        line,
        "| `no_confront` | 1,234 | not defined | 0.60 | not tested: three people are needed |",
        "Of 200 best-worst pairs people keep the direction of 75 %, 30 flip and 20 tie.",
    )
    assert all(part in text_of(repo) for part in said)
    assert "Not validated" not in text_of(repo)
    assert write_card(repo, figures=False).changed == ()
    hk.append_rows(repo, rows(3, 4))
    assert line in text_of(repo)
    assert "4 pairs" in text_of(repo)


def test_several_reports_stand_beside_each_other_and_new_ones_take_their_place(repo: Path, tmp_path: Path) -> None:
    sessions = {"auc": 0.931, "n": 67, "high": 55}
    experts = report(tmp_path, "experts.json", kind="experts", people=[], pairs=None, sessions=sessions)
    card(repo, figures=False, validity=[report(tmp_path), experts])
    assert "people who rated the same answers:" in text_of(repo)
    assert "against the experts' codes of AnnoMI's sessions (demonstrations, not these answers):" in text_of(repo)
    assert "AUC 0.93 (55 of 67 are of high quality)" in text_of(repo)
    card(repo, figures=False, validity=experts)
    assert "people who rated the same answers:" not in text_of(repo)


def test_the_owners_words_beside_the_table_are_kept_once(repo: Path, tmp_path: Path) -> None:
    write_card(repo, figures=False, validity=[report(tmp_path)])
    file = repo / "README.md"
    file.write_text(
        text_of(repo).replace("### Validity of the scores\n", "### Validity of the scores\n\nOur raters.\n")
    )
    write_card(repo, figures=False, validity=[report(tmp_path)])
    write_card(repo, figures=False)
    assert text_of(repo).count("Our raters.") == 1
    assert text_of(repo).count("| `empathy` | 1,234 |") == 1


def test_a_report_about_another_judge_is_refused_and_nothing_is_written(repo: Path, tmp_path: Path) -> None:
    with pytest.raises(CardError, match=r"about claude-x@abababababab, but these rows are scored by rule-based"):
        write_card(repo, figures=False, validity=[report(tmp_path, judge_model="claude-x")])
    assert not (repo / "README.md").exists()


def test_a_report_about_other_instructions_than_the_rows_were_scored_by_is_refused(
    tmp_path: Path, one_row: Callable[..., Any]
) -> None:
    repo, mine = tmp_path / "repo", one_row(1)
    hk.append_rows(repo, [mine], notes=Notes({row_id(mine): Note(rubric_sha256="ab" * 32)}))
    write_card(repo, figures=False, validity=[report(tmp_path)])
    with pytest.raises(CardError, match=r"about \S+@cdcdcdcdcdcd, but these rows are scored by \S+@abababababab;"):
        write_card(repo, figures=False, validity=[report(tmp_path, rubric_sha256="cd" * 32)])
    # a row whose judge's instructions nobody recorded may be by those of the report
    hk.append_rows(repo, [one_row(2)])
    write_card(repo, figures=False, validity=[report(tmp_path, rubric_sha256="cd" * 32)])
    assert "(instructions `cdcdcdcdcdcd`)" in text_of(repo)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"kind": "opinions"}', '{"kind": "people", "judge_model": 3}'])
def test_what_is_no_report_is_refused_with_what_makes_one(repo: Path, tmp_path: Path, content: str) -> None:
    (tmp_path / "v.json").write_text(content)
    with pytest.raises(CardError, match=r"v\.json: no report of `validate --json`.*hf-kokoro validate"):
        write_card(repo, figures=False, validity=[tmp_path / "v.json"])


def test_what_a_report_says_can_not_break_out_of_its_table(repo: Path, tmp_path: Path) -> None:
    wrong = report(tmp_path, rubric_sha256="`|\n<script>\n<!-- /validity -->")
    write_card(repo, figures=False, validity=[wrong])
    assert "<script>" not in text_of(repo)
    assert text_of(repo).count("<!-- /validity -->") == 1
