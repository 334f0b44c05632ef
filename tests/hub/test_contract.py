"""What every target promises. Each test runs against a folder, and a Hub repo with regular and with LFS files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hf_kokoro import append_rows, audit
from hf_kokoro.errors import RowError, UsageError
from hf_kokoro.hub.errors import BaseFormatError, HistoryError, SpellingError, TargetError

from .places import Place
from .rows import changed, numbers, row, rows

DATA = "data/pilot.jsonl"


def line(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def test_first_append_makes_the_file_with_the_rows_in_order_and_in_the_schemas_key_order(place: Place) -> None:
    report = append_rows(place.target(), rows(3, 1, 2))
    assert (report.added, report.duplicates, report.rows_total, report.attempts) == (3, 0, 3, 1)
    assert set(place.files()) == {DATA}
    content = place.files()[DATA]
    assert numbers(content) == [3, 1, 2]
    assert content == b"".join(line(row(n)) for n in (3, 1, 2))
    assert report.files == {DATA: len(content)}


def test_later_append_keeps_the_old_bytes_and_adds_lines(place: Place) -> None:
    append_rows(place.target(), rows(1, 2))
    before = place.files()[DATA]
    report = append_rows(place.target(), rows(3))
    after = place.files()[DATA]
    assert after.startswith(before)
    assert numbers(after) == [1, 2, 3]
    assert report.files == {DATA: len(after) - len(before)}
    assert report.rows_total == 3


def test_same_rows_again_write_nothing_and_make_no_revision(place: Place) -> None:
    first = append_rows(place.target(), rows(1, 2))
    again = append_rows(place.target(), rows(1, 2))
    assert (again.added, again.duplicates, again.files) == (0, 2, {})
    assert again.revision == first.revision
    assert len([r for r in audit(place.target()).revisions if r.rows_added]) == 1


def test_same_rows_again_write_nothing_on_a_machine_that_never_saw_them(place: Place) -> None:
    append_rows(place.target(), rows(1, 2))
    place.forget()
    assert append_rows(place.target(), rows(1, 2)).added == 0


def test_row_is_the_same_whatever_the_order_of_its_keys(place: Place) -> None:
    append_rows(place.target(), rows(1))
    shuffled = dict(reversed(row(1).items()))
    shuffled["all_answers"] = [dict(reversed(answer.items())) for answer in shuffled["all_answers"]]
    assert append_rows(place.target(), [shuffled]).added == 0


def test_row_resampled_for_the_same_question_is_another_row(place: Place) -> None:
    append_rows(place.target(), rows(2))
    resampled = changed(2, all_answers=[row(2)["all_answers"][0], row(2)["all_answers"][2]])
    assert append_rows(place.target(), [resampled]).added == 1


def test_repeats_within_a_batch_are_written_once(place: Place) -> None:
    report = append_rows(place.target(), rows(1, 2, 1))
    assert (report.added, report.duplicates) == (2, 1)
    assert numbers(place.files()[DATA]) == [1, 2]


def test_one_faulty_row_refuses_the_whole_batch_with_every_fault(place: Place) -> None:
    append_rows(place.target(), rows(1))
    before = place.files()
    batch = [row(2), changed(3, chosen_score=1, topic=7), changed(4, license=...), changed(5, chosen_score=0)]
    with pytest.raises(RowError) as caught:
        append_rows(place.target(), batch)
    said = str(caught.value)
    assert caught.value.count >= 4
    assert "row 2 topic" in said
    assert "row 3 license" in said
    assert "row 4 chosen_score" in said
    assert place.files() == before


def test_skip_invalid_writes_the_good_rows_and_keeps_the_others_in_a_file(place: Place, tmp_path: Path) -> None:
    rejects = tmp_path / "left-out.jsonl"
    bad = changed(3, rubric="another")
    report = append_rows(place.target(), [row(1), bad, row(2)], skip_invalid=True, rejects=rejects)
    assert (report.added, report.rejected, report.rejects_file) == (2, 1, str(rejects))
    assert numbers(place.files()[DATA]) == [1, 2]
    assert json.loads(rejects.read_text()) == bad


def test_rejects_of_a_former_run_are_not_overwritten(place: Place, tmp_path: Path) -> None:
    kept = []
    for number in (3, 3, 4):
        report = append_rows(
            place.target(), [changed(number, rubric="x")], skip_invalid=True, rejects=tmp_path / "left.jsonl"
        )
        kept.append(Path(str(report.rejects_file)).name)
    assert kept == ["left.jsonl", "left.jsonl", "left-2.jsonl"]


def test_dry_run_tells_the_same_numbers_and_changes_nothing(place: Place, tmp_path: Path) -> None:
    append_rows(place.target(), rows(1))
    before, revisions = place.files(), len(audit(place.target()).revisions)
    planned = append_rows(
        place.target(), [*rows(1, 2), {}], dry_run=True, skip_invalid=True, rejects=tmp_path / "rejects.jsonl"
    )
    assert (planned.added, planned.duplicates, planned.rejected, planned.rows_total) == (1, 1, 1, 2)
    assert planned.dry_run
    assert place.files() == before
    assert len(audit(place.target()).revisions) == revisions
    assert not (tmp_path / "rejects.jsonl").exists()
    done = append_rows(place.target(), rows(1, 2))
    assert done.files == planned.files


def test_rows_come_from_a_json_lines_file_too(place: Place, tmp_path: Path) -> None:
    source = tmp_path / "rows.jsonl"
    source.write_bytes(b"\xef\xbb\xbf" + line(row(1)).replace(b"\n", b"\r\n") + b"\n" + line(row(2)).rstrip())
    assert append_rows(place.target(), source).added == 2


def test_existing_file_without_final_line_end_gets_one(place: Place) -> None:
    place.write(DATA, line(row(1))[:-1])
    report = append_rows(place.target(), rows(2))
    assert place.files()[DATA] == line(row(1)) + line(row(2))
    assert report.rows_total == 2
    assert report.files == {DATA: 1 + len(line(row(2)))}


@pytest.mark.parametrize(
    ("base", "offset"),
    [
        pytest.param(b'{"id":1}\n{"id":', 9, id="torn last line"),
        pytest.param(b'{"id":1}\n{"id":2}\x00\x00', 9, id="zeros after a crash"),
        pytest.param(b"id,text\n1,hello\n", 0, id="csv"),
        pytest.param(b'[\n{"id":1}\n]\n', 0, id="json array over lines"),
        pytest.param(b'[{"id":1}]\n', 0, id="json array on one line"),
        pytest.param(b'{"id":1}\n"text"\n', 9, id="a string between rows"),
        pytest.param(b'{"id":1}\n{"id":2}{"id":3}\n', 9, id="two rows fused"),
        pytest.param(b'{"id":1}\n{"t":"\xff"}\n', 15, id="not utf-8"),
        pytest.param('{"t":"話"}\n'.encode("cp932"), 6, id="cp932"),
        pytest.param('{"id":1}\n'.encode("utf-16"), 0, id="utf-16"),
        pytest.param(b'\xef\xbb\xbf{"id":1}\n', 0, id="byte order mark"),
        pytest.param(b'{"id":1}\n' + b"[" * 100_000 + b"\n", 9, id="nested too deeply"),
        pytest.param(b"<html><body>Bad gateway</body></html>\n", 0, id="html page"),
        pytest.param(b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n", 0, id="lfs pointer"),
        pytest.param(b"PAR1\x15\x04\x15\x10", 0, id="parquet"),
    ],
)
def test_base_that_is_not_json_lines_of_objects_stops_at_the_byte_and_stays(
    place: Place, base: bytes, offset: int
) -> None:
    place.write(DATA, base)
    with pytest.raises(BaseFormatError) as caught:
        append_rows(place.target(), rows(1))
    assert caught.value.offset == offset
    assert f"byte {offset}" in str(caught.value)
    assert "ways out" in str(caught.value)
    assert place.files() == {DATA: base}


@pytest.mark.parametrize(
    "base",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\n\n", id="blank lines"),
        pytest.param(line(row(7))[:-1] + b"\r\n" + line(row(8))[:-1] + b"\r\n", id="crlf"),
        pytest.param(2 * line(row(7)), id="a row twice"),
        pytest.param(line(changed(7, topic=0))[:-2] + b', "x": NaN, "y": 1e999}\n', id="numbers that JSON has not"),
        pytest.param(json.dumps(changed(7, topic="\ud800")).encode() + b"\n", id="lone surrogate"),
        pytest.param(b"  " + line(row(7))[:-1] + b"  \n", id="spaces around"),
        pytest.param(line(changed(7, topic="\u2028\u0085")), id="unicode line separators inside a row"),
        pytest.param(line({**row(7), "more": [1]}), id="a key that is not ours"),
        pytest.param(line(changed(7, chosen_score="text")), id="a value that is not ours"),
    ],
)
def test_base_of_lines_with_the_keys_of_rows_grows_and_its_bytes_stay(place: Place, base: bytes) -> None:
    place.write(DATA, base)
    append_rows(place.target(), rows(1))
    append_rows(place.target(), rows(2))
    assert place.files()[DATA] == base + line(row(1)) + line(row(2))


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([{"answer": "other schema"}], id="other schema"),
        pytest.param([{"messages": []}, {"messages": []}], id="conversations"),
        pytest.param([row(7), {"id": 1}], id="one line of another kind"),
        pytest.param([changed(7, license=...)], id="a key is missing"),
        pytest.param([changed(7, all_answers=[{"content": "x"}])], id="an unknown spelling"),
    ],
)
def test_base_of_lines_that_are_no_rows_in_any_spelling_is_refused_and_stays(place: Place, lines: list[object]) -> None:
    base = b"".join(map(line, lines))
    place.write(DATA, base)
    with pytest.raises(SpellingError, match="no MITI-ST row in any spelling"):
        append_rows(place.target(), rows(1))
    assert place.files() == {DATA: base}


def test_history_that_was_rewritten_stops_the_append(place: Place) -> None:
    append_rows(place.target(), rows(1, 2))
    rewritten = place.files()[DATA].replace(b"number 2", b"number 9")
    place.write(DATA, rewritten)
    with pytest.raises(HistoryError):
        append_rows(place.target(), rows(3))
    assert place.files()[DATA] == rewritten


def test_history_that_was_cut_stops_the_append(place: Place) -> None:
    append_rows(place.target(), rows(1, 2))
    cut = line(row(1))
    place.write(DATA, cut)
    with pytest.raises(HistoryError) as caught:
        append_rows(place.target(), rows(3))
    assert caught.value.offset == len(cut)
    assert place.files()[DATA] == cut


def test_file_that_was_removed_stops_the_append(place: Place) -> None:
    append_rows(place.target(), rows(1))
    place.write("notes.txt", b"the folder is still there")
    place.write(DATA, None)
    with pytest.raises(HistoryError):
        append_rows(place.target(), rows(2))
    assert DATA not in place.files()


def test_growth_by_others_is_taken_in_and_their_rows_count_as_there(place: Place) -> None:
    append_rows(place.target(), rows(1))
    place.write(DATA, place.files()[DATA] + line(row(2)))
    report = append_rows(place.target(), rows(2, 3))
    assert (report.added, report.duplicates, report.rows_total) == (1, 1, 3)
    assert numbers(place.files()[DATA]) == [1, 2, 3]


def test_segments_seal_the_file_and_later_appends_go_on_in_the_last_one(place: Place) -> None:
    size = len(line(row(1)))
    append_rows(place.target(), rows(1, 2, 3, 4, 5), segment_bytes=2 * size + 10)
    assert {path: numbers(content) for path, content in place.files().items()} == {
        "data/pilot.jsonl": [1, 2],
        "data/pilot-00001.jsonl": [3, 4],
        "data/pilot-00002.jsonl": [5],
    }
    sealed = place.files()["data/pilot.jsonl"]
    report = append_rows(place.target(), rows(1, 4, 6, 7))
    assert (report.added, report.duplicates, report.rows_total) == (2, 2, 7)
    assert numbers(place.files()["data/pilot-00002.jsonl"]) == [5, 6, 7]
    assert place.files()["data/pilot.jsonl"] == sealed
    assert audit(place.target()).ok


def test_row_longer_than_a_segment_gets_one_of_its_own(place: Place) -> None:
    append_rows(place.target(), [row(1), row(2, size=1000), row(3)], segment_bytes=len(line(row(1))) + 10)
    assert {path: numbers(content) for path, content in place.files().items()} == {
        "data/pilot.jsonl": [1],
        "data/pilot-00001.jsonl": [2],
        "data/pilot-00002.jsonl": [3],
    }


def test_first_row_goes_to_the_first_file_though_it_is_longer_than_a_segment(place: Place) -> None:
    append_rows(place.target(), rows(1, 2), segment_bytes=10)
    assert {path: numbers(content) for path, content in place.files().items()} == {
        "data/pilot.jsonl": [1],
        "data/pilot-00001.jsonl": [2],
    }


def test_files_of_similar_names_are_no_segments(place: Place) -> None:
    place.write("README.md", b"---\nconfigs: [{config_name: default, data_files: data/pilot.jsonl}]\n---\n")
    place.write("data/pilot-old.jsonl", b"not json\n")
    place.write("data/pilot-0001.jsonl", b"not json\n")
    place.write("data/pilot-00001.jsonl.bak", b"not json\n")
    append_rows(place.target(), rows(1))
    assert numbers(place.files()[DATA]) == [1]


_THREE_CONFIGS = b"""---
configs:
- {config_name: default, data_files: data/pilot.jsonl}
- {config_name: second, data_files: second/*}
- {config_name: top, data_files: top.jsonl}
---
"""


def test_another_path_grows_beside_the_first(place: Place) -> None:
    append_rows(place.target(), rows(1))
    place.write("README.md", _THREE_CONFIGS)
    append_rows(place.target(), rows(1, 2), path="second/run.jsonl")
    append_rows(place.target(), rows(3), path="top.jsonl")
    append_rows(place.target(), rows(4))
    assert {path: numbers(content) for path, content in place.files().items() if path != "README.md"} == {
        DATA: [1, 4],
        "second/run.jsonl": [1, 2],
        "top.jsonl": [3],
    }
    assert audit(place.target(), "second/run.jsonl").rows == 2
    assert audit(place.target(), "top.jsonl").ok


@pytest.mark.parametrize(
    "path", ["/etc/rows.jsonl", "../rows.jsonl", "data/../rows.jsonl", "data/rows.json", "./rows.jsonl", ".x/r.jsonl"]
)
def test_path_outside_the_target_or_not_json_lines_is_bad_usage(place: Place, path: str) -> None:
    with pytest.raises(UsageError):
        append_rows(place.target(), rows(1), path=path)


def test_more_files_land_in_the_same_revision(place: Place) -> None:
    seen = []

    def card(growth: object) -> dict[str, bytes]:
        seen.append((growth.rows_total, growth.rows_added, dict(growth.sizes), dict(growth.rows)))
        return {"README.md": b"# seven\n", "assets/figure.svg": b"<svg/>"}

    append_rows(place.target(), rows(1))
    report = append_rows(place.target(), rows(2, 3), extra_operations=card)
    size = len(b"".join(line(row(n)) for n in (1, 2, 3)))
    assert seen == [(3, 2, {DATA: size}, {DATA: 3})]
    assert place.files()["README.md"] == b"# seven\n"
    assert place.files()["assets/figure.svg"] == b"<svg/>"
    assert len([r for r in audit(place.target()).revisions if r.rows_added]) == 2
    assert audit(place.target()).revisions[-1].revision == report.revision


def test_more_files_are_not_asked_for_when_there_is_nothing_to_add(place: Place) -> None:
    append_rows(place.target(), rows(1))
    append_rows(place.target(), rows(1), extra_operations=lambda growth: pytest.fail("nothing grows"))


def test_failing_card_changes_nothing(place: Place) -> None:
    append_rows(place.target(), rows(1))
    before = place.files()

    def broken(growth: object) -> dict[str, bytes]:
        raise RuntimeError("the card can't be drawn")

    with pytest.raises(RuntimeError, match="can't be drawn"):
        append_rows(place.target(), rows(2), extra_operations=broken)
    assert place.files() == before
    assert append_rows(place.target(), rows(2)).added == 1


def test_empty_batch_writes_nothing(place: Place) -> None:
    append_rows(place.target(), rows(1))
    before = place.files()
    assert append_rows(place.target(), []).added == 0
    assert place.files() == before


def test_audit_of_a_place_without_the_file_says_so(place: Place) -> None:
    with pytest.raises(TargetError, match=r"data/pilot\.jsonl"):
        audit(place.target())
