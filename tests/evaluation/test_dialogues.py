"""Generated dialogues: format, the sample of pairs, ratings that go on, and who may judge whom."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hf_kokoro.core.retry import Backoff
from hf_kokoro.errors import InputError, UsageError
from hf_kokoro.evaluation.dialogue_raters import ClaudeRater, ScriptedRater, check_self_judging, model_family
from hf_kokoro.evaluation.dialogue_ratings import RATINGS_FILE, rate_dialogues
from hf_kokoro.evaluation.dialogue_rubric import METRICS, read_ratings, reply_schema, rubric_text
from hf_kokoro.evaluation.two_turn import GeneratedDialogue, read_dialogue, read_generated, sample_pairs

GOOD = "患者：朝がつらいです。\n支援者：つらいのですね。\n患者：はい。\n支援者：話してくださってありがとうございます。"
FOUR = dict.fromkeys(METRICS, 4)


def reply(**changes: Any) -> str:
    return json.dumps({"reason": "r", **FOUR, **changes})


def dialogue(number: int, text: str = GOOD) -> GeneratedDialogue:
    return GeneratedDialogue(str(number), "通院が続く", "sadness", text, read_dialogue(text))


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        GOOD.replace("：", ":"),
        "\n" + GOOD.replace("\n", "\n\n") + "\n",
        GOOD.replace("患者：", "**患者1**： ").replace("支援者：", "支援者１："),
        GOOD.replace("はい。", "はい。\nまだ少し不安です。"),
    ],
)
def test_a_two_turn_dialogue_is_read_whatever_marks_it_wears(text: str) -> None:
    turns = read_dialogue(text)
    assert turns is not None
    assert turns[0] == "朝がつらいです。"
    assert turns[3] == "話してくださってありがとうございます。"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "朝がつらいです。",
        GOOD.rsplit("\n", 1)[0],
        GOOD + "\n患者：では。",
        GOOD.replace("支援者：つらいのですね。", "患者：つらいのですね。"),
        GOOD.replace("はい。", ""),
        "以下が対話です。\n" + GOOD,
        GOOD.replace("患者", "医師"),
    ],
)
def test_anything_else_breaks_the_format(text: str) -> None:
    assert read_dialogue(text) is None


def test_a_format_breaker_is_rated_one_everywhere_without_being_sent(tmp_path: Path) -> None:
    rater = ScriptedRater([reply()])
    report = rate_dialogues([dialogue(1), dialogue(2, "こんにちは")], rater, tmp_path / RATINGS_FILE)
    assert report.statuses == {"format": 1, "scored": 1}
    assert {metric.mean for metric in report.metrics.values()} == {2.5}
    assert rater._next == 1


def test_an_unreadable_reply_is_unscored_out_of_the_means_and_rated_again_only_on_demand(tmp_path: Path) -> None:
    path = tmp_path / RATINGS_FILE
    script = ScriptedRater(["これは5点です", reply(fluency=2)])
    first = rate_dialogues([dialogue(1), dialogue(2)], script, path)
    assert first.statuses == {"invalid": 1, "scored": 1}
    assert first.metrics["fluency"].mean == 2.0
    again = ScriptedRater(["これは5点です", reply(fluency=2)])
    assert rate_dialogues([dialogue(1), dialogue(2)], again, path).statuses == first.statuses
    assert again._next == 0
    again._next = 1
    retried = rate_dialogues([dialogue(1), dialogue(2)], again, path, retry=["invalid"])
    assert retried.statuses == {"scored": 2}


def test_a_run_goes_on_after_a_torn_line_and_a_changed_text_is_new_work(tmp_path: Path) -> None:
    path = tmp_path / RATINGS_FILE
    rate_dialogues([dialogue(1), dialogue(2)], ScriptedRater([reply()]), path)
    path.write_bytes(path.read_bytes()[:-20])
    rater = ScriptedRater([reply()])
    assert rate_dialogues([dialogue(1), dialogue(2)], rater, path).statuses == {"scored": 2}
    assert rater._next == 1
    rate_dialogues([dialogue(1, GOOD.replace("朝", "夜"))], rater, path)
    assert rater._next == 2


@pytest.mark.parametrize(
    "text",
    [
        reply(fluency=6),
        reply(fluency=0),
        reply(fluency="4"),
        reply(fluency=4.5),
        reply(fluency=True),
        json.dumps(dict.fromkeys(METRICS[1:], 4)),
        reply(extra=1),
        "[]",
        "4 4 4 4 4 4 4",
        reply()[:-1] + ', "fluency": 5}',
    ],
)
def test_only_exactly_seven_whole_ratings_in_range_are_read(text: str) -> None:
    assert read_ratings(text) is None
    assert read_ratings(reply()) == FOUR


def test_the_rubric_anchors_every_metric_in_japanese_and_the_schema_has_no_range_keywords() -> None:
    text, schema = rubric_text(), json.dumps(reply_schema())
    for name in METRICS:
        assert f"{name}（1-5）" in text
    assert text.count("  1: ") == text.count("  5: ") == 7
    assert "minimum" not in schema
    assert "maxLength" not in schema


def test_the_hundred_pairs_are_the_same_whatever_the_order_of_the_file() -> None:
    from sklearn.utils import resample

    rows = [{"situation_id": f"{i:03d}", "emotion": f"e{i % 28:02d}", "situation": f"s{i}"} for i in range(280)]
    found = sample_pairs(rows)
    assert sample_pairs(rows[::-1]) == found
    assert len({row["situation_id"] for row in found}) == 100
    by_key = sorted(rows, key=lambda row: (row["emotion"], row["situation_id"]))
    assert found == resample(by_key, replace=False, n_samples=100, random_state=42)
    with pytest.raises(UsageError, match="at most the 280 situations"):
        sample_pairs(rows, 281)


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("claude-opus-4-7", "claude"),
        ("anthropic/claude-3-haiku", "claude"),
        ("gpt-4o", "gpt"),
        ("tokyotech-llm/Llama-3.1-Swallow-8B-Instruct-v0.3", "llama"),
        ("Qwen/Qwen2.5-7B", "qwen"),
        ("runs/sft", None),
    ],
)
def test_a_models_name_shows_its_family(name: str, family: str | None) -> None:
    assert model_family(name) == family


def test_a_judge_may_not_rate_its_own_familys_text_unless_told_so() -> None:
    check_self_judging("claude-opus-4-7", "gpt-4o", allowed=False)
    check_self_judging("scripted", None, allowed=False)
    check_self_judging("claude-opus-4-7", "claude-haiku", allowed=True)
    with pytest.raises(UsageError, match="own family"):
        check_self_judging("claude-opus-4-7", "my-org/claude-like-tune", allowed=False)
    with pytest.raises(UsageError, match="name it with --writer"):
        check_self_judging("claude-opus-4-7", None, allowed=False)


def test_generated_rows_are_checked_together(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text('{"prediction": "x", "emotion": "happy", "situation": "s"}\n{"emotion": "joy"}\n', "utf-8")
    with pytest.raises(InputError) as error:
        read_generated(path)
    assert error.value.count == 3


@pytest.fixture
def double(monkeypatch: pytest.MonkeyPatch) -> Any:
    pytest.importorskip("anthropic")
    from ..judging.anthropic_double import Double

    with Double() as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-not-a-real-key")
        yield server


def claude() -> ClaudeRater:
    async def no_wait(seconds: float) -> None:
        return None

    return ClaudeRater("claude-opus-4-7", concurrency=2, backoff=Backoff(sleep=no_wait))


def test_claude_rates_over_http_refusals_stay_unscored_and_busy_replies_are_ridden_out(
    double: Any, tmp_path: Path
) -> None:
    from ..judging.anthropic_double import error, message, refusal

    def answer(number: int, request: Any) -> Any:
        if number == 0:
            return error(529, "overloaded_error")
        if "断る" in request.body["messages"][0]["content"]:
            return refusal()
        return message(reply(security=5))

    double.answer = answer
    texts = [GOOD, GOOD.replace("はい。", "断る"), "壊れた形"]
    report = rate_dialogues([dialogue(i, t) for i, t in enumerate(texts)], claude(), tmp_path / RATINGS_FILE)
    assert report.statuses == {"format": 1, "refused": 1, "scored": 1}
    assert report.metrics["security"].mean == 3.0
    body = double.sent()[-1].body
    assert "temperature" not in body
    assert body["system"][0]["text"] == rubric_text()
    # the broken dialogue was never sent
    assert not any("壊れた形" in request.body["messages"][0]["content"] for request in double.sent())


def test_a_reply_that_cannot_be_read_is_asked_for_once_more_and_then_invalid(double: Any, tmp_path: Path) -> None:
    from ..judging.anthropic_double import message

    double.answer = lambda number, request: message(reply(fluency=9))
    report = rate_dialogues([dialogue(1)], claude(), tmp_path / RATINGS_FILE)
    assert report.statuses == {"invalid": 1}
    assert report.metrics == {}
    assert len(double.sent()) == 2


def test_without_an_accepted_key_the_run_stops_and_says_what_is_missing(double: Any, tmp_path: Path) -> None:
    from ..judging.anthropic_double import error

    double.answer = lambda number, request: error(401, "authentication_error")
    report = rate_dialogues([dialogue(i) for i in range(5)], claude(), tmp_path / RATINGS_FILE)
    assert report.statuses == {"missing": 5}
    assert "check ANTHROPIC_API_KEY" in report.unanswered[0][1]
    assert len(double.sent()) <= 2
