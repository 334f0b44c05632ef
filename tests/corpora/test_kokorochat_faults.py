"""Bad KokoroChat files: one clear error, everything named, nothing quoted, nothing built."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hf_kokoro as hk
from hf_kokoro.core.archives import open_source
from hf_kokoro.corpora.kokorochat.columns import read_columns
from hf_kokoro.corpora.kokorochat.faults import dialogue_faults
from hf_kokoro.corpora.kokorochat.reader import DialogueReader
from hf_kokoro.errors import InputError

from .documents import changed, document, write

GOOD = document()
SECRET = "秘密の言葉"

FAULTS: list[tuple[str, Any, str, str]] = [
    # path, bad value, part of what the fault says of the field, part of what it allows
    ("dialogue.1.role", "observer", "utterance 1 role: got 'observer'", "client, counselor"),
    ("dialogue.1.role", SECRET, "role: got text of 5 characters", "client, counselor"),
    ("dialogue.1.role", None, "role: got None", "client, counselor"),
    ("dialogue.2.time", "不明", "utterance 2 time: got text of 2 characters", "2020-03-08T14:59:49"),
    ("dialogue.2.time", "2024-02-30T10:00:00", "time: got text of 19 characters", "2020-03-08T14:59:49"),
    ("dialogue.2.time", "2024-05-01 10:00:00", "time: got text of 19 characters", "2020-03-08T14:59:49"),
    ("dialogue.2.time", "0000-05-01T10:00:00", "time: got text of 19 characters", "2020-03-08T14:59:49"),
    ("dialogue.2.time", 20240501, "time: got 20240501", "2020-03-08T14:59:49"),
    ("dialogue.0.utterance", "", "utterance: got blank text", "text"),
    ("dialogue.0.utterance", " \u3000\n", "utterance: got blank text", "text"),
    ("dialogue.0.utterance", "\x1c\x85\u2028", "utterance: got blank text", "text"),
    ("dialogue.0.utterance", None, "utterance: got None", "text"),
    ("dialogue.0.utterance", ["a"], "utterance: got a list of 1", "text"),
    ("dialogue.3", "text only", "utterance 3: got text of 9 characters", "an object with role"),
    ("dialogue.3.extra", 1, "utterance 3 'extra': got an unknown key", "role, time, utterance"),
    ("dialogue", [], "dialogue: got a list of 0", "at least one utterance"),
    ("dialogue", {}, "dialogue: got an object with 0 keys", "at least one utterance"),
    ("topic.main_en", "Weather", "topic.main_en: got 'Weather'", "Family Issues (Spouse)"),
    ("topic.main_jp", "天気", "topic.main_jp: got text of 2 characters", "職場問題"),
    ("topic.sub", None, "topic.sub: got None", "text"),
    ("topic", "x", "topic: got text of 1 characters", "main_jp, main_en, sub"),
    ("review.felt_respected", 6, "felt_respected: got 6", "an integer from 0 to 5"),
    ("review.felt_respected", -1, "felt_respected: got -1", "an integer from 0 to 5"),
    ("review.felt_respected", 3.0, "felt_respected: got 3.0", "an integer from 0 to 5"),
    ("review.felt_respected", True, "felt_respected: got True", "an integer from 0 to 5"),
    ("review.felt_respected", "3", "felt_respected: got text", "an integer from 0 to 5"),
    ("review.felt_respected", None, "felt_respected: got None", "an integer from 0 to 5"),
    ("review.client_id", 2**31, "client_id: got 2147483648", "an integer from 0 to 2147483647"),
    ("review.client_id", 2**70, "client_id: got", "an integer from 0 to 2147483647"),
    ("review.score", 61, "score: got 61", "60, from an item sum of 60 and 0 screening flags"),
    ("review.unwilling_to_continue", "チェックあり", "score: got 60", "30, from an item sum of 60 and 1 screening"),
    ("review.harmful_due_to_ignorance", "チェックあり", "score: got 60", "0, from an item sum of 60"),
    ("review.unwilling_to_continue", False, "unwilling_to_continue: got False", "null, or text"),
    ("review.unwilling_to_continue", " ", "unwilling_to_continue: got text of 1 characters", "null, or text"),
    ("review.evaluation_created_at", "yesterday", "evaluation_created_at: got text", "2020-03-08T14:59:49"),
    ("review_by_client_jp.点数", 59, "review_by_client_jp.点数: got 59", "60"),
    ("review_by_client_jp.離脱", "有", "review_by_client_jp.点数: got 60", "30"),
    ("review_by_client_en", [1], "review_by_client_en: got a list of 1", "an object with 28 keys"),
    ("surplus", {}, "'surplus': got an unknown key", "dialogue, topic"),
]


@pytest.mark.parametrize(
    ("path", "value", "says", "allows"), FAULTS, ids=[f"{p}-{i}" for i, (p, *_) in enumerate(FAULTS)]
)
def test_a_fault_names_file_field_got_and_allowed(
    path: str, value: Any, says: str, allows: str, tmp_path: Path
) -> None:
    good = document(11)
    bad = changed(GOOD, path, value)
    folder = write(tmp_path / "in", good)
    (folder / "10.json").write_text(json.dumps(bad, ensure_ascii=False), "utf-8")
    with pytest.raises(InputError) as caught:
        hk.load_dataset("kokorochat", "dialogues", source=folder)
    message = str(caught.value)
    assert "10.json" in message
    assert says in message
    assert allows in message
    assert "README 'Bad input'" in message
    assert SECRET not in message
    assert "発言" not in message


@pytest.mark.parametrize("key", ["dialogue", "topic", "review_by_client_jp", "review_by_client_en"])
def test_a_missing_top_key_is_named(key: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "in", document(11))
    bad = {name: value for name, value in GOOD.items() if name != key}
    (folder / "10.json").write_text(json.dumps(bad), "utf-8")
    with pytest.raises(InputError, match=rf"10.json {key}: got nothing; allowed: a value"):
        hk.load_dataset("kokorochat", "dialogues", source=folder)


@pytest.mark.parametrize("block", ["review_by_client_en", "review_by_client_jp"])
@pytest.mark.parametrize("position", [0, 4, 10, 25, 27])
def test_a_missing_review_key_is_named_also_a_flag_that_is_usually_null(
    block: str, position: int, tmp_path: Path
) -> None:
    bad = json.loads(json.dumps(GOOD))
    key = list(bad[block])[position]
    del bad[block][key]
    folder = write(tmp_path / "in", document(11))
    (folder / "10.json").write_text(json.dumps(bad, ensure_ascii=False), "utf-8")
    with pytest.raises(InputError, match=rf"{block}\.{key}: got nothing"):
        hk.load_dataset("kokorochat", "dialogues", source=folder)


RAW: list[tuple[str, bytes, str]] = [
    ("empty", b"", "an empty file"),
    ("blank", b" \n", "an empty file"),
    ("truncated", json.dumps(GOOD).encode()[:-40], "broken JSON at line 1 column"),
    ("html", b"<!DOCTYPE html><html><body>404</body></html>", "an HTML or XML page"),
    ("cp932", json.dumps(GOOD, ensure_ascii=False).encode("cp932"), "bytes that are not UTF-8 (line 1, byte"),
    ("utf16", json.dumps(GOOD).encode("utf-16"), "bytes that are not UTF-8"),
    ("a list", json.dumps([GOOD]).encode(), "a list of 1"),
    ("two objects", json.dumps(GOOD).encode() * 2, "broken JSON"),
    ("lone surrogate", json.dumps(changed(GOOD, "dialogue.0.utterance", "\ud800")).encode(), "broken JSON"),
    ("nan", json.dumps(changed(GOOD, "review.score", float("nan"))).encode(), "broken JSON"),
]


@pytest.mark.parametrize(("name", "data", "says"), RAW, ids=[name for name, *_ in RAW])
def test_bytes_that_are_no_json_object_are_said_for_what_they_are(
    name: str, data: bytes, says: str, tmp_path: Path
) -> None:
    folder = write(tmp_path / "in", document(11))
    (folder / "10.json").write_bytes(data)
    with pytest.raises(InputError) as caught:
        hk.load_dataset("kokorochat", "dialogues", source=folder)
    assert says in str(caught.value)
    assert caught.value.count == 1


@pytest.mark.parametrize(
    "change", [lambda d: b"\xef\xbb\xbf" + d, lambda d: d.replace(b"\n", b"\r\n"), lambda d: d + b"\n \n"]
)
def test_a_byte_order_mark_crlf_and_a_final_newline_change_nothing(change: Any, tmp_path: Path) -> None:
    plain = write(tmp_path / "plain", GOOD)
    other = write(tmp_path / "other", GOOD)
    (other / "10.json").write_bytes(change((other / "10.json").read_bytes()))
    rows = [hk.load_dataset("kokorochat", "dialogues", source=f, split="train")[:] for f in (plain, other)]
    assert rows[0] == rows[1]


def test_all_faults_are_counted_and_twenty_are_shown(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", *(changed(document(n), "topic.sub", n) for n in range(30)), document(99))
    with pytest.raises(InputError) as caught:
        hk.load_dataset("kokorochat", "dialogues", source=folder)
    assert caught.value.count == 30
    assert len(caught.value.faults) == 20
    assert "30 faults" in str(caught.value)
    assert "... and 10 more" in str(caught.value)


def test_faults_cross_worker_processes_as_the_same_error(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", *(changed(document(n), "topic.sub", n) for n in range(4)), document(99))
    with pytest.raises(InputError, match=r"topic\.sub: got"):
        hk.load_dataset("kokorochat", "dialogues", source=folder, num_proc=2)


def test_a_stream_stops_at_the_first_bad_file_instead_of_passing_over_it(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", document(1), changed(document(2), "topic.sub", 5))
    stream = hk.load_dataset("kokorochat", "dialogues", source=folder, streaming=True, split="train")
    with pytest.raises(hk.KokoroError, match=r"2\.json topic\.sub"):
        list(stream)


def test_two_files_with_one_id_are_refused_whatever_their_names(tmp_path: Path) -> None:
    folder = write(tmp_path / "in" / "a", document(10))
    write(tmp_path / "in" / "b", document(10))
    with pytest.raises(InputError, match=r"evaluation_id: got 10, which .*10\.json has too"):
        hk.load_dataset("kokorochat", "dialogues", source=folder.parent)
    (folder.parent / "b" / "10.json").rename(folder.parent / "b" / "copy of ten.json")
    with pytest.raises(InputError, match="evaluation_id: got 10, which"):
        hk.load_dataset("kokorochat", "dialogues", source=folder.parent)


def test_a_file_that_is_named_for_another_dialogue_is_refused_in_every_worker(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", document(10), document(12))
    (folder / "12.json").rename(folder / "11.json")
    for processes in (None, 2):
        with pytest.raises(InputError, match=r"11\.json evaluation_id: got 12; allowed: the number in the file's name"):
            hk.load_dataset("kokorochat", "dialogues", source=folder, num_proc=processes)


def test_after_a_failed_build_the_repaired_folder_builds_cleanly(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", document(10), changed(document(11), "topic.sub", 1))
    with pytest.raises(InputError):
        hk.load_dataset("kokorochat", "dialogues", source=folder)
    write(folder, document(11))
    assert hk.load_dataset("kokorochat", "dialogues", source=folder)["train"]["dialogue_id"] == [10, 11]


PATHS = sorted({path for path, *_ in FAULTS if not path.startswith("review.")} | {"review_by_client_en.score"})
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 200),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.just("2024-05-01T10:00:00"),
    st.lists(st.integers(0, 3), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


@given(path=st.sampled_from(PATHS), value=VALUES)
@settings(max_examples=400, deadline=None)
def test_the_quick_readers_accept_exactly_what_the_exact_check_accepts(path: str, value: Any) -> None:
    one = changed(GOOD, path, value)
    data = json.dumps(one, ensure_ascii=False).encode("utf-8", "surrogatepass")
    members = [("10.json", data)]
    faults = dialogue_faults("10.json", json.loads(json.dumps(one)), "ja")
    reader = DialogueReader(_Members(members))
    accepted = list(reader.read(["10.json"]))
    assert bool(accepted) == (not faults)
    assert bool(reader.faults) == bool(faults)
    # the column reader may be in doubt about a good file, but never accepts a bad one
    assert read_columns(members) is None or not faults


class _Members:
    """A source in memory."""

    path = Path("memory")
    seekable = True

    def __init__(self, members: list[tuple[str, bytes]]) -> None:
        self._members = members

    def names(self) -> list[str]:
        return [name for name, _ in self._members]

    def members(self, accept: Any = None, names: Any = None) -> Any:
        yield from self._members


def test_the_real_files_pass_the_column_reader_without_a_doubt(real_data_dir: Path) -> None:
    doubts = checked = 0
    batch: list[tuple[str, bytes]] = []
    for member in open_source(real_data_dir / "kokorochat.tar.gz").members(lambda name: name.endswith(".json")):
        batch.append(member)
        if len(batch) == 100:
            doubts += read_columns(batch) is None
            checked += 1
            batch = []
        if checked == 10:
            break
    assert (checked, doubts) == (10, 0)


REPEATED = [
    ('"dialogue": [', '"dialogue": [], "dialogue": [', "'dialogue' twice"),
    ('"role":', '"role": "client", "role":', "'role' twice"),
    ('"main_en":', '"main_en" : "Others", "main_en":', "'main_en' twice"),
    ('"client_id":', '"client_id": 1, "client_id":', "'client_id' twice"),
]


@pytest.mark.parametrize(("once", "twice", "said"), REPEATED)
@pytest.mark.parametrize("config", ["source", "dialogues", "turns"])
def test_a_key_that_stands_twice_is_a_fault_by_every_way_of_reading(
    config: str, once: str, twice: str, said: str, tmp_path: Path
) -> None:
    folder = write(tmp_path / "d", GOOD)
    [file] = folder.rglob("*.json")
    text = file.read_text("utf-8")
    assert once in text
    file.write_text(text.replace(once, twice, 1), "utf-8")
    with pytest.raises(InputError, match=said) as caught:
        hk.load_dataset("kokorochat", config, source=folder, cache_dir=tmp_path / "cache")
    assert "each key once" in str(caught.value)


def test_what_only_looks_like_a_key_in_a_text_is_none(tmp_path: Path) -> None:
    said = 'She wrote "role": twice, "role": and "dialogue": once.'
    folder = write(tmp_path / "d", changed(GOOD, "dialogue.0.utterance", said))
    rows = hk.load_dataset("kokorochat", "dialogues", source=folder, split="train", cache_dir=tmp_path / "cache")
    assert rows[0]["utterances"][0]["text"] == said
