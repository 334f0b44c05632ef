"""What a built card says of its splits follows the options, by verb and from Python."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import hf_kokoro as hk
from hf_kokoro.cli.app import app
from hf_kokoro.errors import KokoroError
from hf_kokoro.workflow import append_rows, audit, build, card, publish

from ..corpora.documents import document, write

ROWS = Path(__file__).parent.parent / "corpora" / "rows.jsonl"


def prose(folder: Path) -> str:
    """The card below its YAML, as one line."""
    return " ".join((folder / "README.md").read_text("utf-8").split("---\n", 2)[2].split())


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    """Sixty dialogues of eight clients and seven counsellors; every third has a score of 60, the others more."""
    people = [(n % 8, 100 + n % 7) for n in range(60)]
    items = ([3] * 20, [4] * 20, [5] * 20)
    documents = (document(n, client=c, counselor=k, items=items[n % 3]) for n, (c, k) in enumerate(people))
    return write(tmp_path / "in", *documents)


def test_a_split_by_person_says_what_it_leaves_out_and_that_nothing_is_for_validation(
    chat: Path, tmp_path: Path
) -> None:
    arguments = ("build", "kokorochat", "--config", "score_prediction", "--split-by", "person", "--seed", "3")
    places = ("--source", str(chat), "--out", str(tmp_path / "verb"))
    printed = CliRunner().invoke(app, [*arguments, *places], catch_exceptions=False).stdout
    report = build("kokorochat", tmp_path / "python", "score_prediction", source=chat, split_by="person", seed=3)
    [(reason, count)] = report.left_out.items()
    # every dialogue is in a split or counted
    assert count == 60 - sum(report.rows.values()) > 0
    assert reason == "dialogues whose client and counsellor fall into different splits"
    assert f"left out: {count} {reason}" in printed
    assert report.as_dict()["left_out"] == report.left_out
    for folder in (tmp_path / "verb", tmp_path / "python"):
        text = prose(folder)
        assert "Split by person (seed 3), not as in the paper" in text
        assert "There is no validation split." in text
        assert f"Left out: {count} {reason}." in text
        assert "8:1:1" not in text


@pytest.mark.parametrize(
    ("config", "options", "says", "never"),
    [
        ("score_prediction", {}, "8:1:1 by dialogue, as in the paper", "Left out"),
        ("score_prediction", {"seed": 7}, "validation follows the seed (7)", "42"),
        ("score_prediction", {"split_by": "client"}, "no client is in two splits; counsellors are", "8:1:1"),
        ("response_generation", {}, "(scores 0-98) a tenth is for validation (seed 42)", "Left out"),
        ("response_generation", {"pool": "high"}, "Left out: 20 dialogues outside the pool high.", "scores 0-98"),
        ("response_generation", {"pool": "low", "split_by": "counselor"}, "(scores 0-69)", "As in the paper"),
        ("response_generation", {"pool": "high", "split_by": "client"}, "(scores 70-100)", "As in the paper"),
        ("response_generation", {"conversational": False}, "for response generation", "one row a dialogue: messages"),
        ("dialogues", {}, "All dialogues are in train.", "seed"),
        ("unpaired", {"label_by": "rater_centered", "min_ratings": 8}, "whose rater rated fewer than 8", "x"),
    ],
)
def test_the_card_of_kokorochat_follows_its_options(
    config: str, options: dict[str, Any], says: str, never: str, chat: Path, tmp_path: Path
) -> None:
    build("kokorochat", tmp_path / "out", config, source=chat, **options)
    text = prose(tmp_path / "out").partition("<!--")[0]
    assert says in text
    assert never == "x" or never not in text


def test_a_translation_says_whose_texts_it_has_and_what_is_not_translated(samples: Path, tmp_path: Path) -> None:
    source = samples / "multilingual_kokorochat"
    build("kokorochat", tmp_path / "keep", "dialogues", source=source, language="en")
    report = build("kokorochat", tmp_path / "drop", "dialogues", source=source, language="en", untranslated="drop")
    assert "translation is empty keeps its Japanese text" in prose(tmp_path / "keep")
    assert "MultilingualKokoroChat" in (tmp_path / "keep/README.md").read_text("utf-8").split("---\n")[1]
    empty = [
        utterance
        for file in source.rglob("en*.json")
        for utterance in json.loads(file.read_bytes())["dialogue"]
        if not utterance["content"].strip()
    ]
    counted = {"utterances without a translation": len(empty)} if empty else {}
    assert report.left_out == counted
    assert "translation is empty is left out" in prose(tmp_path / "drop")


@pytest.mark.parametrize(
    ("name", "config", "options", "says"),
    [
        ("emplifai", "sft", {}, "Split by situation (seed 42)"),
        ("emplifai", "sft", {"seed": 5}, "Split by situation (seed 5)"),
        ("emplifai", "sft", {"split_by": None}, "All rows are in train."),
        ("miti_st_dpo", "pairs", {}, "All rows are in train."),
        ("miti_st_dpo", "pairs", {"split_by": "question", "seed": 9}, "Split by question (seed 9)"),
        ("miti_st_dpo", "pairs", {"split_by": "random"}, "Splits share questions."),
        ("miti_st_dpo", "pairs", {"split_by": "therapist"}, "rows with writers on both sides."),
    ],
)
def test_the_other_cards_follow_their_options(
    name: str, config: str, options: dict[str, Any], says: str, samples: Path, tmp_path: Path
) -> None:
    source = {"emplifai": samples / "emplifai.csv", "miti_st_dpo": ROWS}[name]
    report = build(name, tmp_path / "out", config, source=source, **options)
    assert says in prose(tmp_path / "out")
    if options.get("split_by") == "therapist":
        everything = build(name, tmp_path / "all", config, source=source)
        [count] = report.left_out.values()
        assert count == sum(everything.rows.values()) - sum(report.rows.values())


def test_a_split_without_rows_is_named_in_the_card(samples: Path, tmp_path: Path) -> None:
    source = samples / "kokorochat"
    report = build("kokorochat", tmp_path / "out", "response_generation", source=source, pool="high")
    assert report.rows["validation"] == 0
    assert "Without rows, so without a file: validation." in prose(tmp_path / "out")
    assert re.search(r"split: validation", (tmp_path / "out/README.md").read_text("utf-8")) is None


def test_a_verb_that_fails_or_looks_leaves_nothing_and_a_build_can_be_replaced(samples: Path, tmp_path: Path) -> None:
    out, source = tmp_path / "out", samples / "emplifai.csv"
    build("emplifai", out, source=source)
    row = json.loads(ROWS.read_text("utf-8").splitlines()[0])
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    for work in (
        lambda: card(out),
        lambda: append_rows(out, [row]),
        lambda: audit(out),
        lambda: publish(out, tmp_path / "there", dry_run=True),
    ):
        with pytest.raises(KokoroError):
            work()
        assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
        assert not (out / ".hf_kokoro").exists()
    assert CliRunner().invoke(app, ["card", str(out)]).exit_code != 0
    assert not (tmp_path / "there").exists()
    build("emplifai", out, source=source, overwrite=True)


@pytest.mark.parametrize("line", ["{broken", "{}"])
def test_rows_that_no_card_can_be_made_of_leave_no_history_behind(line: str, tmp_path: Path) -> None:
    (tmp_path / "own/data").mkdir(parents=True)
    (tmp_path / "own/data/pilot.jsonl").write_text(line + "\n")
    with pytest.raises(KokoroError):
        card(tmp_path / "own", figures=False)
    assert [path.name for path in (tmp_path / "own").iterdir()] == ["data"]


def test_looking_makes_nothing_in_a_new_folder(tmp_path: Path) -> None:
    row = json.loads(ROWS.read_text("utf-8").splitlines()[0])
    append_rows(tmp_path / "new", [row], dry_run=True)
    with pytest.raises(KokoroError):
        hk.append_rows(tmp_path / "new", [{**row, "license": None}])
    assert not (tmp_path / "new").exists()
