"""A policy file at every door that passes the gate: verb and function decide alike, options win, reports say it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hf_kokoro import workflow
from hf_kokoro.hub import send_spooled
from hf_kokoro.hub.spool import Spool
from hf_kokoro.miti.contract import row_id, row_line
from hf_kokoro.policy import ClaimError, PolicyError, PrivacyError

from ..hub.double import HubDouble, Status
from ..hub.rows import private, row
from ..judging.judging_support import run

DATA = "data/pilot.jsonl"
REPO = "user/pairs"
HEAD = "questionID,questionTitle,questionText,topic,therapistInfo,answerText\n"
TABLE = HEAD + "".join(
    f"1,Sleep,I wake at night.,sleep,{who},{text}\n"
    for who, text in (
        ("North", "It sounds as if the nights are long. What helps?"),
        ("South", "Just stop worrying and write to ada@example.org."),
        ("West", "Many people wake."),
    )
)
DECLARED = '[declare]\nsource_dataset = "me/table"\nlicense = "MIT"\n'


@pytest.fixture
def hub(hub: HubDouble) -> HubDouble:
    hub.repo(REPO)
    return hub


@pytest.fixture
def policy(tmp_path: Path) -> Callable[[str], str]:
    def write(text: str) -> str:
        (tmp_path / "p.toml").write_text(text, "utf-8")
        return str(tmp_path / "p.toml")

    return write


def by_row(*rows: dict[str, Any], decision: str = "approve") -> str:
    return "".join(
        f'[[private_data.rows]]\nid = "{row_id(one)}"\nkind = "email"\ndecision = "{decision}"\n' for one in rows
    )


def sent(hub: HubDouble) -> list[dict[str, Any]]:
    tree = hub.repo().head().tree
    return [json.loads(line) for line in hub.store.read(tree[DATA]).splitlines()] if DATA in tree else []


@pytest.fixture
def append(tmp_path: Path) -> dict[str, Callable[..., None]]:
    """The doors of rows: each raises or ends with 1 if the gate stops them."""
    rows = [private(1), row(2)]
    (tmp_path / "rows.jsonl").write_text("".join(map(row_line, rows)), "utf-8")

    def verb(policy: str, *options: str) -> None:
        done = run("append", "rows.jsonl", "--to", REPO, "--policy", policy, *options, cwd=tmp_path)
        if done.returncode:
            raise PrivacyError(done.stderr)
        assert f"policy {policy}: " in done.stdout

    def function(policy: str, *options: str) -> None:
        given = {"allow": ["url"]} if "--allow" in options else {}
        given |= {"redact": "--redact" in options} if options[:1] in (("--redact",), ("--no-redact",)) else {}
        report = workflow.append_rows(REPO, rows, policy=policy, **given)
        assert any(f"policy {policy}: " in line for line in report.decided)

    return {"verb": verb, "function": function}


@pytest.mark.parametrize("door", ["verb", "function"])
@pytest.mark.parametrize(
    ("text", "options", "passes", "stays"),
    [
        ('[private_data]\nallow = ["email"]\n', (), True, True),
        ("[private_data]\nredact = true\n", (), True, False),
        ("[private_data]\nredact = true\n", ("--no-redact",), False, True),
        ('[private_data]\nallow = ["email"]\n', ("--allow", "url"), False, True),
        ('[private_data]\nallow = ["url"]\n', ("--redact",), True, False),
        (by_row(private(1)), (), True, True),
        (by_row(private(1), decision="redact"), (), True, False),
        (by_row(private(3)), (), False, True),
    ],
)
def test_append(
    hub: HubDouble,
    policy: Callable[[str], str],
    append: dict[str, Callable[..., None]],
    door: str,
    text: str,
    options: tuple[str, ...],
    passes: bool,
    stays: bool,
) -> None:
    if not passes:
        with pytest.raises(PrivacyError, match=row_id(private(1))[:12]):
            append[door](policy(text), *options)
        assert sent(hub) == []
        return
    append[door](policy(text), *options)
    assert len(sent(hub)) == 2
    assert ("ada@example.org" in json.dumps(sent(hub))) is stays


def test_publish_takes_the_decisions_of_rows(hub: HubDouble, tmp_path: Path, policy: Callable[[str], str]) -> None:
    folder = tmp_path / "pairs"
    workflow.append_rows(folder, [private(1), private(2)])
    with pytest.raises(PrivacyError, match=row_id(private(2))[:12]) as caught:
        workflow.publish(folder, REPO, figures=False, policy=policy(by_row(private(1))))
    assert row_id(private(1))[:12] not in str(caught.value)
    stopped = run("publish", "./pairs", "--to", REPO, "--no-figures", "--policy", "p.toml", cwd=tmp_path)
    assert (stopped.returncode, sent(hub)) == (1, [])
    report = workflow.publish(folder, REPO, figures=False, policy=policy(by_row(private(1), private(2))))
    assert report.added == 2
    assert report.decided[-1].endswith("by row, approve: email: 2 in 2 rows "
                                       f"({row_id(private(1))[:12]}, {row_id(private(2))[:12]})")  # fmt: skip
    again = run("publish", "./pairs", "--to", REPO, "--no-figures", "--policy", "p.toml", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "by row, approve: email: 2 in 2 rows" in again.stdout


@pytest.mark.parametrize("door", ["verb", "function"])
def test_spool_send(hub: HubDouble, tmp_path: Path, policy: Callable[[str], str], door: str) -> None:
    hub.faults.script("POST", "/commit/", *[Status(503)] * 60)
    with pytest.raises(Exception, match="they are kept in"):
        workflow.append_rows(
            REPO, [private(1)], allow=["email"], spool=tmp_path / "spool", policy=policy("[limits]\nmax_wait = 0\n")
        )
    hub.faults.stop()
    assert len(Spool(tmp_path / "spool").entries()) == 1
    assert run("spool", "send", "spool", "--policy", "p.toml", cwd=tmp_path).returncode == 1
    assert sent(hub) == []
    file = policy(by_row(private(1)))
    if door == "verb":
        done = run("spool", "send", "spool", "--policy", "p.toml", cwd=tmp_path)
        assert "by row, approve: email: 1 in 1 row" in done.stdout
    else:
        [report] = send_spooled(tmp_path / "spool", policy=file)
        assert "by row, approve" in report.decided[-1]
    assert len(sent(hub)) == 1


@pytest.mark.parametrize("door", ["verb", "function"])
def test_pair_judge_and_watch_declare(hub: HubDouble, tmp_path: Path, policy: Callable[[str], str], door: str) -> None:
    (tmp_path / "t.csv").write_text(TABLE, "utf-8")
    source, book = str(tmp_path / "t.csv"), str(tmp_path / "v.jsonl")
    judge = ("judge", "--source", source, "--judge", "rule", "--journal", book)
    assert run(*judge, "--policy", policy(DECLARED + "[limits]\nmax_usd = 1\n"), cwd=tmp_path).returncode == 0
    stated = policy(DECLARED + "[private_data]\nredact = true\n")
    if door == "verb":
        paired = run("pair", "--journal", book, "--out", "rows.jsonl", "--policy", stated, cwd=tmp_path)
        assert f"policy {stated}: source_dataset me/table, license MIT" in paired.stdout
        grown = run(*judge, "--append-to", REPO, "--policy", stated, cwd=tmp_path)
        assert grown.returncode == 0, grown.stderr
        watched = run("append", "--watch", book, "--once", "--to", "./copy", "--policy", stated, cwd=tmp_path)
        assert watched.returncode == 0, watched.stderr
        for said in (grown.stdout, watched.stdout):
            assert f"policy {stated}: redact yes" in said
    else:
        decided = workflow.pair(book, tmp_path / "rows.jsonl", policy=stated).decided
        assert decided == (f"policy {stated}: source_dataset me/table, license MIT",)
        report = workflow.judge(source, "rule", book, append_to=REPO, policy=stated)
        assert report.append is not None
        assert report.append.decided == (*decided, f"policy {stated}: redact yes")
        watch = workflow.grow(book, str(tmp_path / "copy"), once=True, policy=stated)
        assert watch.decided == (*decided, f"policy {stated}: redact yes")
    made = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text("utf-8").splitlines()]
    assert {(one["source_dataset"], one["license"]) for one in (*made, *sent(hub))} == {("me/table", "MIT")}
    assert "[email]" in json.dumps(sent(hub))
    assert (tmp_path / "copy" / DATA).read_bytes() == hub.store.read(hub.repo().head().tree[DATA])
    other = workflow.pair(book, tmp_path / "other.jsonl", policy=stated, source_dataset="me/other")
    assert other.as_dict()["source_dataset"] == "me/other"
    assert other.decided == (f"policy {stated}: license MIT",)


def test_a_budget_of_zero_stops_claude_and_no_other_judge(
    tmp_path: Path, policy: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-none")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    (tmp_path / "t.csv").write_text(TABLE, "utf-8")
    file = policy("[limits]\nmax_usd = 0\n")
    assert workflow.judge(tmp_path / "t.csv", "rule", tmp_path / "r.jsonl", policy=file).judges[0].judged == 3
    stopped = workflow.judge(tmp_path / "t.csv", "claude", tmp_path / "c.jsonl", policy=file)
    assert "budget" in stopped.stopped_at_once
    assert stopped.decided == (f"policy {file}: max_usd 0",)


def test_rows_that_state_nothing_are_still_refused(
    hub: HubDouble, tmp_path: Path, policy: Callable[[str], str]
) -> None:
    (tmp_path / "t.csv").write_text(TABLE, "utf-8")
    with pytest.raises(ClaimError):
        workflow.judge(
            tmp_path / "t.csv",
            "rule",
            tmp_path / "v.jsonl",
            append_to=REPO,
            policy=policy('[declare]\nlicense = "MIT"\n'),
        )
    assert hub.seen == []


@pytest.mark.parametrize(
    "words",
    [
        ("judge", "--source", "t.csv", "--judge", "rule", "--journal", "new.jsonl"),
        ("pair", "--journal", "v.jsonl", "--out", "new.jsonl"),
        ("append", "rows.jsonl", "--to", "./new.jsonl"),
        ("append", "--watch", "v.jsonl", "--once", "--to", "./new.jsonl"),
        ("publish", "./pairs", "--to", "./new.jsonl"),
        ("spool", "send", "./spool"),
        ("card", "./pairs"),
    ],
    ids=" ".join,
)
def test_a_faulty_policy_is_bad_usage_at_every_verb_and_nothing_is_done(
    tmp_path: Path, policy: Callable[[str], str], words: tuple[str, ...]
) -> None:
    (tmp_path / "t.csv").write_text(TABLE, "utf-8")
    (tmp_path / "rows.jsonl").write_text(row_line(row(1)), "utf-8")
    workflow.judge(tmp_path / "t.csv", "rule", tmp_path / "v.jsonl")
    workflow.append_rows(tmp_path / "pairs", [row(1)])
    policy("[limits]\nmax_wiat = 1\n")
    done = run(*words, "--policy", "p.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "limits.max_wiat: unknown; allowed: max_wait, max_usd; did you mean 'max_wait'?" in done.stderr
    assert not (tmp_path / "new.jsonl").exists()
    assert not (tmp_path / "pairs" / "README.md").exists()


def test_functions_refuse_a_faulty_policy_too(tmp_path: Path, policy: Callable[[str], str]) -> None:
    workflow.append_rows(tmp_path / "pairs", [row(1)])
    file = policy("[limits]\nmax_wiat = 1\n")
    for call in (
        lambda: workflow.append_rows(tmp_path / "new", [row(1)], policy=file),
        lambda: workflow.publish(tmp_path / "pairs", tmp_path / "new", policy=file),
        lambda: workflow.card(tmp_path / "pairs", policy=file),
        lambda: workflow.judge(tmp_path / "t.csv", "rule", tmp_path / "new", policy=file),
        lambda: workflow.pair(tmp_path / "v.jsonl", tmp_path / "new", policy=file),
        lambda: workflow.grow(tmp_path / "v.jsonl", str(tmp_path / "new"), once=True, policy=file),
        lambda: send_spooled(tmp_path / "spool", policy=file),
    ):
        with pytest.raises(PolicyError, match="max_wiat"):
            call()
    assert not (tmp_path / "new").exists()
