"""`overwrite_output_dir: true`: the former run is there, whatever happens, until its successor stands on disk."""

from __future__ import annotations

import errno
import logging
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset
from typer.testing import CliRunner

from hf_kokoro.cli import app
from hf_kokoro.errors import SourceError, UsageError
from hf_kokoro.training.former_run import ASIDE, MOVING, FormerRun
from hf_kokoro.training.run_folder import MetricsWriter

from .training_rows import make_pairs, message

ROOT = Path(__file__).parent.parent.parent


def options(folder: Path, model: Path, **changes: Any) -> list[str]:
    """A recipe on the command line, trained in `folder/run`."""
    values = {
        "model_name_or_path": model, "output_dir": folder / "run", "dataset_name": folder / "rows",
        "dataset_test_split": "null", "max_steps": 2, "logging_steps": 1, "per_device_train_batch_size": 4,
        "save_strategy": "no", "max_length": 256, **changes,
    }  # fmt: skip
    config = folder / "empty.yaml"
    config.write_text("seed: 5\n", "utf-8")
    words = [word for key, value in values.items() for word in (f"--{key}", str(value))]
    return ["--config", str(config), *words]


def train(method: str, folder: Path, model: Path, **changes: Any) -> Any:
    """`hf-kokoro train` as a user types it; whatever it raises comes through."""
    return CliRunner().invoke(app, ["train", method, *options(folder, model, **changes)], catch_exceptions=False)


def write_rows(folder: Path) -> Path:
    (folder / "rows").mkdir()
    turns = [message("user", "sleep"), message("assistant", "that sounds hard")]
    pairs = [{**row, "messages": turns} for row in make_pairs(8)]
    Dataset.from_list(pairs).to_json(folder / "rows" / "train.jsonl")
    return folder


@pytest.fixture(scope="module")
def trained(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with rows and a run that saved a checkpoint; tests copy it."""
    folder = write_rows(tmp_path_factory.mktemp("former"))
    train("dpo", folder, tiny_model, use_peft=True, save_strategy="steps", save_steps=2)
    (folder / "run" / "notes.txt").write_text("mine", "utf-8")
    return folder


@pytest.fixture
def home(trained: Path, tmp_path: Path) -> Path:
    shutil.copytree(trained, tmp_path / "home")
    return tmp_path / "home"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("method", "changes", "error"),
    [
        ("sft", {"packing": True}, "packing|padding"),
        ("dpo", {"report_to": "wandb"}, "wandb"),
        ("dpo", {"expected_processes": 2}, "expected_processes: got 1"),
        ("dpo", {"optim": "apollo_adamw"}, "apollo"),
        ("kto", {"per_device_train_batch_size": 1}, "batch size"),
        ("dpo", {"model_name_or_path": "./no-such-model"}, "can't be loaded"),
        ("dpo", {"max_length": 16}, "too_long"),
    ],
    ids=["packing", "no wandb", "too few processes", "no optimizer", "refused by TRL", "no model", "pre-flight"],
)
def test_a_run_that_cannot_start_leaves_the_former_one_as_it_was(
    method: str, changes: dict[str, Any], error: str, home: Path, tiny_model: Path
) -> None:
    before = contents(home / "run")
    with pytest.raises(Exception, match=error):
        train(method, home, tiny_model, overwrite_output_dir=True, **changes)
    assert contents(home / "run") == before


def interrupt() -> None:
    # a shell that starts the tests in the background has them ignore Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.kill(os.getpid(), signal.SIGINT)


def leave() -> None:
    raise SystemExit(3)


def fail() -> None:
    raise RuntimeError("a broken step")


@pytest.mark.parametrize(("end", "code"), [(interrupt, 130), (leave, 3), (fail, 1)], ids=["Ctrl-C", "exit", "error"])
def test_a_run_that_ends_in_step_1_brings_the_former_one_back_and_says_so(
    end: Any, code: int, home: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    before = contents(home / "run")
    seen: list[bool] = []

    def on_log(self: Any, *args: Any, **kwargs: Any) -> None:
        seen.append((home / "run" / ASIDE / "checkpoint-2" / "adapter_model.safetensors").is_file())
        (home / "run" / "config.json").write_text("{}", "utf-8")
        end()

    monkeypatch.setattr(MetricsWriter, "on_log", on_log)
    ended = CliRunner().invoke(app, ["train", "dpo", *options(home, tiny_model, overwrite_output_dir=True)])
    assert ended.exit_code == code
    assert seen == [True]
    assert contents(home / "run") == before
    assert f"kept in {home / 'run' / ASIDE}" in caplog.text
    assert "the former run is back" in caplog.text


@pytest.mark.parametrize("model", ["tiny", "given"])
def test_the_former_run_goes_when_the_first_checkpoint_stands_and_not_before(
    model: str, home: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    (home / "run" / "tiny-base").mkdir()
    (home / "run" / "tiny-base" / "mark").write_text("former", "utf-8")
    before = contents(home / "run")
    aside: list[tuple[int, bool]] = []
    original = MetricsWriter.on_log

    def on_log(self: Any, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        aside.append((state.global_step, (home / "run" / ASIDE).exists()))
        original(self, args, state, control, **kwargs)
        if state.global_step == 3:
            raise RuntimeError("a broken step")

    monkeypatch.setattr(MetricsWriter, "on_log", on_log)
    given = {"model_name_or_path": "tiny" if model == "tiny" else tiny_model, "max_steps": 4}
    with pytest.raises(RuntimeError, match="a broken step"):
        train("dpo", home, tiny_model, overwrite_output_dir=True, save_strategy="steps", save_steps=2, **given)
    assert aside == [(1, True), (2, True), (3, False)]
    after = contents(home / "run")
    # the new run's checkpoint, a full model, and nothing of the adapter; the user's own file is in its place
    assert "checkpoint-2/model.safetensors" in after
    assert not {name for name in after if "adapter" in name or name.startswith("_")}
    assert after["notes.txt"] == before["notes.txt"]
    assert ("tiny-base/model.safetensors" in after) is (model == "tiny")
    assert "is removed, now that checkpoint-2 stands" in caplog.text


def test_without_checkpoints_the_former_run_goes_when_the_model_is_saved(
    home: Path, tiny_model: Path, caplog: Any
) -> None:
    train("dpo", home, tiny_model, overwrite_output_dir=True)
    after = contents(home / "run")
    assert "model.safetensors" in after
    assert not {name for name in after if "adapter" in name or name.startswith(("_", "checkpoint-"))}
    assert "now that the new model stands" in caplog.text


KILLED = """
import os, signal, sys
from hf_kokoro.cli import app
from hf_kokoro.training.run_folder import MetricsWriter
MetricsWriter.on_log = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
app(sys.argv[1:])
"""


def test_after_a_kill_the_next_start_puts_the_former_run_back_before_anything_else(
    home: Path, tiny_model: Path, caplog: Any
) -> None:
    before = contents(home / "run")
    words = ["train", "dpo", *options(home, tiny_model, overwrite_output_dir=True)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", KILLED, *words], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert f"kept in {home / 'run' / ASIDE}" in done.stderr
    kept = contents(home / "run" / ASIDE)
    assert {name: content for name, content in before.items() if name != "notes.txt"} == kept
    # a start that goes no further than to see that there is a run
    with pytest.raises(UsageError, match="holds a run already"):
        train("dpo", home, tiny_model)
    assert contents(home / "run") == before
    assert "was killed before it saved anything; the run that it was to replace is back" in caplog.text


@pytest.mark.parametrize("call", range(1, 40, 3))
def test_a_death_at_any_rename_loses_nothing(call: int, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(home / "run")
    calls = 0
    original = os.rename

    def rename(source: Any, target: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == call:
            raise KeyboardInterrupt
        original(source, target)

    monkeypatch.setattr(os, "rename", rename)
    died = FormerRun(home / "run")
    # which rename is hit: 1 to about 20 on the way aside, then the way back; behind that nothing is interrupted
    try:
        died.set_aside()
        (home / "run" / "run.json").write_text("of the new run", "utf-8")
        died.bring_back()
    except KeyboardInterrupt:
        died.release()
        FormerRun(home / "run").recover()
    assert contents(home / "run") == before


def test_a_full_disk_is_an_error_before_anything_is_lost(
    home: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(home / "run")
    original = os.rename

    def rename(source: Any, target: Any) -> None:
        if Path(source).name == "run.json" and Path(target).parent.name == MOVING:
            raise OSError(errno.ENOSPC, "No space left on device")
        original(source, target)

    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(SourceError, match=r"can't be moved aside \(OSError: No space left.* nothing was changed"):
        train("dpo", home, tiny_model, overwrite_output_dir=True)
    assert contents(home / "run") == before


def test_a_run_that_is_still_at_work_is_not_taken_for_a_dead_one(home: Path, tiny_model: Path) -> None:
    alive = FormerRun(home / "run")
    alive.set_aside()
    aside = contents(home / "run" / ASIDE)
    with pytest.raises(UsageError, match="another run is replacing the one in"):
        train("dpo", home, tiny_model, overwrite_output_dir=True)
    assert contents(home / "run" / ASIDE) == aside
    alive.bring_back()
    alive.release()


def test_resuming_and_overwriting_the_same_folder_is_a_contradiction(home: Path, tiny_model: Path) -> None:
    before = contents(home / "run")
    both = {"overwrite_output_dir": True, "use_peft": True, "max_steps": 4}
    for wanted in ("true", home / "run" / "checkpoint-2"):
        with pytest.raises(UsageError, match="overwrite_output_dir: got true with resume_from_checkpoint"):
            train("dpo", home, tiny_model, resume_from_checkpoint=wanted, **both)
    assert contents(home / "run") == before


def test_a_run_resumed_from_another_folder_replaces_the_one_in_its_own_only_if_told(
    home: Path, tiny_model: Path
) -> None:
    before = contents(home / "run")
    shutil.copytree(home / "run" / "checkpoint-2", home / "elsewhere" / "checkpoint-2")
    resumed = {"resume_from_checkpoint": home / "elsewhere" / "checkpoint-2", "use_peft": True, "max_steps": 3}
    with pytest.raises(UsageError, match="holds a run already"):
        train("dpo", home, tiny_model, **resumed)
    assert contents(home / "run") == before
    done = train("dpo", home, tiny_model, **resumed, overwrite_output_dir=True)
    assert "3 steps" in done.output
    assert not (home / "run" / "checkpoint-2").exists()


@pytest.mark.parametrize("key", ["model_name_or_path", "adapter_name_or_path", "chat_template", "base"])
def test_a_former_run_that_the_new_one_starts_from_is_not_replaced(key: str, home: Path, tiny_model: Path) -> None:
    run = home / "run"
    if key == "base":
        shutil.copytree(run, home / "adapter")
        config = home / "adapter" / "adapter_config.json"
        config.write_text(config.read_text("utf-8").replace(str(tiny_model), str(run / "tiny-base")), "utf-8")
    places = {"chat_template": run / "chat_template.jinja", "base": home / "adapter"}
    before = contents(run)
    name = "adapter_name_or_path" if key == "base" else key
    with pytest.raises(UsageError, match="holds the model or adapter to start from"):
        train("dpo", home, tiny_model, overwrite_output_dir=True, **{name: places.get(key, run)})
    assert contents(run) == before


def test_a_folder_without_a_run_keeps_what_lies_in_it(tiny_model: Path, tmp_path: Path) -> None:
    write_rows(tmp_path)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "figure.png").write_bytes(b"mine")
    train("dpo", tmp_path, tiny_model, overwrite_output_dir=True)
    assert (tmp_path / "run" / "figure.png").read_bytes() == b"mine"


@pytest.mark.slow
@pytest.mark.parametrize("expected", [2, 3], ids=["runs", "refused"])
def test_of_two_processes_one_moves_the_former_run(expected: int, home: Path, tiny_model: Path) -> None:
    before = contents(home / "run")
    words = options(home, tiny_model, overwrite_output_dir=True, save_strategy="steps", save_steps=1)
    done = subprocess.run(
        [
            sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2",
            "-m", "hf_kokoro.training", "dpo", *words, "--expected_processes", str(expected),
        ],
        env={**os.environ, "ACCELERATE_USE_CPU": "true", "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    after = contents(home / "run")
    if expected == 2:
        assert done.returncode == 0, done.stderr[-3000:]
        assert done.stderr.count("is removed, now that checkpoint-1 stands") == 1
        assert {"checkpoint-1/model.safetensors", "checkpoint-2/model.safetensors"} <= set(after)
        assert not {name for name in after if "adapter" in name or name.startswith("_")}
        return
    assert done.returncode != 0
    # the launcher may stop the main process before it has put anything back; then the next start does
    FormerRun(home / "run").recover()
    assert contents(home / "run") == before


def test_the_log_of_a_run_without_a_former_one_says_nothing_of_it(
    tiny_model: Path, tmp_path: Path, caplog: Any
) -> None:
    write_rows(tmp_path)
    with caplog.at_level(logging.WARNING):
        train("dpo", tmp_path, tiny_model, overwrite_output_dir=True, max_steps=1)
    assert "former run" not in caplog.text
