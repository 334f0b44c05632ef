"""A source without a single row is an error at every door, which says what was looked for, found, and what to do."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

import hf_kokoro as hk
from hf_kokoro.corpora import BUILDERS
from hf_kokoro.errors import SourceError
from tests.judging.judging_support import run

ESCONV = [{"experience_type": "a", "dialog": [{"speaker": "seeker", "content": "secret words"}], "survey_score": {}}]
CONFIGS = [(name, config.name) for name, builder in BUILDERS.items() for config in builder.BUILDER_CONFIGS]


@pytest.fixture
def ignored(tmp_path: Path) -> Path:
    """A folder whose seven members are all ignored."""
    folder = tmp_path / "ignored"
    folder.mkdir()
    for number in range(7):
        (folder / f"note{number}.txt").write_text("x")
    return folder


@pytest.fixture
def esconv(tmp_path: Path) -> Path:
    """Dialogues as one JSON list."""
    (tmp_path / "ESConv.json").write_text(json.dumps(ESCONV))
    return tmp_path / "ESConv.json"


def zipped(folder: Path) -> Path:
    with zipfile.ZipFile(folder.with_suffix(".zip"), "w") as archive:
        for file in sorted(folder.iterdir()):
            archive.write(file, file.name)
    return folder.with_suffix(".zip")


@pytest.mark.parametrize(("name", "config"), CONFIGS)
@pytest.mark.parametrize("how", [{}, {"streaming": True}, {"num_proc": 2}, {"split": "train"}], ids=str)
def test_no_config_loads_a_folder_whose_members_are_all_ignored(
    ignored: Path, name: str, config: str, how: dict[str, Any]
) -> None:
    named = "7 files that hold none: note0.txt, note1.txt, note2.txt, note3.txt, note4.txt and 2 more; "
    for source in (ignored, zipped(ignored)):
        with pytest.raises(SourceError, match=rf"{source.name}: not one row; looked for .*found {named}\w+"):
            hk.load_dataset(name, config, source=source, **how)


@pytest.mark.parametrize("config", [config for name, config in CONFIGS if name == "kokorochat"])
@pytest.mark.parametrize("how", [{}, {"streaming": True}, {"num_proc": 2}, {"split": "train"}], ids=str)
def test_a_json_list_of_dialogues_is_named_as_what_it_is(esconv: Path, config: str, how: dict[str, Any]) -> None:
    with pytest.raises(SourceError) as caught:
        hk.load_dataset("kokorochat", config, source=esconv, **how)
    said = str(caught.value)
    assert "one JSON list of 1 object (keys 'experience_type', 'dialog', 'survey_score')" in said
    assert "one JSON object with the key 'dialogue' a file, named <evaluation_id>.json" in said
    assert "secret" not in said


@pytest.mark.parametrize("content", ["", " \n\n", "[]"])
@pytest.mark.parametrize(
    ("name", "file"), [("miti_st_dpo", "a.jsonl"), ("miti_st_dpo", "a.json"), ("kokorochat", "a.json")]
)
def test_a_file_with_nothing_in_it_is_an_error(tmp_path: Path, name: str, file: str, content: str) -> None:
    (tmp_path / file).write_text(content)
    config = "rows" if name == "miti_st_dpo" else "dialogues"
    with pytest.raises(hk.KokoroError, match=r"a\.jsonl?"):
        hk.load_dataset(name, config, source=tmp_path / file)


@pytest.mark.parametrize(
    "words",
    [
        ("build", "kokorochat", "--out", "o"),
        ("build", "miti_st_dpo", "--out", "o"),
        ("stats", "kokorochat"),
        ("stats", "kokorochat", "--allow-other-edition"),
        ("stats", "miti_st_dpo"),
        ("leaks", "kokorochat", "--config", "response_generation"),
        ("leaks", "miti_st_dpo", "--config", "pairs", "--split-by", "random"),
        ("export", "kokorochat", "--config", "response_generation", "--to", "openai", "--out", "o"),
        ("export", "miti_st_dpo", "--config", "pairs", "--to", "llama-factory", "--out", "o"),
    ],
)
def test_no_verb_takes_a_json_list_of_dialogues_for_an_empty_data_set(esconv: Path, words: tuple[str, ...]) -> None:
    done = run(*words, "--source", esconv, cwd=esconv.parent)
    assert (done.returncode, "ESConv.json: not one row; looked for" in done.stderr) == (1, True)
    assert not (esconv.parent / "o").exists()


def test_judge_names_what_it_ignored(ignored: Path) -> None:
    done = run("judge", "--source", ignored, "--judge", "rule", "--journal", "v.jsonl", cwd=ignored.parent)
    assert (done.returncode, "found 7 files that hold none: note0.txt" in done.stderr) == (1, True)
    assert not (ignored.parent / "v.jsonl").exists()


def test_an_empty_split_of_a_source_with_rows_stays_an_empty_split(samples: Path, tmp_path: Path) -> None:
    (tmp_path / "9001.json").write_bytes((samples / "kokorochat" / "9001.json").read_bytes())
    (tmp_path / "list.json").write_text("[]")
    found = hk.load_dataset("kokorochat", "response_generation", source=tmp_path)
    assert {split: rows.num_rows for split, rows in found.items()} == {"train": 0, "validation": 0, "test": 1}
