"""Promises of SECURITY.md about the code as a whole, and that each test file which it names is there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hf_kokoro.training.recipe import RecipeError, load_recipe

from .conftest import ROOT

PACKAGE = ROOT / "hf_kokoro"
RUNS_CODE = {"eval", "exec", "compile", "__import__"}
RUNS_CODE_OF = {
    ("pickle", "load"), ("pickle", "loads"), ("marshal", "loads"), ("torch", "load"), ("os", "system"),
    ("yaml", "unsafe_load"), ("yaml", "full_load"), ("joblib", "load"), ("dill", "loads"), ("runpy", "run_path"),
}  # fmt: skip


def dangers(code: str) -> Iterator[str]:
    """Calls that run code from data, shells, and the switch that has libraries run code from the Hub."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in RUNS_CODE:
                yield f"line {node.lineno}: {node.func.id}()"
            if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
                named = (node.func.value.id, node.func.attr)
                loader = next((ast.unparse(key.value) for key in node.keywords if key.arg == "Loader"), "")
                if named in RUNS_CODE_OF or (named == ("yaml", "load") and loader != "_StrictLoader"):
                    yield f"line {node.lineno}: {'.'.join(named)}()"
            yield from (f"line {node.lineno}: {key.arg}=" for key in node.keywords if key.arg in _SWITCHES)
        if isinstance(node, ast.Constant) and node.value == "trust_remote_code":
            yield f"line {node.lineno}: trust_remote_code"


_SWITCHES = ("trust_remote_code", "shell", "allow_pickle")


def test_no_code_is_run_from_data_and_trust_remote_code_is_never_set() -> None:
    files = sorted(PACKAGE.rglob("*.py"))
    assert len(files) > 200
    found = {file.relative_to(PACKAGE).as_posix(): list(dangers(file.read_text("utf-8"))) for file in files}
    # the one place that names the switch refuses it
    assert [line.partition(": ")[2] for line in found.pop("training/recipe.py")] == ["trust_remote_code"]
    assert {file: lines for file, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "code",
    [
        "eval(x)",
        "AutoModel.from_pretrained(x, trust_remote_code=True)",
        "options['trust_remote_code'] = True",
        "subprocess.run(x, shell=True)",
        "yaml.load(x, Loader=yaml.Loader)",
        "pickle.loads(x)",
        "np.load(x, allow_pickle=True)",
    ],
)
def test_the_check_sees_what_it_is_there_for(code: str) -> None:
    assert list(dangers(code))


@pytest.mark.parametrize("method", ["sft", "dpo", "kto", "reward"])
@pytest.mark.parametrize("place", ["", "model_init_kwargs"])
def test_a_recipe_can_not_have_code_from_the_hub_run(method: str, place: str) -> None:
    switch: dict[str, Any] = {"trust_remote_code": True}
    with pytest.raises(RecipeError, match=r"trust_remote_code: got True; allowed: false; code from the Hub is never"):
        load_recipe({"method": method, "output_dir": "out", **({place: switch} if place else switch)})
    switch["trust_remote_code"] = False
    load_recipe({"method": method, "output_dir": "out", **({place: switch} if place else switch)})


def test_every_test_file_that_security_names_is_there_and_none_is_named_twice_in_a_row() -> None:
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)`", text)
    assert len(named) >= 12
    assert [path for path in named if not (ROOT / path).is_file()] == []
    promised = [
        line for line in text.partition("## Promises")[2].partition("\n## ")[0].splitlines() if line[:2] == "| "
    ]
    assert len(promised) > 8
    assert [line for line in promised[1:] if "`tests/" not in line] == []


def test_the_license_of_the_readme_and_the_project_is_the_one_that_security_names() -> None:
    assert "security/advisories/new" in (ROOT / "SECURITY.md").read_text("utf-8")
    assert Path(ROOT / "LICENSE").is_file()
