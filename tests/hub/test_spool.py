"""No append keeps or sends rows in secret: a spool is filled when asked, and sent by `send_spooled` alone."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hf_kokoro import append_rows
from hf_kokoro.errors import KokoroError, RowError, UsageError
from hf_kokoro.hub import SendError, send_spooled
from hf_kokoro.hub.errors import AccessError, AppendFailed, BaseFormatError
from hf_kokoro.hub.remote import HubTarget
from hf_kokoro.hub.spool import Spool
from hf_kokoro.miti.contract import row_line
from hf_kokoro.policy import PrivacyError

from .double import Drop, HubDouble, Sneak, Status
from .rows import changed, numbers, private, row, rows

DATA = "data/pilot.jsonl"
Make = Callable[..., HubTarget]


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "spool")


def away(hub: HubDouble) -> None:
    """The Hub takes no commit, for as long as an append tries."""
    hub.faults.script("POST", "/commit/", *[Status(503)] * 10)


def give_up(hub: HubDouble, target: HubTarget, spool: Spool, *which: int, path: str = DATA) -> str:
    away(hub)
    with pytest.raises(AppendFailed) as caught:
        append_rows(target, rows(*which), path, spool=spool.folder)
    return str(caught.value)


def on_hub(hub: HubDouble, path: str = DATA) -> list[int]:
    tree = hub.repo().head().tree
    return numbers(hub.store.read(tree[path])) if path in tree else []


def test_without_a_spool_nothing_is_kept_and_the_next_append_sends_its_own_rows_alone(
    hub: HubDouble, hub_target: Make, tmp_path: Path
) -> None:
    away(hub)
    with pytest.raises(AppendFailed):
        append_rows(hub_target(), rows(1, 2))
    assert not (tmp_path / "cache" / "spool").exists()
    assert append_rows(hub_target(), rows(3)).added == 1
    assert on_hub(hub) == [3]


def test_corrected_rows_go_without_the_wrong_ones_before_them(hub: HubDouble, hub_target: Make, spool: Spool) -> None:
    give_up(hub, hub_target(), spool, 1)
    corrected = changed(1, topic="grief")
    report = append_rows(hub_target(), [corrected], spool=spool.folder)
    assert (report.added, report.rows_total) == (1, 1)
    assert hub.repo().read(DATA).decode() == row_line(corrected)


def test_a_dry_run_counts_what_the_next_run_sends(hub: HubDouble, hub_target: Make, spool: Spool) -> None:
    give_up(hub, hub_target(), spool, 1, 2)
    would = append_rows(hub_target(), rows(3), spool=spool.folder, dry_run=True)
    did = append_rows(hub_target(), rows(3), spool=spool.folder)
    assert (would.added, would.rows_total, would.files) == (did.added, did.rows_total, did.files)
    would_send = send_spooled(spool.folder, target=hub_target(), dry_run=True)
    assert [entry.rows for entry in spool.entries()] == [2]
    sent = send_spooled(spool.folder, target=hub_target())
    assert [(r.added, r.rows_total, r.files) for r in would_send] == [(r.added, r.rows_total, r.files) for r in sent]
    assert on_hub(hub) == [3, 1, 2]


def test_what_waits_is_sent_byte_for_byte_and_dropped(hub: HubDouble, hub_target: Make, spool: Spool) -> None:
    give_up(hub, hub_target(), spool, 1)
    [report] = send_spooled(spool.folder, target=hub_target())
    assert (report.added, report.duplicates) == (1, 0)
    assert hub.repo().read(DATA) == json.dumps(row(1), ensure_ascii=False).encode() + b"\n"
    assert list(spool.folder.iterdir()) == []
    assert send_spooled(spool.folder, target=hub_target()) == []


def test_same_rows_given_up_again_and_again_are_kept_once(hub: HubDouble, hub_target: Make, spool: Spool) -> None:
    for _ in range(3):
        give_up(hub, hub_target(), spool, 1, 2)
    give_up(hub, hub_target(), spool, 2, 3)
    assert [entry.rows for entry in spool.entries()] == [2, 1]
    assert [report.added for report in send_spooled(spool.folder, target=hub_target())] == [2, 1]
    assert on_hub(hub) == [1, 2, 3]


def test_an_append_drops_the_entries_whose_rows_it_has_sent_itself(
    hub: HubDouble, hub_target: Make, spool: Spool
) -> None:
    give_up(hub, hub_target(), spool, 1, 2)
    give_up(hub, hub_target(), spool, 3)
    append_rows(hub_target(), rows(2, 1, 4), spool=spool.folder)
    assert [entry.rows for entry in spool.entries()] == [1]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413])
def test_what_will_not_pass_is_not_kept(hub: HubDouble, hub_target: Make, spool: Spool, status: int) -> None:
    hub.faults.script("POST", "/commit/", Status(status))
    with pytest.raises(KokoroError, match=rf"{status}.*; 1 row is not there\Z"):
        append_rows(hub_target(), rows(1), spool=spool.folder)
    assert spool.entries() == []


def test_faulty_and_private_batches_and_a_base_that_cannot_grow_are_not_kept(
    hub: HubDouble, hub_target: Make, spool: Spool
) -> None:
    with pytest.raises(RowError):
        append_rows(hub_target(), [*rows(1), {}], spool=spool.folder)
    with pytest.raises(PrivacyError):
        append_rows(hub_target(), [private(1)], spool=spool.folder)
    hub.repo().commit({DATA: b"not json\n"})
    with pytest.raises(BaseFormatError, match=r"nothing of 1 row was sent\Z"):
        append_rows(hub_target(), rows(1), spool=spool.folder)
    assert spool.entries() == []


def test_an_append_says_what_is_not_there_and_where_it_is_kept(hub: HubDouble, hub_target: Make, spool: Spool) -> None:
    append_rows(hub_target(), rows(1))
    hub.faults.script("POST", "/commit/", Status(403))
    with pytest.raises(AccessError, match=r"2 rows are not there\Z"):
        append_rows(hub_target(), rows(1, 2, 3))
    said = give_up(hub, hub_target(), spool, 2, 3)
    assert "it is not known whether 2 rows arrived: the same command again sends what is missing" in said
    assert f"`hf-kokoro spool send {spool.folder}`" in said


def test_a_spool_that_cannot_be_written_is_said_and_hides_no_other_error(
    hub: HubDouble, hub_target: Make, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    away(hub)
    with pytest.raises(AppendFailed, match="could not be kept there"):
        append_rows(hub_target(), rows(1), spool=tmp_path / "file" / "spool")


def test_entries_go_where_they_were_to_go_and_nowhere_else(hub: HubDouble, hub_target: Make, spool: Spool) -> None:
    hub.repo("user/other")
    give_up(hub, hub_target(repo="user/other"), spool, 1)
    give_up(hub, hub_target(branch="side"), spool, 2)
    give_up(hub, hub_target(pr=True), spool, 5)
    hub.repo("user/third")
    give_up(hub, hub_target(repo="user/third"), spool, 3, path="data/other.jsonl")
    assert append_rows(hub_target(), rows(4), spool=spool.folder).added == 1
    assert len(spool.entries()) == 4
    assert send_spooled(spool.folder, target=hub_target()) == []
    assert len(send_spooled(spool.folder, target=hub_target(repo="user/third"))) == 1
    third = hub.repo("user/third").head().tree
    assert (on_hub(hub), numbers(hub.store.read(third["data/other.jsonl"])), DATA in third) == ([4], [3], False)
    [proposed] = send_spooled(spool.folder, target=hub_target(pr=True))
    assert proposed.pr_url is not None
    assert len(spool.entries()) == 2


def test_entries_for_another_server_are_not_sent(
    hub: HubDouble, hub_target: Make, spool: Spool, tmp_path: Path
) -> None:
    give_up(hub, hub_target(), spool, 1)
    # without a target the entry names its own, on the server of this process, which is none of the double's
    with pytest.raises(SendError, match=f"commit to {hub.endpoint}/datasets/user/pairs@main.*set HF_ENDPOINT"):
        send_spooled(spool.folder)
    with HubDouble(tmp_path / "another") as other:
        other.repo("user/pairs")
        target = HubTarget("user/pairs", token="hf_writes", endpoint=other.endpoint, cache_dir=tmp_path / "mirror")
        assert send_spooled(spool.folder, target=target) == []
        assert DATA not in other.repo().head().tree
    assert len(spool.entries()) == 1


def test_rows_that_arrived_though_no_reply_said_so_are_passed_over(
    hub: HubDouble, hub_target: Make, spool: Spool
) -> None:
    hub.faults.script("POST", "/commit/", Drop(applied=True))
    hub.faults.script("GET", "/revision/", Sneak(lambda: None), *[Status(503)] * 9)
    with pytest.raises(AppendFailed, match="not known whether 2 rows arrived"):
        append_rows(hub_target(), rows(1, 2), spool=spool.folder)
    [report] = send_spooled(spool.folder, target=hub_target())
    assert (report.added, report.duplicates) == (0, 2)
    assert on_hub(hub) == [1, 2]
    assert spool.entries() == []


def test_what_was_allowed_once_is_asked_again_before_it_is_sent(hub: HubDouble, hub_target: Make, spool: Spool) -> None:
    away(hub)
    with pytest.raises(AppendFailed):
        append_rows(hub_target(), [private(1), row(2)], allow=["email"], spool=spool.folder)
    with pytest.raises(SendError, match="email: 1 in 1 row"):
        send_spooled(spool.folder, target=hub_target())
    with pytest.raises(UsageError, match="allowed: email"):
        send_spooled(spool.folder, target=hub_target(), allow=["fax"])
    assert DATA not in hub.repo().head().tree
    [report] = send_spooled(spool.folder, target=hub_target(), redact=True)
    assert (report.added, report.redacted) == (2, 1)
    assert b"@example.org" not in hub.repo().read(DATA)
    assert spool.entries() == []


def test_one_entry_that_fails_does_not_hold_up_the_others(hub: HubDouble, hub_target: Make, spool: Spool) -> None:
    give_up(hub, hub_target(), spool, 1)
    give_up(hub, hub_target(), spool, 2)
    broken = spool.entries()[0]
    broken.file.write_bytes(broken.file.read_bytes() + b"torn {")
    with pytest.raises(SendError, match=f"(?s)1 of 2 entries.*spool drop {spool.folder} {broken.id}") as caught:
        send_spooled(spool.folder, target=hub_target())
    assert [report.added for report in caught.value.reports] == [1]
    assert on_hub(hub) == [2]
    assert [entry.id for entry in spool.entries()] == [broken.id]


def test_chosen_entries_are_sent_alone_and_unknown_ones_refused(hub: HubDouble, hub_target: Make, spool: Spool) -> None:
    give_up(hub, hub_target(), spool, 1)
    give_up(hub, hub_target(), spool, 2)
    with pytest.raises(UsageError, match="no entry gone"):
        send_spooled(spool.folder, ids=["gone"], target=hub_target())
    assert len(send_spooled(spool.folder, ids=[spool.entries()[1].id], target=hub_target())) == 1
    assert on_hub(hub) == [2]


def test_entry_of_a_living_process_is_left_to_it(hub: HubDouble, hub_target: Make, spool: Spool) -> None:
    give_up(hub, hub_target(), spool, 1)
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from pathlib import Path; from hf_kokoro.hub.spool import Spool\n"
            "spool = Spool(Path(sys.argv[1])); entry = spool.entries()[0]\n"
            "print('held' if spool.hold(entry) else 'not held', flush=True); sys.stdin.read()",
            str(spool.folder),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert [entry.held for entry in spool.entries()] == [True]
        assert not spool.drop_unheld(spool.entries()[0])
        assert send_spooled(spool.folder, target=hub_target()) == []
    finally:
        holder.kill()
        holder.communicate()
    assert [entry.held for entry in spool.entries()] == [False]
    assert spool.drop_unheld(spool.entries()[0])
    assert list(spool.folder.iterdir()) == []


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"not json\n", id="no header"),
        pytest.param(b"[]\n", id="another header"),
    ],
)
def test_foreign_files_in_the_spool_are_listed_and_harm_nobody(
    hub: HubDouble, hub_target: Make, spool: Spool, content: bytes
) -> None:
    spool.folder.mkdir()
    (spool.folder / "20260101T000000-foreign.jsonl").write_bytes(content)
    give_up(hub, hub_target(), spool, 1)
    assert append_rows(hub_target(), rows(1), spool=spool.folder).added == 1
    assert [(entry.id, entry.target) for entry in spool.entries()] == [("20260101T000000-foreign", "?")]
    with pytest.raises(SendError, match="can't be read"):
        send_spooled(spool.folder)


def test_folder_targets_need_no_spool(tmp_path: Path, spool: Spool) -> None:
    append_rows(tmp_path / "folder", rows(1), spool=spool.folder)
    assert not spool.folder.exists()


def test_the_verb_of_python_sends_renews_the_card_and_says_why_the_others_wait(
    hub: HubDouble, hub_target: Make, spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    from hf_kokoro import workflow

    template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, hub.endpoint)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "ENDPOINT", hub.endpoint)
    give_up(hub, hub_target(), spool, 1)
    give_up(hub, hub_target(), spool, 2)
    hub.faults.script("POST", "/commit/", Status(403, says="Not now"))
    report = workflow.send_spooled(spool.folder, token="hf_writes", max_wait=60)
    assert (report.added, len(report.sent)) == (1, 1)
    assert "1 of 2 entries wait on" in str(report.failure)
    assert "Not now" in str(report.failure)
    assert report.as_dict()["sent"][0]["added"] == 1
    again = workflow.send_spooled(spool.folder, token="hf_writes", card=True)
    assert (again.added, again.failure) == (1, None)
    assert on_hub(hub) == [2, 1]
    assert "README.md" in hub.repo().head().tree
