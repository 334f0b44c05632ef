"""Batches and bases that are wrong in any way: one clear error or a right append, and the bytes stay on an error."""

from __future__ import annotations

import json
import math
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hf_kokoro import append_rows, audit
from hf_kokoro.core import jsonl
from hf_kokoro.core.archives import open_source
from hf_kokoro.core.jsonl import canonical_json
from hf_kokoro.corpora.miti_st.reader import RowReader
from hf_kokoro.errors import KokoroError, RowError, SourceError, UsageError
from hf_kokoro.hub.errors import BaseFormatError, HistoryError, SpellingError, TargetError
from hf_kokoro.miti.contract import row_faults, row_line
from hf_kokoro.miti.spelling import canonical_row

from .rows import changed, row, rows

DATA = "data/pilot.jsonl"

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["\ud800", "\x00", "\u2028", "\ufeff", "1e999", "MITI-ST v1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def nearly_rows(draw: st.DrawFn) -> Any:
    """A valid row with something done to it, somewhere."""
    value = row(draw(st.integers(0, 3)))
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.sampled_from(["top", "answer", "list"]))
        holder: dict[str, Any] = value
        if place == "answer" and isinstance(value.get("all_answers"), list) and value["all_answers"]:
            candidate = draw(st.sampled_from(value["all_answers"]))
            holder = candidate if isinstance(candidate, dict) else value
        if place == "list":
            value["all_answers"] = draw(st.lists(json_values, max_size=3))
            continue
        key = draw(st.sampled_from([*holder, "extra"]))
        if draw(st.booleans()):
            holder.pop(key, None)
        else:
            holder[key] = draw(json_values)
    return draw(st.sampled_from([value])) if draw(st.integers(0, 9)) else draw(json_values)


def is_row(value: Any) -> bool:
    return isinstance(value, dict) and not row_faults(canonical_row(value), "")


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(nearly_rows(), min_size=1, max_size=3))
def test_any_batch_is_appended_whole_or_refused_whole(batch: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        append_rows(folder, rows(100))
        before = (folder / DATA).read_bytes()
        if all(map(is_row, batch)):
            report = append_rows(folder, batch)
            distinct = {canonical_json(value): value for value in map(canonical_row, batch)}
            after = (folder / DATA).read_bytes()
            assert after.startswith(before)
            added = [json.loads(line) for line in after[len(before) :].decode().split("\n")[:-1]]
            assert added == list(distinct.values())
            assert report.added == len(distinct)
        else:
            with pytest.raises(RowError) as caught:
                append_rows(folder, batch)
            assert caught.value.count >= sum(not is_row(value) for value in batch)
            assert (folder / DATA).read_bytes() == before


@st.composite
def bases(draw: st.DrawFn) -> bytes:
    """Lines of objects with anything spliced in, or cut, or in another encoding."""
    values = st.lists(
        json_objects | st.sampled_from([row(5), {**row(6), "more": None}, changed(7, topic=1)]), max_size=4
    )
    lines = [json.dumps(value, allow_nan=True).encode() for value in draw(values)]
    content = b"\n".join(lines) + draw(st.sampled_from([b"\n", b"", b"\r\n", b"\n\n"]))
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(content)))
        match draw(st.sampled_from(["splice", "cut", "head"])):
            case "splice":
                content = content[:at] + draw(st.binary(max_size=6)) + content[at:]
            case "cut":
                content = content[:at]
            case "head":
                content = content[at:]
    return content


json_objects = st.dictionaries(st.text(max_size=5), json_values, max_size=3)


def objects_of(content: bytes) -> list[dict[str, Any]] | None:
    """The objects of a file whose lines are blank or one JSON object in UTF-8, told by the standard library alone."""
    try:
        text = content.decode("utf-8")
        values = [json.loads(line) for line in text.split("\n") if line.strip(" \t\r\n\x0b\x0c")]
    except (ValueError, RecursionError):
        return None
    return values if all(isinstance(value, dict) for value in values) else None


def has_the_keys_of_a_row(value: dict[str, Any]) -> bool:
    answers = value.get("all_answers")
    whole = set(row(1)) <= set(value) and isinstance(answers, list) and bool(answers)
    return whole and all(isinstance(a, dict) and set(row(1)["all_answers"][0]) <= set(a) for a in answers)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(bases())
def test_any_base_grows_by_exactly_the_new_lines_or_stays_with_an_error(base: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / DATA
        file.parent.mkdir()
        file.write_bytes(base)
        line = json.dumps(row(1), ensure_ascii=False).encode() + b"\n"
        objects = objects_of(base)
        if objects is not None and all(map(has_the_keys_of_a_row, objects)):
            append_rows(name, rows(1))
            joint = b"\n" if base and not base.endswith(b"\n") else b""
            assert file.read_bytes() == base + joint + line
            assert append_rows(name, rows(1)).added == 0
        elif objects is not None:
            with pytest.raises(SpellingError):
                append_rows(name, rows(1))
            assert file.read_bytes() == base
        else:
            with pytest.raises(BaseFormatError) as caught:
                append_rows(name, rows(1))
            assert 0 <= caught.value.offset <= len(base)
            assert file.read_bytes() == base


@pytest.mark.parametrize(
    "batch",
    [
        pytest.param([None], id="none"),
        pytest.param(["text"], id="a string"),
        pytest.param([[row(1)]], id="a list"),
        pytest.param([{}], id="an empty object"),
        pytest.param([changed(1, all_answers=[])], id="no answers"),
        pytest.param([changed(1, all_answers=None)], id="answers null"),
        pytest.param([changed(1, chosen_score=True)], id="boolean for an integer"),
        pytest.param([changed(1, chosen_score=11.0)], id="float for an integer"),
        pytest.param([changed(1, chosen_score=math.nan)], id="not a number"),
        pytest.param([changed(1, chosen_score=10**400)], id="a huge integer"),
        pytest.param([changed(1, chosen_score="11")], id="text for an integer"),
        pytest.param([changed(1, prompt="")], id="empty prompt"),
        pytest.param([changed(1, prompt=" \n\u3000")], id="blank prompt"),
        pytest.param([changed(1, prompt="\udcff")], id="lone surrogate"),
        pytest.param([changed(1, topic=b"bytes")], id="bytes"),
        pytest.param([changed(1, topic={1, 2})], id="a set"),
        pytest.param([changed(1, extra=1)], id="an unknown key"),
        pytest.param([{**row(1), 5: 1}], id="a key that is no string"),
        pytest.param([changed(1, rubric="MITI-ST v2")], id="another rubric"),
        pytest.param([changed(1, rejected=row(1)["chosen"])], id="rejected is chosen"),
        pytest.param([row(1), changed(2, license=...), row(3)], id="one of three"),
    ],
)
def test_hand_written_malformed_batch_is_refused_and_the_file_stays(tmp_path: Path, batch: list[Any]) -> None:
    append_rows(tmp_path, rows(9))
    before = (tmp_path / DATA).read_bytes()
    with pytest.raises(RowError, match="nothing was written"):
        append_rows(tmp_path, batch)
    assert (tmp_path / DATA).read_bytes() == before


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(b'{"question_id": "q"\n', "line 1: got 20 bytes that are no JSON object", id="truncated"),
        pytest.param(b"\xff\xfe{\x00}\x00", "not UTF-8", id="utf-16"),
        pytest.param(b"<html></html>\n", "a web page", id="html"),
        pytest.param(b'[{"a": 1}]', "no JSON object", id="array"),
        pytest.param(b'{"a": 1}\n', "question_id", id="other schema"),
        pytest.param(b"PK\x03\x04\x14\x00\x00\x00", "no JSON object", id="zip"),
    ],
)
def test_malformed_input_file_is_refused_with_its_lines(tmp_path: Path, content: bytes, says: str) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(content)
    with pytest.raises(KokoroError, match=says):
        append_rows(tmp_path / "folder", source)
    assert not (tmp_path / "folder").exists()


def test_input_file_that_is_missing_or_a_folder_is_said(tmp_path: Path) -> None:
    for source in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(KokoroError, match="can't be read"):
            append_rows(tmp_path / "folder", source)


def test_one_mapping_instead_of_a_list_is_bad_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="one mapping"):
        append_rows(tmp_path, row(1))


def test_rows_of_a_dataset_object_can_be_appended(tmp_path: Path) -> None:
    import datasets

    from hf_kokoro.miti.features import ROWS_FEATURES

    loaded = datasets.Dataset.from_list(rows(1, 2), features=ROWS_FEATURES)
    assert append_rows(tmp_path, loaded).added == 2
    assert append_rows(tmp_path, rows(1, 2)).added == 0


@pytest.mark.parametrize("path", [DATA, "data/pilot-00001.jsonl"])
def test_a_folder_in_the_place_of_a_data_file_is_said_before_anything_is_written(tmp_path: Path, path: str) -> None:
    (tmp_path / "README.md").write_text("---\nconfigs: [{config_name: default, data_files: data/*}]\n---\n")
    append_rows(tmp_path, rows(1), "data/other.jsonl")
    (tmp_path / path).mkdir(parents=True)
    for dry_run in (True, False):
        with pytest.raises(TargetError, match=f"{path} is a folder; nothing was written"):
            append_rows(tmp_path, rows(1), dry_run=dry_run)
    assert not (tmp_path / ".hf_kokoro" / "commit.json").exists()
    assert append_rows(tmp_path, rows(2), "data/other.jsonl").rows_total == 2
    (tmp_path / path).rmdir()
    assert append_rows(tmp_path, rows(1)).added == 1


def test_a_folder_in_the_place_of_the_card_is_said_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "README.md").mkdir()
    with pytest.raises(TargetError, match=r"README\.md is a folder"):
        append_rows(tmp_path, rows(1), extra_operations=lambda growth: {"README.md": b"# Card"})
    assert not (tmp_path / DATA).exists()
    assert append_rows(tmp_path, rows(1)).added == 1


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{", b"[]", b"null", b"{}", b"\xff", b'{"files": {}, "ledger_size": 0, "entries": []}'),
        b'{"files": {"a": 1}, "ledger_size": 0, "entries": ["x"]}',
        b'{"files": [], "ledger_size": "0", "entries": ""}',
    ],
)
def test_a_broken_note_of_an_interrupted_append_is_one_clear_error(tmp_path: Path, content: bytes) -> None:
    append_rows(tmp_path, rows(1))
    before = (tmp_path / DATA).read_bytes()
    note = tmp_path / ".hf_kokoro" / "commit.json"
    note.write_bytes(content)
    with pytest.raises(HistoryError, match=r"commit\.json.*delete it"):
        append_rows(tmp_path, rows(2))
    assert not audit(tmp_path).ok
    assert (tmp_path / DATA).read_bytes() == before
    note.unlink()
    assert append_rows(tmp_path, rows(2)).rows_total == 2
    assert audit(tmp_path).ok


def test_a_row_of_many_megabytes_is_appended_audited_and_loaded(tmp_path: Path) -> None:
    long = row(1, size=3 << 20)
    assert append_rows(tmp_path / "grown", [long, row(2)]).added == 2
    assert (tmp_path / "grown" / DATA).stat().st_size > 16 << 20
    assert audit(tmp_path / "grown").ok
    loaded = list(RowReader(open_source(tmp_path / "grown")).read())
    assert loaded == [long, row(2)]


def test_append_and_load_have_one_limit_of_a_lines_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = len(row_line(row(1)).encode())
    monkeypatch.setattr(jsonl, "LINE_LIMIT", size)
    assert append_rows(tmp_path, rows(1)).added == 1
    with pytest.raises(RowError, match=f"row 2: got a row of {size + 6} bytes; allowed: at most {size} bytes"):
        append_rows(tmp_path, [row(2), row(1, size=1)])
    assert append_rows(tmp_path, rows(2)).rows_total == 2
    assert list(RowReader(open_source(tmp_path)).read()) == rows(1, 2)
    with (tmp_path / DATA).open("ab") as file:
        file.write(row_line(row(3, size=1)).encode())
    with pytest.raises(SourceError, match="line 3: longer than"):
        list(RowReader(open_source(tmp_path)).read())
    with pytest.raises(BaseFormatError, match="a line of more than"):
        append_rows(tmp_path, rows(4))
