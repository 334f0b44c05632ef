"""Finding judges by name, and the scripted judge that stands for any outcome."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hf_kokoro.errors import UsageError
from hf_kokoro.judging import Judge, RuleJudge, ScriptedJudge, judge_names, resolve_judge, text_sha256
from hf_kokoro.judging import judge as registry

SCORES = {"empathy": 4, "partnership": 3, "reflection_present": 1, "no_persuade": 0, "no_confront": 1}
REPLY = json.dumps(SCORES)


def test_built_in_judges_are_found_by_name_and_fit_the_protocol(tmp_path: Path) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text(REPLY + "\n", "utf-8")
    assert isinstance(resolve_judge("rule"), RuleJudge)
    assert resolve_judge("rule:strict").judge_model.endswith("strict")
    assert isinstance(resolve_judge(f"scripted:{script}"), Judge)
    assert {"rule", "scripted"} <= set(judge_names())


def test_the_entry_points_of_the_package_name_the_same_judges() -> None:
    import tomllib

    pyproject = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text("utf-8"))
    assert pyproject["project"]["entry-points"]["hf_kokoro.judges"] == registry._BUILT_IN


def test_a_judge_of_another_package_is_found_through_the_entry_point_group(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    installed = tmp_path / "mine-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n", "utf-8")
    judge = "hf_kokoro.judging.scripted:ScriptedJudge"
    (installed / "entry_points.txt").write_text(f"[hf_kokoro.judges]\nmine = {judge}\nrule = {judge}\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert "mine" in judge_names()
    assert isinstance(registry.resolve_judge("mine", script=[REPLY]), ScriptedJudge)
    assert isinstance(registry.resolve_judge("rule"), RuleJudge), "a built-in name can't be taken over"


def test_an_unknown_judge_is_refused_with_the_known_names() -> None:
    with pytest.raises(UsageError, match="rule"):
        resolve_judge("oracle")


def test_script_lines_are_given_out_in_order_and_start_again() -> None:
    judge = ScriptedJudge([REPLY, '{"status": "refused", "reason": "self-harm"}'])
    found = [judge.score("q", f"a{n}") for n in range(3)]
    assert [opinion.status for opinion in found] == ["scored", "refused", "scored"]
    assert found[0].scores == SCORES
    assert found[1].reason == "self-harm"


def test_a_pinned_line_is_for_its_answer_wherever_it_comes() -> None:
    pinned = json.dumps(SCORES | {"empathy": 1, "answer_sha256": text_sha256("mine")})
    here = json.dumps(
        SCORES | {"empathy": 2, "answer_sha256": text_sha256("mine"), "question_sha256": text_sha256("here")}
    )
    judge = ScriptedJudge([pinned, here])
    assert judge.score("there", "mine").scores == SCORES | {"empathy": 1}
    assert judge.score("here", "mine").scores == SCORES | {"empathy": 2}
    assert judge.score("there", "other").status == "invalid"


@pytest.mark.parametrize(
    "line",
    [
        "prose, no JSON",
        json.dumps(SCORES | {"empathy": 6}),
        json.dumps(SCORES | {"empathy": "4"}),
        json.dumps(SCORES | {"empathy": 3.5}),
        '{"empathy": 3}',
        '{"status": "scored"}',
        '{"status": "perfect"}',
    ],
)
def test_a_line_that_is_no_verdict_gives_invalid_with_the_line_kept(line: str) -> None:
    opinion = ScriptedJudge([line]).score("q", "a")
    assert (opinion.status, opinion.scores, opinion.raw) == ("invalid", None, line)


@pytest.mark.parametrize("status", ["refused", "incomplete", "invalid", "blank"])
def test_every_other_outcome_can_be_scripted(status: str) -> None:
    assert ScriptedJudge([json.dumps({"status": status})]).score("q", "a").status == status


def test_two_scripts_can_stand_for_two_judges() -> None:
    first = ScriptedJudge(['{"judge_model": "one"}', REPLY])
    second = ScriptedJudge(['{"judge_model": "two"}', REPLY])
    assert (first.judge_model, second.judge_model) == ("one", "two")
    assert first.score("q", "a").scores == SCORES


def test_a_missing_or_empty_script_is_bad_usage(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("\n", "utf-8")
    for path in (tmp_path / "none.jsonl", tmp_path / "empty.jsonl"):
        with pytest.raises(UsageError, match="scripted judge"):
            ScriptedJudge(path)
