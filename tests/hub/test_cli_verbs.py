"""The verbs append, audit and spool as a shell sees them: words, exit codes, JSON."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from huggingface_hub import constants

from hf_kokoro.cli import main

from .double import HubDouble, Status
from .rows import changed, numbers, private, row

DATA = "data/pilot.jsonl"
Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, hub: HubDouble, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line with the double as the Hub; gives what it printed."""
    monkeypatch.chdir(tmp_path)
    template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, hub.endpoint)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "ENDPOINT", hub.endpoint)
    monkeypatch.setenv("HF_TOKEN", "hf_writes")

    def run(*arguments: str, code: int = 0) -> str:
        monkeypatch.setattr(sys, "argv", ["hf-kokoro", *arguments])
        try:
            main()
            status: object = 0
        except SystemExit as stop:
            status = stop.code or 0
        printed = capsys.readouterr()
        assert status == code, (status, printed)
        return printed.out if code == 0 else printed.out + printed.err

    return run


def write_rows(path: Path, *values: object) -> str:
    path.write_text("".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values), encoding="utf-8")
    return str(path)


def test_append_then_again_then_audit_of_a_folder(run: Run, tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows.jsonl", row(1), row(2))
    size = (tmp_path / "rows.jsonl").stat().st_size
    said = run("append", source, "--to", "./pairs").splitlines()
    assert said[0] == "added 2 rows to ./pairs"
    assert said[1] == f"  {DATA}  +{size} bytes"
    assert said[2].startswith("./pairs has 2 rows, revision ")
    assert run("append", source, "--to", "./pairs").startswith("nothing written: no new rows for ./pairs")
    report = json.loads(run("append", source, "--to", "./pairs", "--json"))
    assert (report["added"], report["duplicates"], report["rows_total"]) == (0, 2, 2)
    table = run("audit", "./pairs")
    assert table.splitlines()[0].split() == [
        "revision",
        "date",
        "author",
        "rows",
        "added",
        "rows",
        "bytes",
        "only",
        "grew",
    ]
    assert table.splitlines()[-1] == "ok: 1 revision, each begins with the one before; 2 rows, all valid, none twice"


def test_audit_that_finds_a_violation_names_it_and_exits_with_1(run: Run, tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows.jsonl", row(1), row(2))
    run("append", source, "--to", "./pairs")
    file = tmp_path / "pairs" / DATA
    file.write_bytes(file.read_bytes()[:50])
    said = run("audit", "./pairs", code=1)
    assert "NO" in said
    assert DATA in said
    report = json.loads(run("audit", "./pairs", "--json", code=1).split("\nhf-kokoro:")[0])
    assert report["ok"] is False
    assert report["faults"]


def test_faulty_batch_exits_with_1_and_lists_every_fault(run: Run, tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows.jsonl", row(1), changed(2, license=...), changed(3, chosen_score=99))
    said = run("append", source, "--to", "./pairs", code=1)
    assert "rows.jsonl line 2 license" in said
    assert "rows.jsonl line 3 chosen_score" in said
    assert not (tmp_path / "pairs").exists()
    said = run("append", source, "--to", "./pairs", "--skip-invalid")
    assert said.startswith("left out 2 faulty rows; they are in rejects.jsonl")
    assert (tmp_path / "rejects.jsonl").read_bytes().count(b"\n") == 2


def test_bad_usage_exits_with_2(run: Run, tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows.jsonl", row(1))
    run("append", source, code=2)
    run("append", source, "--to", "./pairs", "--pr", code=2)
    run("append", source, "--to", "./pairs", "--segment-bytes", "0", code=2)
    run("append", source, "--to", "hf://models/user/x", code=2)
    run("spool", "list", code=2)
    run("spool", "send", code=2)
    run("spool", "drop", "./waiting", code=2)
    run("spool", "drop", "./waiting", "unknown", code=2)
    run("append", source, "--to", "./pairs", "--allow", "fax", code=2)


def test_append_to_the_hub_with_dry_run_pull_request_branch_and_audit(run: Run, hub: HubDouble, tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows.jsonl", row(1))
    assert run("append", source, "--to", "user/pairs", "--dry-run").startswith("would add 1 row to hf://")
    assert DATA not in hub.repo().head().tree
    said = run("append", source, "--to", "user/pairs", "--pr")
    assert said.startswith("proposed 1 row to hf://datasets/user/pairs")
    assert f"pull request: {hub.endpoint}/datasets/user/pairs/discussions/1" in said
    run("append", source, "--to", "user/pairs", "--branch", "side", "--message", "One row")
    assert hub.repo().head("side").title == "One row"
    run("append", source, "--to", "hf://datasets/user/pairs")
    assert "ok: 2 revisions" in run("audit", "user/pairs")
    run("append", source, "--to", "user/new", "--public")
    assert not hub.store.repos["user/new"].private


def away(hub: HubDouble) -> None:
    """A wait that is longer than the patience of an append: it gives up at once, and may pass."""
    hub.faults.script("POST", "/commit/", Status(429, {"Retry-After": "7200"}))


def test_spool_is_listed_sent_and_dropped(run: Run, hub: HubDouble, tmp_path: Path) -> None:
    assert run("spool", "list", "./waiting").startswith("nothing is waiting in ")
    assert run("spool", "send", "./waiting").startswith("nothing is waiting in ")
    source = write_rows(tmp_path / "rows.jsonl", row(1), row(2))
    to = ("--to", "user/pairs", "--spool", "./waiting")
    away(hub)
    said = run("append", source, *to, code=1)
    assert "it is not known whether 2 rows arrived: the same command again" in said
    assert "`hf-kokoro spool send waiting`" in said
    entry = json.loads(run("spool", "list", "./waiting", "--json"))[0]
    assert (entry["target"], entry["rows"], entry["being_sent"]) == ("hf://datasets/user/pairs", 2, False)
    assert entry["id"] in run("spool", "list", "./waiting")
    other = write_rows(tmp_path / "other.jsonl", row(3))
    assert run("append", other, *to).startswith("added 1 row to hf://datasets/user/pairs\n")
    assert run("spool", "send", "./waiting", "--dry-run").startswith("would add 2 rows to hf://datasets/user/pairs\n")
    assert run("spool", "send", "./waiting").startswith("added 2 rows to hf://datasets/user/pairs\n")
    assert numbers(hub.repo().read(DATA)) == [3, 1, 2]
    away(hub)
    run("append", write_rows(tmp_path / "more.jsonl", row(4)), *to, code=1)
    waiting = json.loads(run("spool", "list", "./waiting", "--json"))[0]["id"]
    assert run("spool", "drop", "./waiting", waiting) == "dropped 1 of 1, 1 rows\n"
    assert json.loads(run("spool", "list", "./waiting", "--json")) == []


def test_a_failed_append_is_mended_by_the_same_command(run: Run, hub: HubDouble, tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows.jsonl", row(1), row(2))
    hub.faults.script("POST", "/commit/", Status(403, says="Forbidden: you must have write access"))
    said = run("append", source, "--to", "user/pairs", code=1)
    assert "Write access to contents" in said
    assert "2 rows are not there" in said
    assert "same command again" not in said
    assert not (tmp_path / "cache" / "spool").exists()
    assert run("append", source, "--to", "user/pairs").startswith("added 2 rows")


def test_spool_send_asks_for_private_data_again_and_renews_the_card(run: Run, hub: HubDouble, tmp_path: Path) -> None:
    run("append", write_rows(tmp_path / "one.jsonl", row(1)), "--to", "user/pairs")
    run("card", "user/pairs", "--no-figures")
    source = write_rows(tmp_path / "rows.jsonl", private(2))
    away(hub)
    run("append", source, "--to", "user/pairs", "--spool", "./waiting", "--allow", "email", code=1)
    refused = run("spool", "send", "./waiting", code=1)
    assert "email: 1 in 1 row" in refused
    assert "ada@" not in refused
    assert numbers(hub.repo().read(DATA)) == [1]
    said = run("spool", "send", "./waiting", "--redact")
    assert "  1 findings replaced\n" in said
    assert b"ada@" not in hub.repo().read(DATA)
    run("card", "user/pairs", "--check", "--no-figures")


@pytest.mark.parametrize("how", [(), ("--dry-run",), ("--pr",), ("--branch", "side")], ids=" ".join)
def test_append_sends_nothing_private_to_the_hub_unless_told(
    run: Run, hub: HubDouble, tmp_path: Path, how: tuple[str, ...]
) -> None:
    source = write_rows(tmp_path / "rows.jsonl", row(1), private(2))
    said = run("append", source, "--to", "user/new", *how, code=1)
    assert "nothing was sent" in said
    assert "email: 1 in 1 row" in said
    assert "--redact" in said
    assert "ada@" not in said
    assert hub.seen == []
    told = run("append", source, "--to", "user/new", *how, "--redact")
    assert "2 rows to hf://datasets/user/new" in told.splitlines()[0]
    assert "  1 findings replaced" in told
    assert not any(b"ada@" in blob.read_bytes() for blob in hub.store.folder.iterdir())


def test_a_folder_takes_private_data_and_the_verb_notes_it(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_rows(tmp_path / "rows.jsonl", row(1), private(2))
    report = json.loads(run("append", source, "--to", "./pairs", "--json"))
    assert [line.partition(" (")[0] for line in report["findings"]] == ["email: 1 in 1 row"]
    monkeypatch.setattr(sys, "argv", ["hf-kokoro", "append", source, "--to", "./other"])
    main_once()
    noted = capsys.readouterr().err
    assert noted.startswith("note: texts may point to people: email: 1 in 1 row (")
    assert noted.endswith("; `publish` will ask\n")
    assert noted.count("\n") == 1
    run("append", source, "--to", "./third", "--redact")
    assert b"[email]" in (tmp_path / "third" / DATA).read_bytes()
    assert b"ada@" not in (tmp_path / "third" / DATA).read_bytes()


def main_once() -> None:
    with contextlib.suppress(SystemExit):
        main()


@pytest.mark.parametrize("verb", [("append",), ("audit",), ("spool", "list"), ("spool", "send"), ("spool", "drop")])
def test_help_has_a_worked_example(run: Run, verb: tuple[str, ...]) -> None:
    assert f"Example: hf-kokoro {' '.join(verb)}" in run(*verb, "--help")


def test_verb_works_in_a_process_of_its_own(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows.jsonl", row(1))
    done = subprocess.run(
        [sys.executable, "-c", "from hf_kokoro.cli import main; main()", "append", source, "--to", "./pairs"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("added 1 row to ./pairs\n")


def test_append_renews_a_card_that_the_card_verb_wrote_in_the_same_revision(run: Run, tmp_path: Path) -> None:
    run("append", write_rows(tmp_path / "one.jsonl", row(1), row(2)), "--to", "./pairs", "--no-card")
    assert not (tmp_path / "pairs" / "README.md").exists()
    run("card", "./pairs", "--no-figures")
    before = (tmp_path / "pairs" / "README.md").read_bytes()
    assert "README.md: " in run("append", write_rows(tmp_path / "two.jsonl", row(3)), "--to", "./pairs", "--dry-run")
    assert (tmp_path / "pairs" / "README.md").read_bytes() == before
    run("append", str(tmp_path / "two.jsonl"), "--to", "./pairs")
    run("card", "./pairs", "--no-figures", "--check")
    run("append", write_rows(tmp_path / "three.jsonl", row(4)), "--to", "./pairs", "--no-card")
    run("card", "./pairs", "--no-figures", "--check", code=1)


def test_append_leaves_a_card_of_another_hand_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pairs").mkdir()
    (tmp_path / "pairs" / "README.md").write_text("# Mine\n")
    run("append", write_rows(tmp_path / "rows.jsonl", row(1)), "--to", "./pairs")
    assert (tmp_path / "pairs" / "README.md").read_text() == "# Mine\n"
