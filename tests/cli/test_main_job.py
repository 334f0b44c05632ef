"""The main job, on the bundled sample and on upstream's real files, through the command line alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import datasets
import pytest


def hf_kokoro(*arguments: Any, cwd: Path) -> str:
    environment = os.environ | {"HF_DATASETS_CACHE": str(cwd / "cache"), "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-c", "from hf_kokoro.cli import main; main()", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_quickstart_makes_everything_it_says_and_runs_again_in_its_own_folder(tmp_path: Path) -> None:
    output = hf_kokoro("quickstart", "--out", "qs", "--steps", "4", cwd=tmp_path)
    for made in ("verdicts.jsonl", "rows.jsonl", "dataset/data/pilot.jsonl", "dataset/README.md", "model/config.json"):
        assert (tmp_path / "qs" / made).is_file(), made
    assert "Next, on your own files" in output
    assert "clinical decisions" in output
    loaded = datasets.load_dataset(str(tmp_path / "qs" / "dataset"), split="train", cache_dir=str(tmp_path / "c"))
    assert len(loaded) > 28
    again = json.loads(hf_kokoro("quickstart", "--out", "qs", "--steps", "4", "--json", cwd=tmp_path))
    assert again["held_out"]["implicit reward prefers chosen"][0] == 0.5


def test_quickstart_never_clears_a_folder_that_it_did_not_make(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    command = [sys.executable, "-c", "from hf_kokoro.cli import main; main()", "quickstart", "--out", "."]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 2
    assert "not made by an earlier quickstart" in done.stderr
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_every_published_figure_of_kokorochat_is_given_back_exactly(real_data_dir: Path, tmp_path: Path) -> None:
    figures = json.loads(
        hf_kokoro("stats", "kokorochat", "--source", real_data_dir / "kokorochat.tar.gz", "--json", cwd=tmp_path)
    )
    assert len(figures) == 43
    assert [figure["figure"] for figure in figures if figure["paper"] is None or figure["differs"]] == []


def test_leaks_of_the_papers_test_set_are_the_measured_ones(real_data_dir: Path, tmp_path: Path) -> None:
    source = real_data_dir / "kokorochat.tar.gz"
    report = json.loads(
        hf_kokoro("leaks", "kokorochat", "--config", "response_generation", "--source", source, "--json", cwd=tmp_path)
    )
    shared = {(s["split"], s["group"]): (s["rows"], s["of"]) for s in report["shared"]}
    assert shared["test", "counselor"] == (118, 118)
    assert shared["test", "client"] == (113, 118)
    (share,) = report["concentration"].values()
    assert round(share, 2) == 0.38
    person = next(sizes for sizes in report["alternatives"] if sizes["split_by"] == "person")
    # 268 test, 4,230 train, 2,091 dropped were measured for one draw of 20 % of the people; any draw is near
    assert person["splits"]["test"] == pytest.approx(268, rel=0.2)
    assert person["splits"]["train"] == pytest.approx(4230, rel=0.05)
    assert sum(person["splits"].values()) + person["dropped"] == 6589


def test_real_translations_load_in_both_languages(real_data_dir: Path) -> None:
    import hf_kokoro as hk

    folder = real_data_dir / "multilingual-kokorochat-sample"
    for language, empty in (("en", 2), ("zh", 2)):
        rows = hk.load_dataset("kokorochat", "dialogues", source=folder, language=language, split="train")
        assert len(rows) == 30
        assert sum(u["untranslated"] for row in rows for u in row["utterances"]) == empty


@pytest.mark.slow
def test_the_main_job_runs_on_the_real_counsel_chat_from_csv_to_a_trained_model(
    real_data_dir: Path, tmp_path: Path
) -> None:
    source = real_data_dir / "counsel-chat" / "20200325_counsel_chat.csv"
    judged = json.loads(
        hf_kokoro("judge", "--source", source, "--judge", "rule", "--journal", "v.jsonl", "--json", cwd=tmp_path)
    )
    # counted with the csv module: 833 questions by id and text, 207 of them with three answers or more
    assert (judged["questions"], judged["questions_judged"], judged["answers"]) == (833, 207, 2129)
    paired = json.loads(hf_kokoro("pair", "--journal", "v.jsonl", "--out", "rows.jsonl", "--json", cwd=tmp_path))
    assert 100 < paired["rows"] <= 207
    added = json.loads(hf_kokoro("append", "rows.jsonl", "--to", "./set", "--json", cwd=tmp_path))
    assert added["rows_total"] == added["added"]
    again = hf_kokoro("append", "rows.jsonl", "--to", "./set", cwd=tmp_path)
    assert "nothing written" in again
    hf_kokoro("card", "./set", cwd=tmp_path)
    rows = datasets.load_dataset(str(tmp_path / "set"), split="train", cache_dir=str(tmp_path / "plain"))
    assert len(rows) == added["rows_total"]
    trained = json.loads(
        hf_kokoro(
            "train", "dpo", "--config", "tiny_dpo", "--dataset_source", "./set", "--max_steps", "3",
            "--max_dropped", "0.2", "--output_dir", "run", "--json", cwd=tmp_path,
        )
    )  # fmt: skip
    assert trained["steps"] == 3
    assert trained["test_rows"] > 0
    assert (tmp_path / "run" / "model.safetensors").is_file()
