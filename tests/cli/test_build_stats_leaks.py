"""The verbs build, stats and leaks, run as processes where exit codes matter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import datasets
import pytest
from typer.testing import CliRunner

from hf_kokoro.cli.app import app
from hf_kokoro.corpora.load import get_builder
from hf_kokoro.errors import EditionError, UsageError

from ..corpora.documents import document, write


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


def process(*arguments: Any, cwd: Path) -> subprocess.CompletedProcess[str]:
    code = "from hf_kokoro.cli import main; main()"
    environment = os.environ | {"HF_DATASETS_CACHE": str(cwd / "cache")}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, check=False)


@pytest.mark.parametrize(
    ("name", "config", "source"),
    [
        ("kokorochat", "dialogues", "kokorochat"),
        ("kokorochat", "source", "kokorochat"),
        ("kokorochat", "response_generation", "kokorochat"),
        ("kokorochat", "score_prediction", "kokorochat"),
        ("emplifai", "dialogues", "emplifai.csv"),
        ("emplifai", "emotion", "emplifai.csv"),
        ("annomi", "utterances", "annomi.csv"),
    ],
)
def test_plain_datasets_reads_a_built_folder_with_the_full_types(
    name: str, config: str, source: str, samples: Path, tmp_path: Path
) -> None:
    out = tmp_path / "built"
    assert run("build", name, "--config", config, "--source", samples / source, "--out", out).exit_code == 0
    loaded = datasets.load_dataset(str(out), cache_dir=str(tmp_path / "plain"))
    builder = get_builder(name, config, source=samples / source)
    builder.download_and_prepare()
    for split, rows in builder.as_dataset().items():
        assert loaded[split].features == builder.info.features
        assert list(loaded[split]) == list(rows)


def test_a_pairs_folder_is_built_from_rows(tmp_path: Path) -> None:
    rows = Path(__file__).parent.parent / "corpora" / "rows.jsonl"
    out = tmp_path / "pairs"
    assert run("build", "miti_st_dpo", "--source", rows, "--out", out, "--split-by", "question").exit_code == 0
    loaded = datasets.load_dataset(str(out), cache_dir=str(tmp_path / "plain"))
    assert set(loaded) == {"train", "validation", "test"}
    assert loaded["train"].features == get_builder("miti_st_dpo", "pairs", source=rows).info.features


def test_options_of_the_config_reach_it_and_the_report_counts(samples: Path, tmp_path: Path) -> None:
    arguments = (
        "--source",
        samples / "multilingual_kokorochat",
        "--out",
        tmp_path / "en",
        "--language",
        "en",
        "--json",
    )
    report = json.loads(run("build", "kokorochat", *arguments).stdout)
    assert report["rows"] == {"train": 2}
    assert report["other_files"] == ["Chinese/zh9001.json"]
    assert "untranslated" in str(datasets.load_dataset(str(tmp_path / "en"), split="train").features)


def test_a_split_without_rows_gets_no_file_and_the_folder_loads(samples: Path, tmp_path: Path) -> None:
    out = tmp_path / "high"
    arguments = ("--config", "response_generation", "--pool", "high", "--source", samples / "kokorochat", "--out", out)
    output = run("build", "kokorochat", *arguments).stdout
    assert "without rows, so without a file: validation" in output
    loaded = datasets.load_dataset(str(out), cache_dir=str(tmp_path / "plain"))
    assert {split: rows.num_rows for split, rows in loaded.items()} == {"train": 3, "test": 1}


def test_a_build_is_replaced_when_told_and_nothing_else_ever(samples: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ("build", "emplifai", "--source", samples / "emplifai.csv", "--out", out)
    assert run(*arguments).exit_code == 0
    with pytest.raises(UsageError, match="there is a build already"):
        run(*arguments)
    assert run(*arguments, "--overwrite").exit_code == 0
    (out / "thesis.txt").write_text("keep me")
    for more in ((), ("--overwrite",)):
        with pytest.raises(UsageError, match="holds other things than a build makes"):
            run(*arguments, *more)
    assert (out / "thesis.txt").read_text() == "keep me"


def test_a_failed_build_leaves_the_old_folder_as_it_was(samples: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run("build", "emplifai", "--source", samples / "emplifai.csv", "--out", out).exit_code == 0
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    (tmp_path / "bad.csv").write_text("emotion,situation\nrage,\n")
    done = process("build", "emplifai", "--source", "bad.csv", "--out", "out", "--overwrite", cwd=tmp_path)
    assert done.returncode == 1
    assert "bad.csv" in done.stderr
    assert "Traceback" not in done.stderr
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_exit_codes_are_one_for_failed_work_and_two_for_bad_usage(samples: Path, tmp_path: Path) -> None:
    build = ("build", "kokorochat", "--source", samples / "kokorochat", "--out", "o")
    chat = samples / "kokorochat"
    cases = [
        ((*build, "--config", "next_turn", "--pool", "hihg"), 2, "allowed: low, high, full"),
        ((*build, "--pool", "high"), 2, "'pool' means nothing to dialogues"),
        (("build", "kokorochat", "--out", "o", "--source", "nowhere"), 1, "not found"),
        (("build", "kokorochat"), 2, "Missing option"),
        (("frobnicate",), 2, "No such command"),
        (("stats", "kokorochat", "--source", chat), 1, "--allow-other-edition compares anyway"),
        (("leaks", "kokorochat", "--config", "turns", "--source", chat), 2, "has no held-out split"),
    ]
    for arguments, code, says in cases:
        done = process(*arguments, cwd=tmp_path)
        assert (done.returncode, says in done.stderr) == (code, True), (arguments, done.stderr)
        assert "%|" not in done.stderr


def test_figures_of_another_edition_are_refused_or_compared_on_demand(samples: Path) -> None:
    with pytest.raises(EditionError, match="6 files of"):
        run("stats", "kokorochat", "--source", samples / "kokorochat")
    arguments = ("stats", "kokorochat", "--source", samples / "kokorochat", "--allow-other-edition", "--json")
    figures = {figure["figure"]: figure for figure in json.loads(run(*arguments).stdout)}
    # counted by hand from the six files
    assert figures["dialogues"]["ours"] == 6
    assert figures["score, mean"]["ours"] == pytest.approx((99 + 98 + 83 + 74 + 57 + 31) / 6)
    assert figures["score, median"]["ours"] == (74 + 83) / 2
    assert figures["flagged: unwilling_to_continue"]["ours"] == 1
    assert figures["speakers"]["ours"] == 6
    assert figures["score >= 99, dialogues (the test set)"]["ours"] == 1


def test_measures_equal_a_count_by_hand(tmp_path: Path) -> None:
    # one dialogue: C c c C at seconds 0..3; utterances are 5 characters long ("発言0です。" has 6)
    folder = write(tmp_path / "in", document(1, roles="CccC"))
    arguments = ("stats", "kokorochat", "--source", folder, "--allow-other-edition", "--json")
    figures = {figure["figure"]: figure["ours"] for figure in json.loads(run(*arguments).stdout)}
    assert figures["utterances, counsellor"] == 2
    assert figures["turns (runs of one speaker merged)"] == 3
    assert figures["turns, counsellor"] == 2
    assert figures["characters per utterance"] == 6


def test_emplifai_annomi_and_rows_have_figures_too(samples: Path) -> None:
    figures = json.loads(run("stats", "emplifai", "--source", samples / "emplifai.csv", "--json").stdout)
    assert {f["figure"]: f["ours"] for f in figures}["situations"] == 28
    figures = json.loads(run("stats", "annomi", "--source", samples / "annomi.csv", "--json").stdout)
    assert {f["figure"]: (f["paper"], f["ours"]) for f in figures} == {
        "dialogues": (133, 6),
        "dialogues of high quality": (110, 4),
        "dialogues of low quality": (23, 2),
        "utterances": (9699, 50),
        "therapist utterances coded by all ten experts": (216, 0),
    }
    rows = Path(__file__).parent.parent / "corpora" / "rows.jsonl"
    output = run("stats", "miti_st_dpo", "--source", rows).stdout
    assert "rows" in output
    assert "28" in output


def test_leaks_counts_shared_people_and_what_a_disjoint_split_costs(tmp_path: Path) -> None:
    # three dialogues score 100 and are the test set; their people are in training, partly
    best = [5] * 20
    folder = write(
        tmp_path / "in",
        document(1, items=best, client=1, counselor=11),  # both known
        document(2, items=best, client=9, counselor=11),  # only the counsellor
        document(3, items=best, client=9, counselor=19),  # nobody
        *(document(n, client=1, counselor=11) for n in range(4, 40)),
    )
    arguments = ("leaks", "kokorochat", "--config", "response_generation", "--source", folder, "--json")
    report = json.loads(run(*arguments).stdout)
    shared = {(s["split"], s["group"]): (s["rows"], s["of"]) for s in report["shared"]}
    assert shared["test", "client"] == (1, 3)
    assert shared["test", "counselor"] == (2, 3)
    assert shared["test", "client and counselor"] == (1, 3)
    person = next(sizes for sizes in report["alternatives"] if sizes["split_by"] == "person")
    assert sum(person["splits"].values()) + person["dropped"] == 39


@pytest.mark.parametrize("split_by", ["counselor", "client", "person"])
def test_a_disjoint_split_shares_nobody_of_its_kind(split_by: str, tmp_path: Path) -> None:
    people = [(n % 13, 100 + n % 11) for n in range(300)]
    folder = write(tmp_path / "in", *(document(n, client=c, counselor=k) for n, (c, k) in enumerate(people)))
    arguments = ("leaks", "kokorochat", "--config", "dialogues", "--source", folder, "--split-by", split_by, "--json")
    report = json.loads(run(*arguments).stdout)
    kinds = {"person": {"client", "counselor"}}.get(split_by, {split_by})
    shared = {s["group"]: s["rows"] for s in report["shared"] if s["group"] in kinds}
    assert shared
    assert set(shared.values()) == {0}


def test_leaks_of_pairs_names_questions_and_therapists() -> None:
    rows = Path(__file__).parent.parent / "corpora" / "rows.jsonl"
    arguments = ("leaks", "miti_st_dpo", "--config", "pairs", "--source", rows, "--split-by", "question", "--json")
    report = json.loads(run(*arguments).stdout)
    shared = {(s["split"], s["group"]): s["rows"] for s in report["shared"]}
    assert {rows for (_, group), rows in shared.items() if group == "question"} == {0}
    assert sum(rows for (_, group), rows in shared.items() if group == "therapist") > 0
    assert {sizes["split_by"] for sizes in report["alternatives"]} == {"therapist"}
