"""The recipes for one GPU, each run for a step: their own data, settings and quantisation, a tiny model in place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hf_kokoro.training.recipe import load_recipe
from hf_kokoro.training.runner import run_recipe

from ..corpora.documents import document
from .test_recipe import FULL


def write_dialogues(folder: Path, count: int = 60) -> Path:
    """Dialogues with scores from 0 to 100, so that every pool and split of the paper has some."""
    folder.mkdir()
    for number in range(count):
        items = [number % 6] * 19 + [5 if number % 6 == 5 else number % 5]
        made = document(number + 1, items=items, client=number, counselor=1000 + number, roles="CcCcCcC")
        (folder / f"{number + 1}.json").write_text(json.dumps(made, ensure_ascii=False), "utf-8")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FULL))
def test_a_recipe_for_a_gpu_takes_its_first_step_with_a_tiny_model_in_place_of_its_own(
    name: str, tiny_swallow: Path, miti_folder: Path, samples: Path, tmp_path: Path
) -> None:
    source = {
        "kokorochat": write_dialogues(tmp_path / "kokorochat"),
        "emplifai": samples / "emplifai.csv",
        "miti": miti_folder,
    }
    recipe = load_recipe(
        name,
        {
            "model_name_or_path": str(tiny_swallow),
            "dataset_source": str(source[name.split("_", maxsplit=1)[0]]),
            "output_dir": str(tmp_path / "run"),
            "max_steps": 1,
            "logging_steps": 1,
        },
    )
    report = run_recipe(recipe)
    assert report.steps == 1
    assert report.adapter
    assert report.train_rows > 0
    assert report.test_rows > 0
    assert report.first_loss is not None
    assert report.before.keys() == report.after.keys() != set()
    assert (tmp_path / "run" / "adapter_model.safetensors").is_file()
