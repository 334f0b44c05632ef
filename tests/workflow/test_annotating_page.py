"""The raters' page in a real browser: rated with the keyboard, paused, gone on with, saved, imported."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from hf_kokoro.judging import read_journal
from hf_kokoro.workflow import annotate_export, annotate_import

from ..browser import CHROMIUM, Page
from ..judging.judging_support import SAMPLE

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")


def test_a_rater_rates_with_the_keyboard_pauses_goes_on_and_saves(tmp_path: Path) -> None:
    kit, saved = tmp_path / "kit", tmp_path / "saved"
    saved.mkdir()
    annotate_export(SAMPLE, kit, questions=1, raters=["anna"], repeats=0, seed=3)
    with (kit / "anna.csv").open(encoding="utf-8-sig", newline="") as file:
        items = [row["item"] for row in csv.DictReader(file)]
    with Page(tmp_path / "profile", saved) as page:
        page.open(kit / "anna.html")
        assert page.run("document.querySelectorAll('fieldset').length") == 5
        assert page.run("document.querySelector('article.answer').textContent.length") > 20
        # each digit rates the marked scale and moves the mark; a level that the scale does not have does nothing
        page.press("9", "4", "3", "1", "0", "1", "ArrowRight")
        assert page.run("document.getElementById('count').textContent") == f"1 of {len(items)} rated, this is 2"
        page.press("2")
    with Page(tmp_path / "profile", saved) as page:
        page.open(kit / "anna.html")
        assert "this is 2" in page.run("document.getElementById('count').textContent"), "this browser remembers"
        for number in range(1, len(items)):
            page.press(*("3",) * (number == 1), *("2", "3") * (number > 1), "1", "0", "1", "ArrowRight")
        assert page.run("document.getElementById('count').textContent").startswith(f"{len(items)} of {len(items)}")
        page.run("[...document.querySelectorAll('button')].find(b => b.textContent === 'save as file').click()")
        page.wait("Browser.downloadProgress", state="completed")
        assert page.errors == []
        assert [url for url in page.requests if not url.startswith(("file:", "blob:"))] == []
    (saved / "anna.ratings.csv").rename(kit / "anna.ratings.csv")
    assert annotate_import(kit, tmp_path / "people.jsonl").written == len(items)
    scores = [tuple((v.scores or {}).values()) for v in read_journal(tmp_path / "people.jsonl")]
    assert sorted(scores) == sorted([(4, 3, 1, 0, 1), *[(2, 3, 1, 0, 1)] * (len(items) - 1)])
