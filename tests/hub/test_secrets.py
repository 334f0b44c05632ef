"""Tokens and row texts stay where they belong: in requests to the Hub, and in files."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from hf_kokoro import append_rows, audit
from hf_kokoro.errors import KokoroError
from hf_kokoro.hub.remote import HubTarget
from hf_kokoro.hub.resolve import HubOptions

from .double import Drop, Fault, Hang, Html, HubDouble, Reset, Status
from .rows import changed, row, rows

TOKEN = "hf_verySecretToken"
WORDS = ("carry this alone", "wake at night", "one thing a day")
Make = Callable[..., HubTarget]


@pytest.fixture
def secret_target(hub: HubDouble, hub_target: Make) -> Make:
    hub.tokens = {TOKEN: "write"}
    return lambda **options: hub_target(token=TOKEN, read_seconds=0.1, **options)


def assert_clean(text: str) -> None:
    assert TOKEN not in text
    assert not [words for words in WORDS if words in text]


FAULTS: list[Fault] = [
    Status(400),
    Status(401),
    Status(403),
    Status(404),
    Status(413),
    Status(422),
    Status(500),
    Drop(applied=False),
    Reset(),
    Html(),
    Hang(),
]


@pytest.mark.parametrize("fault", FAULTS, ids=repr)
@pytest.mark.parametrize("part", ["/revision/", "/tree/", "/preupload/", "/commit/", "/paths-info/"])
def test_neither_token_nor_text_is_in_messages_tracebacks_logs_or_output(
    hub: HubDouble,
    secret_target: Make,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    *,
    fault: Fault,
    part: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    hub.faults.script("*", part, fault)
    try:
        append_rows(secret_target(), rows(1, 2))
    except KokoroError as error:
        assert_clean("".join(traceback.format_exception(error)))
        assert_clean(repr(error))
    assert_clean(caplog.text)
    printed = capsys.readouterr()
    assert_clean(printed.out + printed.err)


def test_refused_rows_are_described_and_not_quoted() -> None:
    bad = [
        changed(1, chosen="You carry this alone, don't you?", chosen_score="carry this alone"),
        {"carry this alone": 1},
    ]
    with pytest.raises(KokoroError) as caught:
        append_rows("./never-made", bad)
    assert_clean(str(caught.value) + repr(caught.value))


def test_objects_do_not_show_the_token(secret_target: Make) -> None:
    assert_clean(repr(secret_target()) + repr(HubOptions(token=TOKEN)))


def test_spool_names_and_mirror_names_hold_no_text_and_only_the_owner_reads_the_spool(
    hub: HubDouble, secret_target: Make, tmp_path: Path
) -> None:
    spool = tmp_path / "spool"
    hub.faults.script("POST", "/commit/", *[Status(503)] * 10)
    with pytest.raises(KokoroError):
        append_rows(secret_target(), rows(1), spool=spool)
    names = " ".join(str(file) for file in tmp_path.rglob("*"))
    assert_clean(names)
    entries = list(spool.glob("*.jsonl"))
    assert len(entries) == 1
    assert entries[0].stat().st_mode & 0o077 == 0
    assert spool.stat().st_mode & 0o077 == 0
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and TOKEN.encode() in file.read_bytes()]


def test_redirect_to_another_host_does_not_carry_the_token(hub: HubDouble, secret_target: Make) -> None:
    hub.lfs_bytes = 1
    append_rows(secret_target(), rows(1))
    append_rows(secret_target(machine="elsewhere"), rows(2))
    audit(secret_target())
    storage = [seen for seen in hub.seen if seen.host.startswith("localhost")]
    assert {seen.method for seen in storage} == {"PUT", "GET"}
    assert not [seen for seen in storage if seen.authorized]
    assert [seen for seen in hub.seen if seen.host.startswith("127.0.0.1") and seen.authorized]


def test_row_text_is_only_sent_to_commit_and_upload(hub: HubDouble, secret_target: Make) -> None:
    append_rows(secret_target(), [row(1)])
    assert_clean(" ".join(seen.path for seen in hub.seen))
