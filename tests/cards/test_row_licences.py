"""What rows say of their own licence and source decides, whatever the card or the schema's constants claim."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hf_kokoro as hk
from hf_kokoro.cards import LicenceError, PublishOptions, publish, write_card
from hf_kokoro.errors import RowError
from hf_kokoro.miti.contract import DATA_PATH, row_line
from hf_kokoro.policy.licences import check_may_publish, row_licences
from hf_kokoro.workflow.appending import card_hook

KOKOROCHAT = "UEC-InabaLab/KokoroChat"
NO_FIGURES = PublishOptions(figures=False)
HELD = PublishOptions(figures=False, private=True, holds_licence=True)
CC_BY_NC_ND = {"license": "cc-by-nc-nd-4.0", "source_dataset": KOKOROCHAT}


def folder_of(folder: Path, *rows: dict[str, Any]) -> Path:
    """Rows written past `append_rows`, as another program may have left them."""
    (folder / "data").mkdir(parents=True)
    (folder / DATA_PATH).write_text("".join(map(row_line, rows)))
    return folder


@pytest.mark.parametrize("licence", ["cc-by-nc-nd-4.0", "CC BY-NC-ND 4.0", "apache-2.0", "MIT License", "unknown", " "])
def test_a_row_with_another_licence_is_not_appended(tmp_path: Path, one_row: Any, licence: str) -> None:
    with pytest.raises(RowError, match=r"license: got .*; allowed: one of \['MIT', 'mit', 'not stated'\]"):
        hk.append_rows(tmp_path / "lic", [{**one_row(1), "license": licence}])
    assert not (tmp_path / "lic" / DATA_PATH).exists()


def test_a_row_with_another_licence_fails_the_audit(tmp_path: Path, one_row: Any) -> None:
    report = hk.audit(folder_of(tmp_path / "lic", one_row(0), {**one_row(1), **CC_BY_NC_ND}))
    assert not report.ok
    assert ["license: got 'cc-by-nc-nd-4.0'" in str(fault) for fault in report.faults] == [True]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (CC_BY_NC_ND, rf"{KOKOROCHAT} \(CC BY-NC-ND 4\.0\)"),
        # a row that says MIT of a source which is not
        ({"source_dataset": "uec-inabalab/kokorochat"}, r"\(CC BY-NC-ND 4\.0\)"),
        ({"source_dataset": "EmplifAI"}, r"EmplifAI \(no known licence\)"),
        ({"source_dataset": "me/annomi-rewritten", "license": "MIT"}, r"me/annomi-rewritten \(no known licence\)"),
        # a row that states less than its source allows, in its own spelling
        ({"license": "CC BY-NC-ND 4.0"}, r"nbertagnolli/counsel-chat \(CC BY-NC-ND 4\.0\)"),
        ({"license": "My own terms"}, r"nbertagnolli/counsel-chat \(no known licence\)"),
    ],
)
def test_one_row_of_a_restricted_source_stops_publishing_and_card_with_its_licence_named(
    tmp_path: Path, one_row: Any, changed: dict[str, str], said: str
) -> None:
    folder = folder_of(tmp_path / "lic", one_row(0), {**one_row(1), **changed})
    with pytest.raises(LicenceError, match=rf"(?s)publishing refused.*{said}.*nothing was sent"):
        publish(folder, tmp_path / "there", NO_FIGURES)
    with pytest.raises(LicenceError, match=said):
        write_card(folder, figures=False)
    assert not (folder / "README.md").exists()
    assert not (tmp_path / "there").exists() or not list((tmp_path / "there").iterdir())


def test_a_card_that_claims_mit_over_such_rows_is_named_as_looser(tmp_path: Path, one_row: Any) -> None:
    folder = folder_of(tmp_path / "lic", one_row(0))
    write_card(folder, figures=False)
    with (folder / DATA_PATH).open("a") as stream:
        stream.write(row_line({**one_row(1), **CC_BY_NC_ND}))
    before = (folder / "README.md").read_bytes()
    with pytest.raises(LicenceError, match=r"card says mit, which is looser.*CC BY-NC-ND 4\.0"):
        publish(folder, tmp_path / "there", NO_FIGURES)
    with pytest.raises(LicenceError):
        write_card(folder, figures=False)
    assert (folder / "README.md").read_bytes() == before


@pytest.mark.parametrize("changed", [{"source_dataset": KOKOROCHAT}, {"license": "cc-by-nc-4.0"}])
def test_holding_a_licence_does_not_make_an_mit_card_of_such_rows(
    tmp_path: Path, one_row: Any, changed: dict[str, str]
) -> None:
    folder = folder_of(tmp_path / "lic", {**one_row(1), **changed})
    with pytest.raises((LicenceError, RowError), match=r"KokoroChat|license"):
        publish(folder, tmp_path / "there", HELD)
    assert not (tmp_path / "there" / DATA_PATH).exists()


def test_an_append_that_renews_the_card_takes_no_row_that_the_card_would_be_wrong_about(
    tmp_path: Path, one_row: Any
) -> None:
    hk.append_rows(tmp_path / "mine", [one_row(0)])
    write_card(tmp_path / "mine", figures=False)
    hook = card_hook(str(tmp_path / "mine"), DATA_PATH, None)
    with pytest.raises(LicenceError, match=r"KokoroChat \(CC BY-NC-ND 4\.0\)"):
        hk.append_rows(tmp_path / "mine", [{**one_row(1), "source_dataset": KOKOROCHAT}], extra_operations=hook)
    assert len((tmp_path / "mine" / DATA_PATH).read_text().splitlines()) == 1


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"license": "mit"},
        {"source_dataset": "hf-kokoro/sample"},
        {"source_dataset": "NBertagnolli/counsel-chat"},
        {"source_dataset": "someone/else"},
    ],
)
def test_mit_rows_of_known_sources_are_published_in_any_spelling(
    tmp_path: Path, one_row: Any, changed: dict[str, str]
) -> None:
    hk.append_rows(tmp_path / "mine", [{**one_row(1), **changed}])
    assert publish(tmp_path / "mine", tmp_path / "there", NO_FIGURES).licence == "mit"
    assert json.loads((tmp_path / "there" / DATA_PATH).read_text()) == {**one_row(1), **changed}


def test_the_strictest_licence_of_a_source_counts_whatever_the_order() -> None:
    stated = [("nbertagnolli/counsel-chat", name) for name in ("MIT", "CC BY-ND 4.0", "cc-by-nc-sa-4.0")]
    for origins in (stated, stated[::-1]):
        assert {source: licence.id for source, licence in row_licences(origins).items()} == {
            "nbertagnolli/counsel-chat": "cc-by-nd-4.0"
        }
        with pytest.raises(LicenceError, match=r"CC BY-ND 4\.0"):
            check_may_publish(row_licences(origins), public=True, holds_licence=True)
