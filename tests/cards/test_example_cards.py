"""The example cards in the repository are what the bundled samples give, and their snippets run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import datasets
import pytest

import hf_kokoro as hk
from hf_kokoro.cards import write_card
from hf_kokoro.cards.check import card_problems
from hf_kokoro.cards.miti_card import LOCAL_NAME

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "dataset_cards" / "examples"


@pytest.mark.slow
def test_the_example_cards_have_not_drifted() -> None:
    pytest.importorskip("matplotlib", reason="the example cards show figures")
    command = [sys.executable, str(ROOT / "scripts" / "example_cards.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


def test_there_is_an_example_for_every_dataset_and_none_has_a_problem() -> None:
    assert {file.stem for file in EXAMPLES.glob("*.md")} == set(hk.BUILDERS)
    for file in EXAMPLES.glob("*.md"):
        assert card_problems(file.read_bytes()) == []
        text = file.read_text("utf-8")
        assert "Never for** clinical decisions" in text
        assert "without supervision" in text


def test_the_loading_snippet_of_a_card_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: Any, cache: str
) -> None:
    folder = tmp_path / LOCAL_NAME
    hk.append_rows(folder, rows(0, 3))
    write_card(folder, figures=False)
    [snippet] = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", cache)
    names: dict[str, Any] = {}
    exec(snippet, names)
    assert names["rows"].num_rows == names["pairs"].num_rows == 3
    assert names["unpaired"].num_rows == 9
