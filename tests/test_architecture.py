"""The floors of the house, and what an import costs."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "hf_kokoro"

# From the ground up; the README's architecture section holds the same table. A room imports only from lower floors.
FLOORS = (
    ("errors",),
    ("core",),
    ("miti",),
    ("policy",),
    ("corpora", "hub", "judging", "tokens"),
    ("cards", "evaluation"),
    ("training",),
    ("workflow",),
    ("cli",),
)
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}


def modules(package: Path) -> dict[str, Path]:
    """Dotted name to file, the package's own name first."""
    found = {}
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imports(name: str, file: Path, known: Mapping[str, Path]) -> set[str]:
    """Modules of the package that a module imports: relative and absolute, at the top, inside functions, by name."""
    root = name.partition(".")[0]
    package = name.split(".") if file.name == "__init__.py" else name.split(".")[:-1]
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = [*base, *(node.module or "").split(".")] if node.module else base
            if base[:1] == [root]:
                found |= {_module(".".join([*base, alias.name]), known) for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {_module(alias.name, known) for alias in node.names if alias.name.split(".")[0] == root}
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "import_module":
            given = node.args[0] if node.args else None
            if isinstance(given, ast.Constant) and str(given.value).split(".")[0] == root:
                found.add(_module(str(given.value), known))
    return found - {name}


def _module(dotted: str, known: Mapping[str, Path]) -> str:
    """The module that holds a name; an unknown one stays as it is, and is a fault."""
    parent = dotted.rpartition(".")[0]
    return dotted if dotted in known or parent not in known else parent


def faults(package: Path) -> list[str]:
    """Arrows up or sideways, rooms that stand on no floor, names that are nowhere, and circles of modules."""
    known = modules(package)
    arrows = {name: imports(name, file, known) for name, file in known.items()}
    found = []
    for name, targets in arrows.items():
        room = name.split(".")[1] if "." in name else None
        if room is not None and room not in FLOOR:
            found.append(f"{name}: no floor for the room {room}")
            continue
        for target in sorted(targets):
            if target not in known:
                found.append(f"{name}: imports {target}, which is not there")
                continue
            other = target.split(".")[1] if "." in target else None
            # the package's own __init__ stands above all rooms and below none
            if room and other != room and (other is None or FLOOR.get(other, len(FLOORS)) >= FLOOR[room]):
                found.append(f"{name}: imports {target}")
    try:
        tuple(TopologicalSorter(arrows).static_order())
    except CycleError as error:
        found.append(f"a circle: {' -> '.join(error.args[1])}")
    return found


def test_rooms_import_only_from_lower_floors_and_no_modules_form_a_circle() -> None:
    assert faults(PACKAGE) == []


def test_every_room_stands_on_a_floor_and_every_floor_has_its_rooms() -> None:
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir() and any(path.rglob("*.py"))}
    assert rooms | {"errors"} == set(FLOOR)


@pytest.mark.parametrize(
    ("file", "code", "fault"),
    [
        ("core/a.py", "from ..hub import b", "house.core.a: imports house.hub"),
        ("core/a.py", "def f():\n    import house.hub.b", "house.core.a: imports house.hub.b"),
        ("hub/a.py", "from house.judging.c import d", "house.hub.a: imports house.judging.c"),
        ("core/a.py", "from .. import x", "house.core.a: imports house"),
        ("attic/a.py", "", "house.attic.a: no floor for the room attic"),
        ("cli/a.py", "from ..attic import a", "house.cli.a: imports house.attic.a"),
        (
            "cli/a.py",
            "import importlib\nimportlib.import_module('house.nowhere.x')",
            "house.cli.a: imports house.nowhere",
        ),
        ("hub/b.py", "def f():\n    from .e import g", "a circle: house.hub"),
    ],
)
def test_the_guard_sees_what_it_is_there_for(file: str, code: str, fault: str, tmp_path: Path) -> None:
    house = tmp_path / "house"
    plain = {"core/a.py": "", "hub/b.py": "", "hub/e.py": "from . import b", "judging/c.py": "d = 1", "cli/a.py": ""}
    for name, content in {"__init__.py": "x = 1", **plain, file: code}.items():
        (house / name).parent.mkdir(parents=True, exist_ok=True)
        (house / name).parent.joinpath("__init__.py").touch()
        (house / name).write_text(content, "utf-8")
    found = faults(house)
    assert len(found) >= 1
    assert any(line.startswith(fault) for line in found), found


def test_the_readme_draws_the_same_floors() -> None:
    section = (PACKAGE.parent / "README.md").read_text("utf-8").partition("## Architecture")[2]
    drawn: dict[int, set[str]] = {}
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3 and cells[0].isdigit():
            drawn.setdefault(int(cells[0]), set()).update(re.findall(r"`(\w+)(?:/|\.py)`", cells[1]))
    assert drawn == {number: set(rooms) for number, rooms in enumerate(FLOORS)}


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


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("hf_kokoro.miti", "datasets pandas numpy pyarrow torch transformers anthropic jsonschema asyncio"),
        ("hf_kokoro.judging", "datasets pandas numpy pyarrow torch transformers anthropic jsonschema asyncio"),
        *(
            (name, "datasets pandas pyarrow torch transformers anthropic")
            for name in modules(PACKAGE)
            if ".core." in name
        ),
    ],
)
def test_the_ground_floors_and_the_judges_load_no_heavy_library(module: str, heavy: str) -> None:
    probe = f"import sys, {module}; print(sorted(set({heavy.split()}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", [name for name, file in modules(PACKAGE).items() if file.name == "__init__.py"])
def test_every_name_that_a_package_promises_is_there(name: str) -> None:
    module = import_module(name)
    promised = getattr(module, "__all__", [])
    assert [name for name in promised if getattr(module, name, None) is None] == []


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
