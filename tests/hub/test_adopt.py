"""`append --adopt`: rows of another layout are taken over in one commit, with a proof, or nothing changes."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from datasets import Dataset, load_dataset
from datasets.info import DatasetInfosDict
from datasets.utils.metadata import MetadataConfigs
from huggingface_hub import DatasetCard, DatasetCardData, constants

import hf_kokoro as hk
from hf_kokoro import append_rows, audit
from hf_kokoro.cli import main
from hf_kokoro.core.series import Series
from hf_kokoro.errors import RowError
from hf_kokoro.hub import LocalTarget
from hf_kokoro.hub import append_rows as hub_append_rows
from hf_kokoro.hub.errors import ForeignData, SpellingError, UnreadableCard
from hf_kokoro.hub.remote import HubTarget

from .double import Drop, HubDouble
from .places import REPO, HubPlace, LocalPlace, Place
from .rows import changed, numbers, row, rows
from .test_crash import _stop_at

DATA = "data/pilot.jsonl"
PARQUET = "data/train-00000-of-00001.parquet"


def pushed(place: Place, tmp_path: Path, data: list[dict[str, Any]], split: str = "train") -> None:
    """The layout of `Dataset.push_to_hub`: Parquet, and a card with configs and dataset_info."""
    made = Dataset.from_list(data)
    made.to_parquet(tmp_path / "made.parquet")
    card = DatasetCardData(license="mit", tags=["counselling"])
    made.info.splits = None
    DatasetInfosDict({"default": made.info}).to_dataset_card_data(card)
    files = {"data_files": [{"split": split, "path": f"data/{split}-*"}]}
    MetadataConfigs({"default": files}).to_dataset_card_data(card)
    place.write(f"data/{split}-00000-of-00001.parquet", (tmp_path / "made.parquet").read_bytes())
    text = str(DatasetCard(f"---\n{card}\n---\n"))
    place.write("README.md", f"{text}\n# Mine\n\nMy words stay: 話.\n".encode())


def loaded(place: Place, folder: Path, name: str | None = None) -> dict[str, list[dict[str, Any]]]:
    """What plain `datasets` makes of a copy of the place, in a cache of its own."""
    for path, content in place.files().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    found = load_dataset(str(folder), name, cache_dir=str(folder.with_name(folder.name + "-cache")))
    return {split: list(made) for split, made in found.items()}


def aliased(number: int) -> dict[str, Any]:
    """A row as other people spell it: answers under `answerText`, scores in an object, booleans, no total."""
    other = row(number)
    other["all_answers"] = [
        {
            "therapist_id": answer["therapist"],
            "answerText": answer["text"],
            "scores": {
                "empathy": answer["empathy"],
                "partnership": answer["partnership"],
                **{key: bool(answer[key]) for key in ("reflection_present", "no_persuade", "no_confront")},
            },
            "total_score": answer["total"],
        }
        for answer in other["all_answers"]
    ]
    return other


def lines(*values: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(value, ensure_ascii=False).encode() + b"\n" for value in values)


def test_push_to_hub_layout_is_refused_without_adopt_and_the_refusal_names_the_way(
    place: Place, tmp_path: Path
) -> None:
    pushed(place, tmp_path, rows(7, 8))
    before = place.files()
    with pytest.raises(ForeignData, match="--adopt"):
        append_rows(place.target(), rows(1))
    assert place.files() == before


@pytest.mark.parametrize("spelled", [row, aliased])
def test_adoption_gives_a_plain_loader_exactly_the_old_rows_and_the_new_ones(
    place: Place, tmp_path: Path, spelled: Callable[[int], dict[str, Any]]
) -> None:
    pushed(place, tmp_path, [spelled(7), spelled(8)])
    report = append_rows(place.target(), rows(1, 8), adopt=True)
    assert (report.added, report.duplicates, report.rows_total) == (1, 1, 3)
    assert report.adopted is not None
    assert {k: report.adopted[k] for k in ("before", "after", "new", "plain", "beside", "repeats")} == {
        "before": 2,
        "after": 3,
        "new": 1,
        "plain": True,
        "beside": 0,
        "repeats": 0,
    }
    assert set(place.files()) == {DATA, "README.md"}
    assert place.files()[DATA] == lines(row(7), row(8), row(1))
    assert loaded(place, tmp_path / "copy") == {"train": rows(7, 8, 1)}


def test_the_card_keeps_every_word_that_is_not_of_the_config(place: Place, tmp_path: Path) -> None:
    pushed(place, tmp_path, rows(7))
    append_rows(place.target(), rows(1), adopt=True)
    text = place.files()["README.md"].decode()
    assert text.endswith("# Mine\n\nMy words stay: 話.\n")
    front = yaml.safe_load(text.split("---")[1])
    assert {"license": "mit", "tags": ["counselling"]}.items() <= front.items()
    assert "dataset_info" not in front
    (config,) = front["configs"]
    assert config["data_files"][0]["path"][0] == DATA


def test_after_an_adoption_rows_are_appended_as_ever(place: Place, tmp_path: Path) -> None:
    pushed(place, tmp_path, rows(7))
    append_rows(place.target(), rows(1), adopt=True)
    before = place.files()[DATA]
    again = append_rows(place.target(), rows(1, 7), adopt=True)
    assert (again.added, again.duplicates, again.adopted) == (0, 2, None)
    report = append_rows(place.target(), rows(2))
    assert report.rows_total == 3
    assert place.files()[DATA] == before + lines(row(2))
    assert loaded(place, tmp_path / "copy") == {"train": rows(7, 1, 2)}


def test_a_folder_that_was_adopted_is_not_loaded_from_yesterdays_cache(tmp_path: Path) -> None:
    place = LocalPlace(tmp_path / "folder")
    pushed(place, tmp_path, rows(7))
    for number in (1, 2, 3):
        append_rows(place.target(), rows(number), adopt=True)
        found = load_dataset(str(place.folder), cache_dir=str(tmp_path / "cache"))
        assert found["train"].num_rows == number + 1


def test_dry_run_shows_the_proof_and_changes_nothing(place: Place, tmp_path: Path) -> None:
    pushed(place, tmp_path, rows(7, 8))
    before = place.files()
    planned = append_rows(place.target(), rows(1), adopt=True, dry_run=True)
    shown = "\n".join(planned.preview)
    assert "adopted 2 rows into data/pilot.jsonl" in shown
    assert "after: 3 rows by datasets.load_dataset: 2 from before, 1 new" in shown
    assert f"{PARQUET}: deleted" in shown
    assert place.files() == before
    if isinstance(place, LocalPlace):
        assert not (place.folder / ".hf_kokoro").exists()
    done = append_rows(place.target(), rows(1), adopt=True)
    assert done.adopted == planned.adopted


def test_an_adoption_without_new_rows_is_one_too(place: Place, tmp_path: Path) -> None:
    pushed(place, tmp_path, rows(7, 8))
    report = append_rows(place.target(), [], adopt=True)
    assert (report.added, report.rows_total) == (0, 2)
    assert report.adopted is not None
    assert numbers(place.files()[DATA]) == [7, 8]


def test_the_commit_says_the_proof(tmp_path: Path) -> None:
    with HubDouble(tmp_path / "hub") as double:
        place = HubPlace(double, tmp_path / "machines")
        pushed(place, tmp_path, rows(7, 8))
        append_rows(place.target(), rows(1), adopt=True, message="By me")
        commit = place.repo.head()
        assert commit.title == "By me"
        assert "adopted 2 rows into data/pilot.jsonl" in commit.message
        assert "2 from before, 1 new" in commit.message


def test_audit_says_where_the_history_begins_and_proves_it_on_the_hub(place: Place, tmp_path: Path) -> None:
    pushed(place, tmp_path, [aliased(7), aliased(8)])
    taken = append_rows(place.target(), rows(1), adopt=True)
    append_rows(place.target(), rows(2))
    report = audit(place.target())
    assert report.ok, report.faults
    (adoption,) = report.adopted
    assert (adoption.revision, adoption.rows) == (taken.revision, 2)
    assert adoption.proven is not isinstance(place, LocalPlace)
    assert "adopted at revision" in str(adoption)
    assert "the history is proven from there" in str(adoption)
    assert [r.adopted for r in report.revisions if r.adopted] == [2]
    assert report.rows == 4


def test_audit_faults_a_commit_that_says_it_adopted_rows_and_lost_one(tmp_path: Path) -> None:
    with HubDouble(tmp_path / "hub") as double:
        place = HubPlace(double, tmp_path / "machines")
        pushed(place, tmp_path, rows(7, 8))
        said = "adopted 2 rows into data/pilot.jsonl"
        place.repo.commit({PARQUET: None, "README.md": b"# x\n", DATA: lines(row(7))}, title=said)
        report = audit(place.target())
        assert not report.ok
        assert "of 2 that were there 1 are missing" in str(report.faults[0])
        assert not report.adopted


def test_audit_faults_a_rewritten_history_after_an_adoption(tmp_path: Path) -> None:
    with HubDouble(tmp_path / "hub") as double:
        place = HubPlace(double, tmp_path / "machines")
        pushed(place, tmp_path, rows(7, 8))
        append_rows(place.target(), rows(1), adopt=True)
        place.write(DATA, lines(row(8), row(7), row(1)))
        report = audit(place.target())
        assert not report.ok
        assert "don't start with" in str(report.faults[0])


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ([{"messages": "hello"}, {"messages": "there"}], "2 of 2 rows there are no MITI-ST rows"),
        ([row(7), changed(8, rubric="another")], "1 of 2 rows there are no MITI-ST rows"),
        ([{**row(7), "upvotes": 3}], "got an unknown key"),
        ([changed(7, chosen_score=12.0), changed(8, chosen_score=12.0)], "--whole-floats"),
    ],
)
def test_rows_that_are_none_are_refused_by_name_and_nothing_changes(
    place: Place, tmp_path: Path, bad: list[dict[str, Any]], said: str
) -> None:
    pushed(place, tmp_path, bad)
    before = place.files()
    for dry_run in (True, False):
        with pytest.raises(RowError) as refused:
            append_rows(place.target(), rows(1), adopt=True, dry_run=dry_run)
        assert said in str(refused.value)
        assert "nothing was changed" in str(refused.value)
    assert place.files() == before
    if isinstance(place, LocalPlace):
        assert not (place.folder / ".hf_kokoro").exists()


def test_whole_floats_of_the_old_rows_are_taken_if_the_caller_says_so(place: Place, tmp_path: Path) -> None:
    pushed(place, tmp_path, [changed(7, chosen_score=12.0), changed(8, chosen_score=12.0)])
    append_rows(place.target(), rows(1), adopt=True, whole_floats=True)
    assert place.files()[DATA] == lines(row(7), row(8), row(1))
    assert audit(place.target()).ok


def test_several_splits_are_refused_by_name(place: Place, tmp_path: Path) -> None:
    pushed(place, tmp_path, rows(7))
    place.write("data/test-00000-of-00001.parquet", place.files()[PARQUET])
    card = b"---\nconfigs:\n- config_name: default\n  data_files:\n  - {split: train, path: data/train-*}\n"
    place.write("README.md", card + b"  - {split: test, path: data/test-*}\n---\n")
    before = place.files()
    with pytest.raises(ForeignData, match="splits train, test, not one"):
        append_rows(place.target(), rows(1), adopt=True)
    assert place.files() == before


def test_a_split_of_another_name_keeps_it(place: Place, tmp_path: Path) -> None:
    pushed(place, tmp_path, rows(7), split="validation")
    append_rows(place.target(), rows(1), adopt=True)
    assert loaded(place, tmp_path / "copy") == {"validation": rows(7, 1)}


@pytest.mark.parametrize("other", ["data/*", "more/*.parquet"])
def test_a_config_that_could_not_be_loaded_any_more_refuses_the_adoption(
    place: Place, tmp_path: Path, other: str
) -> None:
    pushed(place, tmp_path, rows(7))
    place.write("more/a.parquet", place.files()[PARQUET])
    configs = [{"config_name": "default", "data_files": "data/train-*"}, {"config_name": "b", "data_files": other}]
    card = f"---\nconfigs: {json.dumps(configs)}\n---\n"
    place.write("README.md", card.encode())
    before = place.files()
    with pytest.raises(ForeignData, match="config 'b'"):
        append_rows(place.target(), rows(1), adopt=True)
    assert place.files() == before


@pytest.mark.parametrize(
    "files",
    [
        {"train.jsonl": lines(aliased(7), aliased(8))},
        {"data/a.json": json.dumps(rows(7, 8)).encode()},
        {"data/train-1.jsonl": lines(row(7)), "data/train-2.jsonl": lines(row(8)), "notes.txt": b"mine"},
    ],
)
def test_json_without_a_card_is_adopted_and_gets_one_that_names_the_rows(
    place: Place, tmp_path: Path, files: dict[str, bytes]
) -> None:
    for path, content in files.items():
        place.write(path, content)
    report = append_rows(place.target(), rows(1), adopt=True)
    assert report.rows_total == 3
    assert set(place.files()) == {DATA, "README.md", *(path for path in files if path == "notes.txt")}
    assert loaded(place, tmp_path / "copy") == {"train": rows(7, 8, 1)}


def test_rows_beside_what_a_loader_reads_are_kept_too_and_their_bytes_stay(place: Place, tmp_path: Path) -> None:
    append_rows(place.target(), rows(1, 2))
    pushed(place, tmp_path, rows(7, 2))
    before = place.files()[DATA]
    report = append_rows(place.target(), rows(3), adopt=True)
    assert report.adopted is not None
    assert (report.adopted["before"], report.adopted["beside"], report.rows_total) == (3, 2, 4)
    assert place.files()[DATA] == before + lines(row(7), row(3))
    assert loaded(place, tmp_path / "copy") == {"train": rows(1, 2, 7, 3)}
    assert audit(place.target()).ok


def test_a_file_of_two_spellings_is_refused_and_adopted_in_our_own(place: Place, tmp_path: Path) -> None:
    place.write(DATA, lines(aliased(7), row(8), aliased(9)))
    before = place.files()
    with pytest.raises(SpellingError, match=r"2 ways.*--adopt"):
        append_rows(place.target(), rows(1))
    assert place.files() == before
    report = audit(place.target())
    assert not report.ok
    assert "2 ways" in str(report.faults[-1])
    done = append_rows(place.target(), rows(1, 7), adopt=True)
    assert (done.added, done.duplicates, done.rows_total) == (1, 1, 4)
    assert place.files()[DATA] == lines(row(7), row(8), row(9), row(1))
    assert loaded(place, tmp_path / "copy") == {"train": rows(7, 8, 9, 1)}
    after = audit(place.target())
    assert after.ok, after.faults
    assert [adoption.rows for adoption in after.adopted] == [3]
    assert append_rows(place.target(), rows(2)).rows_total == 5
    assert audit(place.target()).ok


def test_segments_of_two_spellings_become_as_many_as_are_asked_for(place: Place) -> None:
    configs = [{"config_name": "default", "data_files": list(Series(DATA).patterns)}]
    place.write("README.md", f"---\nconfigs: {json.dumps(configs)}\n---\n".encode())
    place.write(DATA, lines(row(7)))
    place.write("data/pilot-00001.jsonl", lines(aliased(8)))
    append_rows(place.target(), rows(1), adopt=True)
    assert set(place.files()) == {DATA, "README.md"}
    assert numbers(place.files()[DATA]) == [7, 8, 1]
    assert audit(place.target()).ok
    assert append_rows(place.target(), rows(2)).rows_total == 4


def test_rows_that_stand_twice_stay_twice_and_are_told(place: Place, tmp_path: Path) -> None:
    pushed(place, tmp_path, rows(7, 7, 8))
    report = append_rows(place.target(), rows(1), adopt=True)
    assert report.adopted is not None
    assert (report.adopted["before"], report.adopted["repeats"], report.rows_total) == (3, 1, 4)
    found = Counter(r["prompt"] for r in loaded(place, tmp_path / "copy")["train"])
    assert found[row(7)["prompt"]] == 2


@pytest.mark.parametrize("yaml_text", [b"configs: [\n", b"a: b: c\n", b"- a\n- b\n", b"\tx: 1\n"])
def test_a_card_whose_yaml_is_broken_is_named_and_nothing_is_written(
    place: Place, tmp_path: Path, yaml_text: bytes
) -> None:
    for path, content in (("README.md", b"---\n" + yaml_text + b"---\n# Mine\n"), (DATA, lines(row(7)))):
        place.write(path, content)
    before = place.files()
    for adopt in (False, True):
        with pytest.raises(UnreadableCard, match=r"README\.md holds YAML that"):
            append_rows(place.target(), rows(1), adopt=adopt)
    assert place.files() == before


def test_a_place_that_needs_no_adoption_is_appended_to(place: Place) -> None:
    report = append_rows(place.target(), rows(1), adopt=True)
    assert (report.rows_total, report.adopted) == (1, None)
    place.write(DATA, place.files()[DATA] + lines(row(5)))
    assert append_rows(place.target(), rows(2), adopt=True).adopted is None


def test_nothing_to_adopt_and_no_rows_make_nothing(
    hub: HubDouble, hub_target: Callable[..., HubTarget], tmp_path: Path
) -> None:
    assert append_rows(tmp_path / "folder", [], adopt=True).adopted is None
    assert append_rows(hub_target(repo="user/other"), [], adopt=True).rows_total == 0
    assert not (tmp_path / "folder").exists()
    assert hub.requests("POST", "/repos/create") == []


def test_the_card_of_this_package_is_rendered_in_the_same_commit(tmp_path: Path) -> None:
    with HubDouble(tmp_path / "hub") as double:
        place = HubPlace(double, tmp_path / "machines")
        pushed(place, tmp_path, rows(7, 8))
        append_rows(place.target(), rows(1), adopt=True, card=True)
        assert len(place.repo.commits) == 4  # the first one, the two of the test, the adoption
        assert {"pairs/train.jsonl", "unpaired/train.jsonl"} <= set(place.files())
        assert loaded(place, tmp_path / "copy") == {"train": rows(7, 8, 1)}
        assert len(loaded(place, tmp_path / "again", "pairs")["train"]) == 3


def test_both_python_doors_adopt_alike(tmp_path: Path) -> None:
    made = []
    for name, door in (("one", hk.append_rows), ("two", hub_append_rows)):
        place = LocalPlace(tmp_path / name)
        pushed(place, tmp_path, rows(7))
        report = door(place.folder, rows(1), adopt=True)
        made.append((report.adopted, place.files()))
    assert made[0] == made[1]


def test_a_reply_that_was_lost_after_the_commit_is_counted_once(
    hub: HubDouble, hub_target: Callable[..., HubTarget], tmp_path: Path
) -> None:
    place = HubPlace(hub, tmp_path / "machines")
    pushed(place, tmp_path, rows(7, 8))
    hub.faults.script("POST", "/commit/", Drop(applied=True))
    report = append_rows(hub_target(), rows(1), adopt=True)
    assert (report.added, report.rows_total) == (1, 3)
    assert report.adopted is not None
    assert report.adopted["before"] == 2
    assert numbers(place.files()[DATA]) == [7, 8, 1]


def test_another_writer_between_look_and_commit_is_taken_in(
    hub: HubDouble, hub_target: Callable[..., HubTarget], tmp_path: Path
) -> None:
    place = HubPlace(hub, tmp_path / "machines")
    pushed(place, tmp_path, rows(7))
    raced = []

    def extra(growth: object) -> dict[str, bytes]:
        if not raced:
            raced.append(pushed(place, tmp_path, rows(7, 9)))
        return {}

    report = append_rows(hub_target(), rows(1), adopt=True, extra_operations=extra)
    assert report.attempts == 2
    assert numbers(place.files()[DATA]) == [7, 9, 1]
    assert set(place.files()) == {DATA, "README.md"}


def test_a_row_that_somebody_adds_to_a_folder_meanwhile_is_not_lost(tmp_path: Path) -> None:
    place = LocalPlace(tmp_path / "folder")
    append_rows(place.target(), rows(7))
    place.write(DATA, place.files()[DATA] + lines(aliased(8)))
    looks = []

    def extra(growth: object) -> dict[str, bytes]:
        looks.append(growth)
        if len(looks) == 1:
            place.write(DATA, place.files()[DATA] + lines(row(9)))
        return {}

    report = append_rows(place.target(), rows(1), adopt=True, extra_operations=extra)
    assert len(looks) == 2
    assert report.rows_total == 4
    assert place.files()[DATA] == lines(row(7), row(8), row(9), row(1))
    assert audit(place.folder).ok


@pytest.mark.parametrize("by", ["kill", pytest.param("interrupt", marks=pytest.mark.slow)])
def test_a_folder_adoption_stopped_before_each_step_in_turn_leaves_all_old_rows_loadable(
    tmp_path: Path, by: str
) -> None:
    stopped, step, expected = 0, 0, rows(7, 8, 1)
    while True:
        step += 1 if by == "kill" else 3
        place = LocalPlace(tmp_path / str(step))
        pushed(place, tmp_path, rows(7, 8))
        before = place.files()
        was_stopped = _adopt_until(place.folder, step, by)
        declared = (place.folder / ".hf_kokoro" / "commit.json").exists()
        done = place.folder / ".hf_kokoro" / "history.jsonl"
        if was_stopped and not declared and not (done.exists() and done.stat().st_size):
            assert place.files() == before, f"before step {step} the former state has to stand"
        report = append_rows(LocalTarget(place.folder), rows(1), adopt=True)
        assert report.rows_total == 3
        assert set(place.files()) == {DATA, "README.md"}
        assert place.files()[DATA] == lines(*expected)
        checked = audit(place.folder)
        assert checked.ok, checked.faults
        assert [adoption.rows for adoption in checked.adopted] == [2]
        if not was_stopped:
            break
        stopped += 1
    assert stopped > 5


def _adopt_until(folder: Path, step: int, by: str) -> bool:
    """Adopt in a child that is stopped before its nth step of those whose order matters, once it writes there."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        return os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 7
    code = 1
    try:
        target = LocalTarget(folder)
        commit = target.commit

        def stopped_commit(*arguments: Any, **options: Any) -> Any:
            _stop_at(step, by)
            return commit(*arguments, **options)

        target.commit = stopped_commit  # type: ignore[method-assign]
        append_rows(target, rows(1), adopt=True)
        code = 0
    except KeyboardInterrupt:
        code = 7
    finally:
        os._exit(code)


def test_a_file_that_changed_after_an_interrupted_adoption_is_not_deleted(tmp_path: Path) -> None:
    place = LocalPlace(tmp_path / "folder")
    pushed(place, tmp_path, rows(7))
    steps = 0
    while not (place.folder / ".hf_kokoro" / "commit.json").exists():
        steps += 1
        _adopt_until(place.folder, steps, "kill")
    place.write(PARQUET, b"somebody's own")
    append_rows(LocalTarget(place.folder), rows(2))
    assert place.files()[PARQUET] == b"somebody's own"
    assert numbers(place.files()[DATA]) == [7, 1, 2]


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", ["hf-kokoro", *arguments])
        try:
            main()
        except SystemExit as stop:
            return int(stop.code or 0)
    return 0


@pytest.mark.parametrize("where", ["folder", "hub"])
def test_the_verbs_adopt_and_audit_in_words(
    hub: HubDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], where: str
) -> None:
    template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, hub.endpoint)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "ENDPOINT", hub.endpoint)
    monkeypatch.setenv("HF_TOKEN", "hf_writes")
    folder = LocalPlace(tmp_path / "folder")
    place: Place = folder if where == "folder" else HubPlace(hub, tmp_path / "machines")
    to = str(folder.folder) if where == "folder" else REPO
    pushed(place, tmp_path, [aliased(7), aliased(8)])
    before = place.files()
    (tmp_path / "rows.jsonl").write_bytes(lines(row(1)))
    given = str(tmp_path / "rows.jsonl")
    assert run(monkeypatch, "append", given, "--to", to) == 1
    assert "--adopt" in capsys.readouterr().err
    assert run(monkeypatch, "append", given, "--to", to, "--adopt", "--dry-run") == 0
    said = capsys.readouterr().out
    assert "would adopt 2 rows" in said
    assert "none was lost" in said
    assert f"{PARQUET}: deleted" in said
    assert place.files() == before
    assert run(monkeypatch, "append", given, "--to", to, "--adopt") == 0
    said = capsys.readouterr().out
    assert "adopted 2 rows" in said
    assert "none was lost" in said
    assert "added 1 row" in said
    assert place.files()[DATA] == lines(row(7), row(8), row(1))
    assert run(monkeypatch, "audit", to) == 0
    said = capsys.readouterr().out
    assert "adopted at revision" in said
    assert ("read again and all there" if where == "hub" else "on record only") in said
    assert "from the adoption on" in said
    assert run(monkeypatch, "append", given, "--to", to, "--adopt", "--json") == 0
    assert json.loads(capsys.readouterr().out)["adopted"] is None


def test_the_verb_adopts_without_rows_and_refuses_watch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = LocalPlace(tmp_path / "folder")
    pushed(place, tmp_path, rows(7, 8))
    to = str(place.folder)
    assert run(monkeypatch, "append", "--to", to, "--adopt", "--watch", "journal.jsonl") == 2
    assert run(monkeypatch, "append", "--to", to) == 2
    capsys.readouterr()
    assert run(monkeypatch, "append", "--to", to, "--adopt", "--json") == 0
    assert json.loads(capsys.readouterr().out)["adopted"]["before"] == 2
