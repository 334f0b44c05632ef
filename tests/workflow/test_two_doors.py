"""What a verb prints with --json is what its function reports, on the same files."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hf_kokoro import workflow
from hf_kokoro.evaluation.dialogue_rubric import METRICS
from hf_kokoro.miti.contract import row_line

from ..cards.conftest import make_row
from ..judging.judging_support import run

PEOPLE = "item,rater,empathy\n1,a,4\n1,b,5\n2,a,2\n2,b,2\n3,a,3\n3,b,4\n4,a,1\n4,b,2\n"
JUDGE = "item,rater,empathy\n1,j,5\n2,j,2\n3,j,3\n4,j,2\n"
REPLIES = [("眠れないのはつらいですね。", "眠れないのは本当におつらいですね。"), ("なるほど。", "そうだったんですね。")]
TALK = {"id": "1", "situation": "A long illness.", "emotion": "fear", "prediction": "no format"}

DOORS: dict[str, tuple[str, Callable[[], Any]]] = {
    "judge": (
        "judge --source counsel_chat.csv --judge rule --journal new.jsonl --append-to ./grown --every 30",
        lambda: workflow.judge("counsel_chat.csv", "rule", "new.jsonl", append_to="./grown", every=30),
    ),
    "pair": (
        "pair --journal v.jsonl --out pairs.jsonl --min-margin 2 --judge-model rule-based/miti-st-v1-r2",
        lambda: workflow.pair("v.jsonl", "pairs.jsonl", min_margin=2, judge_model="rule-based/miti-st-v1-r2"),
    ),
    "agree": ("agree v.jsonl other.jsonl", lambda: workflow.agree(["v.jsonl", "other.jsonl"])),
    "bias": ("bias v.jsonl --max-per-therapist 3", lambda: workflow.bias("v.jsonl", max_per_therapist=3)),
    "append": (
        "append rows.jsonl --to ./new --segment-bytes 2500",
        lambda: workflow.append_rows("./new", "rows.jsonl", segment_bytes=2500),
    ),
    "append --watch": (
        "append --watch v.jsonl --to ./new --once",
        lambda: workflow.grow("v.jsonl", "./new", once=True),
    ),
    "card": ("card ./made --no-figures", lambda: workflow.card("./made", figures=False)),
    "card of a build": ("card ./built --check", lambda: workflow.card("./built", check=True)),
    "publish": (
        "publish ./made --to ./sent --no-figures --dry-run",
        lambda: workflow.publish("./made", "./sent", figures=False, dry_run=True),
    ),
    "build": (
        "build kokorochat --source kokorochat --out out --config next_turn --seed 7",
        lambda: workflow.build("kokorochat", "out", "next_turn", source="kokorochat", seed=7),
    ),
    "export": (
        "export kokorochat --config response_generation --source kokorochat --to sharegpt --out out",
        lambda: workflow.export("kokorochat", "response_generation", "sharegpt", "out", source="kokorochat"),
    ),
    "leaks": (
        "leaks emplifai --config sft --source emplifai.csv",
        lambda: workflow.leaks("emplifai", "sft", source="emplifai.csv"),
    ),
    "evaluate generation": (
        "evaluate generation --predictions said.jsonl --predictions same.jsonl --tokenizer char --bootstrap 20",
        lambda: workflow.evaluate_generation(["said.jsonl", "same.jsonl"], tokenizer="char", bootstrap=20),
    ),
    "evaluate generation of a baseline": (
        "evaluate generation --baseline shuffled --source kokorochat --split train --tokenizer char --pool full",
        lambda: workflow.evaluate_generation(
            baseline="shuffled", source="kokorochat", split="train", tokenizer="char", pool="full"
        ),
    ),
    "evaluate emotion": (
        "evaluate emotion --predictions felt.jsonl",
        lambda: workflow.evaluate_emotion("felt.jsonl"),
    ),
    "evaluate scores": (
        "evaluate scores --predictions scored.jsonl",
        lambda: workflow.evaluate_scores("scored.jsonl"),
    ),
    "evaluate dialogues": (
        "evaluate dialogues --predictions talks.jsonl --judge scripted:script.jsonl --out rated",
        lambda: workflow.evaluate_dialogues("scripted:script.jsonl", "rated", predictions="talks.jsonl"),
    ),
    "evaluate agreement": (
        "evaluate agreement --ratings people.csv --judge judge.csv",
        lambda: workflow.evaluate_agreement("people.csv", "judge.csv"),
    ),
    "evaluate preference": (
        "evaluate preference --source rows.jsonl --split train",
        lambda: workflow.evaluate_preference("rows.jsonl", split="train"),
    ),
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything that the verbs read, in one folder."""
    folder = tmp_path_factory.mktemp("desk") / "desk"
    samples = Path(workflow.__file__).parent.parent / "samples"
    shutil.copytree(samples, folder)
    for journal, judge in (("v.jsonl", "rule"), ("other.jsonl", "rule:strict")):
        workflow.judge(folder / "counsel_chat.csv", judge, folder / journal)
        # as `judge` notes it when it is run in the folder
        note = folder / f"{journal}.source.json"
        note.write_text(note.read_text("utf-8").replace(str(folder / "counsel_chat.csv"), "counsel_chat.csv"), "utf-8")
    (folder / "rows.jsonl").write_text("".join(row_line(make_row(number)) for number in range(12)), "utf-8")
    workflow.append_rows(folder / "made", folder / "rows.jsonl")
    workflow.build("emplifai", folder / "built", source=folder / "emplifai.csv")
    replies = [
        {"id": str(n), "dialogue_id": str(n), "reference": r, "prediction": p} for n, (p, r) in enumerate(REPLIES)
    ]
    _write(folder / "said.jsonl", replies)
    _write(folder / "same.jsonl", [{**row, "prediction": row["reference"]} for row in replies])
    _write(folder / "felt.jsonl", [{"prediction": "fear", "label": "fear"}, {"prediction": "?", "label": "joy"}])
    _write(folder / "scored.jsonl", [{"dialogue_id": "1", "prediction": _scores(3), "reference": _scores(4)}])
    _write(folder / "talks.jsonl", [TALK])
    _write(folder / "script.jsonl", [dict.fromkeys(METRICS, 4)])
    (folder / "people.csv").write_text(PEOPLE, "utf-8")
    (folder / "judge.csv").write_text(JUDGE, "utf-8")
    return folder


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def _scores(score: int) -> str:
    from hf_kokoro.corpora.kokorochat.schema import ITEM_NAMES

    return json.dumps(dict.fromkeys(ITEM_NAMES, score))


def _plain(report: Any) -> Any:
    return json.loads(json.dumps(report.as_dict()))


def _timeless(found: Any) -> Any:
    """Without revisions: they hold the time of writing."""
    if isinstance(found, dict):
        return {key: _timeless(value) for key, value in found.items() if key != "revision"}
    return found


def _typed(words: str, cwd: Path) -> Any:
    done = run(*words.split(), "--json", cwd=cwd)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", DOORS)
def test_the_verb_prints_what_the_function_reports(
    name: str, desk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words, call = DOORS[name]
    for door in ("verb", "function"):
        shutil.copytree(desk, tmp_path / door)
    typed = _typed(words, tmp_path / "verb")
    monkeypatch.chdir(tmp_path / "function")
    report = call()
    assert _timeless(typed) == _timeless(_plain(report))
    assert str(report)
    assert report._repr_html_().startswith("<table>")


def test_audit_and_stats_look_at_one_folder_through_both_doors(desk: Path) -> None:
    audited = workflow.audit(desk / "made")
    assert audited.ok
    assert _typed(f"audit {desk / 'made'}", desk) == _plain(audited)
    found = workflow.stats("emplifai", source=str(desk / "emplifai.csv"))
    assert _typed("stats emplifai --source emplifai.csv", desk) == _plain(found)["figures"]


@pytest.mark.slow
def test_train_and_quickstart_report_the_same_but_for_the_time(
    desk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = {"dataset_source": str(desk / "rows.jsonl"), "output_dir": "model", "max_steps": 1}
    words = " ".join(f"--{name} {value}" for name, value in wanted.items())
    for door in ("verb", "function"):
        (tmp_path / door).mkdir()
    typed = [
        _typed(f"train dpo --config tiny_dpo {words}", tmp_path / "verb"),
        _typed("quickstart --out q --steps 1", tmp_path / "verb"),
    ]
    monkeypatch.chdir(tmp_path / "function")
    for left, report in zip(
        typed, (workflow.train("tiny_dpo", wanted, method="dpo"), workflow.quickstart("q", 1)), strict=True
    ):
        right = _plain(report)
        assert left.keys() == right.keys()
        for known in ("method", "train_rows", "first_loss", "last_loss", "made", "held_out", "test_pairs", "steps"):
            assert left.get(known) == right.get(known)
