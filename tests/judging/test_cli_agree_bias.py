"""`agree`, `bias` and `pair --consensus` as typed, on the bundled sample and on the real table."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hf_kokoro.miti.contract import DIMENSIONS, row_faults

from .judging_support import SAMPLE, Done, rows_of, run

SCORES = {"empathy": 4, "partnership": 3, "reflection_present": 1, "no_persuade": 0, "no_confront": 1}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample judged by rule, by the strict variant, and by a script of another judge."""
    folder = tmp_path_factory.mktemp("judged")
    script = [SCORES | {"empathy": 1 + n % 5, "partnership": 1 + n % 3} for n in range(7)]
    lines = [{"judge_model": "other"}, *script]
    (folder / "script.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n", "utf-8")
    for name, judge in (("rule", "rule"), ("strict", "rule:strict"), ("other", "scripted:script.jsonl")):
        done = run("judge", "--source", SAMPLE, "--judge", judge, "--journal", f"{name}.jsonl", cwd=folder)
        assert done.returncode == 0, done.stderr
    return folder


def test_agree_prints_every_dimension_and_what_becomes_of_the_pairs(judged: Path) -> None:
    done = run("agree", "rule.jsonl", "strict.jsonl", cwd=judged)
    assert done.returncode == 0, done.stderr
    for word in (*DIMENSIONS, "total", "kappa", "AC1", "alpha", "rho", "flip", "lost"):
        assert word in done.stdout
    report = json.loads(run("agree", "rule.jsonl", "strict.jsonl", "--json", cwd=judged).stdout)
    (agreement,) = report["agreements"]
    pairs = agreement["pairs"]
    assert pairs["keep"] + pairs["flip"] + pairs["lose"] == pairs["pairs"] > 20
    assert agreement["answers"] == 107


def test_three_judges_get_three_tables_and_a_joint_alpha(judged: Path) -> None:
    done = run("agree", "rule.jsonl", "strict.jsonl", "other.jsonl", cwd=judged)
    assert done.stdout.count(" against ") == 3
    assert "all 3 together" in done.stdout


def test_a_retest_of_one_judge_is_compared_pass_by_pass(tmp_path: Path) -> None:
    lines = [SCORES | {"empathy": 1 + n % 4} for n in range(5)]
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n", "utf-8")
    words = ("--judge", "scripted:s.jsonl", "--journal", "v.jsonl", "--repeat", 3, "--sample", 12)
    assert run("judge", "--source", SAMPLE, *words, cwd=tmp_path).returncode == 0
    done = run("agree", "v.jsonl", cwd=tmp_path)
    assert re.search(r"scripted pass 1 against scripted pass 2, 1[2-9] answers", done.stdout)
    assert re.search(r"of [1-9]\d* best-worst pairs", done.stdout), (
        "whole questions are drawn, so pairs can be compared"
    )
    assert "all 3 together" in done.stdout


def test_one_judge_alone_can_not_agree(judged: Path) -> None:
    done = run("agree", "rule.jsonl", cwd=judged)
    assert done.returncode == 2
    assert "--repeat" in done.stderr


def test_bias_prints_all_its_parts_and_json_holds_the_same(judged: Path) -> None:
    done = run("bias", "rule.jsonl", "--max-per-therapist", 4, cwd=judged)
    assert done.returncode == 0, done.stderr
    for words in ("length in words", "hedging", "no_persuade", "wins", "--max-per-therapist 4", "inverse-frequency"):
        assert words in done.stdout
    report = json.loads(run("bias", "rule.jsonl", "--json", cwd=judged).stdout)
    assert len(report["dimensions"]) == 5
    plain, capped, weighted = (way["spread"] for way in report["balancing"])
    assert plain["amount"] == 2 * report["pairs"]
    assert capped["top"] <= plain["top"]
    assert weighted["amount"] == pytest.approx(plain["amount"])
    assert weighted["gini"] <= plain["gini"]


def test_bias_draws_figures_that_are_the_same_bytes_again(judged: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="figures need the plots extra")
    for folder in ("a", "b"):
        done = run("bias", "rule.jsonl", "--plots", tmp_path / folder, cwd=judged)
        assert done.stdout.count("figure: ") == 3
    for path in sorted((tmp_path / "a").iterdir()):
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
        assert path.read_bytes().startswith(b"\x89PNG")


def test_consensus_keeps_only_pairs_whose_direction_every_judge_shares(judged: Path, tmp_path: Path) -> None:
    def pair(*words: object) -> Done:
        return run("pair", "--journal", "rule.jsonl", "--out", tmp_path / "r.jsonl", "--json", *words, cwd=judged)

    alone = json.loads(pair().stdout)
    both = json.loads(pair("--consensus", "strict.jsonl", "--consensus", "other.jsonl").stdout)
    assert 0 < both["rows"] < alone["rows"]
    assert both["rows"] + both["pairs_disputed"] == alone["rows"]
    assert both["with_rows"] + both["disputed"] == alone["with_rows"]
    assert [fault for row in rows_of(tmp_path / "r.jsonl") for fault in row_faults(row, "row")] == []
    agreement = json.loads(run("agree", "rule.jsonl", "strict.jsonl", "--json", cwd=judged).stdout)["agreements"][0]
    strict = json.loads(pair("--consensus", "strict.jsonl").stdout)
    assert strict["rows"] == agreement["pairs"]["keep"], "consensus keeps what agree says is kept"
    assert pair("--consensus", "rule.jsonl").returncode == 2, "a judge agrees with itself always"


@pytest.mark.real_data
def test_the_real_table_is_compared_and_measured(tmp_path: Path, real_data_dir: Path) -> None:
    source = real_data_dir / "counsel-chat" / "20200325_counsel_chat.csv"
    judges = ("--judge", "rule", "--judge", "rule:strict")
    assert run("judge", "--source", source, *judges, "--journal", "v.jsonl", cwd=tmp_path).returncode == 0
    report = json.loads(run("agree", "v.jsonl", "--json", cwd=tmp_path).stdout)
    total = report["agreements"][0]["dimensions"][-1]
    assert 0.5 < total["kappa"]["low"] < total["kappa"]["value"] < total["kappa"]["high"] < 0.95
    assert total["spearman"]["low"] < total["spearman"]["value"] < total["spearman"]["high"]
    words = ("bias", "v.jsonl", "--judge-model", "rule-based/miti-st-v1-r2", "--json")
    bias = json.loads(run(*words, cwd=tmp_path).stdout)
    # 2,129 answers of the table; 1,324 to questions with three or more, 1,210 of them different
    assert bias["answers"] == 1210
    assert bias["prolific"][0]["answers"] > 150, "one therapist wrote a fifth of the table"
    assert bias["answers_by_therapist"]["effective"] < 60
