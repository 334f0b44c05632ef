"""A card in a local folder: typed loading, growth without stale counts, merging, drift."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pytest
from huggingface_hub import DatasetCard

import hf_kokoro as hk
from hf_kokoro.cards import CardError, card_files, write_card
from hf_kokoro.cards.check_files import folder_problems
from hf_kokoro.cards.derived import fast_row_id
from hf_kokoro.errors import RowError, UsageError
from hf_kokoro.hub.errors import UnreadableCard
from hf_kokoro.miti.contract import row_id
from hf_kokoro.miti.features import ROWS_FEATURES, pairs_features, unpaired_features

Rows = Callable[[int, int], list[dict[str, Any]]]


def load(folder: Path, config: str | None = None, **options: Any) -> Any:
    return datasets.load_dataset(str(folder), config, split="train", **options)


def test_plain_load_dataset_gives_the_typed_features_of_every_config(repo: Path, cache: str) -> None:
    assert load(repo, cache_dir=cache).features == ROWS_FEATURES
    assert load(repo, "pairs", cache_dir=cache).features == pairs_features(True)
    assert load(repo, "unpaired", cache_dir=cache).features == unpaired_features(True)
    assert next(iter(load(repo, streaming=True)))["all_answers"][0]["total"] == 13


def test_rows_appended_later_are_loaded_without_a_size_error_and_without_old_rows(
    repo: Path, rows: Rows, cache: str
) -> None:
    assert load(repo, cache_dir=cache).num_rows == 3
    hk.append_rows(repo, rows(3, 5))
    assert load(repo, cache_dir=cache).num_rows == 5
    hk.append_rows(repo, rows(5, 6))
    loaded = load(repo, cache_dir=cache)
    assert [row["question_id"] for row in loaded] == ["q0", "q1", "q2", "q3", "q4", "q5"]
    assert loaded.features == ROWS_FEATURES


def test_an_append_that_brings_the_card_along_updates_every_count_in_one_commit(
    repo: Path, rows: Rows, cache: str
) -> None:
    before = len(list(hk.hub.LocalTarget(repo).history(_series())))
    hk.append_rows(repo, rows(3, 5), extra_operations=lambda growth: card_files(growth, figures=False))
    assert len(list(hk.hub.LocalTarget(repo).history(_series()))) == before + 1
    assert "5 pairs over 5 questions, from 15 scored answers by 3 writers" in (repo / "README.md").read_text()
    assert load(repo, "pairs", cache_dir=cache).num_rows == 5
    assert load(repo, "unpaired", cache_dir=cache).num_rows == 15
    assert write_card(repo, figures=False).changed == ()


def _series() -> Any:
    from hf_kokoro.core.series import Series

    return Series("data/pilot.jsonl")


@pytest.mark.parametrize("streaming", [False, True])
def test_segments_load_in_the_order_they_grew_before_and_after_another_append(
    tmp_path: Path, rows: Rows, cache: str, streaming: bool
) -> None:
    def loaded() -> list[str]:
        options = {"streaming": True} if streaming else {"cache_dir": cache}
        return [row["question_id"] for row in load(folder, **options)]

    folder = tmp_path / "repo"
    hk.append_rows(folder, rows(0, 4), segment_bytes=2500)
    assert sorted(file.name for file in (folder / "data").iterdir()) == ["pilot-00001.jsonl", "pilot.jsonl"]
    assert write_card(folder, figures=False).rows == 4
    assert folder_problems(folder) == []
    assert loaded() == ["q0", "q1", "q2", "q3"]
    hk.append_rows(
        folder, rows(4, 7), segment_bytes=2500, extra_operations=lambda growth: card_files(growth, figures=False)
    )
    assert (folder / "data" / "pilot-00002.jsonl").exists()
    assert loaded() == ["q0", "q1", "q2", "q3", "q4", "q5", "q6"]
    assert write_card(folder, figures=False, check=True).changed == ()


def test_a_card_without_segments_yet_has_no_problem_and_takes_in_those_to_come(
    repo: Path, rows: Rows, cache: str
) -> None:
    assert folder_problems(repo) == []
    before = (repo / "README.md").read_text()
    hk.append_rows(repo, rows(3, 5), segment_bytes=2500)
    assert [row["question_id"] for row in load(repo, cache_dir=cache)] == ["q0", "q1", "q2", "q3", "q4"]
    (config, *_) = DatasetCard(before).data["configs"]
    assert config["data_files"] == [{"split": "train", "path": list(_series().patterns)}]


@pytest.mark.parametrize("pattern", ["data/pilot*.jsonl", "[data/pilot.jsonl, data/pilot-*.jsonl]"])
def test_a_card_with_the_patterns_of_former_versions_is_renewed(
    repo: Path, rows: Rows, cache: str, pattern: str
) -> None:
    card = repo / "README.md"
    former = re.sub(r"path:(\n +- data/pilot\S*)+", f"path: {pattern}", card.read_text())
    assert f"path: {pattern}\n" in former
    card.write_text(former)
    hk.append_rows(repo, rows(3, 5), card=False, segment_bytes=2500)
    assert "README.md" in write_card(repo, figures=False).changed
    assert [row["question_id"] for row in load(repo, cache_dir=cache)] == ["q0", "q1", "q2", "q3", "q4"]


def test_derived_configs_are_those_of_the_builder(repo: Path, cache: str) -> None:
    for config in ("pairs", "unpaired"):
        built = hk.load_dataset("miti_st_dpo", config, source=repo, split="train", cache_dir=cache)
        assert built.features == load(repo, config, cache_dir=cache).features
        assert built[:] == load(repo, config, cache_dir=cache)[:]


def test_derived_rows_are_what_the_scores_say(repo: Path) -> None:
    pair = json.loads((repo / "pairs/train.jsonl").read_text().splitlines()[1])
    assert pair["prompt"] == [{"role": "user", "content": "Title 1\n\nText 1"}]
    assert pair["chosen"] == [{"role": "assistant", "content": "Answer 0 to question 1"}]
    assert pair["rejected"] == [{"role": "assistant", "content": "Answer 2 to question 1 and more and more"}]
    assert pair["margin"] == 10.0
    labels = [json.loads(line) for line in (repo / "unpaired/train.jsonl").read_text().splitlines()]
    # 13 and 8 and 3 points; desirable from 9
    assert [(row["score"], row["label"]) for row in labels[:3]] == [(13, True), (8, False), (3, False)]


def test_a_question_that_was_sampled_again_does_not_repeat_its_answers(tmp_path: Path, one_row: Any) -> None:
    row, again = one_row(1), one_row(1)
    again["all_answers"] = again["all_answers"][::-1][:2]
    again["chosen"], again["chosen_score"] = again["all_answers"][1]["text"], 8
    again["chosen_therapist"] = "Ben South"
    hk.append_rows(tmp_path / "repo", [row, again])
    write_card(tmp_path / "repo", figures=False)
    assert len((tmp_path / "repo/pairs/train.jsonl").read_text().splitlines()) == 2
    assert len((tmp_path / "repo/unpaired/train.jsonl").read_text().splitlines()) == 3


def test_a_second_run_changes_nothing(repo: Path) -> None:
    before = {path: path.read_bytes() for path in repo.rglob("*") if path.is_file()}
    assert write_card(repo, figures=False).changed == ()
    assert {path: path.read_bytes() for path in repo.rglob("*") if path.is_file() and path in before} == before


def test_hand_written_text_and_unknown_yaml_keys_and_configs_survive(repo: Path, rows: Rows) -> None:
    card = repo / "README.md"
    text = card.read_text()
    text = text.replace("<!-- yours: notes -->\n", "<!-- yours: notes -->\nWritten by hand: ①, naïve.\n")
    text = text.replace("license: mit\n", 'license: mit\nx-internal-note: "1.10"\n')
    text = text.replace("configs:\n", "configs:\n  - config_name: mine\n    data_files: mine.jsonl\n")
    text += "\n<!-- yours: appendix -->\nAn appendix.\n<!-- /yours -->\n"
    text = text.replace("tags:\n", "tags:\n  - my-own-tag\n")
    card.write_text(text)
    hk.append_rows(repo, rows(3, 5), card=False)
    assert "README.md" in write_card(repo, figures=False).changed
    rendered = card.read_text()
    data = DatasetCard.load(card).data.to_dict()
    assert "Written by hand: ①, naïve." in rendered
    assert "An appendix." in rendered
    assert data["x-internal-note"] == "1.10"
    assert [config["config_name"] for config in data["configs"]] == ["default", "pairs", "unpaired", "mine"]
    assert "my-own-tag" in data["tags"]
    assert "5 pairs" in rendered
    assert write_card(repo, figures=False).changed == ()


def test_a_card_written_by_hand_as_a_whole_is_kept_as_notes(tmp_path: Path, rows: Rows) -> None:
    folder = tmp_path / "repo"
    hk.append_rows(folder, rows(0, 3))
    (folder / "README.md").write_text("---\nlicense: mit\nunknown: kept\n---\n# My own card\n\nWith prose.\n")
    write_card(folder, figures=False)
    rendered = (folder / "README.md").read_text()
    assert "# My own card\n\nWith prose.\n<!-- /yours -->" in rendered
    assert DatasetCard.load(folder / "README.md").data.to_dict()["unknown"] == "kept"
    assert write_card(folder, figures=False).changed == ()


def test_growth_is_kept_line_by_line(repo: Path, rows: Rows) -> None:
    hk.append_rows(repo, rows(3, 5), card=False)
    write_card(repo, figures=False, today="2026-02-01")
    hk.append_rows(repo, rows(5, 6), card=False)
    write_card(repo, figures=False, today="2026-02-01")
    table = re.findall(r"^\| 2026.*$", (repo / "README.md").read_text(), re.MULTILINE)
    assert table == ["| 2026-01-01 | 3 | 3 | 9 |", "| 2026-02-01 | 6 | 6 | 18 |"]


def test_numbers_of_the_card_are_those_of_the_rows(repo: Path) -> None:
    text = (repo / "README.md").read_text()
    # totals 13, 8, 3 in three rows; margins 10; the rejected answer is 18 characters longer
    assert "| total of an answer, mean (points of 13) | 8.00 |" in text
    assert "| margin, mean and median (points) | 10.00, 10 |" in text
    assert "| characters, chosen and rejected (mean) | 22, 40 |" in text
    assert "| chosen is the longer side | 0.0 % |" in text
    assert "| Spearman of an answer's length with its total | -1.00 |" in text
    assert "| chosen held by the most frequent writer, the five most frequent | 100.0 %, 100.0 % |" in text
    assert "Largest topics: grief (2), anxiety (1)." in text
    assert "size_categories:\n  - n<1K" in text


def test_the_card_says_that_rules_judged_and_that_it_is_not_for_clinical_use(
    repo: Path, tmp_path: Path, one_row: Any
) -> None:
    text = (repo / "README.md").read_text()
    assert "Scores by rules, not by a reader" in text
    for phrase in ("Not for clinical use", "Never for** clinical decisions", "without supervision"):
        assert phrase in text
    hk.append_rows(tmp_path / "other", [one_row(1, judge="claude-opus-4-7")])
    write_card(tmp_path / "other", figures=False)
    other = (tmp_path / "other/README.md").read_text()
    assert "Scores by rules" not in other
    assert "annotations_creators:\n  - machine-generated" in other


@pytest.mark.parametrize(
    ("card", "said"),
    [
        (b"---\nlicense: [mit\n---\n", "line"),
        (b"---\n- a list\n---\n", "keys and values"),
        (b"---\nlicense: mit\nlicense: mit\n---\n", "stands twice"),
        (b"---\nlicense: \xff\n---\n", "not UTF-8"),
        (b"---\n? [a]\n: b\n---\n", "YAML"),
        (b"---\na: !!python/object/apply:os.system [x]\n---\n", "YAML"),
    ],
)
def test_an_existing_card_that_cannot_be_read_is_an_error_and_is_left_alone(repo: Path, card: bytes, said: str) -> None:
    (repo / "README.md").write_bytes(card)
    with pytest.raises((CardError, UnreadableCard), match=said):
        write_card(repo, figures=False)
    assert (repo / "README.md").read_bytes() == card


def test_a_folder_without_rows_and_an_unknown_dataset_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CardError, match="append rows first"):
        write_card(tmp_path / "empty")
    with pytest.raises(UsageError, match="allowed: miti_st_dpo"):
        write_card(tmp_path, dataset="kokorochat")


@pytest.mark.parametrize("line", ['{"question_id": "x"}', "[1]", '{"a": ', "null"])
def test_a_line_that_is_no_row_is_named_and_nothing_is_written(repo: Path, line: str) -> None:
    before = (repo / "README.md").read_bytes()
    with (repo / "data/pilot.jsonl").open("a") as stream:
        stream.write(line + "\n")
    with pytest.raises(RowError, match=r"data/pilot\.jsonl line 4"):
        write_card(repo, figures=False)
    assert (repo / "README.md").read_bytes() == before


def test_the_command_line_checks_for_drift(repo: Path, rows: Rows) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        program = "from hf_kokoro.cli import main; main()"
        command = [sys.executable, "-c", program, "card", str(repo), "--no-figures", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    first = run("--check")
    assert first.returncode == 0, first.stderr
    hk.append_rows(repo, rows(3, 5), card=False)
    drifted = run("--check")
    assert drifted.returncode == 1
    assert "README.md" in drifted.stdout
    assert json.loads(run("--json").stdout)["rows"] == 5
    assert run("--check").returncode == 0


@pytest.mark.parametrize(
    "text", ["", '\x00\x1f\x7f\b\f\n\r\t"\\/', "é①髙～\u2028\u2029\u0085", "😀\U0010ffff", "x" * 999]
)
def test_the_fast_row_id_is_the_row_id(text: str, one_row: Any) -> None:
    row = {**one_row(1), "prompt": text, "topic": text + "z"}
    assert fast_row_id(row) == row_id(row)
