"""KokoroChat's views: what they hold, what they never lose."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hf_kokoro as hk
from hf_kokoro.corpora.kokorochat import schema
from hf_kokoro.corpora.kokorochat.labels import Labeller
from hf_kokoro.workflow import build

from .documents import changed, document, translated, write


@pytest.mark.parametrize("flagged", [0, 199])
def test_a_flag_that_is_null_in_all_files_but_one_is_typed_the_same_first_and_last(
    flagged: int, tmp_path: Path
) -> None:
    """C01: upstream's flags are null for hundreds of files, then a string."""
    documents = [document(n, flags=(None, None, "あり" if n == flagged else None)) for n in range(200)]
    folder = write(tmp_path / "in", *documents)
    source = hk.load_dataset("kokorochat", "source", source=folder, split="train")
    assert source.features == schema.SOURCE_FEATURES
    flags = [row["review_by_client_jp"]["離脱"] for row in source]
    assert flags == ["あり" if n == flagged else None for n in range(200)]
    rows = hk.load_dataset("kokorochat", "dialogues", source=folder, split="train")
    assert [row["screening"]["unwilling_to_continue"] for row in rows] == [n == flagged for n in range(200)]
    assert rows[flagged]["score"] == 30


def test_utterances_come_back_as_a_list_of_dicts_in_order(tmp_path: Path) -> None:
    """C02: not as a dict of lists, and without keys that nobody wrote."""
    folder = write(tmp_path / "in", document(1, roles="CcC"))
    (row,) = hk.load_dataset("kokorochat", "dialogues", source=folder, split="train")
    assert [list(u) for u in row["utterances"]] == [["role", "time", "text"]] * 3
    assert [u["text"] for u in row["utterances"]] == ["発言0です。", "発言1です。", "発言2です。"]
    roles = (
        hk.BUILDERS["kokorochat"](config_name="dialogues", source=folder).info.features["utterances"].feature["role"]
    )
    assert [roles.int2str(u["role"]) for u in row["utterances"]] == ["counselor", "client", "counselor"]


def test_the_source_view_gives_the_document_back_value_by_value(samples: Path) -> None:
    rows = hk.load_dataset("kokorochat", "source", source=samples / "kokorochat", split="train")
    for row in rows:
        number = row["review_by_client_en"]["evaluation_id"]
        assert row == json.loads((samples / "kokorochat" / f"{number}.json").read_text("utf-8"))


def test_the_typed_view_spells_the_misspelt_item_right_and_keeps_its_value(tmp_path: Path) -> None:
    items = list(range(5)) * 4
    folder = write(tmp_path / "in", document(1, items=items))
    (row,) = hk.load_dataset("kokorochat", "dialogues", source=folder, split="train")
    assert row["items"]["clarified_issues_clearly"] == items[16]
    assert "clarified_issues_cleraly" not in row["items"]
    assert list(row["items"].values()) == items
    assert (row["item_sum"], row["score"]) == (40, 40)


@pytest.mark.parametrize(
    ("flags", "score"),
    [
        (("有", None, None), 0),
        ((None, "有", None), 0),
        ((None, None, "有"), 31),
        (("有", None, "有"), 0),
        ((None, None, None), 63),
    ],
)
def test_the_screening_rule_is_upstreams(flags: tuple[str | None, str | None, str | None], score: int) -> None:
    """Either of the first two flags sets 0, the third halves and rounds down: 63 // 2 = 31."""
    assert schema.published_score(63, *(flag is not None for flag in flags)) == score


def test_text_is_stored_as_it_stands_also_where_nfkc_would_change_it(tmp_path: Path) -> None:
    """C44: half-width kana, full-width digits, a ligature and an emoji stay what they are."""
    text = "ﾜｶﾞﾊｲ（２）㈱ﬁ①🌷\u3000\u200d e\u0301"
    folder = write(tmp_path / "in", changed(document(1), "dialogue.1.utterance", text))
    for config in ("dialogues", "turns", "response_generation"):
        loaded = hk.load_dataset("kokorochat", config, source=folder)
        stored = json.dumps([rows[:] for rows in loaded.values()], ensure_ascii=False, default=str)
        assert json.dumps(text, ensure_ascii=False)[1:-1] in stored


def test_runs_are_merged_by_a_line_break_and_no_text_is_lost(tmp_path: Path) -> None:
    """C16: counselor, counselor, client, client, counselor."""
    folder = write(tmp_path / "in", document(1, items=[5] * 20, roles="CCccC"))
    splits = hk.load_dataset("kokorochat", "response_generation", source=folder)
    (row,) = splits["test"]
    assert row["messages"] == [
        {"role": "assistant", "content": "発言0です。\n発言1です。"},
        {"role": "user", "content": "発言2です。\n発言3です。"},
        {"role": "assistant", "content": "発言4です。"},
    ]
    (expanded,) = hk.load_dataset("kokorochat", "next_turn", source=folder)["test"]
    assert expanded["prompt"] == row["messages"][:2]
    assert expanded["completion"] == row["messages"][2:]
    assert expanded["turn"] == 2


def test_plain_strings_name_the_speakers(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", document(1, items=[5] * 20, roles="CcC"))
    (row,) = hk.load_dataset("kokorochat", "next_turn", source=folder, conversational=False)["test"]
    assert row["prompt"] == "カウンセラー：発言0です。\n相談者：発言1です。\nカウンセラー："
    assert row["completion"] == "発言2です。"


def test_score_prediction_asks_for_the_twenty_items_and_answers_in_json(tmp_path: Path) -> None:
    items = [n % 6 for n in range(20)]
    folder = write(tmp_path / "in", document(1, items=items))
    (row,) = (row for rows in hk.load_dataset("kokorochat", "score_prediction", source=folder).values() for row in rows)
    answer = json.loads(row["completion"][0]["content"])
    assert list(answer) == list(schema.ITEM_NAMES)
    assert list(answer.values()) == items == [row[name] for name in schema.ITEM_NAMES]
    assert "発言4です。" in row["prompt"][0]["content"]


def test_an_empty_translation_falls_back_to_the_japanese_and_is_marked_or_dropped(tmp_path: Path) -> None:
    base = document(7, roles="CcC")
    folder = write(tmp_path / "English", translated(base, ["Hello.", "", "I see."]), prefix="en")
    (kept,) = hk.load_dataset("kokorochat", "dialogues", source=folder, language="en", split="train")
    assert [(u["text"], u["untranslated"]) for u in kept["utterances"]] == [
        ("Hello.", False),
        ("発言1です。", True),
        ("I see.", False),
    ]
    assert [u["origin"] for u in kept["utterances"]] == ["発言0です。", "発言1です。", "発言2です。"]
    (dropped,) = hk.load_dataset(
        "kokorochat", "dialogues", source=folder, language="en", split="train", untranslated="drop"
    )
    assert [u["text"] for u in dropped["utterances"]] == ["Hello.", "I see."]


@pytest.mark.parametrize("config", ["dialogues", "turns", "response_generation", "score_prediction"])
def test_a_dialogue_of_which_nothing_is_translated_is_left_out_where_that_is_dropped(
    config: str, tmp_path: Path
) -> None:
    folder = write(tmp_path / "English", translated(document(7, roles="CcC"), ["", " ", ""]), prefix="en")
    write(folder, translated(document(8, roles="CcC"), ["Hello.", "", "I see."]), prefix="en")
    options = {"source": folder, "language": "en", "untranslated": "drop"}
    loaded = hk.load_dataset("kokorochat", config, **options, cache_dir=tmp_path / "cache")
    assert {row["dialogue_id"] for rows in loaded.values() for row in rows} == {8}
    report = build("kokorochat", tmp_path / "out", config, **options)
    assert report.left_out["dialogues without one translated utterance"] == 1
    assert report.left_out["utterances without a translation"] == 4


def test_a_translation_is_in_the_split_of_its_original_whatever_else_is_there(tmp_path: Path) -> None:
    documents = [document(n) for n in range(60)]
    originals = write(tmp_path / "ja", *documents)
    some = [translated(one, ["Hi."] * 5) for one in documents if one["review_by_client_en"]["evaluation_id"] % 3]
    english = write(tmp_path / "en", *some, prefix="en")
    for config, options in (
        ("response_generation", {}),
        ("score_prediction", {}),
        ("next_turn", {"split_by": "person"}),
    ):
        where = {
            number: split
            for split, rows in hk.load_dataset("kokorochat", config, source=originals, **options).items()
            for number in rows["dialogue_id"]
        }
        found = hk.load_dataset("kokorochat", config, source=english, language="en", **options)
        assert sum(len(set(rows["dialogue_id"])) for rows in found.values()) == 40 or options
        for split, rows in found.items():
            assert all(where[number] == split for number in rows["dialogue_id"])


def test_the_bundled_translations_load_beside_each_other(samples: Path) -> None:
    folder = samples / "multilingual_kokorochat"
    english = hk.load_dataset("kokorochat", "dialogues", source=folder, language="en", split="train")
    chinese = hk.load_dataset("kokorochat", "dialogues", source=folder, language="zh", split="train")
    assert (english["dialogue_id"], chinese["dialogue_id"]) == ([9001, 9006], [9001])
    assert sum(u["untranslated"] for row in english for u in row["utterances"]) == 2
    source = hk.load_dataset("kokorochat", "source", source=folder, language="en", split="train")
    assert source.features == schema.SOURCE_TRANSLATED_FEATURES
    assert source[0] == json.loads((folder / "English" / "en9001.json").read_text("utf-8"))


def test_labels_follow_the_score_and_a_flag_is_never_desirable(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "in",
        document(1, items=[4] * 20),
        document(2, items=[3] * 20),
        document(3, items=[5] * 20, flags=(None, None, "有")),
    )
    rows = [r for part in hk.load_dataset("kokorochat", "unpaired", source=folder).values() for r in part]
    labels = {(row["dialogue_id"], row["label"], row["label_score"]) for row in rows}
    assert labels == {(1, True, 80.0), (2, False, 60.0), (3, False, 50.0)}


def test_centring_by_rater_turns_a_strict_raters_best_into_praise_and_leaves_out_rare_raters() -> None:
    # hand-computed: client 1 rates 40, 50, 60 (mean 50); client 2 rates 90, 90, 90 (mean 90); client 3 once, 70;
    # mean of all seven scores is 490 / 7 = 70; so client 1's 60 becomes 60 - 50 + 70 = 80 and client 2's 90 becomes 70
    ratings = [(1, 40), (1, 50), (1, 60), (2, 90), (2, 90), (2, 90), (3, 70)]
    labeller = Labeller(71, ratings, min_ratings=3)
    assert labeller.label(_rated(1, 60)) == (True, 80.0)
    assert labeller.label(_rated(2, 90)) == (False, 70.0)
    assert labeller.label(_rated(3, 70)) is None
    assert Labeller(71).label(_rated(2, 90)) == (True, 90.0)


class _Rated:
    flagged = False

    def __init__(self, client_id: int, score: int) -> None:
        self.client_id, self.score = client_id, score


def _rated(client_id: int, score: int) -> _Rated:
    return _Rated(client_id, score)
