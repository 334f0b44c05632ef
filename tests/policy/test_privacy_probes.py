"""The check of private data reaches its bars on the probes, and the README shows what the script prints."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from types import ModuleType

import pytest

from hf_kokoro.policy.private_data import KINDS, redact, scan_text
from tests.conftest import ROOT

SCRIPT = ROOT / "scripts" / "check_privacy.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_privacy", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["check_privacy"] = module
    spec.loader.exec_module(module)
    return module


def test_there_are_probes_of_every_kind_in_both_languages_and_a_third_is_held_out(script: ModuleType) -> None:
    probes = list(script.probes())
    held_out = [probe for probe in probes if probe.part == "held_out"]
    assert len(probes) >= 260
    assert len(held_out) * 3 >= len(probes)
    for part in script.PARTS:
        for language in script.LANGUAGES:
            here = [probe for probe in probes if (probe.part, probe.language) == (part, language)]
            assert {piece.kind for probe in here for piece in probe.marked} == set(KINDS)
            assert sum(not probe.marked for probe in here) >= 20


def test_recall_and_precision_of_the_tuned_probes_reach_their_bars(script: ModuleType) -> None:
    tuned = script.measure().over("tuned")
    assert tuned.recall >= 0.95
    assert tuned.precision >= 0.95


def test_recall_and_precision_are_counts_of_exact_pieces(script: ModuleType) -> None:
    probe = script.parse("tuned", "en", "Call {{phone|787-555-0178}}, {{name|Zed}} said.")
    assert probe.text == "Call 787-555-0178, Zed said."
    assert probe.marked == {("phone", 5, 17), ("name", 19, 22)}
    assert probe.found() == {("phone", 5, 17)}
    assert str(script.Figures(marked=2, right=1, findings=1)) == "1/2 0.50, 1/1 1.00"


def test_the_table_in_the_readme_is_what_the_script_prints() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("| kind | language |")
    assert done.stdout in (ROOT / "README.md").read_text("utf-8")


def test_the_script_ends_with_1_under_a_bar(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["check_privacy.py"])
    monkeypatch.setattr(script, "scan_text", lambda text: iter(()))
    assert script.main() == 1


def test_a_redacted_probe_has_no_finding_and_redacting_it_again_changes_nothing(script: ModuleType) -> None:
    for probe in script.probes():
        once = redact(probe.text)
        assert [kind for kind, _, _ in scan_text(once) if kind in KINDS] == [], probe.text
        assert redact(once) == once
