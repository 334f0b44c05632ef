"""Who wrote the answers, and under which licence, is said of known bytes and of nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hf_kokoro.cards import LicenceError, PublishOptions, publish, write_card
from hf_kokoro.cards.front_matter import split_card
from hf_kokoro.cards.origins import wording_of
from hf_kokoro.corpora.counsel_chat import read_counsel_chat
from hf_kokoro.miti.pairing import Candidate, CandidateSet, make_rows
from tests.judging.judging_support import rows_of, run

OWN = """questionID,questionTitle,questionText,therapistInfo,answerText
1,Sleep,I can't sleep.,Ann,"It sounds hard to lie awake so long. What has helped you before?"
1,Sleep,I can't sleep.,Bob,You must stop this. You should take pills.
1,Sleep,I can't sleep.,Cem,You have to see somebody about it.
"""
FALSE_OF_OTHERS = (
    "nbertagnolli",
    "counsel-chat",
    "Counsel-chat",
    "Counsel Chat",
    "by therapists",
    "by a model",
    "inherited",
)
DECLARED = ("--source-dataset", "me/pilot", "--license", "MIT")
NO_FIGURES = PublishOptions(figures=False)


def card_of(folder: Path, source: Path, *declared: str) -> str:
    """Judge, pair, append and card, as typed; the card's text."""
    for words in (
        ("judge", "--source", source, "--judge", "rule", "--journal", "v.jsonl"),
        ("pair", "--journal", "v.jsonl", "--out", "r.jsonl", *declared),
        ("append", "r.jsonl", "--to", "./ds"),
        ("card", "./ds", "--no-figures"),
    ):
        done = run(*words, cwd=folder)
        assert done.returncode == 0, done.stderr
    return (folder / "ds" / "README.md").read_text("utf-8")


def stamps(folder: Path) -> set[tuple[object, object]]:
    return {(row["source_dataset"], row["license"]) for row in rows_of(folder / "ds" / "data" / "pilot.jsonl")}


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A table of one's own with counsel-chat's column names."""
    (tmp_path / "own.csv").write_text(OWN)
    return tmp_path / "own.csv"


def test_a_table_of_ones_own_makes_no_claim_in_rows_or_card_and_is_not_published(tmp_path: Path, own: Path) -> None:
    card = card_of(tmp_path, own)
    assert stamps(tmp_path) == {("not stated", "not stated")}
    assert [words for words in FALSE_OF_OTHERS if words in card] == []
    data, body = split_card(card)
    assert (data["license"], "source_datasets" in data, "language" in data) == ("unknown", False, False)
    assert "Where the texts come from, under which licence, and who wrote the answers is not stated." in body
    done = run("publish", "./ds", "--to", "./there", cwd=tmp_path)
    assert done.returncode == 1
    assert "1 of 1 rows do not state" in done.stderr
    assert "--source-dataset NAME --license MIT" in done.stderr
    with pytest.raises(LicenceError, match="--source-dataset NAME --license MIT"):
        publish(tmp_path / "ds", tmp_path / "there", NO_FIGURES)
    assert not (tmp_path / "there").exists()


def test_what_the_owner_declares_is_said_as_declared_and_may_be_published(tmp_path: Path, own: Path) -> None:
    card = card_of(tmp_path, own, *DECLARED)
    assert stamps(tmp_path) == {("me/pilot", "MIT")}
    assert [words for words in FALSE_OF_OTHERS if words in card] == []
    assert "as their owner declared, from me/pilot, licence MIT; who wrote the answers is not stated" in card
    data, _ = split_card(card)
    assert (data["license"], data["source_datasets"]) == ("mit", ["me/pilot"])
    assert publish(tmp_path / "ds", tmp_path / "there", NO_FIGURES).added == 1


@pytest.mark.parametrize(
    "name",
    [
        "nbertagnolli/counsel-chat",
        "NBertagnolli/Counsel-Chat",
        "hf://datasets/nbertagnolli/counsel-chat@main",
        "hf-kokoro/sample",
    ],
)
def test_upstreams_name_can_not_be_declared_for_other_bytes(tmp_path: Path, own: Path, name: str) -> None:
    judge = ("judge", "--source", own, "--judge", "rule", "--journal", "v.jsonl")
    assert run(*judge, cwd=tmp_path).returncode == 0
    declared = ("--source-dataset", name, "--license", "MIT")
    for words in (
        ("pair", "--journal", "v.jsonl", "--out", "r.jsonl"),
        (*judge, "--append-to", "./ds"),
        ("append", "--watch", "v.jsonl", "--once", "--to", "./ds"),
    ):
        done = run(*words, *declared, cwd=tmp_path)
        assert (done.returncode, "name a dataset of your own" in done.stderr) == (2, True), words
    assert not (tmp_path / "ds").exists()


@pytest.mark.parametrize(("declared", "stamp"), [((), ("not stated", "not stated")), (DECLARED, ("me/pilot", "MIT"))])
def test_growing_while_judging_and_watching_stamp_as_pair_does(
    tmp_path: Path, own: Path, declared: tuple[str, ...], stamp: tuple[str, str]
) -> None:
    judge = ("judge", "--source", own, "--judge", "rule", "--journal", "v.jsonl", "--append-to", "./ds")
    assert run(*judge, *declared, cwd=tmp_path).returncode == 0
    assert stamps(tmp_path) == {stamp}
    shutil.rmtree(tmp_path / "ds")
    watch = ("append", "--watch", "v.jsonl", "--once", "--to", "./ds")
    assert run(*watch, *declared, cwd=tmp_path).returncode == 0
    assert stamps(tmp_path) == {stamp}


def test_the_sample_is_said_to_be_fictional_wherever_its_bytes_lie(tmp_path: Path, samples: Path) -> None:
    shutil.copy(samples / "counsel_chat.csv", tmp_path / "copy.csv")
    card = card_of(tmp_path, tmp_path / "copy.csv")
    assert stamps(tmp_path) == {("hf-kokoro/sample", "MIT")}
    assert [words for words in FALSE_OF_OTHERS if words in card] == []
    assert "**The texts are fictional.**" in card
    data, _ = split_card(card)
    assert (data["license"], data["source_datasets"]) == ("mit", ["hf-kokoro/sample"])


@pytest.mark.real_data
def test_upstreams_own_file_is_claimed_and_one_changed_byte_is_not(tmp_path: Path, real_data_dir: Path) -> None:
    upstream = real_data_dir / "counsel-chat" / "20200325_counsel_chat.csv"
    card = card_of(tmp_path, upstream)
    assert stamps(tmp_path) == {("nbertagnolli/counsel-chat", "MIT")}
    assert (
        "written by therapists who answered the same public question on counsel-chat; no answer was written by a model"
        in card
    )
    assert "MIT, inherited from counsel-chat" in card
    data, _ = split_card(card)
    assert (data["license"], data["source_datasets"]) == ("mit", ["nbertagnolli/counsel-chat"])
    content = bytearray(upstream.read_bytes())
    place = content.index(b"depress")
    content[place] = ord("D")
    (tmp_path / "changed.csv").write_bytes(content)
    assert read_counsel_chat(upstream).edition == "nbertagnolli/counsel-chat"
    assert read_counsel_chat(tmp_path / "changed.csv").edition == ""
    both = tmp_path / "both"
    both.mkdir()
    shutil.copy(upstream, both / "a.csv")
    assert read_counsel_chat(both).edition == "nbertagnolli/counsel-chat"
    (both / "b.csv").write_text(OWN)
    assert read_counsel_chat(both).edition == ""


def test_rows_made_in_python_state_nothing_that_the_caller_does_not() -> None:
    answers = [
        {"empathy": n, "partnership": n, "reflection_present": 0, "no_persuade": 1, "no_confront": 1} for n in (4, 2, 1)
    ]
    sets = [
        CandidateSet(
            "1", "t", "q", "j", tuple(Candidate(f"T{n}", f"answer {n}", s) for n, s in enumerate(answers)), "1:a"
        )
    ]
    rows, _ = make_rows(sets)
    assert [(row["source_dataset"], row["license"]) for row in rows] == [("not stated", "not stated")]
    rows, _ = make_rows(sets, source_dataset="me/pilot", license_name="MIT")
    assert [(row["source_dataset"], row["license"]) for row in rows] == [("me/pilot", "MIT")]


def test_mixed_rows_are_each_said_with_their_number() -> None:
    wording = wording_of({("nbertagnolli/counsel-chat", "MIT"): 3, ("hf-kokoro/sample", "MIT"): 2, ("me/p", "mit"): 1})
    assert (wording.title, wording.writer, wording.license_id) == ("MITI-ST preference pairs", "writer", "mit")
    lines = wording.writers.splitlines()
    assert [line.split(":")[0] for line in lines] == ["- 2 pairs", "- 1 pair", "- 3 pairs"]
    assert wording_of({("me/p", "MIT"): 1, ("not stated", "not stated"): 1}).license_id == "unknown"


def test_a_card_that_claimed_more_loses_the_claim_when_it_is_rendered_again(tmp_path: Path, own: Path) -> None:
    card_of(tmp_path, own)
    path = tmp_path / "ds" / "README.md"
    path.write_text(
        path.read_text().replace("license: unknown", "license: mit\nsource_datasets:\n  - nbertagnolli/counsel-chat")
    )
    write_card(tmp_path / "ds", figures=False)
    data, _ = split_card(path.read_text())
    assert (data["license"], "source_datasets" in data) == ("unknown", False)


def test_a_built_view_claims_only_what_its_rows_state(tmp_path: Path, own: Path) -> None:
    card_of(tmp_path, own)
    done = run("build", "miti_st_dpo", "--source", "./ds", "--out", "built", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    card = (tmp_path / "built" / "README.md").read_text()
    assert [words for words in FALSE_OF_OTHERS if words in card] == []
    assert split_card(card)[0]["license"] == "unknown"
