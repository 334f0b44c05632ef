"""`judge` and `pair` as typed: real files, exit codes and what is left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hf_kokoro.miti.contract import ROW_KEYS, row_faults

from .judging_support import ROOT, SAMPLE, rows_of, run

SCORES = {"empathy": 4, "partnership": 3, "reflection_present": 1, "no_persuade": 0, "no_confront": 1}


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    """A folder with the journal of the bundled sample, judged by rule."""
    done = run("judge", "--source", SAMPLE, "--judge", "rule", "--journal", "v.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return tmp_path


def test_sample_to_rows_and_a_second_run_judges_nothing(judged: Path) -> None:
    before = (judged / "v.jsonl").read_bytes()
    again = run("judge", "--source", SAMPLE, "--judge", "rule", "--journal", "v.jsonl", "--json", cwd=judged)
    report = json.loads(again.stdout)["judges"][0]
    assert (report["judged"], report["statuses"]["blank"]) == (0, 1)
    assert (judged / "v.jsonl").read_bytes() == before
    done = run("pair", "--journal", "v.jsonl", "--out", "rows.jsonl", "--json", cwd=judged)
    assert done.returncode == 0, done.stderr
    rows = rows_of(judged / "rows.jsonl")
    assert len(rows) == json.loads(done.stdout)["rows"] > 20
    assert [fault for row in rows for fault in row_faults(row, "row")] == []
    assert tuple(rows[0]) == ROW_KEYS
    assert {(row["judge_model"], row["source_dataset"]) for row in rows} == {
        ("rule-based/miti-st-v1-r2", "hf-kokoro/sample")
    }


def test_the_journal_holds_one_verdict_a_line_and_no_text_of_an_answer(judged: Path) -> None:
    import csv

    lines = rows_of(judged / "v.jsonl")
    assert {line["status"] for line in lines} == {"scored", "blank"}
    with SAMPLE.open(encoding="utf-8", newline="") as file:
        answers = [row["answerText"] for row in csv.DictReader(file)]
    journal = (judged / "v.jsonl").read_text("utf-8")
    assert not any(answer[:40] in journal for answer in answers if len(answer) > 60)


@pytest.mark.parametrize("strategy", ["all-pairs", "resample", "top-bottom"])
def test_every_strategy_writes_valid_rows_and_the_same_bytes_again(judged: Path, strategy: str) -> None:
    for out in ("a.jsonl", "b.jsonl"):
        done = run("pair", "--journal", "v.jsonl", "--out", out, "--strategy", strategy, "--seed", 3, cwd=judged)
        assert done.returncode == 0, done.stderr
    assert (judged / "a.jsonl").read_bytes() == (judged / "b.jsonl").read_bytes()
    rows = rows_of(judged / "a.jsonl")
    assert rows
    assert [fault for row in rows for fault in row_faults(row, "row")] == []


def test_the_journal_finds_a_source_that_moved_with_it_and_says_when_it_changed(tmp_path: Path) -> None:
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    (there / "chat.csv").write_bytes(SAMPLE.read_bytes())
    assert run("judge", "--source", "chat.csv", "--judge", "rule", "--journal", "v.jsonl", cwd=there).returncode == 0
    there.rename(here)
    assert run("pair", "--journal", "here/v.jsonl", "--out", "r.jsonl", cwd=tmp_path).returncode == 0
    text = (here / "chat.csv").read_text("utf-8")
    (here / "chat.csv").write_text(text.replace("Tuesday", "Monday"), "utf-8")
    changed = run("pair", "--journal", "here/v.jsonl", "--out", "r2.jsonl", cwd=tmp_path)
    assert changed.returncode == 1
    assert "changed" in changed.stderr
    assert "--source" in changed.stderr
    named = run(
        "pair", "--journal", "here/v.jsonl", "--out", "r2.jsonl", "--source", "here/chat.csv", "--json", cwd=tmp_path
    )
    report = json.loads(named.stdout)
    assert report["verdicts_without_text"] > 0
    assert report["waiting"] > 0
    (here / "chat.csv").unlink()
    gone = run("pair", "--journal", "here/v.jsonl", "--out", "r3.jsonl", cwd=tmp_path)
    assert gone.returncode == 1
    assert "chat.csv" in gone.stderr
    (here / "v.jsonl.source.json").unlink()
    unknown = run("pair", "--journal", "here/v.jsonl", "--out", "r3.jsonl", cwd=tmp_path)
    assert unknown.returncode == 2
    assert not (tmp_path / "r3.jsonl").exists()


def test_verdicts_of_two_judges_are_never_mixed(tmp_path: Path) -> None:
    both = run(
        "judge", "--source", SAMPLE, "--judge", "rule", "--judge", "rule:strict", "--journal", "v.jsonl", cwd=tmp_path
    )
    assert both.returncode == 0, both.stderr
    unclear = run("pair", "--journal", "v.jsonl", "--out", "r.jsonl", cwd=tmp_path)
    assert unclear.returncode == 2
    assert "--judge-model" in unclear.stderr
    clear = run(
        "pair",
        "--journal",
        "v.jsonl",
        "--out",
        "r.jsonl",
        "--judge-model",
        "rule-based/miti-st-v1-r2-strict",
        cwd=tmp_path,
    )
    assert clear.returncode == 0, clear.stderr
    assert {row["judge_model"] for row in rows_of(tmp_path / "r.jsonl")} == {"rule-based/miti-st-v1-r2-strict"}


def test_unscored_answers_make_their_questions_wait_and_the_command_fails(tmp_path: Path) -> None:
    script = [json.dumps(SCORES), '{"status": "refused"}', "6 out of 5", '{"status": "incomplete"}']
    low = json.dumps(SCORES | {"empathy": 1})
    (tmp_path / "script.jsonl").write_text("\n".join([*script, low, low, low, low, low]) + "\n", "utf-8")
    command = ("judge", "--source", SAMPLE, "--judge", "scripted:script.jsonl", "--journal", "v.jsonl")
    done = run(*command, cwd=tmp_path)
    assert done.returncode == 1
    assert "--retry invalid" in done.stdout
    assert "refused by the judge" in done.stdout
    waiting = json.loads(run("pair", "--journal", "v.jsonl", "--out", "r.jsonl", "--json", cwd=tmp_path).stdout)
    partial = json.loads(
        run("pair", "--journal", "v.jsonl", "--out", "r.jsonl", "--allow-partial", "--json", cwd=tmp_path).stdout
    )
    assert waiting["waiting"] > 0
    assert partial["partial"] > 0
    for row in rows_of(tmp_path / "r.jsonl"):
        assert row_faults(row, "row") == []
    again = run(*command, "--retry", "invalid", "--retry", "incomplete", "--json", cwd=tmp_path)
    assert json.loads(again.stdout)["judges"][0]["judged"] > 0


def test_a_fault_ends_the_process_with_one_line_and_its_exit_code(tmp_path: Path) -> None:
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    words = ["judge", "--judge", "oracle", "--source", str(SAMPLE), "--journal", "v.jsonl"]
    done = subprocess.run(
        [sys.executable, "-c", "from hf_kokoro.cli import main; main()", *words],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": path},
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_limit_stops_early_without_failing(tmp_path: Path) -> None:
    done = run("judge", "--source", SAMPLE, "--judge", "rule", "--journal", "v.jsonl", "--limit", 5, cwd=tmp_path)
    assert done.returncode == 0
    assert len(rows_of(tmp_path / "v.jsonl")) == 5
    assert "run the same command again" in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("judge", "--judge", "oracle", "--source", SAMPLE, "--journal", "v.jsonl"), 2, "rule"),
        (("judge", "--judge", "rule", "--source", "nowhere.csv", "--journal", "v.jsonl"), 1, "nowhere.csv"),
        (("judge", "--judge", "rule", "--source", SAMPLE, "--journal", "v.jsonl", "--retry", "scored"), 2, "refused"),
        (("judge", "--judge", "rule", "--source", SAMPLE), 2, "journal"),
        (("judge", "--judge", "rule", "--source", SAMPLE, "--journal", SAMPLE), 1, "journal"),
        (("pair", "--journal", "none.jsonl", "--out", "r.jsonl"), 1, "none.jsonl"),
        (("pair", "--journal", "v.jsonl", "--out", "r.jsonl", "--nonsense"), 2, "--nonsense"),
    ],
)
def test_bad_usage_and_failed_work_have_their_own_exit_codes(
    tmp_path: Path, words: tuple[object, ...], code: int, said: str
) -> None:
    done = run(*words, cwd=tmp_path)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_bad_settings_of_pair_are_bad_usage_and_leave_an_old_file_alone(judged: Path) -> None:
    (judged / "r.jsonl").write_text("old\n", "utf-8")
    for words in (("--strategy", "worst"), ("--min-margin", 0), ("--judge-model", "nobody"), ("--top-k", 0)):
        done = run("pair", "--journal", "v.jsonl", "--out", "r.jsonl", *words, cwd=judged)
        assert done.returncode == 2, words
    assert (judged / "r.jsonl").read_text("utf-8") == "old\n"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_pair_never_writes_over_its_inputs_or_into_a_growing_dataset(tmp_path: Path) -> None:
    (tmp_path / "chat.csv").write_bytes(SAMPLE.read_bytes())
    (tmp_path / "link.csv").symlink_to("chat.csv")
    for judge, journal in (("rule", "v.jsonl"), ("rule:strict", "other.jsonl")):
        assert (
            run("judge", "--source", "chat.csv", "--judge", judge, "--journal", journal, cwd=tmp_path).returncode == 0
        )
    assert run("pair", "--journal", "v.jsonl", "--out", "r.jsonl", cwd=tmp_path).returncode == 0
    assert run("append", "r.jsonl", "--to", "./grown", cwd=tmp_path).returncode == 0
    before = contents(tmp_path)
    inputs = ["v.jsonl", "v.jsonl.source.json", "chat.csv", "link.csv", "other.jsonl"]
    growing = ["grown/data/pilot.jsonl", "grown/data/pilot-00001.jsonl", "grown/new.jsonl", "plain/data/pilot.jsonl"]
    for out in (*inputs, *growing):
        done = run("pair", "--journal", "v.jsonl", "--consensus", "other.jsonl", "--out", out, cwd=tmp_path)
        assert done.returncode == 2, (out, done.stderr)
        assert f"--out {out}: " in done.stderr
        assert contents(tmp_path) == before, out


def test_pair_writes_into_its_source_folder_only_what_is_no_source(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "chat.csv").write_bytes(SAMPLE.read_bytes())
    assert run("judge", "--source", "in", "--judge", "rule", "--journal", "v.jsonl", cwd=tmp_path).returncode == 0
    assert run("pair", "--journal", "v.jsonl", "--out", "in/chat.csv", cwd=tmp_path).returncode == 2
    assert (tmp_path / "in" / "chat.csv").read_bytes() == SAMPLE.read_bytes()
    assert run("pair", "--journal", "v.jsonl", "--out", "in/rows.txt", cwd=tmp_path).returncode == 0


def test_pair_leaves_no_half_written_file_where_it_cannot_write(judged: Path) -> None:
    (judged / "r.jsonl").mkdir()
    before = sorted(path.name for path in judged.iterdir())
    done = run("pair", "--journal", "v.jsonl", "--out", "r.jsonl", cwd=judged)
    assert done.returncode == 1
    assert "r.jsonl: can't be written" in done.stderr
    assert sorted(path.name for path in judged.iterdir()) == before


def test_the_sample_itself_is_untouched_when_given_as_the_journal(tmp_path: Path) -> None:
    before = SAMPLE.read_bytes()
    run("judge", "--judge", "rule", "--source", SAMPLE, "--journal", SAMPLE, cwd=tmp_path)
    assert SAMPLE.read_bytes() == before


@pytest.mark.real_data
def test_the_real_table_gives_two_hundred_rows(tmp_path: Path, real_data_dir: Path) -> None:
    source = real_data_dir / "counsel-chat" / "20200325_counsel_chat.csv"
    done = run("judge", "--source", source, "--judge", "rule", "--journal", "v.jsonl", "--json", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert (report["questions_judged"], report["judges"][0]["given"]) == (207, 1324)
    paired = json.loads(run("pair", "--journal", "v.jsonl", "--out", "r.jsonl", "--json", cwd=tmp_path).stdout)
    assert paired["with_rows"] + paired["tied"] == 207
    assert paired["rows"] >= 195
    assert {row["source_dataset"] for row in rows_of(tmp_path / "r.jsonl")} == {"nbertagnolli/counsel-chat"}
