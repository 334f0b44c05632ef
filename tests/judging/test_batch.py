"""Batch judging against the double: joins, resumption, lost replies, rows sent again, money."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from hf_kokoro.core.retry import Backoff
from hf_kokoro.judging import Item, Journal, JudgeReport, read_journal
from hf_kokoro.judging.batch import score_in_batches
from hf_kokoro.judging.batch_state import BatchStateError, state_path
from hf_kokoro.judging.budget import Budget, Price
from hf_kokoro.judging.claude import MAX_TOKENS, ClaudeJudge
from hf_kokoro.judging.claude_prompt import request_bytes

from .anthropic_double import Double, Reply, Request, error, message, refusal, scored
from .judging_support import Clock

ITEMS = [Item(str(n), f"question {n}", "Ada", f"answer <{n}>") for n in range(8)]
BATCHES = "/v1/messages/batches"


def number(request: Request) -> int:
    """Which of ITEMS a request is about."""
    found = re.search(r"answer <(\d+)>", request.body["messages"][0]["content"])
    assert found is not None
    return int(found[1])


@pytest.fixture
def run(double: Double, clock: Clock, tmp_path: Path) -> Callable[..., JudgeReport]:
    def score(items: list[Item] = ITEMS, poll_seconds: float = 30, **options: object) -> JudgeReport:
        backoff = Backoff(attempts=4, sleep=clock.sleep, now=clock.now)
        judge = ClaudeJudge(backoff=backoff, **options)  # type: ignore[arg-type]
        with Journal(tmp_path / "v.jsonl") as journal:
            return score_in_batches(items, judge, journal, poll_seconds=poll_seconds)

    return score


def creations(double: Double) -> list[Request]:
    return [request for request in double.sent(BATCHES) if request.method == "POST"]


def repeated(double: Double, *numbers: int) -> None:
    """Let the results hold the rows of these items a second time."""

    def note(n: int) -> None:
        rows = next(iter(double.batches.values()))["rows"]
        double.again = [rows[number] for number in numbers]

    double.on_batch = note


def test_a_row_with_two_different_results_is_unscored_and_said(
    double: Double, run: Callable[..., JudgeReport], tmp_path: Path
) -> None:
    repeated(double, 2)
    double.answer = lambda n, request: scored(empathy=1 + n % 5)
    report = run()
    assert (report.statuses["scored"], report.statuses["invalid"]) == (7, 1)
    [wrong] = [v for v in read_journal(tmp_path / "v.jsonl") if v.scores is None]
    assert (wrong.question_id, wrong.reason) == ("2", "the batch holds 2 different results of it")
    assert "1 invalid: judge them again with --retry invalid" in report.advice()


def test_a_row_with_the_same_result_twice_is_scored_and_one_beside_an_error_is_not(
    double: Double, run: Callable[..., JudgeReport], tmp_path: Path
) -> None:
    repeated(double, 2)
    assert run().statuses["scored"] == 8
    (tmp_path / "v.jsonl").unlink()
    # the results are read from their end: the first of them is the repeated row's
    double._rows = 0
    double.batch_status = lambda n, custom_id: "errored" if n == 0 else "succeeded"
    double.batches.clear()
    assert run().statuses["scored"] == 7


def test_results_come_in_any_order_and_are_joined_by_custom_id(
    double: Double, run: Callable[..., JudgeReport], tmp_path: Path, clock: Clock
) -> None:
    double.answer = lambda n, request: scored(empathy=1 + number(request) % 5)
    double.polls_to_end = 3
    report = run()
    assert report.statuses["scored"] == 8
    found = {v.question_id: v.scores["empathy"] for v in read_journal(tmp_path / "v.jsonl") if v.scores}
    assert found == {str(n): 1 + n % 5 for n in range(8)}
    assert clock.waits == [30, 30]
    (creation,) = creations(double)
    ids = [row["custom_id"] for row in creation.body["requests"]]
    assert len(set(ids)) == 8
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in ids)
    assert "temperature" not in creation.body["requests"][0]["params"]
    assert not state_path(tmp_path / "v.jsonl").exists()


def test_a_second_run_sends_nothing(double: Double, run: Callable[..., JudgeReport]) -> None:
    run()
    before = len(double.requests)
    assert run().judged == 0
    assert len(double.requests) == before


def test_only_errored_and_expired_rows_are_sent_again(double: Double, run: Callable[..., JudgeReport]) -> None:
    # the double numbers rows over all batches, in the order of the results
    double.batch_status = lambda n, custom_id: {1: "errored", 4: "expired"}.get(n, "succeeded")
    report = run()
    assert report.statuses["scored"] == 8
    assert [len(request.body["requests"]) for request in creations(double)] == [8, 2]


def test_rows_that_keep_failing_are_left_unscored_and_named(double: Double, run: Callable[..., JudgeReport]) -> None:
    double.batch_status = lambda n, custom_id: "expired"
    report = run(ITEMS[:2])
    assert report.missing == 2
    assert [entry[0] for entry in report.unanswered] == ["0", "1"]
    assert len(creations(double)) == 3


def test_canceled_rows_are_not_sent_again(double: Double, run: Callable[..., JudgeReport]) -> None:
    double.batch_status = lambda n, custom_id: "canceled"
    report = run(ITEMS[:2])
    assert (report.missing, len(creations(double))) == (2, 1)
    assert "canceled" in report.unanswered[0][2]


def test_refusals_cuts_and_unreadable_replies_end_as_in_single_requests(
    double: Double, run: Callable[..., JudgeReport]
) -> None:
    replies = {0: refusal(), 1: message("{", "max_tokens"), 2: message("prose")}
    double.answer = lambda n, request: replies.get(number(request))
    report = run()
    assert {status: report.statuses[status] for status in ("scored", "refused", "incomplete", "invalid")} == {
        "scored": 5,
        "refused": 1,
        "incomplete": 1,
        "invalid": 1,
    }
    second = creations(double)[1].body["requests"]
    assert sorted(row["params"]["max_tokens"] for row in second) == [512, 2048]


def test_blank_answers_and_surrogates_are_in_no_batch(double: Double, run: Callable[..., JudgeReport]) -> None:
    report = run([Item("b", "q", "t", " \u3000"), Item("s", "q", "t", "\ud800")])
    assert (report.statuses["blank"], report.statuses["invalid"], double.requests) == (1, 1, [])


@pytest.mark.parametrize("lost", [Reply(drop=True), error(500, "api_error"), error(529, "overloaded_error")])
def test_a_creation_whose_reply_is_lost_is_looked_up_not_repeated(
    double: Double, run: Callable[..., JudgeReport], lost: Reply
) -> None:
    double.on_batch = lambda n: lost
    assert run().statuses["scored"] == 8
    assert len(double.batches) == 1, "a second batch would be paid for twice"


def test_a_creation_that_did_not_happen_is_repeated(
    double: Double, run: Callable[..., JudgeReport], monkeypatch: pytest.MonkeyPatch
) -> None:
    create, tries = double._create_batch, Counter[str]()

    def busy_once(request: Request) -> Reply:
        tries["all"] += 1
        return error(529, "overloaded_error") if tries["all"] == 1 else create(request)

    monkeypatch.setattr(double, "_create_batch", busy_once)
    assert run().statuses["scored"] == 8
    assert (tries["all"], len(double.batches)) == (2, 1)


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("moment", ["polling", "results"])
def test_a_killed_run_goes_on_with_the_same_batch(
    double: Double, run: Callable[..., JudgeReport], tmp_path: Path, clock: Clock, moment: str
) -> None:
    double.polls_to_end = 3
    if moment == "polling":
        sleep = clock.sleep

        async def killed(seconds: float) -> None:
            raise Killed

        clock.sleep = killed  # type: ignore[method-assign]
    else:
        results = double._results
        double._results = lambda name: (_ for _ in ()).throw(ConnectionResetError)  # type: ignore[method-assign,assignment]
    if moment == "polling":
        with pytest.raises(Killed):
            run()
        clock.sleep = sleep  # type: ignore[method-assign]
    else:
        assert "run the same command again" in run().stopped
        double._results = results  # type: ignore[method-assign]
    note = json.loads(state_path(tmp_path / "v.jsonl").read_text("utf-8"))
    assert [batch["id"] for batch in note["open"]] == ["msgbatch_000"]
    assert run().statuses["scored"] == 8
    assert len(double.batches) == 1


def test_a_run_killed_between_creation_and_its_id_finds_the_batch(
    double: Double, run: Callable[..., JudgeReport], tmp_path: Path, clock: Clock
) -> None:
    double.on_batch = lambda n: Reply(drop=True)
    sleep = clock.sleep

    async def killed(seconds: float) -> None:
        raise Killed

    clock.sleep = killed  # type: ignore[method-assign]
    with pytest.raises(Killed):
        run()
    note = json.loads(state_path(tmp_path / "v.jsonl").read_text("utf-8"))
    assert note["open"][0]["id"] is None, "the map of custom ids is on disk before the batch is made"
    assert len(note["open"][0]["rows"]) == 8
    clock.sleep = sleep  # type: ignore[method-assign]
    assert run().statuses["scored"] == 8
    assert len(double.batches) == 1


def test_somebody_elses_batch_of_the_same_size_is_not_taken_for_ours(
    double: Double, run: Callable[..., JudgeReport]
) -> None:
    theirs = [{"custom_id": f"x-{n}", "params": {"messages": [{"content": f"answer <{n}>"}]}} for n in range(8)]

    def collide(n: int) -> Reply | None:
        if n == 0:
            double.batches["msgbatch_theirs"] = {"rows": theirs, "polls": 0, "created_at": "2030-01-01T00:00:59Z"}
            return Reply(drop=True)
        return None

    double.on_batch = collide
    assert run().statuses["scored"] == 8
    assert sum(name != "msgbatch_theirs" for name in double.batches) == 1


def test_a_batch_stays_within_the_budget_at_half_price(double: Double, run: Callable[..., JudgeReport]) -> None:
    price = Price(5, 25, 6.25, 0.5)
    most = max(price.most(request_bytes(i.question, i.answer), MAX_TOKENS, batch=True) for i in ITEMS)
    budget = Budget(most + 3.5 * 0.0043 / 2)
    report = run(price=price, budget=budget)
    assert report.statuses["scored"] == 4
    assert "budget" in report.stopped
    assert budget.spent == pytest.approx(report.statuses["scored"] * 0.0043 / 2)


def test_an_open_batch_of_another_model_is_not_given_up_silently(
    double: Double, run: Callable[..., JudgeReport], clock: Clock, tmp_path: Path
) -> None:
    sleep = clock.sleep

    async def killed(seconds: float) -> None:
        raise Killed

    double.polls_to_end = 2
    clock.sleep = killed  # type: ignore[method-assign]
    with pytest.raises(Killed):
        run()
    clock.sleep = sleep  # type: ignore[method-assign]
    with pytest.raises(BatchStateError, match="open batches of claude-opus-4-7"):
        run(model="claude-haiku-4-5")
    state_path(tmp_path / "v.jsonl").write_text("{", "utf-8")
    with pytest.raises(BatchStateError, match="damaged"):
        run()
