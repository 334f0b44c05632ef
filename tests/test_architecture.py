"""The arrows between folders, and what an import costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "hf_kokoro"

# Folder to what it may import; the README's architecture section holds the same table.
ARROWS = {
    "errors": set(),
    "core": {"errors"},
    "schema": {"errors"},
    "sources": {"core", "schema", "errors"},
    "builders": {"sources", "schema", "errors"},
    "judging": {"schema", "errors"},
    "pairing": {"schema", "errors"},
    "policy": {"schema", "errors"},
    "hub": {"core", "policy", "schema", "errors"},
    "cards": {"hub", "policy", "schema", "errors"},
    "training": {"builders", "schema", "errors"},
    "evaluation": {"judging", "schema", "errors"},
}


def imported_folders(file: Path) -> set[str]:
    """Folders of the package that a module imports, at the top or inside functions."""
    inside = file.relative_to(PACKAGE).parts
    found = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        names: list[list[str]] = []
        if isinstance(node, ast.ImportFrom):
            module = (node.module or "").split(".") if node.module else []
            if node.level:
                base = list(inside[: len(inside) - node.level])
                names = [[*base, *module, alias.name] for alias in node.names]
            elif module and module[0] == "hf_kokoro":
                names = [[*module[1:], alias.name] for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".")[1:] for alias in node.names if alias.name.startswith("hf_kokoro.")]
        found |= {name[0] for name in names if name}
    return found - {inside[0].removesuffix(".py"), "__version__"}


@pytest.mark.parametrize("folder", ARROWS)
def test_a_folder_imports_only_what_the_design_allows(folder: str) -> None:
    files = [PACKAGE / f"{folder}.py"] if folder == "errors" else sorted((PACKAGE / folder).rglob("*.py"))
    assert files
    for file in files:
        assert imported_folders(file) <= ARROWS[folder], file.name


def test_every_folder_of_the_package_is_in_the_table() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and any(path.glob("*.py"))}
    assert folders == set(ARROWS) - {"errors"} | {"cli"}


def test_training_reaches_the_builders_only_in_the_recipe_runner() -> None:
    users = {file.name for file in (PACKAGE / "training").rglob("*.py") if "builders" in imported_folders(file)}
    assert users == {"runner.py"}


@pytest.mark.parametrize(
    "code", ["import hf_kokoro", "import sys; sys.argv = ['x', '--help']; from hf_kokoro.cli import main; main()"]
)
def test_importing_the_package_and_asking_for_help_load_no_heavy_library(code: str) -> None:
    probe = (
        "import atexit, sys\n"
        "heavy = {'torch', 'transformers', 'anthropic', 'trl', 'matplotlib', 'datasets'}\n"
        "atexit.register(lambda: print('LOADED', sorted(heavy & set(sys.modules))))\n"
    )
    done = subprocess.run([sys.executable, "-c", probe + code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "LOADED []"


def test_every_verb_explains_itself_with_an_example() -> None:
    from typer.testing import CliRunner

    from hf_kokoro.cli.app import VERBS, app

    for verb in VERBS:
        result = CliRunner().invoke(app, [verb, "--help"])
        assert result.exit_code == 0, verb
        assert "Example:" in result.output or "Commands" in result.output, verb


def test_no_file_of_the_package_is_longer_than_four_hundred_lines() -> None:
    lengths = {
        str(file.relative_to(PACKAGE)): len(file.read_text("utf-8").splitlines()) for file in PACKAGE.rglob("*.py")
    }
    assert {name: length for name, length in lengths.items() if length > 400} == {}
