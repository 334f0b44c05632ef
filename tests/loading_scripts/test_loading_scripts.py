"""The loading scripts: programs with the `datasets` of today, loading scripts with `datasets` 3.6."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import datasets
import pytest

import hf_kokoro as hk

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "loading_scripts"
SAMPLES = ROOT / "hf_kokoro" / "samples"
SOURCES = {"kokorochat": SAMPLES / "kokorochat", "emplifai": SAMPLES / "emplifai.csv", "annomi": SAMPLES / "annomi.csv"}
CONFIGS = {"kokorochat": "dialogues", "emplifai": "dialogues", "annomi": "utterances", "miti_st_dpo": "rows"}


@pytest.fixture
def rows_folder(tmp_path: Path) -> Path:
    answers = [
        {"therapist": name, "text": f"{name} answers", **dict(zip(SCORES, scores, strict=True)), "total": sum(scores)}
        for name, scores in (("Ada", (5, 5, 1, 1, 1)), ("Ben", (3, 3, 0, 1, 1)), ("Cleo", (1, 1, 0, 0, 1)))
    ]
    row = {
        "question_id": "q1",
        "topic": "grief",
        "prompt": "What now?",
        "all_answers": answers,
        "chosen": "Ada answers",
        "rejected": "Cleo answers",
        "chosen_score": 13,
        "rejected_score": 3,
        "chosen_therapist": "Ada",
        "rejected_therapist": "Cleo",
        "rubric": "MITI-ST v1",
        "judge_model": "rule-based/miti-st-v1",
        "source_dataset": "nbertagnolli/counsel-chat",
        "license": "MIT",
    }
    hk.append_rows(tmp_path / "rows", [row])
    return tmp_path / "rows"


SCORES = ("empathy", "partnership", "reflection_present", "no_persuade", "no_confront")


def source_of(name: str, rows_folder: Path) -> Path:
    return SOURCES.get(name, rows_folder)


@pytest.mark.parametrize("name", CONFIGS)
def test_a_script_is_short(name: str) -> None:
    assert len((SCRIPTS / f"{name}.py").read_text().splitlines()) <= 60


def test_there_is_a_script_for_every_dataset() -> None:
    assert {path.stem for path in SCRIPTS.glob("*.py")} == set(hk.BUILDERS) == set(CONFIGS)


@pytest.mark.parametrize("name", CONFIGS)
def test_a_script_run_as_a_program_writes_a_folder_that_plain_datasets_reads_typed(
    name: str, tmp_path: Path, rows_folder: Path
) -> None:
    out = tmp_path / "out"
    command = [sys.executable, str(SCRIPTS / f"{name}.py"), "--source", str(source_of(name, rows_folder))]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HF_DATASETS_CACHE": str(tmp_path / "cache")}
    command += ["--config", CONFIGS[name], "--out", str(out)]
    subprocess.run(command, check=True, capture_output=True, env=environment)
    options: dict[str, Any] = {"split": "train", "cache_dir": str(tmp_path / "cache")}
    expected = hk.load_dataset(name, CONFIGS[name], source=source_of(name, rows_folder), **options)
    loaded = datasets.load_dataset(str(out), **options)
    assert loaded.features == expected.features
    assert loaded[:] == expected[:]


PROGRAM = """
import json, sys
import datasets
assert datasets.__version__.startswith("3.6"), datasets.__version__
script, source, cache = sys.argv[1:]
rows = datasets.load_dataset(script, data_dir=source, split="train", cache_dir=cache, trust_remote_code=True)
print(json.dumps({"rows": rows.to_list(), "columns": list(rows.features)}, default=str))
"""


@pytest.fixture(scope="module")
def old_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with datasets 3.6.0; HF_KOKORO_DATASETS_36 may name one that exists."""
    if given := os.environ.get("HF_KOKORO_DATASETS_36"):
        return Path(given)
    folder = tmp_path_factory.mktemp("datasets36")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "-q", "datasets==3.6.0", "orjson", "jsonschema"]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"datasets 3.6.0 can't be installed here: {done.stderr.strip().splitlines()[-1][:200]}")
    return python


@pytest.mark.slow
@pytest.mark.parametrize("name", CONFIGS)
def test_a_script_loads_the_same_rows_in_datasets_3_6(
    name: str, old_python: Path, tmp_path: Path, rows_folder: Path
) -> None:
    command = [str(old_python), "-c", PROGRAM, str(SCRIPTS / f"{name}.py"), str(source_of(name, rows_folder))]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HF_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [*command, str(tmp_path / "old")], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    options: dict[str, Any] = {"split": "train", "cache_dir": str(tmp_path / "cache")}
    expected = hk.load_dataset(name, CONFIGS[name], source=source_of(name, rows_folder), **options)
    assert found["columns"] == list(expected.features)
    assert found["rows"] == json.loads(json.dumps(expected.to_list(), default=str))
