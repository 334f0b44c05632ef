"""The audit proves growth from the history, and names the revision that broke it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hf_kokoro import append_rows, audit
from hf_kokoro.hub.errors import AccessError, GaveUp
from hf_kokoro.hub.remote import HubTarget

from .double import Drop, HubDouble, Status, Wound
from .places import HubPlace, LocalPlace, Place
from .rows import changed, row, rows

DATA = "data/pilot.jsonl"
Make = Callable[..., HubTarget]


def line(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def grown(place: Place, *batches: tuple[int, ...]) -> None:
    for batch in batches:
        append_rows(place.target(), rows(*batch))


def test_history_of_appends_is_a_chain_with_its_numbers(place: Place) -> None:
    grown(place, (1, 2), (3,), (4, 5, 6))
    report = audit(place.target())
    assert report.ok
    assert report.faults == []
    assert report.rows == 6
    steps = [revision for revision in report.revisions if revision.rows]
    assert [(step.rows_added, step.rows) for step in steps] == [(2, 2), (1, 3), (3, 6)]
    assert steps[-1].bytes == len(place.files()[DATA])
    assert all(step.time and step.author for step in steps)


def test_rewritten_row_is_found_and_the_breaking_revision_named(place: Place) -> None:
    grown(place, (1, 2), (3,))
    place.write(DATA, place.files()[DATA].replace(b"number 1.", b"number 8."))
    report = audit(place.target())
    assert not report.ok
    assert [revision.ok for revision in report.revisions if revision.bytes].count(False) >= 1
    assert DATA in str(report.faults[0])


def test_removed_row_is_found(place: Place) -> None:
    grown(place, (1, 2), (3,))
    place.write(DATA, line(row(1)) + line(row(3)))
    report = audit(place.target())
    assert not report.ok
    assert report.revisions[-1].ok is False


def test_removed_file_is_found(place: Place) -> None:
    grown(place, (1,))
    place.write("README.md", b"# left\n")
    place.write(DATA, None)
    report = audit(place.target())
    assert not report.ok
    assert "no file" in str(report.faults[0])


@pytest.mark.parametrize(
    ("extra", "says"),
    [
        pytest.param(line(changed(9, chosen_score=2)), "line 2 (byte", id="invariant"),
        pytest.param(line({"other": "schema"}), "question_id", id="other schema"),
        pytest.param(line(row(1)), "the row of data/pilot.jsonl line 1 again", id="row twice"),
        pytest.param(b"{\n", "no JSON object", id="not json"),
        pytest.param(b"\n", "line 2 (byte", id="blank line"),
        pytest.param(b'{"t":"\xff"}\n', "no JSON object", id="not utf-8"),
        pytest.param(line(row(2))[:-20], "no JSON object", id="torn last line"),
    ],
)
def test_rows_that_are_wrong_are_found_with_their_line(place: Place, extra: bytes, says: str) -> None:
    grown(place, (1,))
    place.write(DATA, place.files()[DATA] + extra)
    report = audit(place.target())
    assert not report.ok
    assert says in " ".join(map(str, report.faults))


def test_blank_lines_are_named_and_are_no_rows_to_append_and_audit_alike(place: Place) -> None:
    place.write(DATA, b"\n" + line(row(1)) + b" \t\r\n\n" + line(row(2)) + b"  ")
    added = append_rows(place.target(), rows(2, 3))
    assert (added.added, added.rows_total) == (1, 3)
    report = audit(place.target())
    assert report.rows == 3
    assert [(step.rows_added, step.rows) for step in report.revisions if step.rows] == [(2, 2), (1, 3)]
    assert [str(fault).split(" (")[0] for fault in report.faults] == [f"{DATA} line {n}" for n in (1, 3, 4, 6)]
    assert all("a blank line" in str(fault) for fault in report.faults)


def test_row_twice_over_two_segments_is_found(place: Place) -> None:
    append_rows(place.target(), rows(1, 2), segment_bytes=10)
    place.write("data/pilot-00001.jsonl", place.files()["data/pilot-00001.jsonl"] + line(row(1)))
    said = " ".join(map(str, audit(place.target()).faults))
    assert "data/pilot-00001.jsonl line 2" in said
    assert "the row of data/pilot.jsonl line 1 again" in said


def test_every_fault_is_counted_though_twenty_are_shown(place: Place) -> None:
    place.write(DATA, b"".join(line({"n": n}) for n in range(30)))
    report = audit(place.target())
    assert len(report.faults) == 20
    assert report.fault_count >= 30 * 14


def test_first_line_end_added_later_is_growth(place: Place) -> None:
    place.write(DATA, line(row(1)).rstrip())
    append_rows(place.target(), rows(2))
    assert audit(place.target()).ok


def test_wrong_count_in_the_card_is_found(place: Place) -> None:
    place.write(
        "README.md",
        b"---\nconfigs:\n- config_name: default\n  data_files: data/pilot*.jsonl\n"
        b"dataset_info:\n  splits:\n  - {name: train, num_examples: 0}\n---\n",
    )
    grown(place, (1, 2))
    assert audit(place.target()).ok
    place.write("README.md", place.files()["README.md"].replace(b"num_examples: 2", b"num_examples: 3"))
    report = audit(place.target())
    assert not report.ok
    assert "got 3; allowed: 2" in str(report.faults[0])


def test_audit_changes_nothing(place: Place) -> None:
    grown(place, (1,), (2,))
    before = place.files()
    first, second = audit(place.target()), audit(place.target())
    assert first == second
    assert place.files() == before


@pytest.fixture
def repo_place(hub: HubDouble, tmp_path: Path) -> HubPlace:
    return HubPlace(hub, tmp_path / "machines")


def test_violation_deep_in_the_history_is_found_though_the_newest_revisions_are_right(repo_place: HubPlace) -> None:
    one, two, three = (line(row(n)) for n in (1, 2, 3))
    oids = [
        repo_place.repo.commit({DATA: content}).oid
        for content in (one, one + two, one + three, one + three + two, two, two + one)
    ]
    report = audit(repo_place.target())
    broken = {revision.revision for revision in report.revisions if not revision.ok}
    assert broken == {oids[2], oids[4]}
    assert [revision.rows for revision in report.revisions] == [0, 1, 2, 2, 3, 1, 2]
    named = {str(fault).split(":")[0] for fault in report.faults}
    assert named == {f"revision {oids[2][:12]} {DATA}", f"revision {oids[4][:12]} {DATA}"}


def test_revert_that_restores_former_bytes_is_still_a_violation(repo_place: HubPlace) -> None:
    one, two = line(row(1)), line(row(2))
    for content in (one, one + two, one):
        repo_place.repo.commit({DATA: content})
    report = audit(repo_place.target())
    assert [revision.ok for revision in report.revisions] == [True, True, True, False]


def test_end_inside_a_line_is_a_violation_of_that_revision(repo_place: HubPlace) -> None:
    one, two = line(row(1)), line(row(2))
    for content in (one + two[:30], one + two):
        repo_place.repo.commit({DATA: content})
    report = audit(repo_place.target())
    assert [revision.ok for revision in report.revisions] == [True, False, True]
    assert f"byte {len(one) + 30}" in str(report.faults[0])


def test_card_is_checked_at_every_revision(repo_place: HubPlace) -> None:
    card = (
        b"---\nconfigs:\n- config_name: default\n  data_files: data/pilot.jsonl\n"
        b"dataset_info:\n  splits:\n  - {name: train, num_examples: 1}\n---\n"
    )
    one, two = line(row(1)), line(row(2))
    repo_place.repo.commit({DATA: one, "README.md": card})
    stale = repo_place.repo.commit({DATA: one + two})
    repo_place.repo.commit({"README.md": card.replace(b"num_examples: 1", b"num_examples: 2")})
    report = audit(repo_place.target())
    assert [revision.ok for revision in report.revisions] == [True, True, False, True]
    assert f"revision {stale.oid[:12]}" in str(report.faults[0])


def test_file_that_became_large_is_followed_from_regular_to_lfs(repo_place: HubPlace) -> None:
    content = line(row(1))
    repo_place.repo.commit({DATA: content})
    repo_place.repo.commit({DATA: content + line(row(2))}, lfs=True)
    repo_place.repo.commit({DATA: line(row(1)) + line(row(3))}, lfs=True)
    assert [revision.ok for revision in audit(repo_place.target()).revisions] == [True, True, True, False]


def test_long_history_comes_in_pages(repo_place: HubPlace) -> None:
    content = b""
    for number in range(120):
        content += line(row(number))
        repo_place.repo.commit({DATA: content})
    report = audit(repo_place.target())
    assert report.ok
    assert len(report.revisions) == 121
    assert report.rows == 120


def test_audit_goes_on_after_faults_while_reading(hub: HubDouble, hub_target: Make) -> None:
    append_rows(hub_target(), [row(n, size=2000) for n in range(20)])
    hub.faults.script("GET", "/commits/", Status(503), Drop(applied=False))
    hub.faults.script("GET", "/tree/", Status(500), Status(429, {"Retry-After": "1"}))
    hub.faults.script("POST", "/paths-info/", Drop(applied=False))
    hub.faults.script("GET", "/resolve/", Wound(70_000), Status(503), Wound(1), Drop(applied=False))
    report = audit(hub_target())
    assert hub.faults.left == 0
    assert report.ok
    assert report.rows == 20


def test_audit_goes_on_after_a_broken_download_from_a_server_that_sends_only_whole_files(
    hub: HubDouble, hub_target: Make
) -> None:
    append_rows(hub_target(), [row(n, size=2000) for n in range(20)])
    hub.ranges = False
    hub.faults.script("GET", "/resolve/", Wound(70_000))
    report = audit(hub_target())
    assert hub.faults.left == 0
    assert report.ok
    assert report.rows == 20


def test_audit_gives_up_on_a_hub_that_stays_away(hub: HubDouble, hub_target: Make) -> None:
    append_rows(hub_target(), rows(1))
    hub.faults.roll(1.0, 0, [Status(503)])
    with pytest.raises(GaveUp, match="503"):
        audit(hub_target())


def test_audit_needs_the_right_to_read(hub: HubDouble, hub_target: Make) -> None:
    hub.store.create("user/hidden", private=True)
    with pytest.raises(AccessError, match="401"):
        audit(hub_target(repo="user/hidden", token=False))


def test_edited_history_of_a_folder_is_found(tmp_path: Path) -> None:
    place = LocalPlace(tmp_path / "folder")
    grown(place, (1,), (2,))
    ledger = place.folder / ".hf_kokoro" / "history.jsonl"
    text = ledger.read_text()
    ledger.write_text(text.replace('"rows_added": 1', '"rows_added": 5', 1))
    assert "history itself was edited" in str(audit(place.target()).faults[0])
    ledger.write_text("".join(text.splitlines(keepends=True)[1:]))
    assert not audit(place.target()).ok
    ledger.write_text(text[:-30])
    report = audit(place.target())
    assert "not a history entry" in str(report.faults[0])


def test_folder_that_nobody_appended_to_is_audited_as_it_is(tmp_path: Path) -> None:
    place = LocalPlace(tmp_path / "folder")
    place.write(DATA, line(row(1)))
    report = audit(place.folder)
    assert report.ok
    assert [(revision.revision, revision.rows) for revision in report.revisions] == [("now", 1)]
    assert not (place.folder / ".hf_kokoro").exists()


def test_folder_that_may_only_be_read_is_audited(tmp_path: Path) -> None:
    place = LocalPlace(tmp_path / "folder")
    grown(place, (1,))
    everything = [place.folder, *place.folder.rglob("*")]
    for file in everything:
        file.chmod(0o555 if file.is_dir() else 0o444)
    try:
        assert audit(place.folder).ok
    finally:
        for file in everything:
            file.chmod(0o755 if file.is_dir() else 0o644)
