"""append_rows passes the gate: on the Hub before the first request, in a folder with a report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hf_kokoro import append_rows
from hf_kokoro.errors import KokoroError, RowError
from hf_kokoro.hub.remote import HubTarget
from hf_kokoro.miti.contract import NOT_STATED, row_id
from hf_kokoro.policy import ClaimError, PrivacyError

from .double import HubDouble
from .rows import changed, private, row, rows

DATA = "data/pilot.jsonl"
Make = Callable[..., HubTarget]


@pytest.mark.parametrize("options", [{"branch": "side"}, {"repo": "user/new"}, {"pr": True}, {}], ids=repr)
@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize(
    ("bad", "error"), [(private(2), PrivacyError), (changed(2, source_dataset=NOT_STATED), ClaimError)]
)
def test_the_hub_hears_nothing_of_a_batch_that_may_not_leave(
    hub: HubDouble, hub_target: Make, *, options: dict, dry_run: bool, bad: dict, error: type[KokoroError]
) -> None:
    with pytest.raises(error, match=row_id(bad)[:12]):
        append_rows(hub_target(**options), [row(1), bad], dry_run=dry_run)
    assert hub.seen == []


def test_allowed_findings_are_sent_and_reported(hub: HubDouble, hub_target: Make) -> None:
    report = append_rows(hub_target(), [row(1), private(2)], allow=["email"])
    assert (report.added, report.redacted) == (2, 0)
    assert report.findings == (f"email: 1 in 1 row ({row_id(private(2))[:12]})",)
    assert b"ada@example.org" in hub.repo().read(DATA)


def test_redacted_rows_are_the_rows_of_the_next_run_too(hub: HubDouble, hub_target: Make) -> None:
    report = append_rows(hub_target(), [row(1), private(2)], redact=True)
    assert (report.added, report.redacted, report.findings) == (2, 1, ())
    assert b"ada@example.org" not in hub.repo().read(DATA)
    again = append_rows(hub_target(), [private(2), row(1)], redact=True)
    assert (again.added, again.duplicates) == (0, 2)


def test_rows_that_differ_in_what_is_redacted_alone_are_one_row(hub: HubDouble, hub_target: Make) -> None:
    first, second = private(2), private(2)
    for text_of in (second, second["all_answers"][0]):
        key = "chosen" if text_of is second else "text"
        text_of[key] = text_of[key].replace("ada@", "ben@")
    report = append_rows(hub_target(), [first, second, first], redact=True)
    assert (report.added, report.duplicates) == (1, 2)


def test_faults_of_rows_come_before_findings_in_them(hub: HubDouble, hub_target: Make) -> None:
    with pytest.raises(RowError, match="row 2 license"):
        append_rows(hub_target(), [private(1), changed(2, license=...)])


def test_rows_that_redaction_makes_invalid_are_refused(hub: HubDouble, hub_target: Make) -> None:
    same = row(1)
    addresses = ("ada@example.org", "ben@example.org", "cleo@example.org")
    for answer, address in zip(same["all_answers"], addresses, strict=True):
        answer["text"] = address
    same["chosen"], same["rejected"] = addresses[0], addresses[2]
    with pytest.raises(RowError, match="the same text as chosen"):
        append_rows(hub_target(), [same], redact=True)
    assert hub.seen == []


def test_a_folder_takes_everything_and_reports_it(tmp_path: Path) -> None:
    unstated = changed(3, source_dataset=NOT_STATED)
    report = append_rows(tmp_path / "folder", [row(1), private(2), unstated])
    assert report.added == 3
    assert report.findings == (f"email: 1 in 1 row ({row_id(private(2))[:12]})",)
    assert append_rows(tmp_path / "clean", rows(1)).findings == ()


def test_a_folder_redacts_if_asked_and_stops_if_strict(tmp_path: Path) -> None:
    with pytest.raises(PrivacyError):
        append_rows(tmp_path / "folder", [private(2)], strict=True)
    assert not (tmp_path / "folder").exists()
    report = append_rows(tmp_path / "folder", [private(2)], redact=True)
    assert (report.redacted, report.findings) == (1, ())
    assert b"ada@example.org" not in (tmp_path / "folder" / DATA).read_bytes()
