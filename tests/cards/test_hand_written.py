"""What people write into a card is theirs: wherever it stands, with whatever line ends, however often it is renewed."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hf_kokoro as hk
from hf_kokoro.cards import publish, render_build_card, write_card
from hf_kokoro.cards.publish import PublishOptions
from hf_kokoro.corpora.kokorochat.schema import response_generation_features
from hf_kokoro.miti.contract import DATA_PATH
from hf_kokoro.workflow.appending import card_hook

Rows = Callable[[int, int], list[dict[str, Any]]]
SECTION = "## Who uses this\n\nOur clinic, since May.\n\n- first\n- second\n\n```python\nx = 1\n\ny = 2\n```\n"


def edit(folder: Path, change: Callable[[str], str]) -> None:
    card = folder / "README.md"
    before = card.read_text("utf-8")
    after = change(before)
    assert after != before
    card.write_text(after, "utf-8", newline="")


def renew(folder: Path) -> str:
    """The card rendered again, without Windows' line ends; a third time it is not changed."""
    write_card(folder, figures=False, today="2026-02-01")
    assert write_card(folder, figures=False, today="2026-02-02").changed == ()
    card = (folder / "README.md").read_bytes().decode()
    # one kind of line end in all of it: that of its first line
    end = "\r\n" if "\r" in card else "\n"
    assert card.count("\n") == card.count(end)
    return card.replace("\r\n", "\n")


def block(card: str, name: str) -> str:
    [text] = re.findall(rf"<!-- yours: {name} -->\n(.*?)<!-- /yours -->\n", card, re.DOTALL)
    return str(text)


def outside(card: str) -> str:
    """The card without blocks and the list of digests: what is generated, and nothing else may be."""
    return re.sub(
        r"\n<!-- (?:yours|generated): .*", "", re.sub(r"(?s)<!-- yours: .*?<!-- /yours -->\n", "", card)
    ).strip()


EDITS: dict[str, tuple[Callable[[str], str], str]] = {
    "a section at the end": (lambda t: f"{t}\n{SECTION}", SECTION),
    "a section between two": (lambda t: t.replace("## Numbers\n", f"{SECTION}\n## Numbers\n"), SECTION),
    "a paragraph at the top": (lambda t: t.replace("\n# Counsel", "\nRead me.\n\n# Counsel", 1), "Read me.\n"),
    "a line right below a heading": (lambda t: t.replace("## Growth\n", "## Growth\nSlow.\n"), "Slow.\n"),
    "a line right above a heading": (lambda t: t.replace("## Growth\n", "Slow.\n## Growth\n"), "Slow.\n"),
    "a line right below a table": (lambda t: re.sub(r"(\| rejected held .*\n)", r"\1Mine.\n", t), "Mine.\n"),
    "a line within the growth block": (lambda t: t.replace("<!-- /growth -->", "Mine.\n<!-- /growth -->"), "Mine.\n"),
    "a bullet below the limits": (lambda t: re.sub(r"(\*\*One answer .*\n)", r"\1- Mine.\n", t), "- Mine.\n"),
    "a changed generated paragraph": (
        lambda t: t.replace("**Facts are not scored.** A chosen answer may be wrong.", "Facts: no."),
        "Facts: no.",
    ),
    "a heading of ours again": (lambda t: f"{t}\n## Licence\n\nAsk us too.\n", "Ask us too.\n"),
    "two sections in two places": (
        lambda t: t.replace("## Numbers\n", "## One\n\n## Numbers\n") + "\n## Two\n",
        "## One\n\n## Two\n",
    ),
    "other alphabets and marks": (
        lambda t: f"{t}\n補足：① naïve 😀 <b>x</b> {{{{ rows }}}}\n",
        "補足：① naïve 😀 <b>x</b> {{ rows }}\n",
    ),
    "a block that was never closed": (lambda t: f"{t}\n<!-- yours: more -->\nMine.\n", "Mine.\n"),
    "a block that was never opened": (lambda t: f"{t}\nMine.\n<!-- /yours -->\n", "Mine.\n"),
}


@pytest.mark.parametrize("name", EDITS)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("grown", [False, True])
def test_text_outside_the_blocks_is_moved_into_one_and_stays(
    repo: Path, rows: Rows, name: str, ends: str, grown: bool
) -> None:
    change, own = EDITS[name]
    edit(repo, lambda text: change(text).replace("\n", ends))
    if grown:
        hk.append_rows(repo, rows(3, 5))
    card = renew(repo)
    assert own in block(card, "added")
    (repo / "README.md").unlink()
    fresh = renew(repo)
    if not grown:
        assert outside(card).replace("2026-01-01", "2026-02-01") == outside(fresh)


def test_an_untouched_card_gets_no_block_of_added_text_however_it_grows(repo: Path, rows: Rows) -> None:
    for start in (3, 5, 8):
        hk.append_rows(repo, rows(start, start + 2))
        assert "yours: added" not in renew(repo)


def test_what_was_moved_can_be_edited_and_more_can_be_added(repo: Path) -> None:
    edit(repo, lambda text: text + "\nFirst.\n")
    renew(repo)
    edit(repo, lambda text: text.replace("First.", "First, edited.") + "\nSecond.\n")
    assert block(renew(repo), "added") == "First, edited.\n\nSecond.\n"


def test_the_card_that_an_append_renews_keeps_the_text_too(repo: Path, rows: Rows) -> None:
    edit(repo, lambda text: f"{text}\n{SECTION}")
    hk.append_rows(repo, rows(3, 5), extra_operations=card_hook(str(repo), DATA_PATH, None))
    card = (repo / "README.md").read_text("utf-8")
    assert "5 pairs over 5 questions" in card
    assert block(card, "added") == SECTION


def test_published_twice_the_text_of_both_ends_is_kept(repo: Path, tmp_path: Path) -> None:
    there, options = tmp_path / "there", PublishOptions(figures=False)
    edit(repo, lambda text: text + "\nFrom here.\n")
    publish(repo, there, options)
    edit(there, lambda text: text + "\nFrom there.\n")
    publish(repo, there, options)
    assert block((there / "README.md").read_text("utf-8"), "added") == "From here.\n\nFrom there.\n"
    assert publish(repo, there, options).files == {}


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_the_blocks_of_a_card_with_windows_line_ends_keep_their_place(repo: Path, ends: str) -> None:
    def change(text: str) -> str:
        text = text.replace("<!-- yours: notes -->\n", "<!-- yours: notes --> \nA note.\n\nAnother.\n")
        text = text.replace("<!-- yours: limits -->\n", "<!-- yours: limits -->\nA limit.\n")
        return (text + "\n<!-- yours: appendix -->\nAn appendix.\n<!-- /yours -->").replace("\n", ends)

    edit(repo, change)
    card = renew(repo)
    assert ("\r" in (repo / "README.md").read_bytes().decode()) == (ends == "\r\n")
    assert block(card, "notes") == "A note.\n\nAnother.\n"
    assert block(card, "limits") == "A limit.\n"
    assert block(card, "appendix") == "An appendix.\n"
    assert "yours: added" not in card
    assert card.count("# Counsel-chat MITI-ST preference pairs") == 1


def test_two_blocks_of_one_name_are_joined(repo: Path) -> None:
    edit(repo, lambda text: text.replace("yours: limits -->\n", "yours: notes -->\nSecond.\n"))
    edit(repo, lambda text: text.replace("yours: notes -->\n", "yours: notes -->\nFirst.\n", 1))
    assert block(renew(repo), "notes") == "First.\nSecond.\n"


def test_a_card_of_a_former_version_has_no_list_and_keeps_its_own_text_only(repo: Path, rows: Rows) -> None:
    edit(repo, lambda text: re.sub(r"\n<!-- generated: .*\n", "", text) + f"\n{SECTION}")
    hk.append_rows(repo, rows(3, 6))
    assert block(renew(repo), "added") == SECTION


def test_a_built_card_keeps_the_text_too() -> None:
    features = response_generation_features(True)

    def card(rows: int, existing: str | None) -> str:
        files = {"train": "data/train.jsonl"}
        return render_build_card("kokorochat", "x", features, {"train": rows}, files, existing=existing)

    first = card(3, None)
    edited = card(4, (first + "\nMine.\n").replace("\n", "\r\n"))
    assert edited.count("\n") == edited.count("\r\n")
    edited = edited.replace("\r\n", "\n")
    assert block(edited, "added") == "Mine.\n"
    assert outside(edited) == outside(card(4, None))
    assert card(4, edited) == edited
