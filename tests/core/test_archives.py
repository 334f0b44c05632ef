"""Folders and archives: the same rows from each, and nothing trusted that an archive says of itself."""

from __future__ import annotations

import io
import json
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest

import hf_kokoro as hk
from hf_kokoro.core.archives import check_member_name, natural_order, open_source
from hf_kokoro.errors import SourceError

from ..corpora.documents import document, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "kokorochat_dialogues", *(document(n) for n in (2, 10, 33)))


def tar(folder: Path, path: Path, mode: str) -> Path:
    with tarfile.open(path, mode) as archive:
        archive.add(folder, folder.name)
    return path


def zipped(folder: Path, path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.iterdir()):
            archive.write(file, f"{folder.name}/{file.name}")
    return path


@pytest.mark.parametrize("kind", ["tar.gz", "tgz", "tar.xz", "tar", "zip"])
def test_an_archive_gives_the_rows_of_the_folder(kind: str, folder: Path, tmp_path: Path) -> None:
    modes = {"tar.gz": "w:gz", "tgz": "w:gz", "tar.xz": "w:xz", "tar": "w"}
    path = tmp_path / f"corpus.{kind}"
    archive = zipped(folder, path) if kind == "zip" else tar(folder, path, modes[kind])
    before = sorted(tmp_path.rglob("*"))
    expected = hk.load_dataset("kokorochat", "dialogues", source=folder, split="train", cache_dir=tmp_path / "c")
    found = hk.load_dataset("kokorochat", "dialogues", source=archive, split="train", cache_dir=tmp_path / "c")
    assert sorted(found, key=lambda row: row["dialogue_id"]) == list(expected)
    unpacked = [p for p in set(tmp_path.rglob("*.json")) - set(before) if p.name in ("2.json", "10.json", "33.json")]
    assert unpacked == []


def test_a_folder_is_read_in_the_order_of_its_numbers(folder: Path) -> None:
    assert hk.load_dataset("kokorochat", "dialogues", source=folder)["train"]["dialogue_id"] == [2, 10, 33]
    assert sorted(["b/1.json", "a/10.json", "a/9.json", "a/x.json"], key=natural_order) == [
        "a/x.json",
        "a/9.json",
        "a/10.json",
        "b/1.json",
    ]


@pytest.mark.parametrize(
    "name",
    [
        "../10.json",
        "a/../../10.json",
        "/etc/10.json",
        "C:/10.json",
        "..\\10.json",
        "a\\..\\..\\10.json",
        "//host/10.json",
    ],
)
@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_a_member_path_outside_the_archive_is_refused(name: str, kind: str, tmp_path: Path) -> None:
    data = json.dumps(document(10)).encode()
    path = tmp_path / f"evil.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(zipfile.ZipInfo(name), data)
    else:
        with tarfile.open(path, "w") as archive:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    with pytest.raises(SourceError, match="leads outside the archive"):
        hk.load_dataset("kokorochat", "dialogues", source=path)
    assert not (tmp_path.parent / "10.json").exists()


@pytest.mark.parametrize("name", ["a/b.json", "./a/b.json", "a..b/c.json", "a.json", "日本/1.json"])
def test_ordinary_member_names_pass(name: str) -> None:
    assert check_member_name(name, "x.zip") == name.removeprefix("./")


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_a_two_gigabyte_member_is_refused_by_its_size_before_it_is_read(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"big.{kind}"
    if kind == "tar":
        info = tarfile.TarInfo("10.json")
        info.size = 2 * 2**30
        path.write_bytes(info.tobuf() + b"{" + b"\0" * 1023)
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("10.json", b"{}")
        data = bytearray(path.read_bytes())
        central = data.index(b"PK\x01\x02")
        data[central + 24 : central + 28] = struct.pack("<I", 2 * 2**30)
        path.write_bytes(data)
    with pytest.raises(SourceError, match=r"10\.json says it holds 2,147,483,648 bytes; .*nothing of it was read"):
        hk.load_dataset("kokorochat", "dialogues", source=path)


def test_links_and_devices_in_an_archive_are_skipped_and_said(tmp_path: Path) -> None:
    data = json.dumps(document(10)).encode()
    path = tmp_path / "links.tar"
    with tarfile.open(path, "w") as archive:
        link = tarfile.TarInfo("11.json")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        info = tarfile.TarInfo("10.json")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    files = open_source(path)
    assert [name for name, _ in files.members()] == ["10.json"]
    assert [(skipped.name, skipped.reason) for skipped in files.skipped()] == [("11.json", "a link or device")]


def test_a_password_protected_zip_says_so(tmp_path: Path) -> None:
    path = tmp_path / "locked.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("10.json", json.dumps(document(10)))
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    path.write_bytes(data)
    with pytest.raises(SourceError, match="password-protected"):
        hk.load_dataset("kokorochat", "dialogues", source=path)


@pytest.mark.parametrize(
    ("name", "data"),
    [("e.zip", b""), ("e.tar.gz", b""), ("e.zip", b"PK no"), ("e.tar.gz", b"no gzip"), ("e.tar.xz", b"\xfd7zXZ")],
)
def test_an_empty_or_broken_archive_is_one_clear_error(name: str, data: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(SourceError, match=r"e\.(zip|tar\.gz|tar\.xz)"):
        hk.load_dataset("kokorochat", "dialogues", source=tmp_path / name)


def test_a_truncated_archive_is_one_clear_error_and_leaves_no_dataset(folder: Path, tmp_path: Path) -> None:
    whole = tar(folder, tmp_path / "whole.tar.gz", "w:gz").read_bytes()
    cut = tmp_path / "cut.tar.gz"
    cut.write_bytes(whole[: len(whole) // 2])
    for _ in range(2):
        with pytest.raises(SourceError, match=r"cut\.tar\.gz"):
            hk.load_dataset("kokorochat", "dialogues", source=cut)
    cut.write_bytes(whole)
    assert len(hk.load_dataset("kokorochat", "dialogues", source=cut)["train"]) == 3


def test_an_archive_without_members_says_that_nothing_was_found(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "none.zip", "w"):
        pass
    with tarfile.open(tmp_path / "none.tar", "w"):
        pass
    for name in ("none.zip", "none.tar"):
        with pytest.raises(
            SourceError,
            match=r"not one row; .* named <evaluation_id>\.json; found an archive without",
        ):
            hk.load_dataset("kokorochat", "dialogues", source=tmp_path / name)


def test_other_files_in_the_folder_are_left_alone(folder: Path) -> None:
    (folder / "README.md").write_text("# readme")
    (folder / ".DS_Store").write_bytes(b"\0\1")
    (folder / "notes.json").write_text('{"author": "someone"}')
    (folder / "en5.json").write_text("{}")
    assert hk.load_dataset("kokorochat", "dialogues", source=folder)["train"]["dialogue_id"] == [2, 10, 33]


@pytest.mark.parametrize("language", ["ja", "en"])
def test_a_folder_without_dialogues_says_what_was_expected(language: str, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("nothing here")
    with pytest.raises(
        SourceError,
        match=f"not one row; .* language='{language}'.* named .*; found one file, README",
    ):
        hk.load_dataset("kokorochat", "dialogues", source=tmp_path, language=language)


def test_a_source_that_is_neither_a_path_nor_an_id_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="give a folder, a file, an archive or a Hub dataset id"):
        hk.load_dataset("kokorochat", "dialogues", source=tmp_path / "no such folder")
