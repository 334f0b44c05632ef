"""The journal: append-only, one writer, nothing finished lost, torn lines heal, other files are left alone."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hf_kokoro.judging import Item, Journal, Opinion, ScriptedJudge, read_journal, score_items
from hf_kokoro.judging.journal import JournalError, verdicts_behind
from hf_kokoro.judging.verdicts import VerdictError, make_verdict

SCORES = {"empathy": 4, "partnership": 3, "reflection_present": 1, "no_persuade": 0, "no_confront": 1}
REPLY = json.dumps(SCORES)
ITEMS = [Item(str(n), f"question {n}", "Ada", f"answer {n}") for n in range(6)]


class Counting(ScriptedJudge):
    """A scripted judge that remembers what it was asked."""

    def __init__(self, script: list[str]) -> None:
        super().__init__(script)
        self.asked: list[str] = []

    def score(self, question: str, answer: str) -> Opinion:
        self.asked.append(answer)
        return super().score(question, answer)


def fill(path: Path, items: list[Item] = ITEMS) -> bytes:
    with Journal(path) as journal:
        score_items(items, ScriptedJudge([REPLY]), journal)
    return path.read_bytes()


def test_only_what_is_missing_is_judged_and_old_bytes_stay(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "verdicts.jsonl"
    before = fill(path, ITEMS[:4])
    judge = Counting([REPLY])
    with Journal(path) as journal:
        report = score_items(ITEMS, judge, journal)
    assert judge.asked == ["answer 4", "answer 5"]
    assert (report.asked, report.judged, report.already) == (6, 2, 4)
    assert path.read_bytes().startswith(before)
    assert len(read_journal(path)) == 6


@pytest.mark.parametrize("changed", ["question", "answer", "rubric", "model"])
def test_a_change_of_text_rubric_or_model_is_new_work(tmp_path: Path, changed: str) -> None:
    path = tmp_path / "v.jsonl"
    fill(path, ITEMS[:1])
    judge = Counting([REPLY])
    item = ITEMS[0]
    if changed == "question":
        item = Item(item.question_id, item.question + "?", item.therapist, item.answer)
    elif changed == "answer":
        item = Item(item.question_id, item.question, item.therapist, item.answer + "!")
    elif changed == "rubric":
        judge.rubric_sha256 = "0" * 64
    else:
        judge.judge_model = "another"
    with Journal(path) as journal:
        score_items([item], judge, journal)
    assert len(judge.asked) == 1


def test_the_same_answer_to_the_same_question_is_judged_once(tmp_path: Path) -> None:
    judge = Counting([REPLY])
    twice = [ITEMS[0], Item("another id", ITEMS[0].question, "Bo", ITEMS[0].answer)]
    with Journal(tmp_path / "v.jsonl") as journal:
        report = score_items(twice, judge, journal)
    assert judge.asked == ["answer 0"]
    assert (report.given, report.asked) == (2, 1)


def test_blank_answers_never_reach_the_judge(tmp_path: Path) -> None:
    judge = Counting([REPLY])
    with Journal(tmp_path / "v.jsonl") as journal:
        report = score_items([Item("1", "q", "Ada", "\u3000\u3000"), ITEMS[1]], judge, journal)
    assert judge.asked == ["answer 1"]
    assert (report.statuses["blank"], report.statuses["scored"], report.unscored) == (1, 1, 0)


def test_limit_judges_so_many_and_the_next_run_goes_on(tmp_path: Path) -> None:
    judge = Counting([REPLY])
    with Journal(tmp_path / "v.jsonl") as journal:
        assert score_items(ITEMS, judge, journal, limit=2).missing == 4
        assert score_items(ITEMS, judge, journal, limit=3).missing == 1
    assert judge.asked == [f"answer {n}" for n in range(5)]


def test_retry_judges_a_status_again_and_the_newest_verdict_counts(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    with Journal(path) as journal:
        score_items(ITEMS[:2], Pinned("{}", '{"status": "refused"}'), journal)
        report = score_items(ITEMS[:2], Pinned(REPLY), journal, retry=["invalid"])
    assert report.judged == 1
    assert [verdict.status for verdict in read_journal(path)] == ["scored", "refused"]
    assert len(path.read_bytes().splitlines()) == 3


class Pinned(ScriptedJudge):
    """The same judge by name and rubric, whatever its script says."""

    def __init__(self, *script: str) -> None:
        super().__init__(list(script))
        self.rubric_sha256 = "pinned"


@pytest.mark.parametrize("cut", [1, 10, 120, 400])
def test_a_torn_last_line_heals_and_its_answer_is_judged_again(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "v.jsonl"
    whole = fill(path)
    torn = whole[:-cut] if cut > 1 else whole[:-30]
    path.write_bytes(torn)
    assert len(read_journal(path)) == 5, "a reader leaves the torn line aside"
    judge = Counting([REPLY])
    with Journal(path) as journal:
        assert journal.healed_bytes > 0
        score_items(ITEMS, judge, journal)
    assert judge.asked == ["answer 5"]
    assert len(read_journal(path)) == 6
    assert path.read_bytes().startswith(whole[: whole.rfind(b"\n", 0, -1) + 1])


def test_a_whole_last_line_that_lacks_only_its_line_end_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    whole = fill(path)
    path.write_bytes(whole[:-1])
    judge = Counting([REPLY])
    with Journal(path) as journal:
        score_items(ITEMS, judge, journal)
    assert judge.asked == []
    assert path.read_bytes() == whole


def test_the_zeros_of_a_power_cut_heal(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    whole = fill(path)
    path.write_bytes(whole + b"\0" * 512)
    with Journal(path):
        pass
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    "content",
    [
        b"questionID,answerText\n1,hello\n",
        b"questionID,answerText",
        b'{"prompt": "p"}\n',
        b'{"prompt": "p"',
        b"\xff\xfe\n",
    ],
)
def test_another_file_given_as_the_journal_is_refused_untouched(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    with pytest.raises((JournalError, VerdictError), match=r"data\.csv"):
        Journal(path)
    assert path.read_bytes() == content


def test_a_damaged_line_in_the_middle_is_named_not_skipped(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    lines = fill(path).splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], b'{"question_id": "x\n', *lines[3:]]))
    with pytest.raises(VerdictError, match=r"v\.jsonl line 3"):
        Journal(path)
    with pytest.raises(VerdictError, match=r"v\.jsonl line 3"):
        read_journal(path)


def test_a_growing_journal_is_read_on_from_where_the_last_look_ended(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    content = fill(path)
    ends = [at + 1 for at, byte in enumerate(content) if byte == ord("\n")]
    path.write_bytes(content[: ends[1] + 30])
    first, offset = verdicts_behind(path, 0)
    assert ([verdict.question_id for verdict in first], offset) == (["0", "1"], ends[1])
    assert verdicts_behind(path, offset) == ([], offset)
    path.write_bytes(content)
    rest, offset = verdicts_behind(path, offset)
    assert ([verdict.question_id for verdict in rest], offset) == (["2", "3", "4", "5"], len(content))


def test_a_journal_that_was_cut_while_it_was_followed_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    content = fill(path)
    path.write_bytes(content[:100])
    with pytest.raises(JournalError, match=f"cut to 100 bytes while it was read up to {len(content)}"):
        verdicts_behind(path, len(content))


def test_an_empty_or_missing_journal_can_not_be_read_as_verdicts(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="can't be read"):
        read_journal(tmp_path / "none.jsonl")
    (tmp_path / "empty.jsonl").write_bytes(b"")
    with pytest.raises(JournalError, match="holds no verdict"):
        read_journal(tmp_path / "empty.jsonl")


WRITER = """
import sys, json
from hf_kokoro.judging import Item, Journal, Opinion
from hf_kokoro.judging.verdicts import make_verdict
scores = json.loads(sys.argv[2])
with Journal(sys.argv[1]) as journal:
    for n in range(100_000):
        journal.append(make_verdict(Item(str(n), "q", "Ada", f"answer {n}"), Opinion("scored", scores), "m", "r"))
        print(n, flush=True)
"""


def start_writer(path: Path) -> subprocess.Popen[str]:
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", WRITER, str(path), REPLY]
    environment = os.environ | {"PYTHONPATH": str(root)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def test_killing_the_writer_loses_nothing_that_it_finished_and_frees_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    writer = start_writer(path)
    assert writer.stdout is not None
    finished = [int(writer.stdout.readline()) for _ in range(50)]
    with pytest.raises(JournalError, match="another process"):
        Journal(path)
    writer.send_signal(signal.SIGKILL)
    finished += [int(line) for line in writer.stdout if line.endswith("\n")]
    writer.wait()
    with Journal(path) as journal:
        answered = {int(v.question_id) for v in read_journal(path)}
        assert answered >= set(finished)
        assert len(answered) <= len(finished) + 1
        journal.append(make_verdict(ITEMS[0], Opinion("refused"), "m", "r"))
    assert len(read_journal(path)) == len(answered) + 1


def test_a_full_disk_gives_one_clear_error_and_leaves_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    before = fill(path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with Journal(path) as journal:
            # the size limit stands for the full disk: the system takes 100 bytes of the line and refuses the rest
            resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, hard))
            with pytest.raises(JournalError, match="can't be written"):
                journal.append(make_verdict(ITEMS[0], Opinion("refused"), "m", "r"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == before
