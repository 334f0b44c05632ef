"""The README's commands and snippets are executed, on the bundled sample or on upstream's files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from .conftest import ROOT, SAMPLES

README = (ROOT / "README.md").read_text("utf-8")
BLOCK = re.compile(r"<!-- (run|run on upstream's files) -->\n```(bash|python)\n(.*?)```", re.DOTALL)
BLOCKS = [(kind, language, code) for kind, language, code in BLOCK.findall(README)]


def execute(blocks: list[tuple[str, str, str]], folder: Path) -> None:
    """Run blocks one after the other in one folder, as a reader would."""
    scripts = folder / "bin"
    scripts.mkdir()
    command = scripts / "hf-kokoro"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "from hf_kokoro.cli import main; main()" "$@"\n')
    command.chmod(0o755)
    # a link would leave the virtual environment
    python = scripts / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    environment = os.environ | {
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "HF_DATASETS_CACHE": str(folder / "cache"),
        "HF_HUB_OFFLINE": "1",
    }
    for _, language, code in blocks:
        shell = ["bash", "-euo", "pipefail", "-c", code] if language == "bash" else [sys.executable, "-c", code]
        done = subprocess.run(shell, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{code}\n{done.stderr}"


def test_the_readme_marks_its_blocks() -> None:
    assert len([block for block in BLOCKS if block[0] == "run"]) >= 3
    assert len([block for block in BLOCKS if block[0] != "run"]) >= 9


@pytest.mark.slow
def test_the_commands_of_the_readme_work_on_the_sample(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "kokorochat.tar.gz", "w:gz") as archive:
        archive.add(SAMPLES / "kokorochat", "kokorochat_dialogues")
    for name in ("counsel_chat.csv", "emplifai.csv"):
        shutil.copy(SAMPLES / name, tmp_path / name)
    shutil.copytree(SAMPLES / "multilingual_kokorochat", tmp_path / "multilingual_kokorochat")
    execute([block for block in BLOCKS if block[0] == "run"], tmp_path)


@pytest.mark.slow
def test_the_commands_of_the_readme_work_on_upstreams_files(real_data_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "kokorochat.tar.gz").symlink_to(real_data_dir / "kokorochat.tar.gz")
    (tmp_path / "AnnoMI-full-even.csv").symlink_to(real_data_dir / "annomi" / "AnnoMI-full-even.csv")
    shutil.copy(real_data_dir / "counsel-chat" / "20200325_counsel_chat.csv", tmp_path / "counsel_chat.csv")
    execute([block for block in BLOCKS if block[0] != "run"], tmp_path)
