"""Cards of built KokoroChat and EmplifAI folders, and the numbers and figures in them."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import datasets
import pytest
from huggingface_hub import DatasetCard

import hf_kokoro as hk
from hf_kokoro.cards import build_statistics, render_build_card
from hf_kokoro.cards.check_files import folder_problems
from hf_kokoro.cards.columns import type_name
from hf_kokoro.cards.templates import fill
from hf_kokoro.errors import KokoroError, UsageError
from hf_kokoro.miti.features import pairs_features

SAMPLES = files("hf_kokoro").joinpath("samples")


def sample(name: str, config: str, cache: str) -> Any:
    source = {"kokorochat": "kokorochat", "emplifai": "emplifai.csv", "annomi": "annomi.csv"}[name]
    return hk.load_dataset(name, config, source=str(SAMPLES / source), split="train", cache_dir=cache)


def build_folder(folder: Path, name: str, config: str, cache: str, **options: Any) -> Any:
    """A folder as `build` makes it: Parquet and card."""
    data = sample(name, config, cache)
    (folder / "data").mkdir(parents=True)
    data.to_parquet(folder / "data/train.parquet")
    card = render_build_card(
        name, config, data.features, {"train": data.num_rows}, {"train": "data/train*.parquet"}, **options
    )
    (folder / "README.md").write_text(card)
    return data


@pytest.mark.parametrize(
    ("name", "config"),
    [
        *(("kokorochat", "dialogues"), ("kokorochat", "turns"), ("emplifai", "dialogues"), ("emplifai", "situations")),
        *(("annomi", "utterances"), ("annomi", "dialogues")),
    ],
)
def test_a_built_folder_loads_with_its_full_features(name: str, config: str, tmp_path: Path, cache: str) -> None:
    data = build_folder(tmp_path / "built", name, config, cache)
    loaded = datasets.load_dataset(str(tmp_path / "built"), split="train", cache_dir=cache)
    assert loaded.features == data.features
    assert loaded[0] == data[0]
    assert folder_problems(tmp_path / "built") == []


@pytest.mark.parametrize(
    ("name", "licence", "language"),
    [("kokorochat", "cc-by-nc-nd-4.0", "ja"), ("emplifai", "unknown", "ja"), ("annomi", "unknown", "en")],
)
def test_the_card_states_licence_size_language_and_what_is_forbidden(
    name: str, licence: str, language: str, tmp_path: Path, cache: str
) -> None:
    build_folder(tmp_path / "built", name, "dialogues", cache, description="One row a dialogue.")
    card = DatasetCard.load(tmp_path / "built/README.md")
    data = card.data.to_dict()
    assert data["license"] == licence
    assert data["language"] == [language]
    assert data["size_categories"] == ["n<1K"]
    assert "One row a dialogue." in card.text
    for phrase in ("Not for clinical use", "Do not publish it", "Never for** clinical decisions"):
        assert phrase in card.text


def test_options_are_named_and_a_translation_changes_the_language(cache: str) -> None:
    data = sample("kokorochat", "dialogues", cache)
    card = render_build_card(
        *("kokorochat", "dialogues", data.features, {"train": 1500}, {"train": "data/*.parquet"}),
        options={"language": "en", "seed": 42, "split_by": None},
    )
    assert "Built with `language=en`, `seed=42` (English (translated))." in card
    assert "language:\n  - en\n" in card
    assert "multilinguality:\n  - translation\n" in card
    assert "1K<n<10K" in card


def test_hand_written_notes_survive_a_second_build(cache: str) -> None:
    data = sample("emplifai", "dialogues", cache)
    arguments = ("emplifai", "dialogues", data.features, {"train": 56}, {"train": "data/*.parquet"})
    first = render_build_card(*arguments)
    edited = first.replace("<!-- yours: notes -->\n", "<!-- yours: notes -->\n私のメモ\n")
    assert "私のメモ" in render_build_card(*arguments, existing=edited)
    assert render_build_card(*arguments, existing=first) == first


def test_a_dataset_without_a_template_is_refused() -> None:
    with pytest.raises(UsageError, match="allowed: kokorochat, emplifai, annomi, miti_st_dpo"):
        render_build_card("other", "x", datasets.Features({}), {}, {})


@pytest.mark.parametrize("name", ["kokorochat", "emplifai"])
def test_every_figure_is_a_png_of_900_pixels_that_the_statistics_show_and_the_same_each_time(
    name: str, cache: str
) -> None:
    data = sample(name, "dialogues", cache)
    text, images = build_statistics(name, "dialogues", data)
    assert len(images) == {"kokorochat": 4, "emplifai": 1}[name]
    for path, content in images.items():
        assert content.startswith(b"\x89PNG")
        assert int.from_bytes(content[16:20]) == 900
        assert f"]({path})" in text
    assert build_statistics(name, "dialogues", data)[1] == images
    assert "](assets" not in build_statistics(name, "dialogues", data, figures=False)[0]


def test_configs_without_dialogues_have_no_statistics(cache: str) -> None:
    assert build_statistics("kokorochat", "turns", sample("kokorochat", "turns", cache)) == ("", {})


def test_one_config_of_the_preference_pairs_has_a_card_too() -> None:
    features = pairs_features(True)
    origins = {("nbertagnolli/counsel-chat", "MIT"): 3}
    files = {"train": "data/train.parquet"}
    card = render_build_card("miti_st_dpo", "pairs", features, {"train": 3}, files, origins=origins)
    assert "license: mit" in card
    assert "language:\n  - en\n" in card
    assert "Never for** clinical decisions" in card


def test_column_types_are_spelled_out() -> None:
    feature = datasets.List({"role": datasets.ClassLabel(names=["a", "b"]), "n": datasets.Value("int8")})
    assert type_name(feature) == "list of {role: class label of 2: a, b, n: int8}"


@pytest.mark.parametrize("values", [{}, {"a": "1", "b": "2"}])
def test_a_template_and_its_values_must_match(values: dict[str, str]) -> None:
    with pytest.raises(KokoroError, match="no match between template and facts"):
        fill("{{ a }}", values)


def test_the_command_line_lists_the_problems_of_a_built_folder(tmp_path: Path, cache: str) -> None:
    build_folder(tmp_path / "built", "emplifai", "situations", cache)

    def check() -> subprocess.CompletedProcess[str]:
        program = "from hf_kokoro.cli import main; main()"
        command = [sys.executable, "-c", program, "card", str(tmp_path / "built"), "--check"]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert check().returncode == 0
    (tmp_path / "built/data/train.parquet").unlink()
    found = check()
    assert found.returncode == 1
    assert "which matches no file" in found.stdout
