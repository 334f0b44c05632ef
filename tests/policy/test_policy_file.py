"""The policy file: what it may say, what is refused, and what the gate makes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hf_kokoro.errors import UsageError
from hf_kokoro.miti.contract import row_id
from hf_kokoro.policy import Gate, PolicyError, PrivacyError, read_policy

from ..hub.rows import private, row

WHOLE = """
[private_data]
allow = ["url", "phone"]
redact = true

[[private_data.rows]]
id = "0123456789ab"
kind = "email"
decision = "approve"

[[private_data.rows]]
id = "0123456789ab"
kind = "name"
decision = "redact"

[declare]
source_dataset = "me/table"
license = "MIT"
written_by = "people"

[limits]
max_wait = 600
max_usd = 2.5
"""


def policy(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "night.toml"
    file.write_text(text, "utf-8")
    return file


def test_everything_that_a_file_may_say_is_read(tmp_path: Path) -> None:
    read = read_policy(policy(tmp_path, WHOLE))
    assert (read.allow, read.redact) == (("url", "phone"), True)
    assert (read.source_dataset, read.license, read.written_by) == ("me/table", "MIT", "people")
    assert (read.max_wait, read.max_usd) == (600, 2.5)
    assert read.of_row("0123456789ab" + "f" * 52) == {"email": "approve", "name": "redact"}
    assert read.of_row("f" * 64) == {}
    assert read_policy(read) is read


def test_no_file_and_an_empty_one_decide_nothing(tmp_path: Path) -> None:
    for nothing in (read_policy(None), read_policy(policy(tmp_path, "\ufeff# later\r\n"))):
        assert (nothing.allow, nothing.redact, nothing.rows, nothing.max_wait) == (None, None, {}, None)
        assert nothing.told("allow", "redact", "max_wait") == ()


FAULTS = [
    ("[privat_data]", "privat_data: unknown; allowed: private_data, declare, limits; did you mean 'private_data'?"),
    ("[private_data]\nalow = []", "private_data.alow: unknown; allowed: allow, redact, rows; did you mean 'allow'?"),
    ("[private_data]\nallow = 'url'", "private_data.allow: got url; allowed: a list of email"),
    ("[private_data]\nallow = ['emial']", "in it emial; allowed: email, "),
    ("[private_data]\nallow = ['emial']", "did you mean 'email'?"),
    ("[private_data]\nallow = [1]", "in it 1; allowed: email, "),
    ("[private_data]\nredact = 1", "private_data.redact: got 1; allowed: true, false"),
    ("private_data = 3", "private_data: got 3; allowed: a table with allow, redact, rows"),
    ("[private_data]\nrows = {}", "private_data.rows: got an object with 0 keys; allowed: [[private_data.rows]]"),
    ("[private_data]\nrows = [1]", "private_data.rows 1: got 1; allowed: a table with id, kind, decision"),
    ("[[private_data.rows]]\nid = '0123456789ab'", "private_data.rows 1: no kind; every row has id, kind, decision"),
    ("[[private_data.rows]]\nid = '0123456789a'", "rows 1.id: got text of 11 characters; allowed: 12 to 64 hex digits"),
    ("[[private_data.rows]]\nid = 12", "rows 1.id: got 12; allowed: 12 to 64 hex digits"),
    ("[[private_data.rows]]\ndecision = 'aprove'", "decision: got aprove; allowed: approve, redact; did you mean 'a"),
    ("[[private_data.rows]]\nkind = 'mail'", "rows 1.kind: got mail; allowed: email, "),
    ("[declare]\nlicence = 'MIT'", "declare.licence: unknown; allowed: source_dataset, license, written_by; did you"),
    ("[declare]\nsource_dataset = ' '", "declare.source_dataset: got text of 1 characters; allowed: a name"),
    ("[declare]\nwritten_by = 'humans'", "declare.written_by: got humans; allowed: people, model, fictional"),
    ("[limits]\nmax_wait = -1", "limits.max_wait: got -1; allowed: a number, 0 or more"),
    ("[limits]\nmax_usd = nan", "limits.max_usd: got nan; allowed: a number, 0 or more"),
    ("[limits]\nmax_usd = true", "limits.max_usd: got True; allowed: a number"),
    ("[limits\nmax_usd = 1", "no TOML (at line 1"),
    ("[limits]\n[limits]", "no TOML (at line 2"),
]


@pytest.mark.parametrize(("text", "said"), FAULTS)
def test_what_is_unknown_or_no_value_is_refused_with_what_is_allowed(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(PolicyError) as caught:
        read_policy(policy(tmp_path, text))
    assert said in str(caught.value)
    assert "night.toml" in str(caught.value)
    assert isinstance(caught.value, UsageError)


def test_all_faults_are_said_at_once_and_two_decisions_on_one_thing_are_one(tmp_path: Path) -> None:
    row = "[[private_data.rows]]\nid = '0123456789ab'\nkind = 'email'\ndecision = '{}'\n"
    text = "[limits]\nmax_wiat = 1\n[other]\n" + row.format("approve") + row.format("redact")
    with pytest.raises(PolicyError, match="3 faults") as caught:
        read_policy(policy(tmp_path, text))
    assert "limits.max_wiat" in str(caught.value)
    assert "rows 2: another decision on the same row and kind stands above" in str(caught.value)
    assert read_policy(policy(tmp_path, row.format("approve") * 2)).rows == {("0123456789ab", "email"): "approve"}


def test_a_file_that_is_not_there_or_no_utf8_is_named(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"none\.toml: can't be read"):
        read_policy(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_bytes(b"a = '\xff'")
    with pytest.raises(PolicyError, match="byte 5 is not UTF-8"):
        read_policy(tmp_path / "bad.toml")


def decided(tmp_path: Path, decision: str, rows: list[dict[str, Any]], digits: int = 12, more: str = "") -> Path:
    tables = (
        f"[[private_data.rows]]\nid = {json.dumps(row_id(row)[:digits])}\nkind = 'email'\ndecision = '{decision}'\n"
        for row in rows
    )
    return policy(tmp_path, more + "".join(tables))


@pytest.mark.parametrize("digits", [12, 64])
def test_an_approved_row_passes_and_one_that_nobody_looked_at_stops(tmp_path: Path, digits: int) -> None:
    seen, unseen = private(1), private(2)
    gate = Gate(policy=read_policy(decided(tmp_path, "approve", [seen], digits)))
    assert gate.row(seen) is seen
    gate.row(row(3))
    gate.check()
    assert gate.decided[-1].endswith(f"by row, approve: email: 1 in 1 row ({row_id(seen)[:12]})")
    assert not gate.staying
    gate.row(unseen)
    with pytest.raises(PrivacyError, match=row_id(unseen)[:12]) as caught:
        gate.check()
    assert row_id(seen)[:12] not in str(caught.value)


def test_a_decision_is_of_its_kind_alone(tmp_path: Path) -> None:
    both = private(1) | {"prompt": "Call 03-1234-5678, ask for Ken."}
    gate = Gate(policy=read_policy(decided(tmp_path, "approve", [both])))
    gate.row(both)
    with pytest.raises(PrivacyError, match="phone: 1 in 1 row") as caught:
        gate.check()
    assert "email" not in str(caught.value).partition("--")[0]


def test_a_row_that_is_to_be_redacted_loses_its_finding_though_others_are_asked_about(tmp_path: Path) -> None:
    gate = Gate(policy=read_policy(decided(tmp_path, "redact", [private(1)])))
    assert "ada@example.org" not in json.dumps(gate.row(private(1)))
    gate.check()
    # the chosen answer stands in the matrix too, and equal texts count once
    assert (gate.redacted, gate.allowed) == (1, ())
    other = private(2)
    assert gate.row(other) is other


@pytest.mark.parametrize("more", ["[private_data]\nredact = true\n", "[private_data]\nallow = ['email']\n"])
@pytest.mark.parametrize(("decision", "stays"), [("approve", True), ("redact", False)])
def test_a_decision_by_row_wins_over_what_is_said_of_all(tmp_path: Path, more: str, decision: str, stays: bool) -> None:
    file = decided(tmp_path, decision, [private(1)], more=more)
    for given in ({}, {"redact": True}, {"redact": False}, {"allow": ["email"]}):
        gate = Gate(**given, policy=read_policy(file))
        assert ("ada@example.org" in json.dumps(gate.row(private(1)))) is stays
        gate.check()


@pytest.mark.parametrize(
    ("text", "given", "passes", "stays"),
    [
        ("", {}, False, True),
        ("[private_data]\nallow = ['email']", {}, True, True),
        ("[private_data]\nallow = ['email']", {"allow": ["url"]}, False, True),
        ("[private_data]\nallow = ['url']", {"allow": ["email"]}, True, True),
        ("[private_data]\nallow = ['email']\nredact = true", {}, True, True),
        ("[private_data]\nredact = true", {}, True, False),
        ("[private_data]\nredact = true", {"redact": False}, False, True),
        ("[private_data]\nredact = false", {"redact": True}, True, False),
    ],
)
def test_what_the_call_says_wins_over_the_file(
    tmp_path: Path, text: str, given: dict[str, Any], passes: bool, stays: bool
) -> None:
    gate = Gate(**given, policy=read_policy(policy(tmp_path, text)))
    assert ("ada@example.org" in json.dumps(gate.row(private(1)))) is stays
    if passes:
        gate.check()
    else:
        with pytest.raises(PrivacyError):
            gate.check()
