"""What rows and reports of others say is text in a card: no HTML, no Markdown, no marks of ours."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import hf_kokoro as hk
from hf_kokoro.cards import write_card
from hf_kokoro.cards.check_files import folder_problems
from hf_kokoro.cards.front_matter import split_card
from hf_kokoro.cards.hand_written import BLOCK

NASTY = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[a](javascript:alert(1))",
    "![a](https://example.org/pixel.png)",
    "a | b | c",
    "a\n\n# Heading\n---\nlicense: other",
    "<!-- yours: notes -->\nmine\n<!-- /yours -->\n",
    "<!-- growth -->\n| 2020-01-01 | 9 | 9 | 9 |\n<!-- /growth -->",
    "`code` *bold* __x__ ~~y~~ $z$",
    "&lt;b&gt; &#60;i>",
    "{{ rows }}",
    "a\u202eb\u0000c\u2028d",
    "x" * 5000,
]


def shown(card: str) -> str:
    """The text that a reader sees of the line of topics: without the backslashes and entities of CommonMark."""
    [line] = [line for line in card.splitlines() if line.startswith("Largest topics: ")]
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", line.removeprefix("Largest topics: ")).replace("&amp;", "&")


@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_a_topic_a_judge_and_a_prompt_are_text_in_the_card(tmp_path: Path, one_row: Any, text: str) -> None:
    plain, nasty = tmp_path / "plain", tmp_path / "nasty"
    hk.append_rows(plain, [one_row(1) | {"topic": "topic"}])
    hk.append_rows(nasty, [one_row(1, judge=f"rule-based/{text}") | {"topic": text, "prompt": text}])
    cards = []
    for folder in (plain, nasty):
        write_card(folder, figures=False, today="2026-01-01")
        cards.append((folder / "README.md").read_text("utf-8"))
    (data, body), (other, nasty_body) = map(split_card, cards)
    assert {key: value for key, value in data.items() if key != "dataset_info"} == {
        key: value for key, value in other.items() if key != "dataset_info"
    }
    # as many of each mark that begins HTML, a link, a table cell, a heading or a block of ours
    unescaped = r"(?<!\\){}"
    for mark in ("<", r"\[", r"\|", "`", r"\*\*", "#"):
        assert len(re.findall(unescaped.format(mark), nasty_body)) <= len(re.findall(unescaped.format(mark), body)), (
            mark
        )
    assert [match["name"] for match in BLOCK.finditer(nasty_body)] == [match["name"] for match in BLOCK.finditer(body)]
    assert nasty_body.count("\n") == body.count("\n")
    assert shown(cards[1]).startswith(" ".join(re.sub(r"[^ -~]", " ", text).split())[:70])
    assert folder_problems(nasty) == []
    assert write_card(nasty, figures=False, today="2026-01-02").changed == ()


@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_names_in_a_report_of_agreement_are_text(tmp_path: Path, one_row: Any, text: str) -> None:
    folder, report = tmp_path / "pairs", tmp_path / "agree.json"
    hk.append_rows(folder, [one_row(1)])
    one = {"value": 1.0, "low": 1.0, "high": 1.0}
    dimension = {"dimension": text} | dict.fromkeys(("exact", "within_1", "difference", "kappa", "ac1", "alpha"), one)
    pairs = {"pairs": 1, "keep": 1, "flip": 0, "lose": 0}
    found = {"first": text, "second": "b", "answers": 1, "dimensions": [dimension], "pairs": pairs}
    report.write_text(json.dumps({"agreements": [found]}), "utf-8")
    write_card(folder, figures=False, agreement=report)
    card = (folder / "README.md").read_text("utf-8")
    [block] = re.findall(r"<!-- agreement -->\n(.*?)\n<!-- /agreement -->", card, re.DOTALL)
    assert "<" not in re.sub(r"\\<", "", block)
    [row] = [line for line in block.splitlines() if "| 100 % | 100 % | 1.00" in line]
    assert len(re.findall(r"(?<!\\)\|", row)) == 8
    assert write_card(folder, figures=False).changed == ()
