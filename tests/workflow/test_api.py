"""The public functions: there, light to import, quiet unless there is something to say."""

from __future__ import annotations

import inspect
import logging
import subprocess
import sys
from pathlib import Path

import pytest

from hf_kokoro import workflow
from hf_kokoro.cli.app import VERBS
from hf_kokoro.core.reports import Report
from hf_kokoro.policy import ClaimError
from hf_kokoro.workflow.progress import shown

from ..judging.judging_support import run

SUB_VERBS = ("generation", "scores", "emotion", "dialogues", "agreement", "preference")


def test_every_name_is_there_and_every_function_gives_a_report() -> None:
    assert {*workflow.__all__} == {*dir(workflow)}
    for name in workflow.__all__:
        found = getattr(workflow, name)
        if inspect.isclass(found):
            assert issubclass(found, Report), name
        else:
            assert inspect.getdoc(found), name
            assert inspect.signature(found).return_annotation, name


def test_every_verb_has_its_function() -> None:
    names = {"append": "append_rows"}
    functions = {names.get(verb, verb) for verb in VERBS} - {"spool", "evaluate", "annotate"}
    functions |= {f"annotate_{name}" for name in ("export", "import", "adjudicate")} | {"send_spooled"}
    functions |= {"grow", *(f"evaluate_{name}" for name in SUB_VERBS)}
    assert functions <= {*workflow.__all__}


def test_importing_it_loads_no_heavy_library_and_no_room() -> None:
    probe = (
        "import sys, hf_kokoro.workflow\n"
        "heavy = {'torch', 'transformers', 'anthropic', 'datasets', 'pandas', 'numpy', 'typer'}\n"
        "print(sorted(heavy & set(sys.modules)), [m for m in sys.modules if m.startswith('hf_kokoro.') ])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] ['hf_kokoro.core', 'hf_kokoro.core.lazy', 'hf_kokoro.workflow']"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        workflow.nothing  # noqa: B018


def test_what_it_has_to_say_is_logged_and_the_command_line_prints_the_same(
    tmp_path: Path, samples: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source = tmp_path / "mine.csv"
    # a word in the answers is another: no known edition's, so nothing states the rows' source
    source.write_bytes((samples / "counsel_chat.csv").read_bytes().replace(b" you ", b" we "))
    workflow.judge(source, "rule", tmp_path / "v.jsonl")
    with caplog.at_level(logging.WARNING, "hf_kokoro.workflow"):
        workflow.grow(tmp_path / "v.jsonl", str(tmp_path / "one"), once=True)
    said = [record.getMessage() for record in caplog.records if record.name.startswith("hf_kokoro.workflow")]
    assert any("source and licence are not stated" in line for line in said)
    done = run("append", "--watch", "v.jsonl", "--to", "./two", "--once", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    advice = next(line for line in said if "not stated" in line)
    assert f"hf-kokoro: {advice}\n" in done.stderr
    # findings come without the program's name
    assert [line for line in done.stderr.splitlines() if line.startswith("note: texts may point to people")]


def test_rows_that_state_no_source_are_refused_for_the_hub_before_anything_is_sent(
    tmp_path: Path, samples: Path
) -> None:
    source = tmp_path / "mine.csv"
    source.write_bytes((samples / "counsel_chat.csv").read_bytes().replace(b" you ", b" we "))
    with pytest.raises(ClaimError, match="nothing was done"):
        workflow.judge(source, "rule", tmp_path / "v.jsonl", append_to="someone/pairs")
    assert not (tmp_path / "v.jsonl").exists()


def test_progress_is_the_callers_own_or_silence_in_a_pipe(
    tmp_path: Path, samples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[tuple[int, int]] = []
    report = workflow.judge(
        samples / "counsel_chat.csv", "rule", tmp_path / "v.jsonl", progress=lambda *call: calls.append(call)
    )
    assert calls[-1] == (report.judges[0].judged, report.judges[0].judged)
    with shown(None, "nothing") as progress:
        progress(1, 2)
    assert capsys.readouterr() == ("", "")
