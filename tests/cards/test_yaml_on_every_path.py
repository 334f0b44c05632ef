"""Whoever renders a card keeps the bytes of its owner's YAML: `card`, appends, `publish` and `build --overwrite`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hf_kokoro import workflow
from hf_kokoro.cards import CardError, write_card
from hf_kokoro.hub.remote import HubTarget
from hf_kokoro.hub.target import CARD_PATH
from tests.hub.double import HubDouble

Rows = Callable[[int, int], list[dict[str, Any]]]
REPO = "user/pairs"
OWN = "# ours since May\nconsent: no  # asked in 1.10\nedition: 1.10\nnote: X ---\nshared: &s {a:   'b'}\nagain: *s\n"
LAST = "# the end\nz: [no,   on]\n"


@pytest.fixture
def hub(tmp_path: Path) -> Any:
    with HubDouble(tmp_path / "hub") as double:
        yield double


def edited(card: str, ends: str = "\n") -> str:
    """The card with keys of its owner's own before, between and behind ours."""
    rest = card.removeprefix("---\n").replace("tags:", "mine: ~\ntags:", 1).replace("\n---\n", f"\n{LAST}---\n", 1)
    return f"---\n{OWN}{rest}".replace("\n", ends)


def assert_own_bytes(card: bytes, ends: str = "\n") -> None:
    text = card.decode()
    for own in (f"---\n{OWN}", "\nmine: ~\ntags:\n", f"\n{LAST}"):
        assert text.count(own.replace("\n", ends)) == 1, own


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_card_and_append_of_a_folder(tmp_path: Path, rows: Rows, ends: str) -> None:
    folder = tmp_path / "pairs"
    workflow.append_rows(folder, rows(0, 3))
    write_card(folder, figures=False)
    card = folder / CARD_PATH
    card.write_bytes(edited(card.read_text("utf-8"), ends).encode())
    assert CARD_PATH not in write_card(folder, figures=False).changed or ends == "\r\n"
    assert_own_bytes(card.read_bytes(), ends)
    workflow.append_rows(folder, rows(3, 5))
    assert b"5 pairs over 5 questions" in card.read_bytes()
    assert_own_bytes(card.read_bytes(), ends)
    workflow.append_rows(folder, rows(5, 6), card=False)
    assert_own_bytes(card.read_bytes(), ends)
    assert CARD_PATH in write_card(folder, figures=False).changed
    assert_own_bytes(card.read_bytes(), ends)
    assert write_card(folder, figures=False).changed == ()


def test_card_append_and_publish_on_the_hub(hub: HubDouble, tmp_path: Path, rows: Rows) -> None:
    hub.repo(REPO)
    target = HubTarget(REPO, token="hf_writes", endpoint=hub.endpoint, cache_dir=tmp_path / "machine")
    workflow.append_rows(target, rows(0, 3))
    write_card(target, figures=False)
    repo = hub.repo(REPO)
    workflow.append_rows(
        target,
        rows(3, 4),
        card=False,
        extra_operations=lambda growth: {CARD_PATH: edited(repo.read(CARD_PATH).decode()).encode()},
    )
    assert_own_bytes(repo.read(CARD_PATH))
    assert CARD_PATH in write_card(target, figures=False).changed
    assert_own_bytes(repo.read(CARD_PATH))
    workflow.append_rows(target, rows(4, 5))
    assert b"5 pairs over 5 questions" in repo.read(CARD_PATH)
    assert_own_bytes(repo.read(CARD_PATH))
    folder = tmp_path / "here"
    workflow.append_rows(folder, rows(0, 7))
    assert workflow.publish(folder, target, figures=False).added == 2
    assert b"7 pairs over 7 questions" in repo.read(CARD_PATH)
    assert_own_bytes(repo.read(CARD_PATH))


def test_the_first_publish_takes_the_folders_own_keys_along(hub: HubDouble, tmp_path: Path, rows: Rows) -> None:
    folder = tmp_path / "here"
    workflow.append_rows(folder, rows(0, 3))
    write_card(folder, figures=False)
    card = folder / CARD_PATH
    card.write_text(edited(card.read_text("utf-8")), "utf-8")
    target = HubTarget("user/new", token="hf_writes", endpoint=hub.endpoint, cache_dir=tmp_path / "machine")
    workflow.publish(folder, target, figures=False)
    assert_own_bytes(hub.repo("user/new").read(CARD_PATH))
    assert b"description: data-" not in hub.repo("user/new").read(CARD_PATH)


def test_build_overwrite_keeps_own_keys_and_text_and_no_config_of_the_former_build(
    samples: Path, tmp_path: Path
) -> None:
    out = tmp_path / "built"
    workflow.build("emplifai", out, "sft", source=samples / "emplifai.csv")
    card = out / CARD_PATH
    card.write_text(edited(card.read_text("utf-8")) + "\nMine too.\n", "utf-8")
    workflow.build("emplifai", out, "emotion", source=samples / "emplifai.csv", overwrite=True)
    text = card.read_text("utf-8")
    assert_own_bytes(text.encode())
    assert "<!-- yours: added -->\nMine too.\n<!-- /yours -->" in text
    assert text.count("config_name: emotion") == 2
    assert "sft" not in text.partition("\n# ")[0]
    card.write_text("---\nlicense: [mit\n---\n", "utf-8")
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    with pytest.raises(CardError, match="can't be read"):
        workflow.build("emplifai", out, "sft", source=samples / "emplifai.csv", overwrite=True)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


BROKEN = "---\nconsent: no\nlicense: &l other\nmine: *l\n---\n<!-- yours: notes -->\n<!-- /yours -->\n"


def test_a_block_that_can_not_be_renewed_stops_an_append_before_anything_is_written(tmp_path: Path, rows: Rows) -> None:
    folder = tmp_path / "pairs"
    workflow.append_rows(folder, rows(0, 3))
    (folder / CARD_PATH).write_text(BROKEN, "utf-8")
    before = (folder / "data/pilot.jsonl").read_bytes()
    with pytest.raises(CardError, match="keys that are not ours"):
        workflow.append_rows(folder, rows(3, 5))
    assert (folder / "data/pilot.jsonl").read_bytes() == before
    assert (folder / CARD_PATH).read_text("utf-8") == BROKEN
