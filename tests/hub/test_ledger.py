"""Who said what about which row: a ledger that grows with the rows, on the Hub and in folders, and is no data."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hf_kokoro import append_rows, audit
from hf_kokoro.errors import SourceError
from hf_kokoro.hub import send_spooled
from hf_kokoro.hub.errors import AppendFailed, BaseFormatError, HistoryError
from hf_kokoro.hub.patience import Patience
from hf_kokoro.hub.remote import HubTarget
from hf_kokoro.miti.contract import row_id, row_line
from hf_kokoro.policy.claims import Claim
from hf_kokoro.policy.notes import Note, Notes

from .double import HubDouble, Status
from .places import HubPlace, LocalPlace, Place
from .rows import changed, private, row, rows
from .test_load_dataset import card, load, load_from_hub

LEDGER = ".hf_kokoro/provenance.jsonl"
MINE = {"source_dataset": "me/mine", "license": "CC-BY-4.0"}
Make = Callable[..., HubTarget]


def ledger(place: Place, path: str = LEDGER) -> bytes:
    """The ledger's bytes, read past the package."""
    if isinstance(place, LocalPlace):
        return (place.folder / path).read_bytes()
    assert isinstance(place, HubPlace)
    return place.repo.read(path)


def lines(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.decode().split("\n")[:-1]]


def test_every_new_row_gets_one_line_and_the_same_rows_none(place: Place) -> None:
    mine = changed(2, **MINE)
    notes = Notes({row_id(mine): Note(Claim("me/mine", "CC-BY-4.0", "people"), rubric_sha256="ab")})
    append_rows(place.target(), [row(1), mine], notes=notes)
    first = ledger(place)
    shared = {"path": "data/pilot.jsonl", "judge_model": "rule-based/miti-st-v1", "known_by": "declared"}
    upstream = {"source_dataset": "nbertagnolli/counsel-chat", "license": "MIT", "written_by": "not stated"}
    assert lines(first) == [
        {"row_id": row_id(row(1)), **shared, **upstream},
        {"row_id": row_id(mine), **shared, **MINE, "written_by": "people", "rubric_sha256": "ab"},
    ]
    assert append_rows(place.target(), [mine, row(1)]).added == 0
    assert ledger(place) == first
    append_rows(place.target(), [row(1), row(3)])
    assert ledger(place).startswith(first)
    assert [line["row_id"] for line in lines(ledger(place))[2:]] == [row_id(row(3))]
    assert audit(place.target()).ok


def test_the_same_append_makes_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        append_rows(tmp_path / name, rows(1, 2))
    assert (tmp_path / "one" / LEDGER).read_bytes() == (tmp_path / "two" / LEDGER).read_bytes()


def test_rows_that_are_older_than_the_ledger_are_allowed(place: Place) -> None:
    place.write("data/pilot.jsonl", row_line(row(1)).encode())
    append_rows(place.target(), [row(1), row(2)])
    assert [line["row_id"] for line in lines(ledger(place))] == [row_id(row(2))]
    assert audit(place.target()).ok


def test_the_ledger_is_in_segments_where_the_rows_are(tmp_path: Path) -> None:
    append_rows(tmp_path / "ds", rows(1, 2, 3), segment_bytes=400)
    append_rows(tmp_path / "ds", rows(4), segment_bytes=400)
    files = sorted(file.name for file in (tmp_path / "ds" / ".hf_kokoro").glob("provenance*"))
    assert files == ["provenance-00001.jsonl", "provenance-00002.jsonl", "provenance-00003.jsonl", "provenance.jsonl"]
    assert audit(tmp_path / "ds").ok


def test_other_growing_files_share_the_ledger(tmp_path: Path) -> None:
    append_rows(tmp_path / "ds", rows(1))
    append_rows(tmp_path / "ds", rows(1, 2), "data/other.jsonl")
    paths = [line["path"] for line in lines((tmp_path / "ds" / LEDGER).read_bytes())]
    assert paths == ["data/pilot.jsonl", "data/other.jsonl", "data/other.jsonl"]
    assert audit(tmp_path / "ds").ok
    assert audit(tmp_path / "ds", "data/other.jsonl").ok


@pytest.mark.parametrize("with_card", [False, True])
def test_a_folder_loads_its_rows_and_nothing_of_the_ledger(tmp_path: Path, *, with_card: bool) -> None:
    extra = {"README.md": card(2)} if with_card else {}
    append_rows(tmp_path / "folder", rows(1, 2), extra_operations=lambda growth: extra)
    assert (tmp_path / "folder" / LEDGER).is_file()
    assert load(tmp_path / "folder", tmp_path / "cache")["prompt"] == [row(1)["prompt"], row(2)["prompt"]]


@pytest.mark.parametrize("with_card", [False, True])
def test_a_repo_loads_its_rows_and_nothing_of_the_ledger(
    hub: HubDouble, hub_target: Make, tmp_path: Path, *, with_card: bool
) -> None:
    extra = {"README.md": card(2)} if with_card else {}
    append_rows(hub_target(), rows(1, 2), extra_operations=lambda growth: extra)
    assert len(lines(hub.repo().read(LEDGER))) == 2
    [(prompts, _)] = load_from_hub(hub, tmp_path / "hf", ("main", False))
    assert prompts == [row(1)["prompt"], row(2)["prompt"]]


def test_an_audit_names_lines_about_rows_that_are_not_there_and_lines_that_were_changed(place: Place) -> None:
    append_rows(place.target(), rows(1, 2))
    first, second = ledger(place).splitlines(keepends=True)
    stranger = first.replace(row_id(row(1)).encode(), row_id(row(9)).encode())
    place.write(LEDGER, first + second + stranger + first + b"{}\n")
    faults = [str(fault) for fault in audit(place.target()).faults]
    assert ["provenance.jsonl line 3" in fault and "a row that is not there" in fault for fault in faults].count(
        True
    ) == 1
    assert ["provenance.jsonl line 4" in fault and "one line a row" in fault for fault in faults].count(True) == 1
    assert ["provenance.jsonl line 5" in fault and "no note of a row" in fault for fault in faults].count(True) == 1
    place.write(LEDGER, second + first)
    report = audit(place.target())
    assert not report.ok
    assert LEDGER in str(report.faults[0])


@pytest.mark.parametrize("spoilt", [None, b"{}\n"])
def test_an_append_stops_where_the_ledger_was_rewritten_or_taken_away(place: Place, spoilt: bytes | None) -> None:
    append_rows(place.target(), rows(1, 2))
    place.write(LEDGER, spoilt)
    with pytest.raises(HistoryError, match=r"provenance\.jsonl"):
        append_rows(place.target(), rows(3))


def test_a_torn_ledger_is_not_built_on(tmp_path: Path) -> None:
    append_rows(tmp_path / "ds", rows(1))
    with (tmp_path / "ds" / LEDGER).open("ab") as stream:
        stream.write(b'{"row')
    with pytest.raises(BaseFormatError, match=r"provenance\.jsonl: the last line is torn"):
        append_rows(tmp_path / "ds", rows(2))


def test_what_was_replaced_in_a_row_is_said_and_its_claim_stays(tmp_path: Path) -> None:
    notes = Notes({row_id(private(2)): Note(Claim("me/mine", "MIT", "people", "digest"))})
    append_rows(tmp_path / "ds", [private(2)], redact=True, notes=notes)
    [line] = lines((tmp_path / "ds" / LEDGER).read_bytes())
    # the digest that was noted is not borne out by the answers, so nothing is made of it
    assert (line["text"], line["known_by"], line["written_by"]) == ("redacted", "declared", "not stated")
    [sent] = [json.loads(text) for text in (tmp_path / "ds" / "data" / "pilot.jsonl").read_text().split("\n")[:-1]]
    assert line["row_id"] == row_id(sent)


def test_claims_wait_in_the_spool_with_their_rows(hub: HubDouble, hub_target: Make, tmp_path: Path) -> None:
    mine = changed(2, **MINE)
    notes = Notes({row_id(mine): Note(Claim("me/mine", "CC-BY-4.0", "model"))})
    hub.faults.script("POST", "/commit/", Status(503), Status(503))
    with pytest.raises(AppendFailed):
        append_rows(hub_target(patience=Patience(faults=1)), [mine], notes=notes, spool=tmp_path / "spool")
    send_spooled(tmp_path / "spool", target=hub_target())
    assert [line["written_by"] for line in lines(hub.repo().read(LEDGER))] == ["model"]


def test_a_file_of_notes_that_can_not_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(row_line(row(1)))
    (tmp_path / "r.provenance").write_text('{"row_id": "x"}\n')
    with pytest.raises(SourceError, match=r"r\.provenance line 1: no note"):
        append_rows(tmp_path / "ds", tmp_path / "r.jsonl")
    (tmp_path / "r.provenance").unlink()
    assert append_rows(tmp_path / "ds", tmp_path / "r.jsonl").added == 1
