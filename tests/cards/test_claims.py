"""Who wrote the answers, and under which licence, is said of known bytes and of nothing else."""

from __future__ import annotations

import csv
import hashlib
import io
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import hf_kokoro as hk
from hf_kokoro.cards import LicenceError, PublishOptions, publish, write_card
from hf_kokoro.cards.front_matter import split_card
from hf_kokoro.cards.origins import wording_of
from hf_kokoro.miti.pairing import Candidate, CandidateSet, make_rows
from hf_kokoro.policy.claims import known_claim
from hf_kokoro.policy.known import edition_file, editions
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
        "written by therapists who answered public questions on counsel-chat; no answer was written by a model" in card
    )
    assert "MIT, inherited from counsel-chat" in card
    data, _ = split_card(card)
    assert (data["license"], data["source_datasets"]) == ("mit", ["nbertagnolli/counsel-chat"])


@pytest.mark.real_data
def test_a_filtered_copy_keeps_the_claim_and_a_row_with_a_foreign_answer_does_not(
    tmp_path: Path, real_data_dir: Path
) -> None:
    table = pd.read_csv(real_data_dir / "counsel-chat" / "20200325_counsel_chat.csv", dtype=str, keep_default_na=False)
    groups = table.groupby("questionID")
    some = groups.size().between(4, 6) & groups.questionText.nunique().eq(1)
    kept = table[table.questionID.isin(some[some].index[:4])].copy()
    first = kept.questionID.iloc[0]
    kept["answerText"] = "\ufeff" + kept.answerText.str.replace(" ", "\u00a0\r\n", n=1, regex=False) + "\t"
    kept.drop(columns=["upvotes", "split"]).to_excel(tmp_path / "kept.xlsx", index=False)
    card = card_of(tmp_path, tmp_path / "kept.xlsx")
    assert stamps(tmp_path) == {("nbertagnolli/counsel-chat", "MIT")}
    assert "no answer was written by a model" in card
    foreign = kept[kept.questionID == first].iloc[0].copy()
    foreign["therapistInfo"], foreign["answerText"] = "GPT-4", "As a language model I would say: rest."
    pd.concat([kept, foreign.to_frame().T]).to_csv(tmp_path / "mixed.csv", index=False)
    shutil.rmtree(tmp_path / "ds")
    (tmp_path / "v.jsonl").unlink()
    card = card_of(tmp_path, tmp_path / "mixed.csv")
    rows = rows_of(tmp_path / "ds" / "data" / "pilot.jsonl")
    stated = {str(row["question_id"]): row["source_dataset"] for row in rows}
    assert stated.pop(first) == "not stated"
    assert set(stated.values()) == {"nbertagnolli/counsel-chat"}
    assert "by a model" not in card


def test_a_changed_answer_is_not_the_samples_and_a_reformatted_one_is(tmp_path: Path, samples: Path) -> None:
    table = pd.read_csv(samples / "counsel_chat.csv", dtype=str, keep_default_na=False)
    table["answerText"] = table.answerText.str.replace("\n", "\r\n", regex=False) + " "
    table[table.questionID.isin(["12", "30"])].to_csv(tmp_path / "two.csv", index=False)
    card_of(tmp_path, tmp_path / "two.csv")
    assert stamps(tmp_path) == {("hf-kokoro/sample", "MIT")}
    known = (samples / "counsel_chat.csv").read_text("utf-8")
    texts = [row["answerText"] for row in csv.DictReader(io.StringIO(known, newline=""))]
    assert known_claim(texts[:1]) == ("hf-kokoro/sample", "MIT", "fictional", "digest")
    assert known_claim([texts[0].upper()]) is None
    assert known_claim([texts[0], "mine"]) is None
    assert known_claim([]) is None


@pytest.mark.parametrize("listed", ["20200325_counsel_chat.csv", "counselchat-data.csv"])
@pytest.mark.real_data
def test_the_packaged_lists_hold_every_answer_of_their_file(listed: str, real_data_dir: Path) -> None:
    content = (real_data_dir / "counsel-chat" / listed).read_bytes()
    [edition] = [edition for edition in editions() if edition.name == listed]
    assert (edition.size, edition.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    texts = set(pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False).answerText)
    assert all(known_claim([text]) == ("nbertagnolli/counsel-chat", "MIT", "people", "digest") for text in texts)
    assert len(edition.digests) == len(texts)


def test_the_lists_are_those_that_the_script_makes(tmp_path: Path, samples: Path) -> None:
    (tmp_path / "x.csv").write_text("answerText\nB\na\xa0\r\n")
    script = Path(__file__).parents[2] / "scripts" / "record_counsel_chat.py"
    done = subprocess.run([sys.executable, script, tmp_path, "--check"], capture_output=True, text=True, check=False)
    assert (done.returncode, "x.digests" in done.stdout) == (1, True), done.stderr
    assert "hf_kokoro_sample.digests: 1091 bytes, as it was" in done.stdout
    made = edition_file(["B", "a\u00a0", "Ｂ", " "], **dict.fromkeys(("name", "source_dataset", "license"), "x"))
    digests = sorted(hashlib.sha256(text).digest()[:8] for text in (b"B", b"a"))
    assert made.partition(b"\n")[2] == b"".join(digests)


@pytest.mark.parametrize(
    ("writer", "said"),
    [
        ("people", "the answers were written by people, as their owner declared; no answer was written by a model."),
        ("model", "the answers were written by a model, as their owner declared."),
        ("fictional", "the texts are fictional, as their owner declared."),
    ],
)
def test_who_wrote_the_answers_is_said_as_declared(tmp_path: Path, own: Path, writer: str, said: str) -> None:
    card = card_of(tmp_path, own, "--source-dataset", "me/pilot", "--license", "cc-by-4.0", "--written-by", writer)
    assert f"from me/pilot, licence CC-BY-4.0; {said}" in card
    assert stamps(tmp_path) == {("me/pilot", "CC-BY-4.0")}
    data, body = split_card(card)
    assert data["license"] == "cc-by-4.0"
    assert data["language_creators"] == ["machine-generated" if writer == "model" else "other"]
    assert "CC-BY-4.0, as the owner of the texts declared (me/pilot)." in body
    assert publish(tmp_path / "ds", tmp_path / "there", NO_FIGURES).licence == "cc-by-4.0"
    assert said in (tmp_path / "there" / "README.md").read_text()


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (
            ("--license", "CC BY 4.0"),
            "allowed: one id of the SPDX list, such as MIT or CC-BY-4.0; did you mean CC-BY-4.0?",
        ),
        (("--license", "MIT License"), "did you mean MIT?"),
        (("--license", "MIT OR ISC"), "one id of the SPDX list"),
        (("--written-by", "peple"), "allowed: people, model, fictional; did you mean 'people'?"),
    ],
)
def test_what_can_not_be_declared_is_refused_with_what_was_meant(
    tmp_path: Path, own: Path, option: tuple[str, str], said: str
) -> None:
    assert run("judge", "--source", own, "--judge", "rule", "--journal", "v.jsonl", cwd=tmp_path).returncode == 0
    done = run("pair", "--journal", "v.jsonl", "--out", "r.jsonl", "--source-dataset", "me/x", *option, cwd=tmp_path)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "r.jsonl").exists()


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
    counsel = ("nbertagnolli/counsel-chat", "MIT", "people", "digest")
    sample = ("hf-kokoro/sample", "MIT", "fictional", "digest")
    wording = wording_of({counsel: 3, sample: 2, ("me/p", "mit"): 1})
    assert (wording.title, wording.writer, wording.license_id) == ("MITI-ST preference pairs", "writer", "mit")
    assert [line.split(":")[0] for line in wording.writers.splitlines()] == ["- 2 pairs", "- 1 pair", "- 3 pairs"]
    assert "by a model" not in wording.writers
    assert wording_of({("me/p", "MIT"): 1, ("not stated", "not stated"): 1}).license_id == "unknown"
    people = wording_of({counsel: 3, ("me/p", "CC-BY-4.0", "people", "declared"): 1})
    assert people.writers.endswith("\n\nNo answer was written by a model.")
    assert people.metadata()["license"] == ["cc-by-4.0", "mit"]


def test_rows_that_name_upstream_without_its_answers_get_none_of_its_sentences(one_row: Any, tmp_path: Path) -> None:
    hk.append_rows(tmp_path / "ds", [one_row(1)], card=True)
    card = (tmp_path / "ds" / "README.md").read_text()
    assert "The rows name nbertagnolli/counsel-chat as their source, licence MIT, but not all of their answers" in card
    assert "who wrote the answers is not stated" in card
    assert [words for words in ("by therapists", "by a model", "inherited") if words in card] == []


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
