"""A file system that takes no more: each verb says which file, why, and what was kept, and leaves nothing half done.

The kernel itself refuses the bytes, by the limit on the size of a file, which needs no rights to be set.
"""

from __future__ import annotations

import errno
import fcntl
import json
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hf_kokoro import workflow
from hf_kokoro.cards import CardError, write_card
from hf_kokoro.errors import KokoroError, SourceError
from hf_kokoro.hub import HubTarget
from hf_kokoro.hub.errors import LockedError, UnwritableError
from hf_kokoro.judging.journal import Journal, JournalError
from tests.hub.double import HubDouble
from tests.hub.rows import changed, numbers, row, rows

DATA = "data/pilot.jsonl"
SAMPLES = Path(workflow.__file__).parents[1] / "samples"


@contextmanager
def full_disk(limit: int) -> Iterator[None]:
    """No file may grow past so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def refused(error: type[KokoroError], work: Callable[[], object], limit: int = 600) -> str:
    with full_disk(limit), pytest.raises(error) as caught:
        work()
    said = str(caught.value)
    assert "File too large" in said
    return said


def test_an_append_to_a_folder_changes_nothing(tmp_path: Path) -> None:
    place = tmp_path / "pairs"
    workflow.append_rows(place, rows(1))
    before = (place / DATA).read_bytes()
    said = refused(UnwritableError, lambda: workflow.append_rows(place, [row(2, size=3000)]), 4000)
    assert "nothing was written" in said
    assert "the same command again sends what is missing" in said
    assert (place / DATA).read_bytes() == before
    assert workflow.append_rows(place, [row(2, size=3000)]).added == 1


def test_an_append_to_the_hub_with_a_full_mirror_sends_nothing_and_a_dry_run_needs_no_mirror(tmp_path: Path) -> None:
    with HubDouble(tmp_path / "hub") as hub:
        hub.repo("user/pairs")
        (tmp_path / "file").write_text("")

        def target(cache: Path) -> HubTarget:
            return HubTarget("user/pairs", token="hf_writes", endpoint=hub.endpoint, cache_dir=cache)

        workflow.append_rows(target(tmp_path / "cache"), rows(1))
        for cache in (tmp_path / "file", tmp_path / "file" / "below"):
            with pytest.raises(UnwritableError, match=r"Not a directory.*nothing was sent.*set HF_KOKORO_CACHE"):
                workflow.append_rows(target(cache), rows(2))
            would = workflow.append_rows(target(cache), rows(1, 2), dry_run=True)
            assert (would.added, would.duplicates) == (1, 1)
        said = refused(
            UnwritableError, lambda: workflow.append_rows(target(tmp_path / "cache"), [row(2, size=3000)]), 4000
        )
        assert "nothing was sent" in said
        assert numbers(hub.repo("user/pairs").read(DATA)) == [1]
        assert workflow.append_rows(target(tmp_path / "cache"), [row(2, size=3000)]).added == 1


def test_rejects_without_a_place_stop_the_append_before_anything_is_written(tmp_path: Path) -> None:
    faulty = changed(2, chosen_score=99)
    (tmp_path / "file").write_text("")
    with pytest.raises(SourceError, match=r"Not a directory.*nothing was sent; name another file \(--rejects\)"):
        workflow.append_rows(
            tmp_path / "pairs", [row(1), faulty], skip_invalid=True, rejects=tmp_path / "file" / "rejects.jsonl"
        )
    assert not (tmp_path / "pairs").exists()


def test_a_card_is_not_written_and_the_dataset_stays(tmp_path: Path) -> None:
    place = tmp_path / "pairs"
    workflow.append_rows(place, [row(n) for n in range(3)], card=False)
    before = {path: path.read_bytes() for path in place.rglob("*.jsonl")}
    said = refused(CardError, lambda: write_card(place, figures=False))
    assert "the dataset is as it was" in said
    assert {path: path.read_bytes() for path in place.rglob("*.jsonl")} == before
    assert not (place / "README.md").exists()


def test_pair_leaves_the_former_file(tmp_path: Path) -> None:
    journal, out = tmp_path / "v.jsonl", tmp_path / "rows.jsonl"
    workflow.judge(SAMPLES / "counsel_chat.csv", "rule", journal)
    out.write_text("former\n")
    said = refused(SourceError, lambda: workflow.pair(journal, out))
    assert "no row was written, and what stood there is as it was" in said
    assert out.read_text() == "former\n"
    assert sorted(file.name for file in tmp_path.iterdir() if file.name.endswith(".hfk-tmp")) == []


def test_a_journal_keeps_what_it_has_and_goes_on_later(tmp_path: Path) -> None:
    journal = tmp_path / "v.jsonl"
    said = refused(JournalError, lambda: workflow.judge(SAMPLES / "counsel_chat.csv", "rule", journal), 2000)
    assert "the verdicts before it are kept" in said
    kept = journal.read_bytes()
    assert kept.endswith(b"\n")
    assert all(json.loads(line) for line in kept.splitlines())
    workflow.judge(SAMPLES / "counsel_chat.csv", "rule", journal)
    assert journal.read_bytes().startswith(kept)


def test_an_export_leaves_nothing_half_done(tmp_path: Path) -> None:
    source = tmp_path / "rows.jsonl"
    source.write_text("".join(json.dumps(row(n)) + "\n" for n in range(4)))

    def export() -> object:
        return workflow.export("miti_st_dpo", "pairs", "openai", tmp_path / "out", source=source)

    workflow.export("miti_st_dpo", "pairs", "openai", tmp_path / "first", source=source)
    assert "nothing was left there" in refused(SourceError, export)
    assert not (tmp_path / "out").exists()
    export()


def test_a_build_leaves_the_former_one(tmp_path: Path) -> None:
    source, out = tmp_path / "rows.jsonl", tmp_path / "built"
    source.write_text("".join(json.dumps(row(n)) + "\n" for n in range(4)))
    workflow.build("miti_st_dpo", out, "pairs", source=source)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}

    def build() -> object:
        return workflow.build("miti_st_dpo", out, "pairs", source=source, overwrite=True)

    assert "an earlier one is as it was" in refused(SourceError, build)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert not list(tmp_path.glob(".built*"))


def test_a_cache_that_takes_nothing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "rows.jsonl"
    source.write_text("".join(json.dumps(row(n)) + "\n" for n in range(4)))
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "file" / "cache")
    with pytest.raises(SourceError, match=r"Not a directory.*HF_DATASETS_CACHE \(cache_dir\) names another place"):
        workflow.export("miti_st_dpo", "pairs", "openai", tmp_path / "out", source=source)


@pytest.fixture
def no_flock(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)


@pytest.mark.usefixtures("no_flock")
def test_a_file_system_without_flock_is_appended_to_by_one_process_at_a_time(tmp_path: Path) -> None:
    place = tmp_path / "pairs"
    assert workflow.append_rows(place, rows(1)).added == 1
    marker = place / ".hf_kokoro" / "lock.holder"
    marker.write_text("4711\nfar-away\n")
    with pytest.raises(LockedError, match=rf"process 4711 on host far-away has it.*remove {marker}"):
        workflow.append_rows(place, rows(2), max_wait=0)
    marker.unlink()
    assert workflow.append_rows(place, rows(2)).added == 1


@pytest.mark.usefixtures("no_flock")
def test_a_journal_without_flock_has_one_writer_at_a_time(tmp_path: Path) -> None:
    held = r"in use by another process; process \d+ on host .* \(this machine\)"
    with Journal(tmp_path / "v.jsonl"), pytest.raises(JournalError, match=held):
        Journal(tmp_path / "v.jsonl")
    with Journal(tmp_path / "v.jsonl"):
        pass
