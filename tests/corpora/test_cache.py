"""The cache key follows the input's bytes, the options and the VERSION: never a path, never a date."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import datasets
import pytest

import hf_kokoro as hk
from hf_kokoro.core.archives import open_source
from hf_kokoro.corpora import fingerprint
from hf_kokoro.corpora.kokorochat.kokorochat import KokoroChat
from hf_kokoro.corpora.load import get_builder

from .documents import changed, document, write


def key(source: Path, config: str = "dialogues", **options: object) -> str:
    return get_builder("kokorochat", config, source=source, **options).cache_dir


def scores(source: Path) -> list[int]:
    return list(hk.load_dataset("kokorochat", "dialogues", source=source)["train"]["score"])


def settle(folder: Path) -> None:
    """Date files back, as if they had been there for an hour."""
    for path in [folder, *folder.rglob("*")]:
        os.utime(path, (time.time() - 3600, time.time() - 3600))


def test_a_changed_file_never_gives_old_rows(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", document(1), document(2))
    assert scores(folder) == [60, 60]
    write(folder, document(2, items=[4] * 20))
    assert scores(folder) == [60, 80]
    (folder / "1.json").unlink()
    assert scores(folder) == [80]
    write(folder, document(3))
    assert scores(folder) == [80, 60]


def test_a_change_that_keeps_size_and_dates_is_seen_all_the_same(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", document(1))
    settle(folder)
    assert scores(folder) == [60]
    before = (folder / "1.json").stat()
    write(folder, document(1, items=[4] * 20))
    os.utime(folder / "1.json", ns=(before.st_atime_ns, before.st_mtime_ns))
    after = (folder / "1.json").stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert scores(folder) == [80]


def test_the_same_files_under_another_path_are_not_built_again(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", document(1), document(2))
    first = key(folder)
    copy = tmp_path / "elsewhere" / "copy"
    shutil.copytree(folder, copy)
    assert key(copy) == first
    (copy / "README.md").write_text("a file that is no dialogue")
    assert key(copy) == first


def test_every_option_is_part_of_the_key(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", document(1), document(2))
    options: list[dict[str, object]] = [
        {}, {"pool": "high"}, {"seed": 7}, {"split_by": "client"}, {"conversational": False},
    ]  # fmt: skip
    keys = {key(folder, "response_generation", **chosen) for chosen in options} | {key(folder, "next_turn")}
    assert len(keys) == len(options) + 1


def test_another_version_of_the_builder_is_another_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path / "in", document(1))
    old = key(folder)
    raised = [type(c)(name=c.name, version=datasets.Version("9.9.9")) for c in KokoroChat.BUILDER_CONFIGS]
    monkeypatch.setattr(KokoroChat, "BUILDER_CONFIGS", raised)
    monkeypatch.setattr(KokoroChat, "builder_configs", {c.name: c for c in raised})
    assert key(folder) != old
    assert "9.9.9" in key(folder)


def test_a_settled_folder_is_hashed_once_and_a_young_one_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path / "in", document(1))
    hashed = []
    real = fingerprint._digest
    monkeypatch.setattr(fingerprint, "_digest", lambda paths: hashed.append(1) or real(paths))

    def digest() -> str:
        return fingerprint.source_digest(open_source(folder), ["1.json"], tmp_path / "memory")

    young = digest()
    assert (digest(), len(hashed)) == (young, 2)
    # the change time can't be set by hand, so the clock is moved on instead
    monkeypatch.setattr(fingerprint.time, "time", lambda: os.stat(folder / "1.json").st_ctime + 10)
    assert [digest(), digest(), digest()] == [young] * 3
    assert len(hashed) == 3


def test_a_build_that_was_killed_starts_clean_the_next_time(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", *(document(n, roles="Cc" * 150) for n in range(400)))
    code = (
        "import sys, hf_kokoro as hk\n"
        "print('started', flush=True)\n"
        f"hk.load_dataset('kokorochat', 'next_turn', source={str(folder)!r}, cache_dir={str(tmp_path / 'cache')!r})\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    partial = tmp_path / "cache" / "kokorochat"
    while not list(partial.rglob("*.incomplete/*.arrow")) and process.poll() is None:
        os.sched_yield()
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.returncode == -signal.SIGKILL
    small = write(tmp_path / "small", *(document(n) for n in range(3)))
    rows = hk.load_dataset("kokorochat", "next_turn", source=folder, cache_dir=tmp_path / "cache")
    assert sum(part.num_rows for part in rows.values()) == 400 * 149
    assert len(hk.load_dataset("kokorochat", "dialogues", source=small, cache_dir=tmp_path / "cache")["train"]) == 3


def test_a_dialogue_that_changes_between_two_loads_in_one_process_is_reloaded(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", document(1))
    stream = hk.load_dataset("kokorochat", "dialogues", source=folder, streaming=True, split="train")
    assert next(iter(stream))["utterances"][0]["text"] == "発言0です。"
    write(folder, changed(document(1), "dialogue.0.utterance", "別の発言です。"))
    loaded = hk.load_dataset("kokorochat", "dialogues", source=folder, split="train")
    assert loaded[0]["utterances"][0]["text"] == "別の発言です。"


@pytest.mark.parametrize("name", list(hk.BUILDERS))
def test_a_builder_and_its_cache_folder_have_the_datasets_name(name: str) -> None:
    from datasets.naming import camelcase_to_snakecase

    # datasets 5.2 takes the last part of the module's name
    assert camelcase_to_snakecase(hk.BUILDERS[name].__module__.split(".")[-1]) == name
