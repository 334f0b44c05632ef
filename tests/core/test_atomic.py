"""A file is replaced as a whole, or stays what it was."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hf_kokoro.core.atomic import write_atomically


def test_a_file_is_replaced_as_a_whole_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "note.json"
    write_atomically(file, b"old", 0o600)
    write_atomically(file, b"new", 0o600)
    assert file.read_bytes() == b"new"
    assert [*tmp_path.iterdir()] == [file]
    if os.name != "nt":
        assert file.stat().st_mode & 0o777 == 0o600


def test_what_stands_there_stays_if_it_can_not_be_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "note.json"
    folder.mkdir()
    (folder / "inside").write_bytes(b"kept")
    with pytest.raises(OSError, match=r"note\.json"):
        write_atomically(folder, b"new")
    assert [path.name for path in tmp_path.rglob("*")] == ["note.json", "inside"]
