"""`hf-kokoro evaluate …` as a user types it: on the bundled samples and on files of predictions."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hf_kokoro.corpora.kokorochat.schema import ITEM_NAMES
from hf_kokoro.errors import InputError, SourceError, UsageError
from hf_kokoro.evaluation.dialogue_rubric import METRICS
from hf_kokoro.evaluation.generation import count_system, generation_report
from hf_kokoro.evaluation.predictions import Prediction

Invoke = Callable[..., Any]
REPLIES = [
    ("眠れないのはつらいですね。", "眠れないのは本当におつらいですね。"),
    ("いつからですか。", "いつ頃から続いていますか。"),
    ("なるほど。", "そうだったんですね。"),
]


def replies(**changes: str) -> list[dict[str, str]]:
    return [
        {"id": str(i), "dialogue_id": str(i // 2), "prediction": changes.get("prediction", said), "reference": wanted}
        for i, (said, wanted) in enumerate(REPLIES)
    ]


def test_references_against_themselves_score_one_and_shuffled_ones_less(invoke: Invoke, samples: Path) -> None:
    found = {}
    for baseline in ("reference", "shuffled"):
        for config in ("turns", "next_turn"):
            split = () if config == "turns" else ("--split", "train")
            words = ("--source", samples / "kokorochat", "--config", config, *split, "--json")
            result = invoke("evaluate", "generation", "--baseline", baseline, *words)
            assert result.exit_code == 0, result.output
            found[baseline, config] = json.loads(result.stdout)["systems"][0]
    for config in ("turns", "next_turn"):
        same, other = found["reference", config], found["shuffled", config]
        overlap = [name for name in same["metrics"] if not name.startswith("distinct")]
        assert {same["metrics"][name]["value"] for name in overlap} == {1.0}
        assert all(other["metrics"][name]["value"] < 0.5 for name in overlap)
        # the same replies in another order are exactly as varied
        assert same["metrics"]["distinct2"] == other["metrics"]["distinct2"]
    assert found["reference", "turns"]["samples"] > found["reference", "next_turn"]["samples"]


def test_the_same_predictions_give_the_same_bytes_in_every_process_and_with_any_number_of_workers(
    write_rows: Callable[..., Path], tmp_path: Path
) -> None:
    # dialogue n % 9 has one, two or three of the replies over and over: dialogues differ, so intervals are wide
    rows = [
        {**row, "id": f"{n}-{row['id']}", "dialogue_id": str(n % 9)}
        for n in range(1800)
        for row in replies()[: 1 + n % 3]
    ]
    path = write_rows("p.jsonl", rows)
    code = "from hf_kokoro.cli import main; main()"
    outputs = []
    for workers in ("1", "2"):
        command = ["evaluate", "generation", "--predictions", str(path), "--workers", workers, "--json"]
        done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, check=True)
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
    # recorded once: a change of these figures is a change of every report that was ever printed
    metrics = json.loads(outputs[0])["systems"][0]["metrics"]
    assert metrics["bleu4"] == {"value": 0.314818, "low": 0.266476, "high": 0.381965}
    assert metrics["rougeL"] == {"value": 0.611936, "low": 0.548026, "high": 0.706189}
    assert metrics["distinct2"] == {"value": 0.000667, "low": None, "high": None}


def test_two_systems_are_compared_with_interval_and_p(invoke: Invoke, write_rows: Callable[..., Path]) -> None:
    better = write_rows("better.jsonl", [{**row, "prediction": row["reference"]} for row in replies()] * 1)
    worse = write_rows("worse.jsonl", replies())
    result = invoke("evaluate", "generation", "--predictions", better, "--predictions", worse, "--json")
    assert result.exit_code == 0, result.output
    difference = json.loads(result.stdout)["first_minus_second"]
    assert difference["bleu1"]["value"] > 0.2
    assert difference["bleu1"]["low"] > 0
    # two dialogues can be swapped in four ways, two of which are as far apart
    assert difference["bleu1"]["p"] == pytest.approx(0.5, abs=0.06)
    table = invoke("evaluate", "generation", "--predictions", better, "--predictions", worse)
    assert "better.jsonl (%)" in table.output
    assert "unidic-lite" in table.output


def test_files_that_answer_other_references_are_not_compared(invoke: Invoke, write_rows: Callable[..., Path]) -> None:
    one = write_rows("a.jsonl", replies())
    for rows, got in ((replies()[::-1], "different references"), (replies()[:2], "more rows in one file")):
        result = invoke("evaluate", "generation", "--predictions", one, "--predictions", write_rows("b.jsonl", rows))
        assert isinstance(result.exception, InputError)
        assert got in str(result.exception)


def test_per_sample_figures_stand_in_the_run_folder(
    invoke: Invoke, write_rows: Callable[..., Path], tmp_path: Path
) -> None:
    path = write_rows("p.jsonl", replies())
    out = tmp_path / "run"
    assert invoke("evaluate", "generation", "--predictions", path, "--out", out, "--per-sample").exit_code == 0
    rows = [json.loads(line) for line in (out / "per_sample.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == ["0", "1", "2"]
    for row, (said, wanted) in zip(rows, REPLIES, strict=True):
        alone = generation_report(count_system([Prediction(said, wanted, "x", "x")]), draws=0)
        assert row["bleu4"] == alone.metrics["bleu4"].value


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"prediction": "a"}', "reference: got nothing"),
        (b'{"prediction": 3, "reference": "a"}', "prediction: got 3"),
        (b'{"prediction": "a", "reference": "  "}', "blank text"),
        (b'{"prediction": "\\ud800", "reference": "a"}', "lone surrogate"),
        (b'{"prediction": "a"', "no JSON"),
        (b'{"prediction": "a", "reference": ' + b"1" * 5000 + b"}", "no JSON"),
        (b'"a"', "text of 1 characters"),
        (b"\xff\xfe", "not UTF-8"),
        (b"", "no row"),
    ],
)
def test_a_faulty_predictions_file_is_refused_by_line_and_field(
    invoke: Invoke, tmp_path: Path, line: bytes, message: str
) -> None:
    path = tmp_path / "p.jsonl"
    path.write_bytes(line + b"\n")
    result = invoke("evaluate", "generation", "--predictions", path)
    assert isinstance(result.exception, InputError)
    assert message in str(result.exception)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "exactly one of --predictions, --model, --baseline"),
        (("--baseline", "best"), "allowed: reference, shuffled"),
        (("--baseline", "reference", "--per-sample"), "give --out too"),
        (("--baseline", "reference", "--config", "dialogues"), "next_turn, turns"),
        (("--model", "m"), "give --out too"),
        (("--predictions", "p.jsonl"), "--source: has no effect with --predictions"),
        (("--model", "m", "--config", "turns"), "next_turn, response_generation"),
    ],
)
def test_wrong_combinations_of_options_are_bad_usage(
    invoke: Invoke, samples: Path, words: tuple[str, ...], message: str
) -> None:
    result = invoke("evaluate", "generation", *words, "--source", samples / "kokorochat", "--split", "train")
    assert isinstance(result.exception, UsageError)
    assert message in str(result.exception)


def test_scores_of_predictions_stand_beside_the_baselines_of_training(
    invoke: Invoke, write_rows: Callable[..., Path]
) -> None:
    gold = dict.fromkeys(ITEM_NAMES, 3)
    rows = [{"id": "1", "prediction": json.dumps(gold), "reference": gold}]
    paths = [write_rows("a.jsonl", rows), write_rows("b.jsonl", [{**rows[0], "prediction": "3点です"}])]
    result = invoke("evaluate", "scores", "--predictions", paths[0], "--predictions", paths[1], "--json")
    report = json.loads(result.stdout)
    assert report["over_runs"]["acc"] == {"mean": 0.5, "sd": pytest.approx(0.707107)}
    assert report["runs"][1]["unread_dialogues"] == ["1"]
    assert report["best_constant_on_test"]["score"] == 3
    table = invoke("evaluate", "scores", "--predictions", paths[1])
    assert "not read (wrong for ACC, not in MAE): missing 20; in 1 dialogues: 1" in table.output


@pytest.fixture
def split_samples(samples: Path, tmp_path: Path) -> Path:
    """The sample's dialogues under twenty ids, enough for every split."""
    folder = tmp_path / "many"
    folder.mkdir()
    document = json.loads((samples / "kokorochat" / "9001.json").read_text("utf-8"))
    for number in range(40):
        for key, name in (("review_by_client_en", "evaluation_id"), ("review_by_client_jp", "評価ID")):
            document[key][name] = 100 + number
        (folder / f"{100 + number}.json").write_text(json.dumps(document, ensure_ascii=False), "utf-8")
    return folder


def test_baselines_over_seeds_and_a_model_on_the_fixed_test_split(
    invoke: Invoke, split_samples: Path, tiny_lm: Path, tmp_path: Path
) -> None:
    seeds = ("--seed", 1, "--seed", 2)
    result = invoke("evaluate", "scores", "--baselines", "--source", split_samples, *seeds, "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    # all dialogues have the same scores, so each item's majority is always right
    assert report["baselines"]["majority"]["over_runs"]["acc"] == {"mean": 1.0, "sd": 0.0}
    assert report["baselines"]["constant"]["over_runs"]["acc"]["mean"] < 1.0
    words = ("--model", tiny_lm, "--source", split_samples, "--out", tmp_path / "run", "--limit", 2, "--json")
    written = invoke("evaluate", "scores", *words, "--max-new-tokens", 4)
    assert written.exit_code == 0, written.output
    # random weights name no item: all wrong, all listed
    run = json.loads(written.stdout)["runs"][0]
    assert (run["overall"]["acc"], run["overall"]["mae"]) == (0.0, None)
    assert run["unread_reasons"]["missing"] == run["overall"]["pairs"]


def test_emotion_of_the_sample_by_a_tiny_model_and_from_its_folder(
    invoke: Invoke, samples: Path, tiny_lm: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    words = ("--model", tiny_lm, "--source", samples / "emplifai.csv", "--split", "train", "--limit", 2, "--out", out)
    first = invoke("evaluate", "emotion", *words, "--max-new-tokens", 4, "--max-prompt-tokens", 500, "--json")
    assert first.exit_code == 0, first.output
    figure = tmp_path / "confusion.png"
    again = invoke("evaluate", "emotion", "--predictions", out, "--figure", figure)
    assert again.exit_code == 0, again.output
    assert "2 answers" in again.output
    assert figure.stat().st_size > 1000


def test_dialogues_of_the_sample_are_written_rated_and_compared_with_people(
    invoke: Invoke, samples: Path, tiny_lm: Path, tmp_path: Path
) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text(json.dumps(dict.fromkeys(METRICS, 4)) + "\n")
    out = tmp_path / "run"
    words = ("--judge", f"scripted:{script}", "--model", tiny_lm, "--source", samples / "emplifai.csv", "--pairs", 3)
    result = invoke("evaluate", "dialogues", *words, "--max-new-tokens", 8, "--out", out, "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    # random weights keep no format
    assert report["statuses"] == {"format": 3}
    assert report["metrics"]["fluency"]["mean"] == 1.0
    items = [json.loads(line)["dialogue_id"] for line in (out / "ratings.jsonl").read_text().splitlines()]
    people = tmp_path / "people.csv"
    with open(people, "w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "rater", "fluency", "warmth"])
        writer.writerows([item, rater, 1 + i % 3, 2] for i, item in enumerate(items) for rater in "abc")
    compared = invoke("evaluate", "agreement", "--ratings", people, "--judge", out / "ratings.jsonl")
    assert compared.exit_code == 0, compared.output
    assert "judge constant at 1" in compared.output
    assert "warmth: the judge did not rate it" in compared.output


def test_a_claude_judge_refuses_predictions_of_unknown_origin(invoke: Invoke, write_rows: Callable[..., Path]) -> None:
    path = write_rows("d.jsonl", [{"id": "1", "situation": "s", "emotion": "joy", "prediction": "x"}])
    result = invoke("evaluate", "dialogues", "--predictions", path, "--judge", "claude", "--out", path.parent / "o")
    assert isinstance(result.exception, UsageError)
    assert "--writer" in str(result.exception)


@pytest.mark.parametrize(
    ("name", "delimiter", "encoding"),
    [("votes.csv", ",", "utf-8-sig"), ("votes.csv", ";", "cp932"), ("votes.tsv", "\t", "utf-16")],
)
def test_pairwise_preferences_of_any_table_are_counted_by_majority(
    name: str, delimiter: str, encoding: str, invoke: Invoke, tmp_path: Path
) -> None:
    path = tmp_path / name
    text = "item,rater,verdict\n1,評価者,win\n1,b,win\n1,c,lose\n\n2,a,win\n2,b,lose\n"
    path.write_text(text.replace(",", delimiter), encoding)
    result = invoke("evaluate", "agreement", "--preferences", path, "--json")
    assert json.loads(result.stdout)["pairwise"] == {
        "items": 2, "win": 1, "lose": 0, "tie": 1, "judges_per_item": 2.5,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"who,verdict\na,win\n", r"columns \['who', 'verdict'\]; needed: item, rater"),
        (b"item,rater,verdict\n1,a\n", r"votes\.csv row 2: got 2 cells; allowed: 3, as in the header"),
        (b'item,rater,verdict\n1,a,"win\n', "CSV that breaks off"),
        (b"item,rater,verdict\n1,\xff,win\n", r"votes\.csv line 2 \(byte 21\): got byte 0xff"),
        (None, r"votes\.csv: can't be read"),
    ],
)
def test_a_file_that_is_no_table_of_ratings_is_one_clear_error(
    content: bytes | None, says: str, invoke: Invoke, tmp_path: Path
) -> None:
    path = tmp_path / "votes.csv"
    if content is not None:
        path.write_bytes(content)
    result = invoke("evaluate", "agreement", "--preferences", path)
    assert isinstance(result.exception, SourceError | InputError)
    assert re.search(says, str(result.exception))


def test_preference_without_a_policy_measures_the_baselines_and_a_reward_model(
    invoke: Invoke, tiny_lm: Path, tmp_path: Path
) -> None:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    rows = Path(__file__).parent.parent / "corpora" / "rows.jsonl"
    AutoModelForSequenceClassification.from_pretrained(tiny_lm, num_labels=1).save_pretrained(tmp_path / "rm")
    AutoTokenizer.from_pretrained(tiny_lm).save_pretrained(tmp_path / "rm")
    words = ("--source", rows, "--split", "train", "--limit", 4, "--reward-model", tmp_path / "rm")
    result = invoke("evaluate", "preference", *words, "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["pairs"] == 4
    assert {*report["others"]} == {"reward_model", "rule_judge"}
    assert sum(group["rule_judge"]["pairs"] for group in report["strata"]["margin"].values()) == 4
    # measured on training pairs, so both therapists are always known
    assert {*report["strata"]["therapists"]} == {"both seen"}
    table = invoke("evaluate", "preference", *words)
    assert "by therapists (pairs)" in table.output
    assert "its accuracy on them means nothing" in table.output
    wrong = invoke("evaluate", "preference", "--source", rows, "--reference", tiny_lm)
    assert isinstance(wrong.exception, UsageError)
