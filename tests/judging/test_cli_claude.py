"""`judge --judge claude` as typed, against the double: money, batches, exit codes, retests, secrets."""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from hf_kokoro.judging import Item, Journal
from hf_kokoro.judging.budget import Price
from hf_kokoro.judging.claude import ClaudeJudge
from hf_kokoro.judging.estimate import estimate_cost

from .anthropic_double import Double, error, message, refusal, scored
from .judging_support import KEY, SAMPLE
from .judging_support import run as run_command


def run(*words: object, cwd: Path) -> tuple[int, str, str]:
    done = run_command("judge", "--source", SAMPLE, "--journal", "v.jsonl", *words, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (path / "v.jsonl").read_text("utf-8").splitlines()]


def test_the_sample_is_judged_and_the_cost_said(double: Double, tmp_path: Path) -> None:
    code, out, _ = run("--judge", "claude", cwd=tmp_path)
    assert code == 0
    assert "cost of this run" in out
    judged = lines(tmp_path)
    assert {line["judge_model"] for line in judged} == {"claude-opus-4-7"}
    assert len(double.sent()) == sum(line["status"] == "scored" for line in judged)


def test_max_usd_stops_cleanly_fails_and_says_how_to_go_on(double: Double, tmp_path: Path) -> None:
    code, out, _ = run("--judge", "claude", "--max-usd", 0.2, "--json", cwd=tmp_path)
    report = json.loads(out)["judges"][0]
    assert code == 1
    assert report["spent_usd"] <= 0.2
    assert report["statuses"]["scored"] == len(double.sent()) > 0
    assert report["missing"] > 0
    code, out, _ = run("--judge", "claude", cwd=tmp_path)
    assert code == 0
    assert "missing" not in out


def test_an_unknown_model_needs_a_price_only_for_a_budget(double: Double, tmp_path: Path) -> None:
    code, _, err = run("--judge", "claude", "--model", "claude-next", "--max-usd", 1, cwd=tmp_path)
    assert (code, double.requests) == (2, [])
    assert "--prices" in err
    (tmp_path / "p.yaml").write_text("claude-next: {input: 1, output: 2}\n", "utf-8")
    code, _, _ = run("--judge", "claude:claude-next", "--max-usd", 1, "--prices", "p.yaml", "--limit", 2, cwd=tmp_path)
    assert code == 0
    assert {request.body["model"] for request in double.sent()} == {"claude-next"}
    code, out, _ = run("--judge", "claude:claude-next", "--limit", 2, cwd=tmp_path)
    assert code == 0
    assert "cost" not in out


def test_dry_run_counts_tokens_and_judges_nothing(double: Double, tmp_path: Path) -> None:
    code, out, _ = run("--judge", "claude", "--dry-run", "--json", cwd=tmp_path)
    (estimate,) = json.loads(out)["estimates"]
    assert code == 0
    assert (double.sent(), lines(tmp_path)) == ([], [])
    assert estimate["answers"] > estimate["counted"] > 0
    assert 0 < estimate["usd"] < estimate["usd_at_most"]
    assert estimate["usd"] == pytest.approx((estimate["input_tokens"] * 5 + estimate["output_tokens"] * 25) / 1e6)


def test_an_estimate_from_a_sample_is_close_to_the_full_count(double: Double, tmp_path: Path) -> None:
    items = [Item(str(n), "q" * (n % 90), "t", "a" * (5 * n % 977 + 1) + str(n)) for n in range(450)]
    judge = ClaudeJudge(price=Price(5, 25, 6, 1))
    with Journal(tmp_path / "v.jsonl") as journal:
        estimate = estimate_cost(items, judge, journal)
        every = sum(estimate_cost(items[n : n + 90], judge, journal).input_tokens for n in range(0, 450, 90))
    assert estimate.counted == 90
    assert estimate.input_tokens == pytest.approx(every, rel=0.01)


def test_batches_are_polled_and_an_open_one_is_not_sent_again_one_by_one(double: Double, tmp_path: Path) -> None:
    code, out, _ = run("--judge", "claude", "--batch", "--poll-seconds", 0, cwd=tmp_path)
    assert code == 0, out
    assert double.sent() == []
    (tmp_path / "v.jsonl.batch.json").write_text("{}", "utf-8")
    code, _, err = run("--judge", "claude", cwd=tmp_path)
    assert code == 2
    assert "--batch" in err


def test_a_wrong_key_fails_with_one_line_and_without_the_key(double: Double, tmp_path: Path) -> None:
    double.answer = lambda n, request: error(401, "authentication_error")
    code, out, err = run("--judge", "claude", cwd=tmp_path)
    assert code == 1
    assert "HTTP 401" in err
    assert (out, err.count("\n")) == ("", 1)
    assert KEY not in out + err + "".join(path.read_text("utf-8") for path in tmp_path.iterdir())


@pytest.mark.parametrize("more", [(), ("--limit", 5), ("--repeat", 3), ("--batch", "--poll-seconds", 0)])
def test_without_a_key_one_line_says_so_and_nothing_is_advised(
    double: Double, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, more: tuple[object, ...]
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("HOME", str(tmp_path))
    code, out, err = run("--judge", "claude", *more, cwd=tmp_path)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "nothing was judged: claude-opus-4-7: no key: set ANTHROPIC_API_KEY" in err
    assert err.count("ANTHROPIC_API_KEY") == 1
    code, out, err = run("--judge", "claude", *more, "--json", cwd=tmp_path)
    assert (code, err) == (1, "")
    assert "ANTHROPIC_API_KEY" in json.loads(out)["judges"][0]["stopped"]


@pytest.mark.parametrize("name", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"])
@pytest.mark.parametrize(("key", "fault"), [(f"{KEY}\n", "ends with a line end"), ("schlüssel", "is not printable")])
def test_a_key_that_no_request_can_carry_is_named_before_any(
    double: Double, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, name: str, key: str, fault: str
) -> None:
    monkeypatch.setenv(name, key)
    code, out, err = run("--judge", "claude", cwd=tmp_path)
    assert (code, out) == (1, "")
    assert f"nothing was judged: claude-opus-4-7: {name} " in err
    assert fault in err
    assert key.strip() not in err
    assert double.requests == []


def test_a_run_that_stops_later_says_once_why_and_how_to_go_on(double: Double, tmp_path: Path) -> None:
    double.answer = lambda n, request: error(402, "billing_error") if n >= 5 else None
    code, out, _ = run("--judge", "claude", cwd=tmp_path)
    assert code == 1
    assert out.count("HTTP 402") == 1
    assert "run the same command again" in out


@pytest.mark.parametrize("more", [(), ("--dry-run",), ("--batch", "--poll-seconds", 0)])
def test_without_the_sdk_the_pip_line_is_the_answer(
    double: Double, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, more: tuple[object, ...]
) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    code, out, err = run("--judge", "claude", *more, cwd=tmp_path)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "pip install 'hf-kokoro[judge]'" in err


def test_what_is_unscored_is_listed_with_how_to_go_on(double: Double, tmp_path: Path) -> None:
    replies = {3: refusal(), 5: message("prose"), 6: message("prose")}
    double.answer = lambda n, request: replies.get(n)
    code, out, _ = run("--judge", "claude", "--concurrency", 1, cwd=tmp_path)
    assert code == 1
    assert "1 invalid: judge them again with --retry invalid" in out
    assert "1 refused by the judge" in out
    assert run("--judge", "claude", "--retry", "invalid", cwd=tmp_path)[0] == 0


def test_a_retest_judges_a_drawn_sample_several_times(double: Double, tmp_path: Path) -> None:
    double.answer = lambda n, request: scored(empathy=1 + n % 3)
    code, _, _ = run("--judge", "claude", "--repeat", 3, "--sample", 6, cwd=tmp_path)
    assert code == 0
    found = lines(tmp_path)
    passes = Counter(line.get("repeat", 0) for line in found)
    with SAMPLE.open(encoding="utf-8", newline="") as stream:
        whole = Counter(row["questionID"] for row in csv.DictReader(stream) if row["answerText"].strip())
    drawn = {str(line["question_id"]) for line in found}
    assert passes == dict.fromkeys(range(3), sum(whole[question] for question in drawn)), "questions are drawn whole"
    assert 6 <= passes[0] < 6 + max(whole.values())
    sent = len(double.sent())
    assert sent == 3 * passes[0]
    assert run("--judge", "claude", "--repeat", 3, "--sample", 6, cwd=tmp_path)[0] == 0
    assert len(double.sent()) == sent, "the same sample is drawn again, and is judged already"


@pytest.mark.parametrize(
    "words",
    [
        ("--judge", "rule", "--batch"),
        ("--judge", "rule", "--max-usd", 1),
        ("--judge", "rule", "--dry-run"),
        ("--judge", "claude", "--batch", "--repeat", 2),
        ("--judge", "claude", "--max-usd", -1),
        ("--judge", "claude", "--prices", "nowhere.yaml"),
    ],
)
def test_combinations_without_a_sense_are_bad_usage(double: Double, tmp_path: Path, words: tuple[object, ...]) -> None:
    assert run(*words, cwd=tmp_path)[0] == 2
    assert double.requests == []
